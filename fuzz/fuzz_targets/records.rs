//! Any record is read, or refused with an error that says where; what was read is written and read again
//! as the same.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use lanescope::store;
use lanescope_fuzz::records::Base;
use libfuzzer_sys::fuzz_target;

static BASE: LazyLock<Base> = LazyLock::new(Base::new);

fuzz_target!(|data: &[u8]| {
    let path = Path::new("fuzz.json");
    for text in [data, &BASE.changed(data)] {
        match store::decode(text, path) {
            Ok(run) => {
                let again = store::encode(&run, path).expect("what was read is written");
                let read = store::decode(&again, path).expect("what was written is read");
                assert_eq!(run, read);
            }
            Err(error) => assert!(error.to_string().contains("fuzz.json"), "{error}"),
        }
    }
});
