//! Every subgroup and quad operation, against a model of the active lanes written here.
//!
//! Input: kernels that run one operation, with all lanes and with some. Output: the words of each
//! lane, worked out from the list of active lanes.

use super::*;

/// Lanes of a workgroup.
const LANES: usize = 24;

/// Runs `expression` (of `x`, lane value, in type `ty`) in lanes where `mask` has a bit, and
/// compares with what `model` says: it gets the values of the active lanes of a subgroup, with
/// their numbers, and the place among them.
fn check_operation(
    ty: &str,
    expression: &str,
    width: u32,
    mask: u32,
    model: impl Fn(&[(usize, u32)], usize) -> u32,
) {
    let text = format!(
        "enable f16; enable wgpu_int16;
         @group(0) @binding(0) var<storage, read_write> output: array<u32>;
         @compute @workgroup_size({LANES}) fn main(@builtin(local_invocation_index) i: u32) {{
             let x = {ty}(i % 5u + 1u);
             if ({mask}u >> i) % 2u == 1u {{ output[i] = u32({expression}); }}
         }}"
    );
    let (found, ..) = run(&text, [1, 1, 1], LANES, &[0], &config(width)).unwrap();
    let width = width as usize;
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
        let first = lane / width * width;
        let active: Vec<(usize, u32)> = (first..(first + width).min(LANES))
            .filter(|other| mask >> other & 1 == 1)
            .map(|other| (other - first, u32::try_from(other).unwrap() % 5 + 1))
            .collect();
        let place = active.iter().position(|&(number, _)| number == lane - first).unwrap();
        let expected = model(&active, place);
        assert_eq!(found[lane], expected, "{expression} of {ty}, width {width}, lane {lane}");
    }
}

/// Widths and masks: full and partial last subgroups, all lanes and few.
const SHAPES: [(u32, u32); 6] = [
    (4, 0xff_ffff),
    (8, 0x5a_3c97),
    (16, 0x80_0001),
    (16, 0xff_ffff),
    (32, 0x12_4aa5),
    (128, 0xff_ffff),
];

const INTEGERS: [&str; 6] = ["u32", "i32", "u64", "i64", "u16", "i16"];
const FLOATS: [&str; 3] = ["f32", "f64", "f16"];

fn values(active: &[(usize, u32)]) -> Vec<u32> {
    active.iter().map(|lane| lane.1).collect()
}

#[test]
fn sums_and_extremes_of_every_type() {
    for (width, mask) in SHAPES {
        for ty in INTEGERS.into_iter().chain(FLOATS) {
            let check = |name: &str, model: &dyn Fn(&[u32], usize) -> u32| {
                check_operation(ty, &format!("{name}(x)"), width, mask, |active, place| {
                    model(&values(active), place)
                });
            };
            check("subgroupAdd", &|all, _| all.iter().sum());
            check("subgroupInclusiveAdd", &|all, place| all[..=place].iter().sum());
            check("subgroupExclusiveAdd", &|all, place| all[..place].iter().sum());
            check("subgroupMin", &|all, _| all.iter().copied().min().unwrap());
            check("subgroupMax", &|all, _| all.iter().copied().max().unwrap());
        }
    }
}

#[test]
fn products_of_every_type() {
    // Lanes hold 1 or 2, so that products stay exact in every type.
    let product = |all: &[u32]| all.iter().map(|value| value % 2 + 1).product::<u32>();
    for (width, mask) in [(4, 0xff_ffff), (8, 0x5a_3c97), (16, 0x12_4aa5)] {
        for ty in INTEGERS.into_iter().chain(FLOATS) {
            let check = |name: &str, model: &dyn Fn(&[u32], usize) -> u32| {
                let expression = format!("{name}({ty}(u32(x) % 2u + 1u))");
                check_operation(ty, &expression, width, mask, |active, place| {
                    model(&values(active), place)
                });
            };
            check("subgroupMul", &|all, _| product(all));
            check("subgroupInclusiveMul", &|all, place| product(&all[..=place]));
            check("subgroupExclusiveMul", &|all, place| product(&all[..place]));
        }
    }
}

#[test]
fn bits_and_votes() {
    for (width, mask) in SHAPES {
        // naga takes bitwise operations of 32 and 64 bits only.
        for ty in &INTEGERS[..4] {
            let check = |name: &str, fold: fn(u32, u32) -> u32| {
                check_operation(ty, &format!("{name}(x)"), width, mask, |active, _| {
                    values(active).into_iter().reduce(fold).unwrap()
                });
            };
            check("subgroupAnd", |a, b| a & b);
            check("subgroupOr", |a, b| a | b);
            check("subgroupXor", |a, b| a ^ b);
        }
        check_operation("u32", "subgroupAll(x < 5u)", width, mask, |active, _| {
            u32::from(active.iter().all(|lane| lane.1 < 5))
        });
        check_operation("u32", "subgroupAny(x == 3u)", width, mask, |active, _| {
            u32::from(active.iter().any(|lane| lane.1 == 3))
        });
        for (word, name) in ["x", "y", "z", "w"].into_iter().enumerate() {
            let expression = format!("subgroupBallot(x != 2u).{name}");
            check_operation("u32", &expression, width, mask, |active, _| {
                let votes = active.iter().filter(|lane| lane.1 != 2 && lane.0 / 32 == word);
                votes.map(|lane| 1 << (lane.0 % 32)).sum()
            });
        }
    }
}

/// Checks an operation in which lane l of a subgroup reads lane `source(l)`; one that reads from an
/// inactive lane, or from outside, keeps its own value.
fn check_source(
    expression: &str,
    (width, mask): (u32, u32),
    source: impl Fn(usize) -> Option<usize>,
) {
    for ty in INTEGERS.into_iter().chain(FLOATS) {
        check_operation(ty, expression, width, mask, |active, place| {
            let source = source(active[place].0);
            let found = active.iter().find(|lane| Some(lane.0) == source);
            found.unwrap_or(&active[place]).1
        });
    }
}

#[test]
fn shuffles_and_broadcasts() {
    for shape in SHAPES {
        let lanes = shape.0 as usize;
        check_source("subgroupShuffle(x, 2u)", shape, |_| Some(2));
        check_source("subgroupBroadcast(x, 1u)", shape, |_| Some(1));
        let next = format!("subgroupShuffle(x, (i + 1u) % {lanes}u)");
        check_source(&next, shape, |lane| Some((lane + 1) % lanes));
        for amount in [1, 3, 7, 200] {
            let text = |name: &str| format!("{name}(x, {amount}u)");
            check_source(&text("subgroupShuffleXor"), shape, |lane| Some(lane ^ amount));
            check_source(&text("subgroupShuffleDown"), shape, |lane| Some(lane + amount));
            check_source(&text("subgroupShuffleUp"), shape, |lane| lane.checked_sub(amount));
        }
        check_operation("u32", "subgroupBroadcastFirst(x)", shape.0, shape.1, |active, _| {
            active[0].1
        });
    }
}

#[test]
fn quads_are_four_lanes_in_a_row() {
    for shape in SHAPES {
        for part in 0..4 {
            let text = format!("quadBroadcast(x, {part}u)");
            check_source(&text, shape, |lane| Some(lane / 4 * 4 + part));
        }
        check_source("quadSwapX(x)", shape, |lane| Some(lane / 2 * 2 + 1 - lane % 2));
        check_source("quadSwapY(x)", shape, |lane| Some(lane / 4 * 4 + (lane + 2) % 4));
        check_source("quadSwapDiagonal(x)", shape, |lane| Some(lane / 4 * 4 + 3 - lane % 4));
    }
}

#[test]
fn vectors_are_combined_component_by_component() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            let v = subgroupInclusiveAdd(vec3(i, 2u * i, 1u));
            let w = subgroupShuffleDown(vec2(i, 10u * i), 2u);
            let d = subgroupMax(vec2<f64>(f64(i), -f64(i)));
            let q = quadSwapX(vec4<u64>(u64(i)));
            output[i] = v.x + 100u * v.y + 100000u * v.z + w.y * 1000000u;
            output[i + 8u] = u32(d.x - d.y) + 100u * u32(q.w);
        }";
    let sum = |i: u32| i * (i + 1) / 2;
    let last = |i: u32| if i < 6 { i + 2 } else { i };
    let mut output: Vec<u32> =
        (0..8).map(|i| sum(i) + 200 * sum(i) + 100_000 * (i + 1) + 10_000_000 * last(i)).collect();
    // The greatest lane is 7, the greatest negated one 0.
    output.extend((0..8).map(|i: u32| 7 + 100 * (i ^ 1)));
    check(&Case { text, width: 8, workgroups: [1, 1, 1], output: &output, counts: &[] });
}

#[test]
fn the_built_in_values_say_where_a_lane_is() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(20) fn main(
            @builtin(local_invocation_index) i: u32,
            @builtin(subgroup_invocation_id) lane: u32,
            @builtin(subgroup_id) subgroup: u32,
            @builtin(subgroup_size) size: u32,
            @builtin(num_subgroups) count: u32,
        ) {
            output[i] = lane + 100u * subgroup + 10000u * size + 10000000u * count;
        }";
    for width in [1, 4, 8, 16, 32] {
        let output: Vec<u32> = (0..20)
            .map(|i| {
                i % width + 100 * (i / width) + 10_000 * width + 10_000_000 * 20_u32.div_ceil(width)
            })
            .collect();
        check(&Case { text, width, workgroups: [1, 1, 1], output: &output, counts: &[] });
    }
}

#[test]
fn workgroups_of_three_dimensions_number_their_invocations() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(2, 3, 2) fn main(
            @builtin(local_invocation_id) l: vec3<u32>,
            @builtin(local_invocation_index) i: u32,
            @builtin(global_invocation_id) g: vec3<u32>,
            @builtin(workgroup_id) w: vec3<u32>,
            @builtin(num_workgroups) n: vec3<u32>,
        ) {
            let group = w.x + n.x * (w.y + n.y * w.z);
            output[group * 12u + i] = l.x + 10u * l.y + 100u * l.z
                + 1000u * g.x + 10000u * g.y + 100000u * g.z;
        }";
    let mut output = Vec::new();
    for (z, y, x) in [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)] {
        for (lz, ly, lx) in (0..12).map(|i| (i / 6, i / 2 % 3, i % 2)) {
            let global = [2 * x + lx, 3 * y + ly, 2 * z + lz];
            output.push(
                lx + 10 * ly
                    + 100 * lz
                    + 1000 * global[0]
                    + 10_000 * global[1]
                    + 100_000 * global[2],
            );
        }
    }
    for width in [4, 32] {
        check(&Case { text, width, workgroups: [2, 1, 2], output: &output, counts: &[] });
    }
}
