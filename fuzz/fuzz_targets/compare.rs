//! Two records of any damage are compared.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use lanescope::{analyze, present, store};
use lanescope_fuzz::records::Base;
use libfuzzer_sys::fuzz_target;

static BASE: LazyLock<Base> = LazyLock::new(Base::new);

fuzz_target!(|data: &[u8]| {
    let (a, b) = data.split_at(data.len() / 2);
    let read = |data| store::decode(&BASE.changed(data), Path::new("fuzz.json"));
    if let (Ok(a), Ok(b)) = (read(a), read(b)) {
        let comparison = analyze::compare(&a, &b, false);
        let _ = present::comparison(&comparison).to_screen(Some(80));
    }
});
