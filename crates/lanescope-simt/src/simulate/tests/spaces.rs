//! Address spaces, layouts, 64-bit atomics, overrides, several dispatches.
//!
//! Input: bytes laid out by hand. Output: what naga's layout rules and WGSL say they hold.

use super::*;
use crate::program::Overrides;

/// Binds `output` of so many words, `input`, and immediates; runs every entry point in turn.
fn run_all(
    text: &str,
    overrides: &Overrides,
    workgroups: [u32; 3],
    output: usize,
    immediates: &[u32],
) -> Vec<u32> {
    let parsed = Parsed::new("test.wgsl", text).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = Memory::new();
    memory.bind(0, 0, &vec![0; output * 4]);
    memory.set_immediates(bytemuck::cast_slice(immediates));
    for entry in parsed.entry_points() {
        let program = parsed.clone().resolve(entry, overrides).unwrap();
        let compiled = Compiled::new(&program).unwrap();
        compiled.run(workgroups, &mut memory, &config(4)).unwrap();
    }
    let bytes = memory.bytes(0, 0).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn immediates_are_read_with_their_layout() {
    let text = "
        struct Given { first: u32, pair: vec2<f32>, numbers: array<u32, 3>, last: vec3<u32> }
        var<immediate> given: Given;
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) {
            output[0] = given.first;
            output[1] = bitcast<u32>(given.pair.y);
            output[2] = given.numbers[i + 2u];
            output[3] = given.last[i + 1u];
            output[4] = given.numbers[i + 3u];
        }";
    // first at 0, pair at 8, numbers at 16, last at 32 to 44; the whole is 48 bytes.
    let words: Vec<u32> = (100..112).collect();
    let output = run_all(text, &Overrides::new(), [1, 1, 1], 5, &words);
    assert_eq!(output, [100, 103, 106, 109, 0]);
    let compiled = Compiled::new(&program(text)).unwrap();
    let mut memory = Memory::new();
    memory.bind(0, 0, &[0; 20]);
    memory.set_immediates(&[0; 8]);
    let refused = compiled.run([1, 1, 1], &mut memory, &config(4)).unwrap_err().to_string();
    assert!(refused.contains("immediate data has 8 bytes") && refused.contains("48"), "{refused}");
}

#[test]
fn half_floats_lie_two_bytes_apart() {
    let text = "
        enable f16;
        struct Part { a: f16, v: vec3<f16>, m: mat3x2<f16>, n: mat2x3<f16>, b: f16 }
        struct All { head: array<f16, 3>, parts: array<Part, 2>, tail: array<f16> }
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @group(0) @binding(1) var<storage, read_write> all: All;
        @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) {
            let k = i + 1u;
            let part = all.parts[k];
            output[0] = bitcast<u32>(f32(all.head[k]));
            output[1] = bitcast<u32>(f32(part.a));
            output[2] = bitcast<u32>(f32(part.v.z));
            output[3] = bitcast<u32>(f32(part.m[k + 1u].y));
            output[4] = bitcast<u32>(f32(part.n[k][i]));
            output[5] = bitcast<u32>(f32(part.b));
            output[6] = arrayLength(&all.tail);
            output[7] = bitcast<u32>(f32(all.tail[k]));
            all.parts[i].v.y = 7.0h;
            all.parts[0] = Part(all.parts[i].v.y, part.v, part.m, part.n, part.b);
            output[8] = bitcast<u32>(f32(all.parts[i].a + all.parts[0].v.x));
            all.tail[i] = -1.0h;
        }";
    // Part: a at 0, v at 8, m at 16 (columns of 4 bytes), n at 28 → 32 (columns of 8), b at 48; 56
    // bytes. All: head 0 to 6, parts at 8, tail at 120. Each f16 holds its own number of halves.
    let halves = 64;
    let words: Vec<u32> = (0..halves / 2)
        .map(|word: u16| {
            let bits = |half: u16| u32::from(half::f16::from_f32(f32::from(half)).to_bits());
            bits(2 * word) | bits(2 * word + 1) << 16
        })
        .collect();
    let (output, ..) = run(text, [1, 1, 1], 9, &words, &config(4)).unwrap();
    let at = |byte: u16| f32::from(byte / 2).to_bits();
    let part = 8 + 56;
    let expected = [
        at(2),
        at(part),
        at(part + 8 + 4),
        at(part + 16 + 8 + 2),
        at(part + 32 + 8),
        at(part + 48),
        4,
        at(120 + 2),
        (7.0 + f32::from((part + 8) / 2)).to_bits(),
    ];
    assert_eq!(output, expected);
}

#[test]
fn atomics_of_64_bits_of_every_kind() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        var<workgroup> a: array<atomic<u64>, 9>;
        var<workgroup> s: array<atomic<i64>, 2>;
        fn put(at: u32, value: u64) { output[at * 2u] = u32(value); output[at * 2u + 1u] = u32(value >> 32u); }
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            let big = 0x100000000lu;
            if i == 0u {
                atomicStore(&a[1], 100lu * big); atomicStore(&a[2], 0xfffffffffflu);
                atomicStore(&a[6], 50lu * big); atomicStore(&s[0], -1li);
            }
            workgroupBarrier();
            let w = u64(i);
            atomicAdd(&a[0], w * big + 1lu); atomicSub(&a[1], w * big);
            atomicAnd(&a[2], ~(1lu << (i + 32u))); atomicOr(&a[3], 1lu << (8u * i));
            atomicXor(&a[4], 3lu * big << i); atomicMax(&a[5], w * big);
            atomicMin(&a[6], (w + 3lu) * big); atomicMin(&s[0], -i64(i) * 0x100000000li);
            atomicMax(&s[1], i64(i) - 3li);
            let r = atomicCompareExchangeWeak(&a[7], w * big, (w + 1lu) * big);
            if !r.exchanged { atomicAdd(&a[8], r.old_value + 1lu); }
            let before = atomicExchange(&a[8], w);
            workgroupBarrier();
            if i < 8u { put(i, atomicLoad(&a[i])); }
            if i == 0u { put(8u, bitcast<u64>(atomicLoad(&s[0]))); put(9u, bitcast<u64>(atomicLoad(&s[1]))); }
            workgroupBarrier();
            if i == 7u { put(10u, before); }
        }";
    let big = 1_u64 << 32;
    let longs = [
        28 * big + 8,
        72 * big,
        0xffff_ffff,
        0x0101_0101_0101_0101,
        (0..8).fold(0, |x, i| x ^ (3 * big) << i),
        7 * big,
        3 * big,
        8 * big,
        (-7i64 << 32).cast_unsigned(),
        4,
        6,
    ];
    let words = longs.map(|long| [long & 0xffff_ffff, long >> 32]);
    let expected: Vec<u32> =
        words.as_flattened().iter().map(|&word| u32::try_from(word).unwrap()).collect();
    let (output, ..) = run(text, [1, 1, 1], expected.len(), &[0], &config(8)).unwrap();
    assert_eq!(output, expected);
}

#[test]
fn atomics_of_floats_add_subtract_and_exchange() {
    let text = "
        struct Sums { total: atomic<f32>, less: atomic<f32>, last: atomic<f32> }
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @group(0) @binding(1) var<storage, read_write> sums: Sums;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            let x = f32(i) + 0.1;
            let before = atomicAdd(&sums.total, x);
            atomicSub(&sums.less, x);
            let other = atomicExchange(&sums.last, x);
            output[i] = bitcast<u32>(before);
            output[8u + i] = bitcast<u32>(other);
            if i == 7u { output[16] = bitcast<u32>(atomicLoad(&sums.less)); }
        }";
    let value = |i: u8| f32::from(i) + 0.1;
    let sums = |start: f32, sign: f32| {
        (0..8).scan(start, move |sum, i| {
            let before = *sum;
            *sum += sign * value(i);
            Some((before, *sum))
        })
    };
    let mut expected: Vec<u32> = sums(0.0, 1.0).map(|(before, _)| before.to_bits()).collect();
    expected.push(0);
    expected.extend((0..7).map(|i| value(i).to_bits()));
    expected.push(sums(0.0, -1.0).last().unwrap().1.to_bits());
    let (output, ..) = run(text, [1, 1, 1], 17, &[0; 3], &config(8)).unwrap();
    assert_eq!(output, expected);
}

#[test]
fn compare_exchange_says_what_was_there_and_whether_it_changed() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        var<workgroup> turn: atomic<u32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
            // Lanes go from the lowest up: 0 finds 0 and writes 1, 1 finds 1 and fails, 2 writes 3.
            let r = atomicCompareExchangeWeak(&turn, i / 2u, i + 1u);
            output[i] = r.old_value * 10u + u32(r.exchanged);
            workgroupBarrier();
            if i == 3u { output[4] = atomicLoad(&turn); }
        }";
    // Expected values are 0, 0, 1, 1: lane 0 stores 1, lane 1 fails, lane 2 stores 3, lane 3 fails.
    let output = [1, 10, 11, 30, 3];
    check(&Case { text, width: 4, workgroups: [1, 1, 1], output: &output, counts: &[] });
}

#[test]
fn pointers_to_parts_write_where_they_point() {
    let text = "
        struct Inner { v: vec4<u32>, m: mat2x2<f32> }
        struct Outer { items: array<Inner, 3>, n: u32 }
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @group(0) @binding(1) var<storage, read_write> kept: array<Outer, 2>;
        var<private> own: Outer;
        var<workgroup> ours: array<vec2<u32>, 4>;
        fn bump(p: ptr<function, Inner>, k: u32) { (*p).v[k] += 5u; (*p).m[k % 2u].y = 2.5; }
        fn twice(p: ptr<private, u32>) { *p *= 2u; }
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
            var local = array<Inner, 2>();
            let p = &local[i % 2u];
            bump(p, i);
            let q = &(*p).v;
            (*q).w += 100u + (*q)[i];
            output[i] = local[i % 2u].v[i] + local[i % 2u].v.w * 10u + u32(local[i % 2u].m[i % 2u].y * 2.0);
            own.n = i + 1u;
            twice(&own.n);
            let item = &own.items[i % 3u];
            (*item).v = vec4(i);
            (*item).v.y = own.n;
            output[4u + i] = own.items[i % 3u].v.y * 10u + own.items[i % 3u].v.z + own.items[(i + 1u) % 3u].v.x;
            let shared_pair = &ours[3u - i];
            (*shared_pair).y = i * 7u;
            workgroupBarrier();
            output[8u + i] = ours[i].y;
            let far = &kept[1].items[i % 3u];
            (*far).v[3] = i + 40u;
            let column = &(*far).m[1];
            (*column)[i % 2u] = f32(i);
        }";
    // Inner is 32 bytes, Outer 112: items at 0, 32, 64, n at 96.
    let program = program(text);
    let compiled = Compiled::new(&program).unwrap();
    let mut memory = Memory::new();
    memory.bind(0, 0, &[0; 48]);
    memory.bind(0, 1, &[0; 224]);
    compiled.run([1, 1, 1], &mut memory, &config(4)).unwrap();
    let words = |binding| -> Vec<u32> {
        let bytes = memory.bytes(0, binding).unwrap();
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    };
    let local = |i: u32| {
        // v[i] = 5; then w gets 100 + v[i] more, which for i = 3 is w itself.
        let w = if i == 3 { 5 + 105 } else { 105 };
        let expected = if i == 3 { w } else { 5 };
        expected + 10 * w + 5
    };
    let mut expected: Vec<u32> = (0..4).map(local).collect();
    expected.extend((0..4).map(|i| (i + 1) * 2 * 10 + i));
    expected.extend((0..4).map(|i| (3 - i) * 7));
    assert_eq!(words(0), expected);
    let mut kept = vec![0; 56];
    for i in 0..4_u32 {
        let inner = 28 + 8 * (i as usize % 3);
        kept[inner + 3] = i + 40;
        kept[inner + 6 + i as usize % 2] = f32::from(u8::try_from(i).unwrap()).to_bits();
    }
    assert_eq!(words(1), kept);
}

#[test]
fn overrides_set_the_workgroups_size_and_constants() {
    let text = "
        override size: u32 = 4u;
        @id(7) override factor: i32 = 3;
        override twice: u32 = size * 2u;
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(size) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
            output[g.x] = u32(i32(g.x) * factor) + twice * 1000u;
        }";
    let run = |values: &[(&str, f64)], size: u32, factor: u32| {
        let overrides: Overrides =
            values.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let output = run_all(text, &overrides, [2, 1, 1], 20, &[]);
        let expected: Vec<u32> =
            (0..20).map(|i| if i < 2 * size { i * factor + 2000 * size } else { 0 }).collect();
        assert_eq!(output, expected, "{values:?}");
    };
    run(&[], 4, 3);
    run(&[("size", 10.0)], 10, 3);
    run(&[("size", 7.0), ("7", 5.0)], 7, 5);
}

#[test]
fn several_dispatches_share_their_buffers() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(4) fn first(@builtin(global_invocation_id) g: vec3<u32>) { output[g.x] = g.x + 1u; }
        @compute @workgroup_size(8) fn second(@builtin(global_invocation_id) g: vec3<u32>) {
            if g.x < 8u { output[g.x] *= output[(g.x + 1u) % 8u + 8u]; }
        }
        @compute @workgroup_size(1) fn third(@builtin(global_invocation_id) g: vec3<u32>) { output[g.x] += 1000u; }";
    let output = run_all(text, &Overrides::new(), [4, 1, 1], 16, &[]);
    let expected: Vec<u32> = (0..16)
        .map(|i| {
            let first = |i: u32| i + 1;
            let second = if i < 8 { first(i) * first((i + 1) % 8 + 8) } else { first(i) };
            if i < 4 { second + 1000 } else { second }
        })
        .collect();
    assert_eq!(output, expected);
}
