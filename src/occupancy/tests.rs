//! Tests of the calculator: the article's worked example, the CUDA runtime's own answers, and the
//! table.

use super::*;

fn occupancy_of(name: &str, registers: u32, memory_bytes: u32, invocations: u32) -> Occupancy {
    let needs = Needs { registers, memory_bytes, invocations };
    occupancy(&architecture(name).unwrap(), &needs).unwrap()
}

fn limit(found: &Occupancy, resource: OccupancyResource) -> Option<u32> {
    found.limits.iter().find(|limit| limit.resource == resource).unwrap().workgroups
}

/// Claims `mastery-occ-walkthrough` and `-table`: an A100, 256 threads, 40 registers, 8 KiB. The article finds 5
/// blocks by shared memory and 62.5 %; its 48 KB are what a block may have by default, not what a
/// multiprocessor has, and 49,152 / 8,192 is 6.
#[test]
fn the_articles_worked_example_is_75_per_cent() {
    let found = occupancy_of("sm_80", 40, 8192, 256);
    assert_eq!(found.subgroups_per_workgroup, 8);
    assert_eq!(limit(&found, OccupancyResource::Registers), Some(6));
    assert_eq!(limit(&found, OccupancyResource::Memory), Some(18));
    assert_eq!(limit(&found, OccupancyResource::Workgroups), Some(32));
    assert_eq!(limit(&found, OccupancyResource::Subgroups), Some(8));
    assert_eq!((found.workgroups, found.subgroups), (6, 48));
    assert!((found.ratio.0 - 0.75).abs() < 1e-12);
    assert_eq!(found.limiting().collect::<Vec<_>>(), [OccupancyResource::Registers]);
}

/// Claims `mastery-version-ab` and `mastery-launch-bounds`: 64 registers leave half the subgroups, 32
/// all; two workgroups of 256 fit with 128 registers, as they do with up to 128 alone.
#[test]
fn registers_limit_as_the_articles_say() {
    assert!((occupancy_of("sm_80", 64, 0, 256).ratio.0 - 0.5).abs() < 1e-12);
    assert!((occupancy_of("sm_80", 32, 0, 256).ratio.0 - 1.0).abs() < 1e-12);
    assert_eq!(occupancy_of("sm_80", 128, 0, 256).workgroups, 2);
    assert_eq!(occupancy_of("sm_80", 129, 0, 256).workgroups, 1);
}

/// Claims `mastery-occ-limits` and `mastery-occupancy-50`: the A100 as claimed, with 32 of 64 warps half
/// full; and Turing, whose 32 warps lie outside the claimed 48 to 64.
#[test]
fn limits_are_as_claimed_but_for_turing() {
    let a100 = architecture("sm_80").unwrap();
    assert_eq!((a100.registers, a100.memory_bytes), (65_536, 164 << 10));
    assert_eq!((a100.workgroup_invocations_max, a100.workgroups, a100.subgroups), (1024, 32, 64));
    assert!((occupancy_of("sm_80", 64, 0, 1024).ratio.0 - 0.5).abs() < 1e-12);
    assert_eq!(occupancy_of("sm_80", 64, 0, 1024).subgroups, 32);
    assert_eq!(architecture("sm_75").unwrap().subgroups, 32);
}

/// Claim `mastery-block-sweep`: there are no registers and no workgroup memory that give its table of
/// blocks, 16, 8, 5, 3 and 2 for sizes from 64 to 1,024.
#[test]
fn no_needs_give_the_articles_table_of_block_sizes() {
    let published = [(64, 16), (128, 8), (256, 5), (512, 3), (1024, 2)];
    let a100 = architecture("sm_80").unwrap();
    for registers in (1..=255).step_by(2) {
        for memory_bytes in (0..=160).map(|kib| kib * 1024) {
            let matches = published.map(|(invocations, blocks)| {
                let found = occupancy(&a100, &Needs { registers, memory_bytes, invocations });
                found.is_ok_and(|found| found.workgroups == blocks)
            });
            assert!(matches.contains(&false), "{registers} registers, {memory_bytes} bytes");
        }
    }
}

#[test]
fn amd_gives_registers_by_simd_and_counts_no_single_waves() {
    // 84 registers are allocated as 96 on RDNA 3: 16 waves a SIMD, as 1536 / 96 has room for.
    assert_eq!(occupancy_of("gfx1100", 84, 0, 64).subgroups, 64);
    assert_eq!(occupancy_of("gfx1100", 120, 0, 64).subgroups, 48);
    // 128 on Vega: 256 / 128 is two waves a SIMD.
    assert_eq!(occupancy_of("gfx900", 128, 0, 256).subgroups, 8);
    assert_eq!(limit(&occupancy_of("gfx900", 16, 0, 64), OccupancyResource::Workgroups), None);
    assert_eq!(occupancy_of("gfx900", 16, 0, 64).workgroups, 40);
    assert_eq!(limit(&occupancy_of("gfx900", 16, 0, 128), OccupancyResource::Workgroups), Some(16));
    // As waves of 64 the same 84 registers are 84 of 768 a lane, 7 portions of 12: 9 waves a SIMD; on RDNA 2 they are 11
    // portions of 8 of 512: 5.
    assert_eq!(occupancy_of("gfx1100-wave64", 84, 0, 64).subgroups, 36);
    assert_eq!(occupancy_of("gfx1030-wave64", 84, 0, 64).subgroups, 20);
    // 64 KiB a compute unit: 20 KiB three times.
    assert_eq!(
        limit(&occupancy_of("gfx942", 16, 20 * 1024, 256), OccupancyResource::Memory),
        Some(3)
    );
}

#[test]
fn what_does_not_fit_is_refused_with_the_limit() {
    let a100 = architecture("sm_80").unwrap();
    let message = |registers, memory_bytes, invocations| {
        let needs = Needs { registers, memory_bytes, invocations };
        occupancy(&a100, &needs).unwrap_err().to_string()
    };
    assert!(message(32, 0, 2048).contains("at most 1024 invocations a workgroup"));
    assert!(message(256, 0, 32).contains("at most 255 registers"));
    assert!(message(32, 170_000, 32).contains("166912 bytes of workgroup memory"));
    assert!(message(100, 0, 1024).contains("at most 64 registers an invocation in workgroups"));
    let unknown = architecture("sm_1").unwrap_err().to_string();
    assert!(unknown.contains("sm_90") && unknown.contains("gfx1100"), "{unknown}");
}

#[test]
fn the_table_is_whole() {
    let head = LIMITS.split("[[architectures]]").next().unwrap();
    let all = architectures().unwrap();
    let mut names: Vec<&str> = all.iter().map(|limits| limits.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
    for limits in all {
        assert!(limits.subgroup_width().is_ok(), "{}", limits.name);
        assert!(limits.registers.is_multiple_of(limits.register_files * limits.registers_unit));
        assert!(limits.memory_per_workgroup_bytes_max <= limits.memory_bytes, "{}", limits.name);
        assert!(!limits.sources.is_empty(), "{}", limits.name);
        for source in &limits.sources {
            assert!(head.contains(&format!("#   {source} ")), "{}: {source}", limits.name);
        }
    }
}

#[test]
fn devices_are_known_by_their_drivers_names() {
    let name = |device: &str| of_device(device).unwrap().map(|limits| limits.name);
    assert_eq!(name("NVIDIA H200").as_deref(), Some("sm_90"));
    assert_eq!(name("NVIDIA A100-SXM4-80GB").as_deref(), Some("sm_80"));
    assert_eq!(name("NVIDIA A10").as_deref(), Some("sm_86"));
    assert_eq!(name("NVIDIA L40S").as_deref(), Some("sm_89"));
    assert_eq!(name("NVIDIA GeForce RTX 3090").as_deref(), Some("sm_86"));
    assert_eq!(name("NVIDIA GeForce RTX 4090").as_deref(), Some("sm_89"));
    assert_eq!(name("AMD Radeon RX 7900 XTX (RADV NAVI31)").as_deref(), Some("gfx1100"));
    assert_eq!(name("llvmpipe (LLVM 15.0.6, 256 bits)"), None);
    assert_eq!(name("Intel(R) Arc(tm) A770 Graphics"), None);
}

/// Four hundred answers of the CUDA runtime for an H200, made with `lab/benches/cuda_facts`.
#[test]
fn the_cuda_runtime_gives_the_same_numbers_of_blocks() {
    let hopper = architecture("sm_90").unwrap();
    let rows = include_str!("h200.csv").lines().filter(|line| !line.starts_with('#'));
    let mut compared = 0;
    for row in rows {
        let figures: Vec<u32> = row.split(',').map(|word| word.parse().unwrap()).collect();
        let [registers, memory_bytes, invocations, blocks] = figures[..] else { panic!("{row}") };
        let needs = Needs { registers, memory_bytes, invocations };
        // Where nothing fits the runtime says zero, and the calculator why.
        let found = occupancy(&hopper, &needs).map_or(0, |found| found.workgroups);
        assert_eq!(found, blocks, "{row}");
        compared += 1;
    }
    assert_eq!(compared, 400);
}

/// Forty answers of the CUDA runtime to which block size occupies an H200 best, made with
/// `lab/benches/cuda_facts`: of sizes that do equally well it takes the largest.
#[test]
fn the_cuda_runtime_proposes_the_same_block_sizes() {
    let hopper = architecture("sm_90").unwrap();
    let rows = include_str!("h200_block_sizes.csv").lines().filter(|line| !line.starts_with('#'));
    let mut compared = 0;
    for row in rows {
        let figures: Vec<u32> = row.split(',').map(|word| word.parse().unwrap()).collect();
        let [registers, memory_bytes, size, blocks] = figures[..] else { panic!("{row}") };
        let held = |invocations: u32| {
            let needs = Needs { registers, memory_bytes, invocations };
            let workgroups = occupancy(&hopper, &needs).map_or(0, |found| found.workgroups);
            (workgroups * invocations, invocations, workgroups)
        };
        let best = (1..=32).map(|warps| held(warps * 32)).max();
        let Some((_, found, workgroups)) = best else { panic!("{row}") };
        assert_eq!((found, workgroups * 132), (size, blocks), "{row}");
        compared += 1;
    }
    assert_eq!(compared, 40);
}
