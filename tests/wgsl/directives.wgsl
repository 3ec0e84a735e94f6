// Question: do directives of every kind, over several lines and with comments, load?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: the last subgroup.
enable f16, subgroups;
/* Some of these are features that naga
   /* has without being asked */ for. */
requires readonly_and_readwrite_storage_textures,
    packed_4x8_integer_dot_product;
requires unrestricted_pointer_parameters, pointer_composite_access;
diagnostic(off, derivative_uniformity);
diagnostic(info, subgroup_uniformity);

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&output)) {
        output[id.x] = dot4U8Packed(id.x, 0x01010101u) + subgroupMin(7u);
    }
}
