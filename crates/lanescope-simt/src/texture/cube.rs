//! Cubes: which face a direction meets and where, and what lies beyond a face's edge.
//!
//! Input: directions, or texels of a face. Output: a face, from 0 (+x, −x, +y, −y, +z, −z), and places on
//! it, from Vulkan's table of cube map faces
//! (<https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#_cube_map_face_selection_and_transformations>).

/// The face that a direction meets, and the place on it, from 0 to 1. Of equal components z comes before
/// y, and y before x.
pub(super) fn face(direction: [f32; 3]) -> (u32, [f32; 2]) {
    let [x, y, z] = direction;
    let [ax, ay, az] = direction.map(f32::abs);
    let (face, s, t, major) = if az >= ax && az >= ay {
        if z >= 0.0 { (4, x, -y, az) } else { (5, -x, -y, az) }
    } else if ay >= ax {
        if y >= 0.0 { (2, x, z, ay) } else { (3, x, -z, ay) }
    } else if x >= 0.0 {
        (0, -z, -y, ax)
    } else {
        (1, z, -y, ax)
    };
    (face, [s, t].map(|at| 0.5 * (at / major) + 0.5))
}

/// The direction from the centre to a place on a face; places are from −1 to 1.
pub(super) fn direction(face: u32, s: f32, t: f32) -> [f32; 3] {
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// The texel that lies at `at`, at most one texel beyond the edges of `face`: the face and the texel of
/// its neighbour; nothing at a corner, where three faces meet and no fourth texel is.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "texels of a face are few"
)]
pub(super) fn beyond(face: u32, at: [i64; 2], size: u32) -> Option<(u32, [i64; 2])> {
    let size = i64::from(size);
    let outside = at.map(|at| !(0..size).contains(&at));
    match outside {
        [false, false] => return Some((face, at)),
        [true, true] => return None,
        [_, _] => {}
    }
    let [s, t] = at.map(|at| (2 * at + 1 - size) as f32 / size as f32);
    let (face, place) = self::face(direction(face, s, t));
    Some((face, place.map(|place| ((place * size as f32).floor() as i64).clamp(0, size - 1))))
}

/// How fast the place on the face of `at` changes where the direction changes by `change`: in places from 0 to
/// 1.
pub(super) fn change(at: [f32; 3], change: [f32; 3]) -> [f32; 2] {
    let (face, _) = face(at);
    // On the face of the direction itself, whatever the changed one would meet.
    let part = |v: [f32; 3]| {
        let [x, y, z] = v;
        match face {
            0 => ([-z, -y], x),
            1 => ([z, -y], -x),
            2 => ([x, z], y),
            3 => ([x, -z], -y),
            4 => ([x, -y], z),
            _ => ([-x, -y], -z),
        }
    };
    let ((place, major), (changed, major_changed)) = (part(at), part(change));
    [0, 1].map(|k| 0.5 * (changed[k] * major - place[k] * major_changed) / (major * major))
}
