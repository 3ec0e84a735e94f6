@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  var sum = 0u;
  for (var i = 0u; i < 300u; i++) {
    var k = 0u;
    loop { k += 1u; sum += 1u; continuing { break if k >= 300u; } }
  }
  o[id.x] = sum;
}
