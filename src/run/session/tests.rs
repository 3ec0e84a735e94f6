//! Tests of the session with a device that is none.
