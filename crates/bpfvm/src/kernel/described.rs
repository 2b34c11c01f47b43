// SPDX-License-Identifier: GPL-2.0-only
//! A kernel by its description.

use std::collections::HashMap;
use std::sync::Arc;

use btf::{Btf, Kind, Member, TypeId};

use super::names::Named;
use super::select;
use super::source::{KERNELS, Source, names, options};
use crate::relate::Types;

/// A kernel as it is for a scheduler.
#[derive(Debug)]
pub struct Kernel {
    pub source: Source,
    /// The place in the list of kernels, the oldest first.
    pub number: usize,
    pub types: Types,
    callable: HashMap<String, TypeId>,
    operations: HashMap<String, Vec<(String, Option<u64>)>>,
    enumerators: HashMap<Arc<str>, u64>,
}

impl Kernel {
    /// Reads the description with this number.
    ///
    /// # Panics
    /// There is none.
    pub fn read(number: usize) -> Self {
        let source = KERNELS[number];
        let btf = Btf::parse(&source.unpack()).expect("it was made with this program");
        let callable = select::tagged(&btf).filter_map(|id| match btf.get(id).kind {
            Kind::Function { prototype, .. } => Some((btf.get(id).name.to_string(), prototype)),
            _ => None,
        });
        let without = source.without.unwrap_or_default();
        let callable = callable.filter(|(name, _)| !without.contains(&name.as_str())).collect();
        let tables = btf.iter().filter_map(|(_, each)| match &each.kind {
            Kind::Struct { members, .. } => {
                let size = |member: &Member| btf.size(member.of);
                let members = members.iter().map(|each| (each.name.to_string(), size(each)));
                Some((each.name.to_string(), members.collect()))
            }
            _ => None,
        });
        let operations = tables
            .filter(|(name, _): &(String, Vec<_>)| name.starts_with("sched_ext_ops"))
            .collect();
        let enumerators = enumerators(&btf);
        Self { source, number, types: Types::new(btf), callable, operations, enumerators }
    }

    /// The first two numbers of its version, such as `6.18`.
    pub fn name(&self) -> &'static str {
        self.source.name
    }

    /// Whether it has a type or a function that its description may leave out.
    pub fn has(&self, named: Named, name: &str) -> bool {
        names().has(self.source.number, named, name)
    }

    /// The prototype of a function that programs may call.
    pub fn function(&self, name: &str) -> Option<TypeId> {
        self.callable.get(name).copied()
    }

    /// The members of a table of functions that an object can hand over, with their sizes in bytes; None if the kernel
    /// takes no such table.
    pub fn members(&self, table: &str) -> Option<&[(String, Option<u64>)]> {
        self.operations.get(table).map(Vec::as_slice)
    }

    /// What a variable of an object gets that stands for an option of the configuration or for the version of the
    /// kernel: None if the option is not set, or its value is not a number.
    pub fn setting(&self, name: &str) -> Option<u64> {
        if name == "LINUX_KERNEL_VERSION" {
            return Some(self.version());
        }
        match options().value(self.source.number, name)? {
            "y" => Some(1),
            "m" => Some(2),
            value => match value.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => value.parse().ok(),
            },
        }
    }

    /// Bytes of a type with a name.
    pub fn size(&self, name: &str) -> Option<u64> {
        self.types.named(name).find_map(|(of, _)| self.types.btf.size(of))
    }

    /// The number of a value of one of the kernel's enums.
    pub fn enumerator(&self, name: &str) -> Option<u64> {
        self.enumerators.get(name).copied()
    }

    /// Whether it is this version or a newer one.
    pub fn is_since(&self, major: u64, minor: u64) -> bool {
        self.version() >= major << 16 | minor << 8
    }

    /// The number that stands for its version (`KERNEL_VERSION` of include/generated/uapi/linux/version.h).
    fn version(&self) -> u64 {
        let parts = self.source.release.split(['.', '-', '+']).map(str::parse::<u64>);
        let parts = parts.map_while(Result::ok).take(3);
        parts.fold(0, |version, part| version << 8 | part.min(255))
    }
}

/// The values of all enums by their names.
fn enumerators(btf: &Btf) -> HashMap<Arc<str>, u64> {
    let mut found = HashMap::new();
    for (_, each) in btf.iter() {
        let Kind::Enum { values, .. } = &each.kind else { continue };
        values.iter().for_each(|value| {
            found.entry(Arc::clone(&value.name)).or_insert(value.value);
        });
    }
    found
}
