//! Tests that need no device and no catalogue: grids, lengths and limits.

use super::scan::ScanHook;
use super::*;

#[test]
fn each_hook_of_the_scan_stands_in_its_text_once() {
    let tuning = ScanTuning { workgroup_size: 128, items: 3, spins: 9 };
    let text = Scan::shader(Element::U32, ScanKind::Inclusive, tuning);
    let loads = [ScanHook::LoadWhole, ScanHook::Load];
    for hook in loads.into_iter().chain([ScanHook::BeforePublishing, ScanHook::Write]) {
        assert_eq!(text.matches(hook.text()).count(), 1, "{hook:?}");
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
    use crate::multisplit::Tuning;
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
