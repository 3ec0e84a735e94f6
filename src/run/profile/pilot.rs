//! How large an n a shader can afford, where nobody says it.
//!
//! Input: requests whose n is lanescope's choice. Output: a launch that the simulator runs in a few
//! seconds. A shader whose every invocation walks all elements has n² work: with 65,536 elements the
//! simulator would run for minutes, and a slow device past its time limit.

use super::{ELEMENTS, Prepared, ProfileError, ProfileRequest, prepare};
use crate::record::Value;
use crate::run::RunErrorKind;
use crate::run::simulator::SimulatorRunner;
use crate::units::Width;

/// The most operations of simulated subgroups of 32 lanes that a launch may take.
pub const STEPS_MAX: u64 = 1 << 25;

/// The fewest elements that are tried.
const ELEMENTS_MIN: u64 = 1024;

/// Workgroups of each dispatch that are run to estimate the whole.
const WORKGROUPS: u64 = 2;

/// Operations of a subgroup in the estimate, over which the launch is taken to be too large.
const PILOT_STEPS_MAX: u64 = 1 << 19;

/// Bytes of the buffers in the estimate at most; a launch of more is as large as somebody asked for.
const PILOT_MEMORY_BYTES_MAX: u64 = 512 << 20;

/// Prepares a launch and, where n is lanescope's choice, quarters n until the simulator can afford
/// it. The choice depends on the shader and the launch file alone.
///
/// # Errors
///
/// As [`prepare`].
pub fn prepare_affordable(
    request: &ProfileRequest,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Prepared, ProfileError> {
    let mut prepared = prepare(request, read)?;
    let pilot = |width| {
        SimulatorRunner::new(width, PILOT_STEPS_MAX).memory_bytes_max(PILOT_MEMORY_BYTES_MAX)
    };
    let Some(simulator) = Width::new(32).ok().map(pilot) else {
        return Ok(prepared);
    };
    while prepared.n_is_default {
        let n = match prepared.launch.parameters.get(super::SIZE) {
            Some(Value::Integer(n)) => u64::try_from(*n).unwrap_or(ELEMENTS),
            _ => ELEMENTS,
        };
        let expensive = match simulator.steps(&prepared.launch, WORKGROUPS) {
            Ok(steps) => steps > STEPS_MAX,
            // What else can go wrong is reported when the launch is run.
            Err(error) => error.kind == RunErrorKind::StepLimit,
        };
        if !expensive || n <= ELEMENTS_MIN {
            break;
        }
        let n = (n / 4).max(ELEMENTS_MIN);
        let smaller = ProfileRequest { n: Some(n), ..request.clone() };
        prepared = Prepared { n_is_default: true, ..prepare(&smaller, read)? };
    }
    Ok(prepared)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each invocation walks all elements.
    const ALL: &str =
        "var s = 0.0; for (var i = 0u; i < arrayLength(&a); i++) { s += a[i]; } a[id.x] = s;";

    fn request(body: &str) -> ProfileRequest {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<f32>;
             @compute @workgroup_size(64)
             fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {body} }}"
        );
        ProfileRequest {
            file: "t.wgsl".to_owned(),
            name: "t".to_owned(),
            source,
            spirv: None,
            description: None,
            entry_point: None,
            workgroups: None,
            n: None,
            seed: 1,
        }
    }

    fn launch(request: &ProfileRequest) -> crate::kernel::Launch {
        prepare_affordable(request, &mut |_| Err(String::new())).unwrap().launch
    }

    fn n(body: &str) -> Value {
        launch(&request(body)).parameters["n"].clone()
    }

    #[test]
    fn the_file_that_init_writes_holds_the_choice() {
        let request = request(ALL);
        let text = super::super::template::template(&request).unwrap();
        let description = crate::kernel::Description::parse("t.toml", &text).unwrap();
        let loaded = ProfileRequest {
            description: Some(("t.toml".to_owned(), description)),
            ..request.clone()
        };
        assert_eq!(launch(&loaded), launch(&request), "{text}");
    }

    #[test]
    fn quadratic_work_makes_n_smaller_and_an_endless_loop_least() {
        assert_eq!(n("a[id.x] = a[id.x] * 2.0;"), Value::Integer(65_536));
        let Value::Integer(chosen) = n(ALL) else { panic!("no integer") };
        assert!((1024..65_536).contains(&chosen), "{chosen}");
        assert_eq!(
            n("loop { a[id.x] += 1.0; if (a[id.x] < 0.0) { break; } }"),
            Value::Integer(1024)
        );
    }
}
