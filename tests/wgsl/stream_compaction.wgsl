// Question: what does keeping some elements cost, with places from a scan in the workgroup?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: elements that are dropped.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> kept: array<u32>;

var<workgroup> flags: array<u32, 64>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let inside = id.x < min(arrayLength(&input), arrayLength(&kept));
    var value = 0u;
    if (inside) {
        value = input[id.x];
    }
    let keep = inside && value % 3u == 1u;
    flags[lane] = u32(keep);
    workgroupBarrier();
    if (keep) {
        var place = 0u;
        for (var i = 0u; i < lane; i++) {
            place += flags[i];
        }
        kept[id.x - lane + place] = value;
    }
}
