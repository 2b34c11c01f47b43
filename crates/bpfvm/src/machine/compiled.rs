// SPDX-License-Identifier: GPL-2.0-only
//! Runs what was compiled of a program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::fault::Problem;
use super::state::{Arguments, Machine, World};
use crate::decoded::Plain;
use crate::jit::{Compiled, enter, know_faults};
use crate::memory::{Access, NotThere, length};
use crate::program::Step;
use crate::shared::stop;

impl<W: World> Machine<W> {
    /// Runs compiled instructions from now on, in place of the program's steps. They come to the same.
    ///
    /// # Panics
    /// It is called from inside a call: what runs would be freed.
    pub fn use_compiled(&mut self, compiled: Arc<Compiled>) {
        assert_eq!(self.calls_inside, 0, "what runs cannot be replaced");
        know_faults();
        self.shared.call_kernel = call_kernel::<W> as *const () as usize;
        self.compiled = Some(compiled);
    }

    /// Runs a function. What it returns means nothing if there is a fault.
    pub(super) fn enter(&mut self, entry: usize, arguments: Arguments) -> u64 {
        let frame = self.shared.frame;
        // SAFETY: what is shared is the first of the machine, which is borrowed as a whole, and the instructions were
        // made of its program.
        let value = unsafe { enter((&raw mut *self).cast(), entry, arguments) };
        if self.shared.stop != stop::GOES_ON {
            self.shared.frame = frame;
            self.note();
        }
        value
    }

    /// Makes a fault of what the instructions have stopped for.
    fn note(&mut self) {
        let (function, step) = self.shared.site();
        let problem = match self.shared.stop {
            stop::GOES_ON | stop::FAILED => return,
            stop::ENDLESS => Problem::Endless(self.limit),
            stop::TOO_DEEP => Problem::TooDeep,
            stop::PAST_END => Problem::PastEnd,
            stop::NEVER => {
                let Step::Never(reason) = self.program.functions[function].steps[step] else {
                    unreachable!("only such a step stops so")
                };
                Problem::Never(self.program.reasons[reason].clone())
            }
            _ => return self.note_not_there(),
        };
        self.fail_at(problem, function, step);
    }

    fn note_not_there(&mut self) {
        let compiled = self.compiled.as_ref().expect("it runs");
        let found = compiled.find(length(self.shared.instruction));
        let (function, step) = found.expect("only these instructions want memory of the window");
        let Step::Plain(
            Plain::Load { bytes, .. } | Plain::Store { bytes, .. } | Plain::Change { bytes, .. },
        ) = self.program.functions[function].steps[step]
        else {
            unreachable!("only such a step wants memory")
        };
        let access = if self.shared.is_write { Access::Write } else { Access::Read };
        let not_there = NotThere { access, address: self.shared.wanted, bytes: bytes.into() };
        self.fail_at(not_there.into(), function, step);
    }
}

/// Calls the kernel for compiled instructions. A panic there must not go through their frames.
extern "C" fn call_kernel<W: World>(
    machine: &mut Machine<W>,
    r1: u64,
    r2: u64,
    r3: u64,
    r4: u64,
    r5: u64,
) -> u64 {
    let call = usize::try_from(machine.shared.call).expect("it is the number of a call");
    let site = machine.shared.site();
    let called = AssertUnwindSafe(|| machine.call_kernel(call, [r1, r2, r3, r4, r5], site));
    catch_unwind(called).unwrap_or_else(|_| {
        machine.fail_at(Problem::Panicked, site.0, site.1);
        0
    })
}
