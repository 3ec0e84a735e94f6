//! How large an n a shader can afford, and how many elements an invocation takes, where nobody says it.
//!
//! Input: requests whose n, or grid, is lanescope's choice. Output: a launch that the simulator runs in a few
//! seconds, and that stays within its buffers where fewer invocations make it. A shader whose every invocation walks all elements has n² work: with 65,536 elements the
//! simulator would run for minutes, and a slow device past its time limit.

use super::{ELEMENTS, Prepared, ProfileError, ProfileRequest, describe, prepare};
use crate::kernel::Description;
use crate::record::{Flag, Method, Tag, Value};
use crate::run::simulator::SimulatorRunner;
use crate::run::{CountRequest, RunErrorKind, Runner as _};
use crate::units::Width;

/// The most operations of simulated subgroups of 32 lanes that a launch may take.
pub const STEPS_MAX: u64 = 1 << 25;

/// The fewest elements that are tried.
const ELEMENTS_MIN: u64 = 1024;

/// Workgroups of each dispatch that are run to estimate the whole.
const WORKGROUPS: u64 = 2;

/// Operations of a subgroup in the estimate, over which the launch is taken to be too large.
const PILOT_STEPS_MAX: u64 = 1 << 19;

/// The most elements that an invocation is taken to take, and workgroups of the launch by which that is found out.
const EACH_MAX: u32 = 8;

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
    let pilot = |width| {
        SimulatorRunner::new(width, PILOT_STEPS_MAX).memory_bytes_max(PILOT_MEMORY_BYTES_MAX)
    };
    let Some(mut simulator) = Width::new(32).ok().map(pilot) else {
        return prepare(request, read);
    };
    let mut request = request.clone();
    let mut prepared = prepare(&request, read)?;
    let each = elements_each(&request, &prepared, &mut simulator, read);
    if each > 1 {
        let mut description = match &request.description {
            Some((_, description)) => description.clone(),
            None => Description::parse(&request.file, "")?,
        };
        let interface = prepared.interfaces.iter().take(1);
        description
            .dispatches
            .extend(interface.map(|interface| describe::dispatch_each(interface, each)));
        request.description = Some((request.file.clone(), description));
        prepared = prepare(&request, read)?;
    }
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

/// How many elements each invocation takes, where the grid is lanescope's choice: of 1, 2, 4 and 8 the least with which a
/// launch of a few workgroups stays within its buffers, and with a workgroup more does not; else 1.
fn elements_each(
    request: &ProfileRequest,
    prepared: &Prepared,
    simulator: &mut SimulatorRunner,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> u32 {
    let description = request.description.as_ref().map(|(_, description)| description);
    let given = description.is_some_and(|description| !description.dispatches.is_empty());
    let [interface] = &prepared.interfaces[..] else { return 1 };
    let rows = interface.dimensions() > 1 || interface.row_length.is_some();
    if given || rows || request.workgroups.is_some() || prepared.launch.dispatches.len() != 1 {
        return 1;
    }
    let n = u64::from(interface.workgroup_size[0]) * u64::from(EACH_MAX);
    let mut stays_within = |workgroups: u32| {
        let workgroups = Some([workgroups, 1, 1]);
        let few = ProfileRequest { n: Some(n), workgroups, ..request.clone() };
        let launch = prepare(&few, read).ok()?.launch;
        let counted = simulator.count_once(&launch, &CountRequest::once(Method::Executed)).ok()?;
        let is_out = |flag: &Flag| matches!(flag.tag, Tag::ReadOutOfBounds | Tag::WriteOutOfBounds);
        Some(!counted.flags.iter().any(is_out))
    };
    let mut each = 1;
    while each <= EACH_MAX {
        match stays_within(EACH_MAX / each) {
            // With one workgroup more it must not: else it is a few elements at the end that are the shader's fault.
            Some(true) if each == 1 || stays_within(EACH_MAX / each + 1) == Some(false) => {
                return each;
            }
            Some(false) => each *= 2,
            // What cannot be counted is reported when the launch is run.
            Some(true) | None => return 1,
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Workgroups;

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
            derived: None,
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

    /// Two elements an invocation: with one for each element, half of them would be past the end.
    #[test]
    fn invocations_that_take_several_elements_are_as_many_as_the_buffers_hold() {
        for (body, invocations) in [
            ("a[id.x] += 1.0;", 65_536),
            ("a[2u * id.x] += a[2u * id.x + 1u];", 32_768),
            ("for (var k = 0u; k < 4u; k++) { a[id.x * 4u + k] += 1.0; }", 16_384),
            // One past the end is the shader's fault, however many invocations there are.
            ("a[id.x + 1u] = 1.0;", 65_536),
            // Past the end whatever the number of invocations is.
            ("a[id.x + arrayLength(&a)] = 1.0;", 65_536),
        ] {
            let launch = launch(&request(body));
            let workgroups = &launch.dispatches[0].workgroups;
            let expected = Workgroups::Direct([invocations / 64, 1, 1]);
            assert_eq!(*workgroups, expected, "{body}");
        }
    }

    #[test]
    fn the_file_that_init_writes_holds_the_choice() {
        for body in [ALL, "a[2u * id.x] = a[2u * id.x + 1u];"] {
            holds_the_choice(&request(body));
        }
    }

    fn holds_the_choice(request: &ProfileRequest) {
        let text = super::super::template::template(request).unwrap();
        let description = Description::parse("t.toml", &text).unwrap();
        let loaded = ProfileRequest {
            description: Some(("t.toml".to_owned(), description)),
            ..request.clone()
        };
        assert_eq!(launch(&loaded), launch(request), "{text}");
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
