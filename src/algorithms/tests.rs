//! Tests that need no device: the shaders' texts. What needs one is in `tests/collectives/`.

use std::collections::BTreeMap;

use super::*;
use crate::kernel::{Catalogue, DeviceClass, SEED};
use crate::program::{Overrides, Parsed};
use crate::record::Value;

/// The text that the catalogue makes of a kernel for some parameters.
fn catalogues(kernel: &str, choices: &[(&str, String)]) -> String {
    let catalogue = Catalogue::embedded().unwrap();
    let value =
        |text: &String| text.parse().map_or_else(|_| Value::Name(text.clone()), Value::Integer);
    let chosen: BTreeMap<String, Value> =
        choices.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect();
    let kernel = catalogue.kernel(kernel).unwrap();
    kernel.launch(DeviceClass::Quick, &chosen, SEED).unwrap().source
}

#[test]
fn the_librarys_reduction_is_the_catalogues_for_every_type_and_operation() {
    let operations = [
        Operation::Add,
        Operation::Product,
        Operation::Max,
        Operation::Min,
        Operation::And,
        Operation::Or,
        Operation::Xor,
    ];
    let mut compared = 0;
    for element in [Element::F32, Element::U32, Element::I32] {
        for operation in operations {
            let tuning = ReduceTuning { workgroup_size: 512, items: 2, workgroups_max: 8 };
            let Ok(text) = reduce::shader(element, operation, tuning) else {
                assert_eq!(element, Element::F32, "{operation}");
                continue;
            };
            let choices = [
                ("type", element.to_string()),
                ("operation", operation.to_string()),
                ("workgroup_size", "512".to_owned()),
                ("items", "2".to_owned()),
            ];
            assert_eq!(text, catalogues("reduce/device", &choices), "{operation} of {element}");
            let parsed = Parsed::new("reduce.wgsl", &text).unwrap();
            parsed.resolve("main", &Overrides::new()).unwrap();
            compared += 1;
        }
    }
    assert_eq!(compared, 4 + 7 + 7);
}

#[test]
fn the_librarys_scan_is_the_catalogues_for_every_type_and_kind() {
    for element in [Element::F32, Element::U32, Element::I32] {
        for (kind, name) in [(ScanKind::Inclusive, "inclusive"), (ScanKind::Exclusive, "exclusive")]
        {
            let tuning = ScanTuning { workgroup_size: 128, items: 3, spins: 9 };
            let choices = [
                ("type", element.to_string()),
                ("kind", name.to_owned()),
                ("workgroup_size", "128".to_owned()),
                ("items", "3".to_owned()),
                ("spins", "9".to_owned()),
            ];
            let text = scan::shader(element, kind, tuning);
            assert_eq!(text, catalogues("scan/device", &choices), "{name} of {element}");
            Parsed::new("scan.wgsl", &text).unwrap();
        }
    }
}

#[test]
fn grids_hold_what_they_must_and_no_side_is_too_long() {
    for count in [0, 1, 65_535, 65_536, 131_071, 1 << 24] {
        let [x, y] = grid(count);
        assert!(u64::from(x) * u64::from(y) >= count && x <= 65_535 && y <= 65_535, "{count}");
        assert!(u64::from(x) * u64::from(y) < count + u64::from(y).max(2), "{count}: {x} × {y}");
    }
    assert_eq!(
        (padded_bytes(0), padded_bytes(1), padded_bytes(4), padded_bytes(5)),
        (0, 16, 16, 32)
    );
}

#[test]
fn scratch_memory_that_a_device_does_not_bind_is_refused() {
    use super::multisplit::Tuning;
    let small = wgpu::Limits {
        max_storage_buffer_binding_size: 512,
        max_buffer_size: 512,
        ..wgpu::Limits::default()
    };
    let refused = |limits: &wgpu::Limits, n, classes| {
        let tuning = Tuning::choose(limits, n, classes, true);
        tuning.check(limits, n, classes).err().map(|misfit| misfit.to_string())
    };
    assert!(refused(&small, 256, 17).is_some_and(|text| text.contains("bytes of scratch memory")));
    assert_eq!(refused(&wgpu::Limits::default(), 256, 17), None);
}
