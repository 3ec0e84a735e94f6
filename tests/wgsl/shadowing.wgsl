// Question: do names that hide others confuse lines or counts?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by the element's parity.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

const value = 100u;

fn shadow(value: u32) -> u32 {
    var sum = value;
    {
        let value = 2u * sum;
        sum += value;
        {
            var sum = value;
            sum += 1u;
            _ = sum;
        }
    }
    for (var value = 0u; value < 3u; value++) {
        let sum2 = sum;
        sum = sum2 + value;
    }
    return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var result = value;
    if (id.x % 2u == 0u) {
        let result2 = shadow(id.x);
        let value = result2 + 1u;
        result = value;
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = result + value;
    }
}
