//! lanescope's core behind five functions that a page's worker calls.
//!
//! Input: a question's bytes, which the caller writes to where [`question`] says. Output: the answer's bytes,
//! at [`answer`]. What questions there are, `lanescope::web::Core` says. Nothing is imported: no clock,
//! no random numbers, no memory but its own. Where the core panics, the module traps, and [`fault`] says what
//! was wrong.

#![expect(unsafe_code, reason = "functions are found by their names")]

use std::cell::RefCell;
use std::panic::set_hook;

use lanescope::web::Core;

/// What lies between two calls.
#[derive(Default)]
struct Desk {
    question: Vec<u8>,
    answer: Vec<u8>,
    core: Core,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
    static FAULT: RefCell<String> = RefCell::default();
}

/// Makes room for a question of so many bytes, and says where.
#[unsafe(no_mangle)]
pub extern "C" fn question(length: usize) -> *mut u8 {
    set_hook(Box::new(|panic| FAULT.with(|fault| *fault.borrow_mut() = panic.to_string())));
    DESK.with(|desk| {
        let question = &mut desk.borrow_mut().question;
        question.clear();
        question.resize(length, 0);
        question.as_mut_ptr()
    })
}

/// Answers the question, and says where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    DESK.with(|desk| {
        let desk = &mut *desk.borrow_mut();
        desk.answer = desk.core.answer(&desk.question);
        desk.answer.as_ptr()
    })
}

/// The bytes of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    DESK.with(|desk| desk.borrow().answer.len())
}

/// Where the message of a panic is.
#[unsafe(no_mangle)]
pub extern "C" fn fault() -> *const u8 {
    FAULT.with(|fault| fault.borrow().as_ptr())
}

/// The bytes of that message.
#[unsafe(no_mangle)]
pub extern "C" fn fault_length() -> usize {
    FAULT.with(|fault| fault.borrow().len())
}
