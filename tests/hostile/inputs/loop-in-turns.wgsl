@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  var i = 0u;
  var k = 0u;
  loop { i += 1u; continuing { break if i >= 40000u; } }
  loop { k += 1u; continuing { break if k >= 40000u; } }
  o[id.x] = i + k;
}
