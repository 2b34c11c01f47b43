// SPDX-License-Identifier: GPL-2.0-only
//! Reads an object file and prints which kernels take it: `cargo run --package bpfvm --example kernels OBJECT`.

use std::error::Error;

use bpfvm::Object;
use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::survey::Survey;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which object?")?;
    let object = Object::parse(&std::fs::read(path)?)?;
    let kernels: Vec<_> = (0..KERNELS.len()).map(Kernel::read).collect();
    for (kernel, loading) in Survey::of(&object, &kernels).kernels {
        let verdict = if loading.is_refused() { "does not load" } else { "loads" };
        println!("{}: {verdict}, asks for {} things in vain", kernel.name(), loading.lacks.len());
    }
    Ok(())
}
