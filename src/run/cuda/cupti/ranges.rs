//! CUPTI's range profiler: figures of a whole launch, by NVIDIA's names.
//!
//! Input: an open device, names of figures; the caller runs the launch once a pass. Output: the
//! figures that the chip has, with their units and descriptions. Dropped ranges are an error. This is
//! one of the files that may hold `unsafe`: it calls C.

#![expect(unsafe_code, reason = "calls a C library that is loaded at run time")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use super::super::driver::DriverDevice;
use super::error::CuptiError;
use super::layout as c;
use super::layout::Parameters;
use super::library::{Cupti, Metric, words};

/// Figures of a range of launches, read in as many passes as they need.
pub(in super::super) struct Ranges<'a> {
    cupti: &'a Cupti,
    /// What is profiled, which must stay open.
    _gpu: &'a DriverDevice,
    host: *mut c_void,
    profiler: *mut c_void,
    names: Vec<CString>,
    config: Vec<u8>,
    data: Vec<u8>,
}

/// The range that is asked for: the caller says where it begins and ends, and runs all of it again
/// for each pass.
const RANGE_OF_USER: c_int = 2;
const REPLAY_OF_USER: c_int = 3;

impl Cupti {
    /// What counters a device can give.
    fn availability(&self, gpu: &DriverDevice) -> Result<Vec<u8>, CuptiError> {
        let doing = "asked for the counters";
        let function = self.functions.availability;
        let mut asked = c::Availability { context: gpu.context(), ..c::Availability::new() };
        // SAFETY: the context is open; without an image only its size is given.
        unsafe { self.call(doing, function, &mut asked) }?;
        let mut image = vec![0; asked.size];
        asked.image = image.as_mut_ptr();
        // SAFETY: there is room for as many bytes as CUPTI has just said.
        unsafe { self.call(doing, function, &mut asked) }?;
        Ok(image)
    }
}

impl<'a> Ranges<'a> {
    /// Gets ready to read those of the figures `names` that the chip has, and says what they are.
    pub(in super::super) fn open(
        cupti: &'a Cupti,
        gpu: &'a DriverDevice,
        chip: &CStr,
        names: &[&str],
    ) -> Result<(Self, Vec<Metric>), CuptiError> {
        let availability = cupti.availability(gpu)?;
        let mut host = c::HostInitialize {
            profiler: 0,
            chip: chip.as_ptr(),
            availability: availability.as_ptr(),
            ..c::HostInitialize::new()
        };
        // SAFETY: chip and image outlive the call.
        unsafe {
            cupti.call("prepared figures", cupti.functions.host_initialize, &mut host)?;
        }
        let mut ranges = Self {
            cupti,
            _gpu: gpu,
            host: host.host,
            profiler: ptr::null_mut(),
            names: Vec::new(),
            config: Vec::new(),
            data: Vec::new(),
        };
        let metrics = ranges.choose(names)?;
        ranges.configure()?;
        ranges.enable(gpu)?;
        Ok((ranges, metrics))
    }

    /// Takes the figures that the chip has.
    fn choose(&mut self, names: &[&str]) -> Result<Vec<Metric>, CuptiError> {
        let mut metrics = Vec::new();
        for name in names.iter().filter_map(|name| CString::new(*name).ok()) {
            // Chips differ in what they have: a figure that one lacks is left out.
            let Ok(mut metric) = self.properties(&name) else { continue };
            if let Some(newer) = newer_name(&metric.description)
                && let Ok(newer) = CString::new(newer)
                && let Ok(newer) = self.properties(&newer)
            {
                metric.description = format!("{} {}", metric.description, newer.description);
            }
            let pointer = name.as_ptr();
            let mut added = c::AddMetrics {
                host: self.host,
                names: &raw const pointer,
                count: 1,
                ..c::AddMetrics::new()
            };
            let function = self.cupti.functions.add_metrics;
            // SAFETY: the host is open; the name outlives the call.
            if unsafe { self.cupti.call("chose a figure", function, &mut added) }.is_ok() {
                metrics.push(metric);
                self.names.push(name);
            }
        }
        if metrics.is_empty() {
            return Err(CuptiError::Unsupported { why: "the chip has none of the figures".into() });
        }
        Ok(metrics)
    }

    /// What CUPTI says of a figure.
    fn properties(&self, name: &CStr) -> Result<Metric, CuptiError> {
        let mut asked = c::MetricProperties {
            host: self.host,
            name: name.as_ptr(),
            ..c::MetricProperties::new()
        };
        let function = self.cupti.functions.metric_properties;
        // SAFETY: the host is open, and its texts stay until it is closed; the name outlives the call.
        unsafe {
            self.cupti.call("asked for a figure", function, &mut asked)?;
            Ok(Metric {
                name: name.to_string_lossy().into_owned(),
                unit: words(asked.unit),
                description: words(asked.description),
            })
        }
    }

    /// Has the passes worked out.
    fn configure(&mut self) -> Result<(), CuptiError> {
        let functions = &self.cupti.functions;
        let mut size = c::ConfigSize { host: self.host, ..c::ConfigSize::new() };
        // SAFETY: the host is open.
        unsafe { self.cupti.call("planned the passes", functions.config_size, &mut size) }?;
        self.config = vec![0; size.size];
        let mut config = c::Config {
            host: self.host,
            size: self.config.len(),
            image: self.config.as_mut_ptr(),
            ..c::Config::new()
        };
        // SAFETY: there is room for as many bytes as CUPTI has just said.
        unsafe { self.cupti.call("planned the passes", functions.config, &mut config) }
    }

    /// Takes hold of the counters.
    fn enable(&mut self, gpu: &DriverDevice) -> Result<(), CuptiError> {
        let functions = &self.cupti.functions;
        let mut enable = c::RangeEnable { context: gpu.context(), ..c::RangeEnable::new() };
        // SAFETY: the context is open.
        unsafe { self.cupti.call("took the counters", functions.range_enable, &mut enable) }?;
        self.profiler = enable.profiler;
        let pointers = self.pointers();
        let mut size = c::RangeDataSize {
            profiler: self.profiler,
            names: pointers.as_ptr(),
            count: pointers.len(),
            ranges_max: 1,
            nodes_max: 1,
            ..c::RangeDataSize::new()
        };
        // SAFETY: the names outlive the call.
        unsafe { self.cupti.call("made room", functions.range_data_size, &mut size) }?;
        self.data = vec![0; size.size];
        let mut room = c::RangeDataInitialize {
            profiler: self.profiler,
            size: self.data.len(),
            image: self.data.as_mut_ptr(),
            ..c::RangeDataInitialize::new()
        };
        // SAFETY: there is room for as many bytes as CUPTI has just said.
        unsafe { self.cupti.call("made room", functions.range_data_initialize, &mut room) }?;
        let mut config = c::RangeSetConfig {
            profiler: self.profiler,
            config_size: self.config.len(),
            config: self.config.as_ptr(),
            data_size: self.data.len(),
            data: self.data.as_mut_ptr(),
            range: RANGE_OF_USER,
            replay: REPLAY_OF_USER,
            ranges_max: 1,
            levels: 1,
            level_min: 1,
            pass: 0,
            level_target: 1,
            ..c::RangeSetConfig::new()
        };
        // SAFETY: both images are kept until the profiler is given back, and never moved.
        unsafe { self.cupti.call("set the passes", functions.range_set_config, &mut config) }
    }

    fn pointers(&self) -> Vec<*const c_char> {
        self.names.iter().map(|name| name.as_ptr()).collect()
    }

    /// Begins a pass, and the range.
    pub(in super::super) fn start(&self) -> Result<(), CuptiError> {
        let functions = &self.cupti.functions;
        let mut start = c::RangeStart { profiler: self.profiler, ..c::RangeStart::new() };
        let mut push = c::RangePush {
            profiler: self.profiler,
            name: c"launch".as_ptr(),
            ..c::RangePush::new()
        };
        // SAFETY: the profiler is enabled; the name stays.
        unsafe {
            self.cupti.call("began a pass", functions.range_start, &mut start)?;
            self.cupti.call("began a range", functions.range_push, &mut push)
        }
    }

    /// Ends the range and the pass; whether it was the last.
    pub(in super::super) fn stop(&self) -> Result<bool, CuptiError> {
        let functions = &self.cupti.functions;
        let mut pop = c::RangePop { profiler: self.profiler, ..c::RangePop::new() };
        let mut stop = c::RangeStop { profiler: self.profiler, ..c::RangeStop::new() };
        // SAFETY: the profiler is enabled.
        unsafe {
            self.cupti.call("ended a range", functions.range_pop, &mut pop)?;
            self.cupti.call("ended a pass", functions.range_stop, &mut stop)?;
        }
        Ok(stop.all_submitted != 0)
    }

    /// The figures after the last pass, in the order in which they were said to be there.
    pub(in super::super) fn values(&mut self) -> Result<Vec<f64>, CuptiError> {
        let functions = &self.cupti.functions;
        let mut decode = c::RangeDecode { profiler: self.profiler, ..c::RangeDecode::new() };
        // SAFETY: the profiler is enabled.
        unsafe { self.cupti.call("read the counters", functions.range_decode, &mut decode) }?;
        if decode.dropped > 0 {
            return Err(CuptiError::Dropped { count: decode.dropped, what: "ranges" });
        }
        let mut info = c::RangeDataInfo {
            image: self.data.as_ptr(),
            size: self.data.len(),
            ..c::RangeDataInfo::new()
        };
        // SAFETY: the image outlives the call.
        unsafe { self.cupti.call("counted ranges", functions.range_data_info, &mut info) }?;
        if info.ranges != 1 {
            let what = format!("{} ranges in place of one", info.ranges);
            return Err(CuptiError::Unexpected { what });
        }
        let pointers = self.pointers();
        let mut values = vec![f64::NAN; pointers.len()];
        let mut evaluate = c::Evaluate {
            host: self.host,
            image: self.data.as_ptr(),
            size: self.data.len(),
            range: 0,
            names: pointers.as_ptr(),
            count: pointers.len(),
            values: values.as_mut_ptr(),
            ..c::Evaluate::new()
        };
        // SAFETY: names and image outlive the call; there is room for a value each.
        unsafe { self.cupti.call("worked figures out", functions.evaluate, &mut evaluate) }?;
        Ok(values)
    }
}

impl Drop for Ranges<'_> {
    fn drop(&mut self) {
        let functions = &self.cupti.functions;
        if !self.profiler.is_null() {
            let mut disable = c::RangeDisable { profiler: self.profiler, ..c::RangeDisable::new() };
            // SAFETY: the profiler is enabled, and given back once. What CUPTI says of it helps nobody.
            let _ = unsafe {
                self.cupti.call("gave the counters back", functions.range_disable, &mut disable)
            };
        }
        let mut close = c::HostDeinitialize { host: self.host, ..c::HostDeinitialize::new() };
        // SAFETY: the host is open, and closed once.
        let _ = unsafe { self.cupti.call("ended", functions.host_deinitialize, &mut close) };
    }
}

/// The name that a description gives in place of an old one.
fn newer_name(description: &str) -> Option<&str> {
    description.strip_prefix("[DEPRECATED: use ")?.split_once(" instead]").map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_lead_to_new_ones() {
        let old = "[DEPRECATED: use smsp__average_thread_inst_executed_per_inst_executed instead]";
        let new = "smsp__average_thread_inst_executed_per_inst_executed";
        assert_eq!(newer_name(old), Some(new));
        assert_eq!(newer_name("# of warp instructions executed"), None);
    }
}
