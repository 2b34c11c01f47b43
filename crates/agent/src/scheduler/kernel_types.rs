// SPDX-License-Identifier: GPL-2.0-only
//! Does a kernel image describe sched_ext's functions the way schedulers must call them?
//!
//! Linux 7.1 and later add an argument of the kernel's own to most kfuncs (KF_IMPLICIT_ARGS), which
//! the published prototype must not show. In images whose type information was made by too old a
//! pahole it shows, and libbpf finds every scheduler's calls incompatible.

use std::path::Path;

use anyhow::{Context, Result};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, FuncProto};
use libbpf_rs::ReferencesType as _;

/// A kfunc that every scheduler calls and that has had the same parameters since Linux 6.12.
const KFUNC: &str = "scx_bpf_create_dsq";
const PARAMETERS: usize = 2;

/// Why schedulers cannot be attached to the kernel in `image` (an ELF file), or `None` when they can.
///
/// # Errors
/// The file has no BTF.
pub fn objection(image: &Path) -> Result<Option<String>> {
    let types = Btf::from_path(image)
        .with_context(|| format!("{} describes no types (CONFIG_DEBUG_INFO_BTF)", image.display()))?;
    let Some(function) = types.type_by_name::<Func>(KFUNC) else {
        return Ok(Some("it has no sched_ext (CONFIG_SCHED_CLASS_EXT)".to_owned()));
    };
    let prototype = FuncProto::try_from(function.referenced_type())
        .map_err(|_| anyhow::anyhow!("{KFUNC} has no prototype in {}", image.display()))?;
    let parameters = prototype.iter().count();
    if parameters == PARAMETERS {
        return Ok(None);
    }
    Ok(Some(format!(
        "its type information shows {parameters} parameters of {KFUNC} where schedulers pass {PARAMETERS} \
         (made by too old a pahole)"
    )))
}
