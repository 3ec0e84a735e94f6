//! Why a shader cannot be used.
//!
//! Input: what naga or lanescope finds. Output: errors with file, line and naga's diagnostic; and the languages that naga
//! writes, which errors name.

/// Why a shader cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The text is no WGSL that naga knows; the message is naga's, with the place.
    #[error("{file} is not valid WGSL:\n{diagnostic}")]
    Parse {
        /// The file's name.
        file: String,
        /// naga's diagnostic against the original text.
        diagnostic: String,
    },
    /// The bytes are no SPIR-V.
    #[error("{file} is no SPIR-V that can be read: {message}")]
    SpirV {
        /// The file's name.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// SPIR-V holds something that naga cannot hold or does not read.
    #[error("{file}:{line}: lanescope cannot take {what}")]
    Unread {
        /// The source's file, or the module's where it names none.
        file: String,
        /// The line of the first such thing.
        line: u32,
        /// What it is, with its article where it has one.
        what: String,
    },
    /// An expression that is too long for naga, whose stages go down into it operator by operator.
    #[error(
        "{file}:{line}: the expression here has more than {max} operators, which naga cannot go \
         through; split it into several statements"
    )]
    Expression {
        /// The file's name.
        file: String,
        /// The line of the operator that is one too many.
        line: u32,
        /// The limit.
        max: u32,
    },
    /// Brackets are nested more deeply than naga goes.
    #[error(
        "{file}:{line}: brackets are nested {depth} deep here, more than naga goes; break it up"
    )]
    Nesting {
        /// The file's name.
        file: String,
        /// The line of the innermost bracket.
        line: u32,
        /// How many brackets are open there.
        depth: usize,
    },
    /// The module breaks a rule of WGSL.
    #[error("{file} does not validate:\n{diagnostic}")]
    Validate {
        /// The file's name.
        file: String,
        /// naga's diagnostic against the original text.
        diagnostic: String,
    },
    /// There is no such compute entry point.
    #[error("{file} has no compute entry point {name:?}; it has: {known}")]
    EntryPoint {
        /// The file's name.
        file: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// An override's value is missing or impossible.
    #[error("{file}: overrides: {message}")]
    Overrides {
        /// The file's name.
        file: String,
        /// What naga says.
        message: String,
    },
    /// Overrides that the entry point reads have no value.
    #[error("{file}:{line}: the shader gives no value to {names}")]
    OverridesMissing {
        /// The file's name.
        file: String,
        /// The line of the first.
        line: u32,
        /// Their names, worded.
        names: String,
    },
    /// A variable whose layout is not known.
    #[error("{file}:{line}: {name} holds {what}, which lanescope cannot fill")]
    Layout {
        /// The file's name.
        file: String,
        /// The line of the declaration.
        line: u32,
        /// The variable.
        name: String,
        /// What it is or holds.
        what: &'static str,
    },
    /// A texture or a sampler, for a back end that binds buffers alone.
    #[error(
        "{file}:{line}: {name}, bound at @group({group}) @binding({binding}), is {what}, which this \
         kind of device does not run: the simulator does, and a device through wgpu"
    )]
    OnlyBuffers {
        /// The file's name.
        file: String,
        /// The line of the declaration.
        line: u32,
        /// The variable.
        name: String,
        /// Its bind group.
        group: u32,
        /// Its binding.
        binding: u32,
        /// What kind of resource it is, with its article.
        what: &'static str,
    },
    /// A resource that lanescope cannot provide.
    #[error(
        "{file}:{line}: {name}, bound at @group({group}) @binding({binding}), is {what}, which \
         lanescope does not provide: buffers, textures and samplers can be bound; to profile the rest, \
         read one of those in its place"
    )]
    Resource {
        /// The file's name.
        file: String,
        /// The line of the declaration.
        line: u32,
        /// The variable.
        name: String,
        /// Its bind group.
        group: u32,
        /// Its binding.
        binding: u32,
        /// What kind of resource it is, with its article.
        what: &'static str,
    },
    /// One of naga's back-ends cannot write the module.
    #[error(
        "{file}:{line}: naga cannot write the entry point {entry:?} in {language}: {message}; \
         devices that take this language cannot run it"
    )]
    Emit {
        /// The file's name.
        file: String,
        /// The line of the entry point: back-ends tell no nearer place.
        line: u32,
        /// The entry point.
        entry: String,
        /// The language.
        language: TargetLanguage,
        /// What naga says.
        message: String,
    },
    /// naga itself failed.
    #[error("naga panicked while it {stage} {file}: {message}; please report it to naga")]
    Panicked {
        /// The file's name.
        file: String,
        /// What it was doing.
        stage: &'static str,
        /// The panic's message.
        message: String,
    },
}

/// A language that naga writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetLanguage {
    /// For Vulkan.
    SpirV,
    /// For Metal.
    Msl,
    /// For DX12.
    Hlsl,
    /// For browsers.
    Wgsl,
}

impl std::fmt::Display for TargetLanguage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::SpirV => "SPIR-V",
            Self::Msl => "MSL",
            Self::Hlsl => "HLSL",
            Self::Wgsl => "WGSL",
        })
    }
}
