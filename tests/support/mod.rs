//! What the tests share.

pub(crate) mod agreement;
pub(crate) mod bounded;
pub(crate) mod drivers;
pub(crate) mod growth;
pub(crate) mod hostile;
pub(crate) mod model;
pub(crate) mod program;
pub(crate) mod random_program;
pub(crate) mod side_by_side;
