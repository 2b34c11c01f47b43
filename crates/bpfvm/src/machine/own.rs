// SPDX-License-Identifier: GPL-2.0-only
//! What values own, and how that ends.

use super::fault::Problem;
use super::state::{Machine, World};
use crate::kept::{Kind, Release};
use crate::maps::{Part, Special, ValueShape};

impl<W: World> Machine<W> {
    /// How large a value of a type of the object is, and what in it is special.
    pub(crate) fn shape(&self, of: btf::TypeId) -> Option<ValueShape> {
        let btf = &self.program.object.btf;
        Some(ValueShape::new(btf, btf.size(of)?, Some(of)))
    }

    /// Refers once less to what begins at an address, and frees it if nothing refers to it any more.
    pub(crate) fn release(&mut self, address: u64) {
        // What it owns may own others, as deep as a list is long.
        let mut waiting = vec![address];
        while let Some(address) = waiting.pop() {
            match self.allocated.release(address) {
                None => W::release(self, address),
                Some(Release::Kept) => {}
                Some(Release::Gone(kind, bytes)) => {
                    if let Kind::Local(of) = kind {
                        let parts = self.shape(of).map(|shape| shape.parts);
                        self.empty(&parts.unwrap_or_default(), address, &mut waiting);
                    }
                    self.heap.retire(address, bytes);
                }
            }
        }
    }

    /// Ends what a value at an address owns.
    pub(crate) fn end_value(&mut self, parts: &[Part], address: u64) {
        let mut owned = Vec::new();
        self.empty(parts, address, &mut owned);
        owned.into_iter().for_each(|each| self.release(each));
    }

    /// Stops the timers of a value.
    pub(crate) fn stop_timers(&mut self, parts: &[Part], value: u64) {
        let timers = parts.iter().filter(|part| part.special == Special::Timer);
        timers.for_each(|part| self.timers.forget(value + part.from));
    }

    fn empty(&mut self, parts: &[Part], value: u64, owned: &mut Vec<u64>) {
        for part in parts {
            let address = value + part.from;
            match part.special {
                Special::Timer => self.timers.forget(address),
                Special::Head => {
                    let nodes = self.members.clear(address);
                    owned.extend(nodes.iter().filter_map(|&node| self.allocated.start(node)));
                }
                Special::Pointer => {
                    let pointer = self.read(address);
                    self.write(address, &[0; 8]);
                    owned.extend((pointer != 0).then_some(pointer));
                }
                Special::Other => {}
            }
        }
    }

    /// A new part of memory that a program owns, all 0; 0 if there is no room.
    pub(crate) fn allocate(&mut self, bytes: u64, kind: Kind) -> u64 {
        let Ok(address) = self.heap.allocate(&mut self.window, bytes) else { return 0 };
        self.allocated.add(address, bytes, kind);
        address
    }

    /// How much of what programs have allocated is not given back.
    pub fn owned(&self) -> usize {
        self.allocated.count()
    }

    /// A fault of a function of the kernel that is used as it must not be.
    pub(crate) fn misuse(&mut self, what: String) -> u64 {
        self.fail(Problem::Misuse(what));
        0
    }
}
