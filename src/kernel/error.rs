//! What can be wrong with a description, or with what is chosen of the catalogue.
//!
//! Input: nothing. Output: errors that name the file or the choice, and what to do.
/// Why a kernel cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The TOML does not parse, or has an unknown key; the message has line and key.
    #[error("{file}: {message}")]
    Toml {
        /// The file.
        file: String,
        /// toml's message with line, column and the line itself.
        message: String,
    },
    /// The description cannot be worked out.
    #[error("{file}: {message}")]
    Description {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// One of a kernel's two files is missing.
    #[error("{present} has no {missing} beside it")]
    Pair {
        /// The file there is.
        present: String,
        /// The file there is not.
        missing: String,
    },
    /// A folder or a file of it cannot be read.
    #[error("{path} cannot be read: {error}")]
    Folder {
        /// The folder or the file.
        path: String,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// There is no kernel and no family of this name.
    #[error("there is no kernel or family {name:?}; `lanescope list` shows all{hint}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Near matches, worded.
        hint: String,
    },
    /// The kernel has another name today.
    #[error("{name} is {to} with {parameters} today: `{to} -a {parameters}`")]
    Renamed {
        /// What was asked for.
        name: String,
        /// The kernel.
        to: String,
        /// The parameters that the name stood for.
        parameters: String,
    },
    /// The kernel has no such parameter.
    #[error("{kernel} has no parameter {name:?}; it has: {known}")]
    Parameter {
        /// The kernel.
        kernel: String,
        /// What was asked for.
        name: String,
        /// Its parameters.
        known: String,
    },
    /// The parameter does not take this value.
    #[error("{kernel}: {name} cannot be {value}; it takes: {known}")]
    ParameterValue {
        /// The kernel.
        kernel: String,
        /// The parameter.
        name: String,
        /// What was asked for.
        value: String,
        /// What it takes.
        known: String,
    },
    /// The parameters do not take these values together.
    #[error("{kernel}: {problem}")]
    Combination {
        /// The kernel.
        kernel: String,
        /// Which values, what goes together, and why.
        problem: String,
    },
}
