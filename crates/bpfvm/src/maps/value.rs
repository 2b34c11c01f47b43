// SPDX-License-Identifier: GPL-2.0-only

use std::sync::Arc;

use btf::{Btf, Kind, TypeId};

use crate::memory::{Heap, Window, length};

/// Values begin at a multiple of this.
const ALIGNMENT: u64 = 8;

/// What in a value only functions of the kernel change: a copy leaves it as it is (kernel/bpf/syscall.c,
/// `bpf_map_check_btf`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    Timer,
    /// A pointer to what the value owns.
    Pointer,
    /// What nodes are put into: a list, or a tree.
    Head,
    /// Anything else; nothing is left of it when the value ends.
    Other,
}

/// Types that are special wherever they are.
const TYPES: [(&str, Special); 10] = [
    ("bpf_timer", Special::Timer),
    ("bpf_list_head", Special::Head),
    ("bpf_rb_root", Special::Head),
    ("bpf_list_node", Special::Other),
    ("bpf_rb_node", Special::Other),
    ("bpf_spin_lock", Special::Other),
    ("bpf_res_spin_lock", Special::Other),
    ("bpf_wq", Special::Other),
    ("bpf_task_work", Special::Other),
    ("bpf_refcount", Special::Other),
];

/// Tags of pointers that only exchanges change.
const POINTERS: [(&str, Special); 4] = [
    ("kptr", Special::Pointer),
    ("percpu_kptr", Special::Pointer),
    ("kptr_untrusted", Special::Other),
    ("uptr", Special::Other),
];

/// Something special in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From where to where, in bytes from the beginning.
    pub from: u64,
    pub to: u64,
    pub special: Special,
}

/// How large the values of a map are, and what in them is special.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueShape {
    pub bytes: u64,
    /// Sorted.
    pub parts: Arc<[Part]>,
}

impl ValueShape {
    pub fn new(btf: &Btf, bytes: u64, of: Option<TypeId>) -> Self {
        let mut parts = Vec::new();
        if let Some(of) = of {
            find_parts(btf, of, 0, &mut parts, DEEPEST);
        }
        parts.retain(|part| part.to <= bytes);
        parts.sort_unstable_by_key(|part| part.from);
        Self { bytes, parts: parts.into() }
    }

    /// Bytes from one value to the next.
    pub fn stride(&self) -> u64 {
        // More than there is stays more than there is.
        self.bytes.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX)
    }

    /// Copies a value, but for what is special.
    pub fn copy(&self, window: &mut Window, to: u64, value: &[u8]) {
        let mut from = 0;
        let places = self.parts.iter().map(|part| (part.from, part.to));
        for (start, end) in places.chain([(self.bytes, self.bytes)]) {
            if start > from {
                let part = &value[length(from)..length(start)];
                window.write(to + from, part).expect("values are in the heap");
            }
            from = from.max(end);
        }
    }

    /// A value of its own, all 0.
    pub fn allocate(&self, heap: &mut Heap, window: &mut Window, copies: u64) -> Option<u64> {
        heap.allocate(window, self.stride().checked_mul(copies)?).ok()
    }

    pub fn retire(&self, heap: &mut Heap, address: u64, copies: u64) {
        heap.retire(address, self.stride() * copies);
    }
}

/// Structs in each other, deeper than values have.
const DEEPEST: usize = 8;

/// Elements of an array that are looked at.
const MOST: u32 = 4096;

fn find_parts(btf: &Btf, of: TypeId, at: u64, parts: &mut Vec<Part>, left: usize) {
    let Some(left) = left.checked_sub(1) else { return };
    let of = btf.resolve(of);
    let each = btf.get(of);
    let size = btf.size(of).unwrap_or(0);
    let part = |special| Part { from: at, to: at.saturating_add(size), special };
    let find = |known: &[(&str, Special)], name: &str| {
        known.iter().find(|(known, _)| *known == name).map(|&(_, special)| special)
    };
    match &each.kind {
        Kind::Struct { members, .. } => {
            if let Some(special) = find(&TYPES, &each.name) {
                return parts.push(part(special));
            }
            for member in members {
                let at = at.saturating_add(u64::from(member.offset_bits / 8));
                find_parts(btf, member.of, at, parts, left);
            }
        }
        Kind::Array { element, count } => {
            let size = btf.size(*element).unwrap_or(0);
            for index in 0..(*count).min(MOST) {
                let at = at.saturating_add(u64::from(index).saturating_mul(size));
                find_parts(btf, *element, at, parts, left);
            }
        }
        Kind::Pointer(to) => {
            let tag = btf.get(*to);
            if matches!(tag.kind, Kind::TypeTag(_)) {
                parts.extend(find(&POINTERS, &tag.name).map(part));
            }
        }
        _ => {}
    }
}
