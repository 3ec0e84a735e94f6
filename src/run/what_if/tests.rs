//! Trials against edits of the shader.
