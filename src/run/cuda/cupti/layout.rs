//! CUPTI's structures, as C lays them out.
//!
//! Input: nothing. Output: `#[repr(C)]` types for the calls of `calls`. Layouts are those of CUPTI
//! 12.6's headers (`cupti_profiler_target.h`, `cupti_profiler_host.h`, `cupti_range_profiler.h`,
//! `cupti_sass_metrics.h`, `cupti_pcsampling.h`, `cupti_target.h`), which newer versions only append
//! to: each structure says its size, by which CUPTI knows what is not there. [`all`] lists them for
//! the test that asks a C compiler. Nothing here calls anything.

use std::ffi::{c_char, c_int, c_void};
use std::mem::{offset_of, size_of};

/// A structure's layout: its name in C, the size that it says of itself (where it does), its whole
/// size, and its fields in C's words with their offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The name in C.
    pub name: &'static str,
    /// What CUPTI wants in the field for the size, in bytes; `None` if there is no such field.
    pub says: Option<usize>,
    /// `sizeof`.
    pub size: usize,
    /// Fields and offsets in bytes.
    pub fields: Vec<(&'static str, usize)>,
}

/// A structure that begins with its own size.
pub(super) trait Parameters: Default {
    /// One of zeros that says its size.
    fn new() -> Self;
}

/// Declares structures: a name here and in C, the fields with their names in C. Those with `says`
/// begin with their size, which ends with the field named after it.
macro_rules! structures {
    ($($name:ident = $c:literal $(says $last:ident)? {
        $($field:ident = $c_field:literal: $type:ty,)*
    })*) => {
        $(
            #[doc = concat!("`", $c, "`.")]
            #[derive(Clone, Copy, Debug, Default)]
            #[repr(C)]
            pub(super) struct $name {
                $(pub(super) $field: $type,)*
            }

            structures!(@says $name $($last)?);
        )*

        /// Every structure's layout, for whoever has C's headers.
        pub fn all() -> Vec<Layout> {
            vec![$(Layout {
                name: $c,
                says: structures!(@size $name $($last)?),
                size: size_of::<$name>(),
                fields: vec![$(($c_field, offset_of!($name, $field)),)*],
            },)*]
        }
    };
    (@says $name:ident) => {};
    (@says $name:ident $last:ident) => {
        impl Parameters for $name {
            fn new() -> Self {
                Self { struct_size: end!($name, $last), ..Self::default() }
            }
        }
    };
    (@size $name:ident) => { None };
    (@size $name:ident $last:ident) => { Some(end!($name, $last)) };
}

/// Where a field of a structure ends, in bytes.
macro_rules! end {
    ($name:ident, $last:ident) => {
        offset_of!($name, $last) + size_of_field(|structure: &$name| &structure.$last)
    };
}

/// The size of what a function points into.
const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

structures! {
    ProfilerInitialize = "CUpti_Profiler_Initialize_Params" says private {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
    }
    DeviceSupported = "CUpti_Profiler_DeviceSupported_Params" says api {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        device = "cuDevice": c_int,
        supported = "isSupported": c_int,
        architecture = "architecture": c_int,
        sli = "sli": c_int,
        virtual_gpu = "vGpu": c_int,
        confidential = "confidentialCompute": c_int,
        mining = "cmp": c_int,
        wsl = "wsl": c_int,
        api = "api": c_int,
    }
    ChipName = "CUpti_Device_GetChipName_Params" says chip {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        device = "deviceIndex": usize,
        chip = "pChipName": *const c_char,
    }
    Availability = "CUpti_Profiler_GetCounterAvailability_Params" says image {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        context = "ctx": *mut c_void,
        size = "counterAvailabilityImageSize": usize,
        image = "pCounterAvailabilityImage": *mut u8,
    }
    HostInitialize = "CUpti_Profiler_Host_Initialize_Params" says host {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "profilerType": c_int,
        chip = "pChipName": *const c_char,
        availability = "pCounterAvailabilityImage": *const u8,
        host = "pHostObject": *mut c_void,
    }
    HostDeinitialize = "CUpti_Profiler_Host_Deinitialize_Params" says host {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        host = "pHostObject": *mut c_void,
    }
    MetricProperties = "CUpti_Profiler_Host_GetMetricProperties_Params" says kind {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        host = "pHostObject": *mut c_void,
        name = "pMetricName": *const c_char,
        description = "pDescription": *const c_char,
        hardware_unit = "pHwUnit": *const c_char,
        unit = "pDimUnit": *const c_char,
        kind = "metricType": c_int,
    }
    AddMetrics = "CUpti_Profiler_Host_ConfigAddMetrics_Params" says count {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        host = "pHostObject": *mut c_void,
        names = "ppMetricNames": *const *const c_char,
        count = "numMetrics": usize,
    }
    ConfigSize = "CUpti_Profiler_Host_GetConfigImageSize_Params" says size {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        host = "pHostObject": *mut c_void,
        size = "configImageSize": usize,
    }
    Config = "CUpti_Profiler_Host_GetConfigImage_Params" says image {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        host = "pHostObject": *mut c_void,
        size = "configImageSize": usize,
        image = "pConfigImage": *mut u8,
    }
    Evaluate = "CUpti_Profiler_Host_EvaluateToGpuValues_Params" says values {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        host = "pHostObject": *mut c_void,
        image = "pCounterDataImage": *const u8,
        size = "counterDataImageSize": usize,
        range = "rangeIndex": usize,
        names = "ppMetricNames": *const *const c_char,
        count = "numMetrics": usize,
        values = "pMetricValues": *mut f64,
    }
    RangeEnable = "CUpti_RangeProfiler_Enable_Params" says profiler {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        context = "ctx": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
    }
    RangeDisable = "CUpti_RangeProfiler_Disable_Params" says profiler {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
    }
    RangeStart = "CUpti_RangeProfiler_Start_Params" says profiler {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
    }
    RangeStop = "CUpti_RangeProfiler_Stop_Params" says all_submitted {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
        pass = "passIndex": usize,
        level = "targetNestingLevel": usize,
        all_submitted = "isAllPassSubmitted": u8,
    }
    RangePush = "CUpti_RangeProfiler_PushRange_Params" says name {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
        name = "pRangeName": *const c_char,
    }
    RangePop = "CUpti_RangeProfiler_PopRange_Params" says profiler {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
    }
    RangeDecode = "CUpti_RangeProfiler_DecodeData_Params" says dropped {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
        dropped = "numOfRangeDropped": usize,
    }
    RangeDataSize = "CUpti_RangeProfiler_GetCounterDataSize_Params" says size {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
        names = "pMetricNames": *const *const c_char,
        count = "numMetrics": usize,
        ranges_max = "maxNumOfRanges": usize,
        nodes_max = "maxNumRangeTreeNodes": u32,
        size = "counterDataSize": usize,
    }
    RangeDataInitialize = "CUpti_RangeProfiler_CounterDataImage_Initialize_Params" says image {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
        size = "counterDataSize": usize,
        image = "pCounterData": *mut u8,
    }
    RangeSetConfig = "CUpti_RangeProfiler_SetConfig_Params" says level_target {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        profiler = "pRangeProfilerObject": *mut c_void,
        config_size = "configSize": usize,
        config = "pConfig": *const u8,
        data_size = "counterDataImageSize": usize,
        data = "pCounterDataImage": *mut u8,
        range = "range": c_int,
        replay = "replayMode": c_int,
        ranges_max = "maxRangesPerPass": usize,
        levels = "numNestingLevels": u16,
        level_min = "minNestingLevel": u16,
        pass = "passIndex": usize,
        level_target = "targetNestingLevel": u16,
    }
    RangeDataInfo = "CUpti_RangeProfiler_GetCounterDataInfo_Params" says ranges {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        image = "pCounterDataImage": *const u8,
        size = "counterDataImageSize": usize,
        ranges = "numTotalRanges": usize,
    }
    SassMetric = "CUpti_SassMetrics_MetricDetails" {
        id = "metricId": u64,
        name = "pMetricName": *const c_char,
        description = "pMetricDescription": *const c_char,
    }
    SassProperties = "CUpti_SassMetrics_GetProperties_Params" says metric {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        chip = "pChipName": *const c_char,
        name = "pMetricName": *const c_char,
        metric = "metric": SassMetric,
    }
    SassConfig = "CUpti_SassMetrics_Config" {
        id = "metricId": u64,
        granularity = "outputGranularity": u8,
    }
    SassSetConfig = "CUpti_SassMetricsSetConfig_Params" says device {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        count = "numOfMetricConfig": usize,
        configs = "pConfigs": *mut SassConfig,
        device = "deviceIndex": u32,
    }
    SassUnsetConfig = "CUpti_SassMetricsUnsetConfig_Params" says device {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        device = "deviceIndex": u32,
    }
    SassEnable = "CUpti_SassMetricsEnable_Params" says lazy {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        context = "ctx": *mut c_void,
        lazy = "enableLazyPatching": u8,
    }
    SassDisable = "CUpti_SassMetricsDisable_Params" says dropped {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        context = "ctx": *mut c_void,
        dropped = "numOfDroppedRecords": usize,
    }
    SassDataProperties = "CUpti_SassMetricsGetDataProperties_Params" says instances {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        context = "ctx": *mut c_void,
        records = "numOfPatchedInstructionRecords": usize,
        instances = "numOfInstances": usize,
    }
    SassValue = "CUpti_SassMetrics_InstanceValue" {
        id = "metricId": u64,
        value = "value": u64,
    }
    SassData = "CUpti_SassMetrics_Data" {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        cubin = "cubinCrc": u32,
        function_index = "functionIndex": u32,
        function = "functionName": *const c_char,
        offset = "pcOffset": u32,
        values = "pInstanceValues": *mut SassValue,
    }
    // CUPTI leaves the last field out of what the structure says of its size.
    SassFlush = "CUpti_SassMetricsFlushData_Params" says instances {
        struct_size = "structSize": usize,
        private = "pPriv": *mut c_void,
        context = "ctx": *mut c_void,
        records = "numOfPatchedInstructionRecords": usize,
        instances = "numOfInstances": usize,
        data = "pMetricsData": *mut SassData,
    }
    Correlation = "CUpti_GetSassToSourceCorrelationParams" says folder {
        struct_size = "size": usize,
        cubin = "cubin": *const c_void,
        function = "functionName": *const c_char,
        cubin_size = "cubinSize": usize,
        line = "lineNumber": u32,
        offset = "pcOffset": u64,
        file = "fileName": *mut c_char,
        folder = "dirName": *mut c_char,
    }
}
