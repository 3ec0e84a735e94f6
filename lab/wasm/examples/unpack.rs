//! What unpacks lanescope's core in a page: three functions behind which xz is read.
//!
//! Input: the packed bytes, which the caller writes to where [`packed`] says. Output: the plain ones, at
//! [`unpack`]. Nothing is imported. Browsers inflate by themselves, and xz makes the core a third smaller than
//! deflate does.

#![expect(unsafe_code, reason = "functions are found by their names")]

use std::cell::RefCell;
use std::io::Read;

thread_local! {
    static PACKED: RefCell<Vec<u8>> = RefCell::default();
    static PLAIN: RefCell<Vec<u8>> = RefCell::default();
}

/// Makes room for so many packed bytes, and says where.
#[unsafe(no_mangle)]
pub extern "C" fn packed(length: usize) -> *mut u8 {
    PACKED.with(|packed| {
        let packed = &mut *packed.borrow_mut();
        packed.clear();
        packed.resize(length, 0);
        packed.as_mut_ptr()
    })
}

/// Unpacks them, and says where the plain bytes are; null where they are no whole xz file.
#[unsafe(no_mangle)]
pub extern "C" fn unpack() -> *const u8 {
    let mut plain = Vec::new();
    let read = PACKED.with(|packed| {
        lzma_rust2::XzReader::new(packed.borrow().as_slice(), false).read_to_end(&mut plain)
    });
    if read.is_err() {
        return std::ptr::null();
    }
    PLAIN.with(|kept| {
        *kept.borrow_mut() = plain;
        kept.borrow().as_ptr()
    })
}

/// How many plain bytes there are.
#[unsafe(no_mangle)]
pub extern "C" fn unpacked_length() -> usize {
    PLAIN.with(|plain| plain.borrow().len())
}
