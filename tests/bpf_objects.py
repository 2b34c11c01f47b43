"""Objects of a few lines of C, for what a compiler makes of them."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which

HEADER = """
typedef unsigned long long u64; typedef int s32; typedef unsigned int u32; typedef unsigned char u8;
#define SEC(name) __attribute__((section(name), used))
#define __ksym __attribute__((section(".ksyms")))
#define __kconfig __attribute__((section(".kconfig")))
#define __weak __attribute__((weak))
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
struct task_struct { int pid; };
struct task_struct___gone { int never_was; };
struct scx_exit_info { s32 exit_cpu; };
struct rq { unsigned nr_running; };
struct request_queue { int id; };
#pragma clang attribute pop
#define exists(field) __builtin_preserve_field_info(field, 2)
struct sched_ext_ops { void (*stopping)(void); u64 flags; char name[128]; };
u64 scx_bpf_now(void) __weak __ksym;
void scx_bpf_dispatch(struct task_struct *p, u64 queue, u64 slice, u64 flags) __weak __ksym;
char _license[] SEC("license") = "GPL";
"""
FOOTER = """
SEC(".struct_ops.link") struct sched_ext_ops tiny = { .stopping = (void *)stopping, .name = "tiny", .flags = 5 };
"""
BODY = 'SEC("struct_ops/stopping") int stopping(unsigned long long *ctx) { %s return 0; }'


def compile_object(folder: Path, source: str, *, flags: Sequence[str] = ()) -> Path:
    """Compile C for BPF with the compiler that the schedulers are compiled with."""
    compilers = ("clang", *(f"clang-{version}" for version in (22, 21, 20, 19)))
    compiler = next(found for found in map(which, compilers) if found)
    made = folder / "tiny.bpf.o"
    words = [compiler, "-target", "bpf", "-mcpu=v3", "-O2", "-g", *flags, "-xc", "-", "-c", "-o", made]
    done = subprocess.run(words, input=source, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return made
