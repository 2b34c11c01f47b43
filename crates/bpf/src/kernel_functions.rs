// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's descriptions of the functions that it offers to schedulers.

use std::path::Path;

use anyhow::{Context, Result};
use libbpf_rs::ReferencesType;
use libbpf_rs::btf::types::{Func, FuncProto};
use libbpf_rs::btf::{Btf, BtfType};

use crate::kernel_types;

/// Functions of sched_ext whose description still shows the argument that the kernel adds by
/// itself. pahole before 1.31 leaves some of them like that in kernels since 7.0, and then no
/// object that calls them can be loaded.
pub fn malformed() -> Vec<String> {
    kernel_types::with(malformed_in).unwrap_or_default()
}

/// Why schedulers cannot be attached to the kernel in `image` (an ELF file), or `None` when they can.
///
/// # Errors
/// The file has no BTF.
pub fn objection(image: &Path) -> Result<Option<String>> {
    let kernel = Btf::from_path(image).with_context(|| {
        format!("{} describes no types (CONFIG_DEBUG_INFO_BTF)", image.display())
    })?;
    if kernel.type_by_name::<Func>("scx_bpf_create_dsq").is_none() {
        return Ok(Some("it has no sched_ext (CONFIG_SCHED_CLASS_EXT)".to_owned()));
    }
    let malformed = malformed_in(&kernel);
    if malformed.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!(
        "its type information (made by a pahole before 1.31) shows a parameter of the kernel's own in {} functions \
         that schedulers call, {} among them",
        malformed.len(),
        malformed[0]
    )))
}

fn malformed_in(kernel: &Btf<'_>) -> Vec<String> {
    kernel
        .type_by_kind::<Func>()
        .filter_map(|function| {
            let name = function.name()?.to_str()?;
            let offered = name.starts_with("scx_bpf_") && !name.ends_with("_impl");
            let prototype = FuncProto::try_from(function.referenced_type()).ok()?;
            let last = prototype.iter().last()?;
            (offered && is_program(kernel, kernel.type_by_id(last.ty)?)).then(|| name.to_owned())
        })
        .collect()
}

/// Whether `ty` is a pointer to struct bpf_prog_aux.
fn is_program(kernel: &Btf<'_>, ty: BtfType<'_>) -> bool {
    let Some(target) = ty.skip_mods_and_typedefs().next_type() else { return false };
    let id = target.skip_mods_and_typedefs().type_id();
    kernel
        .type_by_id::<BtfType<'_>>(id)
        .and_then(|structure| structure.name())
        .is_some_and(|name| name == "bpf_prog_aux")
}
