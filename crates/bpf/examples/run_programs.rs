// SPDX-License-Identifier: GPL-2.0-only
//! Runs the programs of an object in the kernel and prints what each returns; or programs of single instructions, with
//! the value that is expected of each: `run_programs OBJECT` or `run_programs --drawn FILE`. For a guest of the lab.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result, bail, ensure};
use libbpf_rs::libbpf_sys::{
    BPF_F_SLEEPABLE, BPF_PROG_TYPE_SYSCALL, bpf_insn, bpf_prog_load, bpf_prog_load_opts,
    bpf_prog_test_run_opts, bpf_test_run_opts,
};
use libbpf_rs::{ObjectBuilder, ProgramInput};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words[..] {
        [object] => run_object(object),
        [option, file] if option == "--drawn" => run_drawn(file),
        _ => bail!("run_programs OBJECT, or run_programs --drawn FILE"),
    }
}

fn run_object(path: &str) -> Result<()> {
    let object = ObjectBuilder::default().open_file(path)?.load()?;
    for program in object.progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let ran = program.test_run(ProgramInput::default()).with_context(|| name.clone())?;
        println!("{name}={}", ran.return_value);
    }
    Ok(())
}

/// Counts programs that come to what was expected, those that come to something else, and those that are refused.
fn run_drawn(path: &str) -> Result<()> {
    let (mut same, mut other, mut refused) = (0, 0, 0);
    for line in std::fs::read_to_string(path)?.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [seed, value, code] = words[..] else { bail!("a line has three words") };
        let expected = u64::from_str_radix(value, 16)?;
        match load(&decode(code)?) {
            Err(why) => {
                refused += 1;
                println!("seed {seed} is refused: {why}");
            }
            Ok(program) => match run(&program)? {
                found if found == expected => same += 1,
                found => {
                    other += 1;
                    println!("seed {seed} comes to {found:016x}, not {expected:016x}");
                }
            },
        }
    }
    println!("same={same}\nother={other}\nrefused={refused}");
    Ok(())
}

/// A program of instructions in hexadecimal digits.
fn decode(code: &str) -> Result<Vec<bpf_insn>> {
    const BYTES: usize = size_of::<bpf_insn>();
    let bytes = (0..code.len() / 2).map(|at| u8::from_str_radix(&code[2 * at..2 * at + 2], 16));
    let bytes = bytes.collect::<Result<Vec<u8>, _>>()?;
    let parts = bytes.chunks_exact(BYTES);
    ensure!(parts.remainder().is_empty(), "half an instruction");
    // SAFETY: any bytes are an instruction.
    Ok(parts.map(|part| unsafe { part.as_ptr().cast::<bpf_insn>().read_unaligned() }).collect())
}

/// Loads a program; if the kernel does not take it, the last of what it says about that.
fn load(instructions: &[bpf_insn]) -> Result<OwnedFd, String> {
    let mut log = vec![0_u8; 1 << 24];
    for level in [0, 1] {
        // SAFETY: zeros are options that ask for nothing.
        let mut options: bpf_prog_load_opts = unsafe { std::mem::zeroed() };
        options.sz = size_of::<bpf_prog_load_opts>() as u64;
        options.prog_flags = BPF_F_SLEEPABLE;
        if level > 0 {
            options.log_level = level;
            options.log_buf = log.as_mut_ptr().cast();
            options.log_size = 1 << 24;
        }
        // SAFETY: everything handed over lives until the call returns.
        let loaded = unsafe {
            bpf_prog_load(
                BPF_PROG_TYPE_SYSCALL,
                c"drawn".as_ptr(),
                c"GPL".as_ptr(),
                instructions.as_ptr(),
                instructions.len() as u64,
                &raw mut options,
            )
        };
        if loaded >= 0 {
            // SAFETY: the descriptor is new.
            return Ok(unsafe { OwnedFd::from_raw_fd(loaded) });
        }
    }
    let text = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = text.trim_end_matches('\0').lines().collect();
    Err(lines[lines.len().saturating_sub(3)..].join("; "))
}

/// What a program stores in its context.
fn run(program: &OwnedFd) -> Result<u64> {
    let mut context = [0_u8; 8];
    // SAFETY: zeros are options that ask for nothing.
    let mut options: bpf_test_run_opts = unsafe { std::mem::zeroed() };
    options.sz = size_of::<bpf_test_run_opts>() as u64;
    options.ctx_in = context.as_mut_ptr().cast();
    options.ctx_size_in = 8;
    // SAFETY: the context lives until the call returns.
    let failed = unsafe { bpf_prog_test_run_opts(program.as_raw_fd(), &raw mut options) };
    ensure!(failed == 0, "a program does not run: {failed}");
    Ok(u64::from_le_bytes(context))
}
