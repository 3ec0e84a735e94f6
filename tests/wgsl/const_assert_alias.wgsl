// Question: do names for types and assertions leave the counts alone?
// Dispatch: one invocation a pair, 64 a workgroup. Divergence: pairs in the wrong order.
alias Word = u32;
alias Pair = vec2<Word>;
alias Pairs = array<Pair>;

const SIZE: Word = 64;
const HALF = SIZE / 2;
const_assert SIZE == 64;
const_assert(HALF < SIZE);

@group(0) @binding(0) var<storage, read_write> pairs: Pairs;

@compute @workgroup_size(SIZE)
fn main(@builtin(global_invocation_id) id: vec3<Word>) {
    const_assert HALF * 2 == SIZE;
    if (id.x >= arrayLength(&pairs)) {
        return;
    }
    let pair: Pair = pairs[id.x];
    if (pair.x > pair.y) {
        pairs[id.x] = pair.yx;
    }
}
