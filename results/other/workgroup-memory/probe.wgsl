// How many workgroups with so much workgroup memory run on a core at a time? Each goes through a chain
// of 4000 loads that wait for each other, so 4096 of them take as many turns as do not fit at once.

// Words: KiB times 256.
override WORDS: u32 = 4096u;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

var<workgroup> pad: array<u32, WORDS>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) lane: u32) {
    for (var i = lane; i < WORDS; i += 32u) {
        pad[i] = (i + 32u) % WORDS;
    }
    workgroupBarrier();
    var at = lane;
    for (var i = 0u; i < 4000u; i++) {
        at = pad[at];
    }
    if (at == 0xffffffffu) {
        out[0] = at;
    }
}
