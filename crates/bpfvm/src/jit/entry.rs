// SPDX-License-Identifier: GPL-2.0-only
//! The way into compiled instructions, and the way out where no memory is: the host's handler of such faults goes back
//! to where they were entered. Nothing lies between but their own frames, which own nothing.

use std::arch::naked_asm;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, offset_of};
use std::ptr::null_mut;
use std::sync::Once;

use crate::memory::RESERVED;
use crate::shared::{Shared, stop};

thread_local! {
    /// What runs compiled instructions on this thread.
    static CURRENT: Cell<*mut Shared> = const { Cell::new(null_mut()) };
}

/// Enters the instructions at an address with the values of r1 to r5; returns r0.
///
/// # Safety
/// `shared` begins a machine that nothing else uses meanwhile, `entry` is an address of instructions that were compiled
/// for its program, and [`know_faults`] was called.
pub unsafe fn enter(shared: *mut Shared, entry: usize, arguments: [u64; 5]) -> u64 {
    // SAFETY: the caller says so.
    let landing = unsafe { (*shared).landing };
    let outer = CURRENT.replace(shared);
    let [r1, r2, r3, r4, r5] = arguments;
    // SAFETY: as above.
    let value = unsafe { call(shared, r1, r2, r3, r4, r5, entry) };
    CURRENT.set(outer);
    // SAFETY: as above.
    unsafe { (*shared).landing = landing };
    value
}

/// Keeps the registers that belong to the caller for [`leave`], and where the stack is, and calls.
#[unsafe(naked)]
unsafe extern "C" fn call(
    shared: *mut Shared,
    r1: u64,
    r2: u64,
    r3: u64,
    r4: u64,
    r5: u64,
    entry: usize,
) -> u64 {
    naked_asm!(
        "sub rsp, 56",
        "mov [rsp], rbx",
        "mov [rsp + 8], rbp",
        "mov [rsp + 16], r12",
        "mov [rsp + 24], r13",
        "mov [rsp + 32], r14",
        "mov [rsp + 40], r15",
        "mov [rdi + {landing}], rsp",
        // Beyond the address that `call` returns to.
        "call [rsp + 64]",
        "add rsp, 56",
        "ret",
        landing = const offset_of!(Shared, landing),
    )
}

/// Returns 0 from [`call`]: the handler goes on here with the stack as it was before the instructions ran.
#[unsafe(naked)]
extern "C" fn leave() {
    naked_asm!(
        "mov rbx, [rsp]",
        "mov rbp, [rsp + 8]",
        "mov r12, [rsp + 16]",
        "mov r13, [rsp + 24]",
        "mov r14, [rsp + 32]",
        "mov r15, [rsp + 40]",
        "xor eax, eax",
        "add rsp, 56",
        "ret",
    )
}

/// The bit of a fault's code that says what was tried.
const WRITES: i64 = 2;

/// What handled such faults before.
static mut BEFORE: [MaybeUninit<libc::sigaction>; 2] = [MaybeUninit::uninit(); 2];
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Has faults in windows handled from now on, once for the process.
pub fn know_faults() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (number, signal) in SIGNALS.into_iter().enumerate() {
            // SAFETY: the handler only reads what is shared with the thread that it runs on. BEFORE is written once,
            // before the handler can run.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handle as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                let before = (&raw mut BEFORE[number]).cast();
                assert_eq!(libc::sigaction(signal, &raw const action, before), 0);
            }
        }
    });
}

/// Ends the call of compiled instructions if they have wanted memory of their window that is not there; any other fault
/// is left to what handled it before.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let shared = CURRENT.get();
    // SAFETY: the kernel hands over whole structs, and what is shared lives as long as instructions run that know it.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let address = (*info).si_addr() as u64;
        let register = |number: c_int| usize::try_from(number).expect("it is small");
        if !shared.is_null() {
            let wanted = address.wrapping_sub((*shared).base);
            if wanted < RESERVED {
                (*shared).stop = stop::NOT_THERE;
                (*shared).wanted = wanted;
                (*shared).is_write = registers[register(libc::REG_ERR)] & WRITES != 0;
                let instruction = &mut registers[register(libc::REG_RIP)];
                (*shared).instruction = instruction.cast_unsigned();
                *instruction = (leave as *const () as usize as u64).cast_signed();
                registers[register(libc::REG_RSP)] = (*shared).landing.cast_signed();
                return;
            }
        }
        let number = usize::from(signal == libc::SIGBUS);
        // The instruction runs again, and the fault comes to what was there before.
        libc::sigaction(signal, (&raw const BEFORE[number]).cast(), null_mut());
    }
}
