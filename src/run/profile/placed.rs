//! Resources that a launch file names by group and binding, as what captured a dispatch knows them.
//!
//! Input: a description and what entry points ask for. Output: the description with the variables' names in
//! it. It fills nothing in.

use std::collections::BTreeSet;

use crate::kernel::Description;
use crate::program::Interface;

/// Gives buffers, textures and samplers that stand at a place the name of the variable there. Of a captured
/// dispatch those that no entry point uses are left out: a bind group holds them all the same.
///
/// # Errors
///
/// The key that is to blame, and a sentence.
pub(super) fn name_places(
    description: &mut Description,
    interfaces: &[Interface],
) -> Result<(), (String, String)> {
    let captured = description.capture.is_some();
    let buffers = variables(interfaces, |interface| {
        let known = interface.resources.iter();
        known.map(|known| (known.group, known.binding, known.name.as_str())).collect()
    });
    let textures = variables(interfaces, |interface| {
        let known = interface.textures.iter();
        known.map(|known| (known.group, known.binding, known.name.as_str())).collect()
    });
    let samplers = variables(interfaces, |interface| {
        let known = interface.samplers.iter();
        known.map(|known| (known.group, known.binding, known.name.as_str())).collect()
    });
    let kinds = [("buffer", &buffers), ("texture", &textures), ("sampler", &samplers)];
    let [buffer, texture, sampler] = kinds.map(|(what, known)| Finder { what, known, captured });
    buffer.name_all(&mut description.buffers, |given| {
        (&mut given.name, given.group.take(), given.binding.take())
    })?;
    texture.name_all(&mut description.textures, |given| {
        (&mut given.name, given.group.take(), given.binding.take())
    })?;
    sampler.name_all(&mut description.samplers, |given| {
        (&mut given.name, given.group.take(), given.binding.take())
    })
}

/// Group, binding and name of variables of one kind.
type Variables<'a> = BTreeSet<(u32, u32, &'a str)>;

fn variables<'a>(
    interfaces: &'a [Interface],
    variables_of: impl Fn(&'a Interface) -> Vec<(u32, u32, &'a str)>,
) -> Variables<'a> {
    interfaces.iter().flat_map(variables_of).collect()
}

/// What finds variables of one kind.
struct Finder<'a> {
    what: &'static str,
    known: &'a Variables<'a>,
    captured: bool,
}

impl Finder<'_> {
    /// Names all of a list; `place` gives a description's name and takes its place.
    fn name_all<T>(
        &self,
        list: &mut Vec<T>,
        place: impl Fn(&mut T) -> (&mut String, Option<u32>, Option<u32>),
    ) -> Result<(), (String, String)> {
        let mut named = Vec::new();
        for (index, mut given) in std::mem::take(list).into_iter().enumerate() {
            let (name, group, binding) = place(&mut given);
            let found = self.find(name, group, binding);
            let key = format!("{}s.{index}", self.what);
            if let Some(found) = found.map_err(|message| (key, message))? {
                *name = found;
                named.push(given);
            }
        }
        *list = named;
        Ok(())
    }

    /// The name of the variable that is meant; `None` if it is left out.
    fn find(
        &self,
        name: &str,
        group: Option<u32>,
        binding: Option<u32>,
    ) -> Result<Option<String>, String> {
        let what = self.what;
        let (group, binding) = match (name, group, binding) {
            ("", Some(group), Some(binding)) => (group, binding),
            ("", ..) => {
                return Err(format!("a {what} needs a `name`, or `group` and `binding`"));
            }
            (name, None, None) => return Ok(Some(name.to_owned())),
            (name, ..) => {
                return Err(format!(
                    "{what} `{name}` has a name, and `group` or `binding` as well: leave one out"
                ));
            }
        };
        let here = self.known.iter().filter(|(g, b, _)| (*g, *b) == (group, binding));
        let names: Vec<&str> = here.map(|(_, _, name)| *name).collect();
        match names[..] {
            [name] => Ok(Some(name.to_owned())),
            [] if self.captured => Ok(None),
            [] => {
                let known: Vec<String> =
                    self.known.iter().map(|(g, b, name)| format!("{g}, {b} (`{name}`)")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join("; ") };
                Err(format!(
                    "no dispatched entry point uses a {what} at @group({group}) @binding({binding}); \
                     they use: {known}"
                ))
            }
            _ => Err(format!(
                "@group({group}) @binding({binding}) is {} in different entry points: use names",
                names.join(" and ")
            )),
        }
    }
}
