//! The program `lab`, as it is called. Cargo builds it for this test, so that whoever has run the tests
//! has it: `.ci/run` goes on with it.

use std::process::Command;

fn print_task(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_lab")).args(arguments).output().expect("lab starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("lab writes UTF-8")
}

/// A program depends on its seed alone.
#[test]
fn random_programs_are_those_of_their_seeds() {
    let program = |seed: &str| print_task(&["agreement", "--seed", seed, "--print"]);
    let [first, second] = ["1", "2"].map(program);
    assert!(first.contains("@compute"), "{first}");
    assert_ne!(first, second);
    assert_eq!(first, program("1"));
}
