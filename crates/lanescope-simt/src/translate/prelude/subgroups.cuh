// Subgroups: values of other lanes.
// How these files are read: `mod.rs`.

//# lane_value
// The value that a lane of the mask has.
template <typename T> DEVICE T lane_value(u32 mask, T value, u32 lane) {
    return __shfl_sync(mask, value, i32(lane));
}
DEVICE bool lane_value(u32 mask, bool value, u32 lane) {
    return __shfl_sync(mask, i32(value), i32(lane)) != 0;
}
DEVICE i16 lane_value(u32 mask, i16 value, u32 lane) {
    return i16(__shfl_sync(mask, i32(value), i32(lane)));
}
DEVICE u16 lane_value(u32 mask, u16 value, u32 lane) {
    return u16(__shfl_sync(mask, u32(value), i32(lane)));
}

//# lane_value_half: f16, lane_value
DEVICE f16 lane_value(u32 mask, f16 value, u32 lane) {
    return f16_of_bits(lane_value(mask, value.bits, lane));
}

//# shuffle: lane_value
// A lane that is not active has nothing to give: the asking lane keeps its own value.
template <typename T> DEVICE T shuffle(u32 mask, T value, u32 source, u32 lane) {
    const bool active = source < 32u && (mask >> source & 1u) != 0u;
    return lane_value(mask, value, active ? source : lane);
}

//# index_of
DEVICE u32 index_of(u64 index) { return index > 0xffffffffull ? 0xffffffffu : u32(index); }
