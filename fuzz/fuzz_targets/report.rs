//! Whatever record is read, a page and figures are made of it, in which nothing steers and every figure is a
//! number.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use lanescope::units::visible::is_hidden;
use lanescope::{chart, present, report, store};
use lanescope_fuzz::records::Base;
use libfuzzer_sys::fuzz_target;

static BASE: LazyLock<Base> = LazyLock::new(Base::new);

fuzz_target!(|data: &[u8]| {
    let text = BASE.changed(data);
    let Ok(run) = store::decode(&text, Path::new("fuzz.json")) else { return };
    let page = report::html(std::slice::from_ref(&run), &[]).expect("a page");
    let figures = chart::draw_all(&run).expect("figures");
    for text in figures.iter().map(|(_, svg)| svg).chain([&page]) {
        assert!(!text.contains(is_hidden) && !text.contains("NaN") && !text.contains(">inf"));
        assert!(!text.contains("<script"));
    }
    for (_, table) in present::tables(&run) {
        let _ = table.to_screen(Some(80));
    }
});
