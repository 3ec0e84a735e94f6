//! CUPTI's SASS metrics: how often each machine instruction ran, and with how many lanes.
//!
//! Input: an open device, names of figures; the caller runs kernels. Output: the value of each figure
//! for each instruction of what ran since the last reading. CUPTI patches a kernel the first time that
//! it runs, and can be set up once in a process. Dropped records are an error. This is one of the
//! files that may hold `unsafe`: it calls C.

#![expect(unsafe_code, reason = "calls a C library that is loaded at run time")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};

use super::super::driver::DriverDevice;
use super::error::CuptiError;
use super::layout as c;
use super::layout::Parameters;
use super::library::{Cupti, Metric, words};

/// What one instruction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Record {
    /// The function's name.
    pub(in super::super) function: String,
    /// Where the instruction lies in it, in bytes.
    pub(in super::super) offset: u32,
    /// A value for each figure that was asked for, in that order.
    pub(in super::super) values: Vec<u64>,
}

/// Counting of instructions, until it is dropped.
pub(in super::super) struct Sass<'a> {
    cupti: &'a Cupti,
    gpu: &'a DriverDevice,
    device: u32,
    ids: Vec<u64>,
    enabled: bool,
}

impl<'a> Sass<'a> {
    /// Begins to count the figures `names` on device `number`, and says what they are.
    pub(in super::super) fn begin(
        cupti: &'a Cupti,
        gpu: &'a DriverDevice,
        number: usize,
        chip: &CStr,
        names: &[&str],
    ) -> Result<(Self, Vec<Metric>), CuptiError> {
        let mut metrics = Vec::new();
        let mut configs = Vec::new();
        for name in names.iter().filter_map(|name| CString::new(*name).ok()) {
            let mut asked = c::SassProperties {
                chip: chip.as_ptr(),
                name: name.as_ptr(),
                ..c::SassProperties::new()
            };
            // SAFETY: chip and name outlive the call.
            let description = unsafe {
                cupti.call("asked for a figure", cupti.functions.sass_properties, &mut asked)?;
                words(asked.metric.description)
            };
            let name = name.to_string_lossy().into_owned();
            // These figures come without a unit; each counts what its name ends in.
            metrics.push(Metric { name, unit: String::new(), description });
            // Granularity 0 sums over the whole GPU.
            configs.push(c::SassConfig { id: asked.metric.id, granularity: 0 });
        }
        let device = u32::try_from(number).unwrap_or(u32::MAX);
        let mut set = c::SassSetConfig {
            count: configs.len(),
            configs: configs.as_mut_ptr(),
            device,
            ..c::SassSetConfig::new()
        };
        // SAFETY: the list outlives the call.
        unsafe { cupti.call("chose figures", cupti.functions.sass_set_config, &mut set) }?;
        let ids = configs.iter().map(|config| config.id).collect();
        let mut sass = Self { cupti, gpu, device, ids, enabled: false };
        let mut enable = c::SassEnable { context: gpu.context(), lazy: 1, ..c::SassEnable::new() };
        // SAFETY: the context is open.
        unsafe { cupti.call("began to count", cupti.functions.sass_enable, &mut enable) }?;
        sass.enabled = true;
        Ok((sass, metrics))
    }

    /// What ran since the last reading, which the caller has waited for; in the order of functions
    /// and offsets.
    pub(in super::super) fn read(&self) -> Result<Vec<Record>, CuptiError> {
        let functions = &self.cupti.functions;
        let context = self.gpu.context();
        let mut there = c::SassDataProperties { context, ..c::SassDataProperties::new() };
        // SAFETY: the context is open.
        unsafe {
            self.cupti.call("asked for records", functions.sass_data_properties, &mut there)?;
        }
        let mut values = vec![c::SassValue::default(); there.records * there.instances];
        let mut data: Vec<c::SassData> = values
            .chunks_mut(there.instances.max(1))
            .map(|values| c::SassData {
                struct_size: size_of::<c::SassData>(),
                values: values.as_mut_ptr(),
                ..c::SassData::default()
            })
            .collect();
        if data.is_empty() {
            return Ok(Vec::new());
        }
        let mut flush = c::SassFlush {
            context,
            records: data.len(),
            instances: there.instances,
            data: data.as_mut_ptr(),
            ..c::SassFlush::new()
        };
        // SAFETY: there is room for as many records, and in each for as many values, as CUPTI said.
        unsafe { self.cupti.call("read records", functions.sass_flush, &mut flush) }?;
        let mut read = Vec::new();
        for (data, values) in data.iter().zip(values.chunks(there.instances.max(1))) {
            // SAFETY: CUPTI's names stay while it counts.
            let function = unsafe { words(data.function) };
            let pairs = values.iter().map(|value| (value.id, value.value));
            read.extend(pairs.map(|(id, value)| (function.clone(), data.offset, id, value)));
        }
        join(&self.ids, read)
    }

    /// Ends the counting; nothing may be left unread.
    pub(in super::super) fn end(mut self) -> Result<(), CuptiError> {
        self.enabled = false;
        let dropped = self.disable()?;
        if dropped > 0 {
            return Err(CuptiError::Dropped { count: dropped, what: "records of instructions" });
        }
        Ok(())
    }

    /// Stops counting; how many records were never read.
    fn disable(&self) -> Result<usize, CuptiError> {
        let mut disable = c::SassDisable { context: self.gpu.context(), ..c::SassDisable::new() };
        // SAFETY: the context is open.
        unsafe {
            self.cupti.call("stopped", self.cupti.functions.sass_disable, &mut disable)?;
        }
        Ok(disable.dropped)
    }
}

impl Drop for Sass<'_> {
    fn drop(&mut self) {
        // What CUPTI says of what is given back helps nobody.
        if self.enabled {
            let _ = self.disable();
        }
        let mut unset = c::SassUnsetConfig { device: self.device, ..c::SassUnsetConfig::new() };
        // SAFETY: there are no pointers.
        let _ =
            unsafe { self.cupti.call("ended", self.cupti.functions.sass_unset_config, &mut unset) };
    }
}

/// Puts the values of each instruction side by side in the order of `ids`; CUPTI gives a record for
/// each figure and instruction. A figure's parts, where there are several, are summed.
fn join(ids: &[u64], read: Vec<(String, u32, u64, u64)>) -> Result<Vec<Record>, CuptiError> {
    let mut instructions: BTreeMap<(String, u32), Vec<Option<u64>>> = BTreeMap::new();
    for (function, offset, id, value) in read {
        let Some(place) = ids.iter().position(|known| *known == id) else {
            let what = format!("a figure {id:x} that was not asked for");
            return Err(CuptiError::Unexpected { what });
        };
        let values = instructions.entry((function, offset)).or_insert(vec![None; ids.len()]);
        let sum = values[place].unwrap_or(0).checked_add(value);
        values[place] =
            Some(sum.ok_or_else(|| CuptiError::Unexpected {
                what: "a count beyond 64 bits".to_owned(),
            })?);
    }
    let record = |((function, offset), values): ((String, u32), Vec<Option<u64>>)| {
        let values: Option<Vec<u64>> = values.into_iter().collect();
        let values = values.ok_or_else(|| CuptiError::Unexpected {
            what: format!("only some of the figures of the instruction at {offset:#x}"),
        })?;
        Ok(Record { function, offset, values })
    };
    instructions.into_iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u32, id: u64, value: u64) -> (String, u32, u64, u64) {
        ("kernel".to_owned(), offset, id, value)
    }

    #[test]
    fn values_of_an_instruction_come_together_in_the_order_asked_for() {
        let read = vec![at(16, 7, 1), at(0, 7, 2), at(16, 5, 3), at(0, 5, 4), at(0, 5, 10)];
        let records = join(&[5, 7], read).unwrap();
        let found: Vec<(u32, Vec<u64>)> =
            records.into_iter().map(|record| (record.offset, record.values)).collect();
        assert_eq!(found, [(0, vec![14, 2]), (16, vec![3, 1])]);
    }

    #[test]
    fn what_is_missing_or_unknown_makes_all_invalid() {
        assert!(join(&[5, 7], vec![at(0, 5, 1)]).is_err());
        assert!(join(&[5], vec![at(0, 6, 1)]).is_err());
        assert!(join(&[5], vec![at(0, 5, u64::MAX), at(0, 5, 1)]).is_err());
    }
}
