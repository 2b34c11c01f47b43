// SPDX-License-Identifier: GPL-2.0-only

use btf::{Btf, Kind, TypeId};

use crate::memory::{Heap, Window};

/// Values begin at a multiple of this.
const ALIGNMENT: u64 = 8;

/// Types in values that a copy leaves as they are (kernel/bpf/syscall.c, `bpf_map_check_btf`).
const SPECIAL: [&str; 10] = [
    "bpf_spin_lock",
    "bpf_res_spin_lock",
    "bpf_timer",
    "bpf_wq",
    "bpf_task_work",
    "bpf_refcount",
    "bpf_list_head",
    "bpf_list_node",
    "bpf_rb_root",
    "bpf_rb_node",
];

/// Tags of pointers in values that only exchanges change.
const POINTERS: [&str; 4] = ["kptr", "kptr_untrusted", "percpu_kptr", "uptr"];

/// How large the values of a map are, and what in them a copy leaves as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueShape {
    pub bytes: u64,
    /// From where to where, in bytes from the beginning, sorted.
    kept: Vec<(u64, u64)>,
}

impl ValueShape {
    pub fn new(btf: &Btf, bytes: u64, of: Option<TypeId>) -> Self {
        let mut kept = Vec::new();
        if let Some(of) = of {
            find_kept(btf, of, 0, &mut kept, DEEPEST);
        }
        kept.retain(|&(_, to)| to <= bytes);
        kept.sort_unstable();
        Self { bytes, kept }
    }

    /// Bytes from one value to the next.
    pub fn stride(&self) -> u64 {
        // More than there is stays more than there is.
        self.bytes.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX)
    }

    /// Copies a value, but for what stays as it is.
    pub fn copy(&self, window: &mut Window, to: u64, value: &[u8]) {
        let mut from = 0;
        for &(start, end) in self.kept.iter().chain(&[(self.bytes, self.bytes)]) {
            if start > from {
                let part = &value[crate::memory::length(from)..crate::memory::length(start)];
                window.write(to + from, part).expect("values are in the heap");
            }
            from = from.max(end);
        }
    }

    /// A value of its own, all 0.
    pub fn allocate(&self, heap: &mut Heap, window: &mut Window, copies: u64) -> Option<u64> {
        heap.allocate(window, self.stride().checked_mul(copies)?).ok()
    }

    pub fn release(&self, heap: &mut Heap, address: u64, copies: u64) {
        heap.release(address, self.stride() * copies);
    }
}

/// Structs in each other, deeper than values have.
const DEEPEST: usize = 8;

/// Elements of an array that are looked at.
const MOST: u32 = 4096;

fn find_kept(btf: &Btf, of: TypeId, at: u64, kept: &mut Vec<(u64, u64)>, left: usize) {
    let Some(left) = left.checked_sub(1) else { return };
    let of = btf.resolve(of);
    let each = btf.get(of);
    let size = btf.size(of).unwrap_or(0);
    match &each.kind {
        Kind::Struct { .. } if SPECIAL.contains(&&*each.name) => {
            kept.push((at, at.saturating_add(size)))
        }
        Kind::Struct { members, .. } => {
            for member in members {
                let at = at.saturating_add(u64::from(member.offset_bits / 8));
                find_kept(btf, member.of, at, kept, left);
            }
        }
        Kind::Array { element, count } => {
            let size = btf.size(*element).unwrap_or(0);
            for index in 0..(*count).min(MOST) {
                let at = at.saturating_add(u64::from(index).saturating_mul(size));
                find_kept(btf, *element, at, kept, left);
            }
        }
        Kind::Pointer(to) => {
            let tag = btf.get(*to);
            if matches!(tag.kind, Kind::TypeTag(_)) && POINTERS.contains(&&*tag.name) {
                kept.push((at, at.saturating_add(size)));
            }
        }
        _ => {}
    }
}
