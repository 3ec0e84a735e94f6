// Question: are constants set, counted from and computed with?
// Dispatch: one invocation an element; the workgroup's size is an override. Divergence: by a constant.
@id(7) override ROUNDS: u32 = 5u;
override SIZE: u32 = 32u;
override FACTOR: f32 = 2.0;
override DOUBLE: u32 = ROUNDS * 2u;
override SIGNED: bool = false;
override OFFSET: i32 = -3;

var<workgroup> shared_sum: array<u32, SIZE>;

@group(0) @binding(0) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(SIZE)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    shared_sum[lane] = id.x;
    workgroupBarrier();
    var sum = 0u;
    for (var i = 0u; i < ROUNDS + id.x % DOUBLE; i++) {
        sum += shared_sum[(lane + i) % SIZE];
    }
    var result = i32(f32(sum) * FACTOR);
    if (SIGNED) {
        result = -result;
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = result + OFFSET;
    }
}
