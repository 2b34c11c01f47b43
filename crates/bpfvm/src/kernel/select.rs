// SPDX-License-Identifier: GPL-2.0-only
//! The part of a kernel's types that schedulers can ask for.

use std::collections::{HashMap, HashSet, VecDeque};

use btf::{Btf, Kind, Type, TypeId};

use crate::relate::CUT;

/// The tag of a function that BPF programs may call.
const CALLABLE: &str = "bpf_kfunc";
/// How many pointers away from what the kernel gives a scheduler a struct may be so that its members are kept.
const FARTHEST: u32 = 2;
/// Structs that schedulers read though nothing that they are given leads to them so soon.
const ALSO: [&str; 14] = [
    "bpf_perf_event_value",
    "cgroup",
    "class_rcu_t",
    "cpufreq_policy",
    "cred",
    "kernfs_node",
    "mempolicy",
    "mm_struct",
    "pid",
    "pid_namespace",
    "rq",
    "signal_struct",
    "task_group",
    "upid",
];
/// Enums with what the kernel knows of BPF itself.
const BPF: [&str; 4] = ["bpf_attach_type", "bpf_func_id", "bpf_map_type", "bpf_prog_type"];
const PER_CPU: &str = ".data..percpu";

/// The part of a kernel's types that schedulers can ask for: functions that they may call, all of sched_ext, variables
/// of CPUs, and what these lead to.
pub fn describe(btf: &Btf) -> Btf {
    let mut roots = Vec::new();
    for (id, each) in btf.iter() {
        let name = &*each.name;
        let is_root = match &each.kind {
            Kind::DeclarationTag { .. } => name == CALLABLE,
            Kind::Struct { .. } | Kind::Union { .. } | Kind::Enum { .. } => {
                name.starts_with("scx_")
                    || name.starts_with("sched_ext_")
                    || ALSO.contains(&name)
                    || BPF.contains(&name)
                    || has_scheduler_values(&each.kind)
            }
            Kind::Typedef(_) => ALSO.contains(&name),
            Kind::Function { .. } => is_of_schedulers(name),
            _ => false,
        };
        if is_root {
            roots.push((id, 0));
        }
        // Most of these say nothing to a scheduler: what they point to is left out.
        if name == PER_CPU {
            roots.push((id, FARTHEST));
        }
    }
    without_hidden(&select(btf, roots, FARTHEST))
}

/// Whether it is an enum without a name that belongs to sched_ext.
fn has_scheduler_values(kind: &Kind) -> bool {
    matches!(kind, Kind::Enum { values, .. } if values.iter().any(|value| value.name.starts_with("SCX_")))
}

/// Makes the functions whole that get something from the kernel which no program passes. Some tools that make types show
/// that as a last parameter, and do not say that programs may call these functions.
fn without_hidden(btf: &Btf) -> Btf {
    let is_hidden = |of: TypeId| {
        let Kind::Pointer(to) = btf.get(btf.resolve(of)).kind else { return false };
        &*btf.get(btf.resolve(to)).name == "bpf_prog_aux"
    };
    let is_shown = |each: &Type| match &each.kind {
        Kind::Prototype { parameters, .. } => {
            parameters.last().is_some_and(|last| &*last.name == "aux" && is_hidden(last.of))
        }
        _ => false,
    };
    let mut types = btf.types()[1..].to_vec();
    for each in types.iter_mut().filter(|each| is_shown(each)) {
        if let Kind::Prototype { parameters, .. } = &mut each.kind {
            parameters.pop();
        }
    }
    let tagged: HashSet<TypeId> = tagged(btf).collect();
    let untagged = btf.iter().filter(|(id, each)| match each.kind {
        Kind::Function { prototype, .. } => {
            is_shown(btf.get(prototype)) && !tagged.contains(id) && is_of_schedulers(&each.name)
        }
        _ => false,
    });
    types.extend(untagged.map(|(on, _)| Type {
        name: CALLABLE.into(),
        kind: Kind::DeclarationTag { on, component: None },
    }));
    Btf::from_types(types)
}

/// The functions that programs may call.
pub fn tagged(btf: &Btf) -> impl Iterator<Item = TypeId> {
    btf.iter().filter(|(_, each)| &*each.name == CALLABLE).filter_map(|(_, each)| match each.kind {
        Kind::DeclarationTag { on, component: None } => Some(on),
        _ => None,
    })
}

/// Whether its name is one that schedulers call; the kernel's own name of such a function ends in `_impl`.
fn is_of_schedulers(function: &str) -> bool {
    let prefixes = ["scx_bpf_", "__scx_bpf_", "bpf_iter_scx_"];
    !function.ends_with("_impl") && prefixes.iter().any(|prefix| function.starts_with(prefix))
}

/// The types that `roots` are made of and point to, with new numbers. A root has a distance of its own. Structs that are
/// farther away keep their name and size, and have the tag `cut` instead of members.
pub fn select(btf: &Btf, roots: Vec<(TypeId, u32)>, farthest: u32) -> Btf {
    let distances = measure(btf, roots, farthest);
    let kept: Vec<TypeId> =
        btf.iter().map(|(id, _)| id).filter(|id| distances.contains_key(id)).collect();
    let numbers: HashMap<TypeId, TypeId> =
        kept.iter().zip(1..).map(|(&old, new)| (old, TypeId(new))).collect();
    let renumber = |id: TypeId| if id == TypeId::VOID { id } else { numbers[&id] };
    let mut cut = Vec::new();
    let mut types: Vec<Type> = kept
        .iter()
        .map(|&id| {
            let each = btf.get(id);
            if distances[&id] > farthest
                && let Some(kind) = without_members(&each.kind)
            {
                cut.push(numbers[&id]);
                return Type { name: each.name.clone(), kind };
            }
            Type { name: each.name.clone(), kind: each.kind.renumbered(renumber) }
        })
        .collect();
    types.extend(
        cut.into_iter().map(|on| Type {
            name: CUT.into(),
            kind: Kind::DeclarationTag { on, component: None },
        }),
    );
    Btf::from_types(types)
}

fn without_members(kind: &Kind) -> Option<Kind> {
    match *kind {
        Kind::Struct { size, .. } => Some(Kind::Struct { size, members: Vec::new() }),
        Kind::Union { size, .. } => Some(Kind::Union { size, members: Vec::new() }),
        _ => None,
    }
}

/// How many pointers each type is away from the nearest root; none farther than one beyond the limit.
fn measure(btf: &Btf, roots: Vec<(TypeId, u32)>, farthest: u32) -> HashMap<TypeId, u32> {
    let mut distances: HashMap<TypeId, u32> = HashMap::new();
    let mut next: VecDeque<(TypeId, u32)> = roots.into();
    while let Some((id, distance)) = next.pop_front() {
        if id == TypeId::VOID || distances.get(&id).is_some_and(|&known| known <= distance) {
            continue;
        }
        distances.insert(id, distance);
        let kind = &btf.get(id).kind;
        let is_pointer = matches!(kind, Kind::Pointer(_));
        let is_cut = distance > farthest && without_members(kind).is_some();
        for reference in kind.references() {
            match (is_cut, is_pointer) {
                (true, _) => {}
                // What is nearer comes first, so that most types are seen once.
                (_, true) => next.push_back((reference, (distance + 1).min(farthest + 1))),
                (_, false) => next.push_front((reference, distance)),
            }
        }
    }
    distances
}
