//! The texts that the algorithms run are those of the catalogue.

use std::collections::BTreeMap;

use crate::algorithms::{Element, Operation, Reduce, ReduceTuning, Scan, ScanKind, ScanTuning};
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
            let Ok(text) = Reduce::shader(element, operation, tuning) else {
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
            let text = Scan::shader(element, kind, tuning);
            assert_eq!(text, catalogues("scan/device", &choices), "{name} of {element}");
            Parsed::new("scan.wgsl", &text).unwrap();
        }
    }
}
