// Question: what do lists of different lengths cost?
// Dispatch: one invocation a list, 64 a workgroup. Divergence: lists end after different lengths.
struct Item {
    next: u32,
    value: u32,
}

@group(0) @binding(0) var<storage, read> items: array<Item>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&sums)) {
        return;
    }
    var at = id.x % arrayLength(&items);
    var sum = 0u;
    // The list ends at an item whose value is a multiple of eight, or after 50 items.
    for (var i = 0u; i < 50u; i++) {
        let item = items[at];
        sum += item.value;
        if (item.value % 8u == 0u) {
            break;
        }
        at = item.next % arrayLength(&items);
    }
    sums[id.x] = sum;
}
