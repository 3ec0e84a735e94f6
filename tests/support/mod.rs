//! What the tests share.

pub(crate) mod drivers;
pub(crate) mod model;
pub(crate) mod program;
pub(crate) mod side_by_side;
