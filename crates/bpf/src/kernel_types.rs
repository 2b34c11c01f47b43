// SPDX-License-Identifier: GPL-2.0-only
//! The types of the running kernel, which do not change until the next boot.

use std::sync::{Mutex, PoisonError};

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Func;

/// The types, parsed once when they are first needed: there are tens of thousands.
static KERNEL: Mutex<Option<Kernel>> = Mutex::new(None);

struct Kernel(Btf<'static>);

// SAFETY: libbpf's parsed types belong to no thread, and the mutex lets only one thread use them at
// a time.
unsafe impl Send for Kernel {}

/// Calls `read` with the kernel's types. `read` must not call this again.
///
/// # Errors
/// libbpf cannot read them.
pub fn with<T>(read: impl FnOnce(&Btf<'_>) -> T) -> libbpf_rs::Result<T> {
    let mut kernel = KERNEL.lock().unwrap_or_else(PoisonError::into_inner);
    let kernel = match &mut *kernel {
        Some(kernel) => kernel,
        none => none.insert(Kernel(Btf::from_vmlinux()?)),
    };
    Ok(read(&kernel.0))
}

/// Whether the kernel has a function of that name that BPF programs can be attached to.
pub fn has_function(name: &str) -> bool {
    with(|kernel| kernel.type_by_name::<Func<'_>>(name).is_some()).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_parsed_once_and_for_all_threads() {
        let count = || with(|kernel| kernel.len()).ok();
        let first = count();
        let other = std::thread::spawn(count).join().unwrap();
        assert_eq!(first, other);
        let address = || with(|kernel| std::ptr::from_ref(kernel).addr()).ok();
        assert_eq!(address(), address());
    }

    #[test]
    fn no_kernel_has_every_function() {
        assert!(!has_function("no_such_function_anywhere"));
    }
}
