// Question: how do lanes part on their way through a tree with a stack?
// Dispatch: one invocation a query, 32 a workgroup. Divergence: each query visits its own nodes.
@group(0) @binding(0) var<storage, read> queries: array<u32>;
@group(0) @binding(1) var<storage, read_write> visited: array<u32>;

const LEAVES = 64u;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&visited) || id.x >= arrayLength(&queries)) {
        return;
    }
    // A node k covers leaves; its children are 2k and 2k + 1, as in a heap.
    let low = queries[id.x] % LEAVES;
    let high = min(low + queries[id.x] % 9u, LEAVES - 1u);
    var stack: array<u32, 16>;
    var depth = 1u;
    stack[0] = 1u;
    var count = 0u;
    while (depth > 0u) {
        depth--;
        let node = stack[depth];
        count++;
        let level = firstLeadingBit(node);
        let span = LEAVES >> level;
        let first = (node - (1u << level)) * span;
        if (first > high || first + span - 1u < low) {
            continue;
        }
        if (span == 1u) {
            continue;
        }
        stack[depth] = 2u * node;
        stack[depth + 1u] = 2u * node + 1u;
        depth += 2u;
    }
    visited[id.x] = count;
}
