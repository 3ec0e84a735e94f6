//! Every kernel of the catalogue, plain and counted by each method, comes out in every language.

use super::{METHODS, OPTIONS};
use crate::instrument::{CounterScheme, Instrumented, Options};
use crate::kernel::Catalogue;
use crate::program::emit::emit_all;
use crate::program::{Overrides, Parsed};

#[test]
fn the_catalogue_comes_out_in_four_languages() {
    let methods = METHODS.into_iter().chain([CounterScheme::Estimated]);
    for kernel in Catalogue::embedded().unwrap().kernels() {
        let parsed = Parsed::new(&kernel.id, &kernel.source).unwrap();
        for entry in parsed.entry_points() {
            let program = parsed.resolve(entry, &Overrides::new()).unwrap();
            let counted = methods.clone().map(|method| {
                let options = Options { method, subgroup_width_max: 32, ..OPTIONS };
                Instrumented::new(&program, &options).unwrap().module().clone()
            });
            for module in std::iter::once(program.module().clone()).chain(counted) {
                for emission in emit_all(&module, program.text()).unwrap() {
                    let language = emission.language;
                    assert!(emission.result.is_ok(), "{} {language}: {emission:?}", kernel.id);
                }
            }
        }
    }
}
