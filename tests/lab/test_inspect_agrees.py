"""What `runoff inspect` says of an object is what a real kernel does when it is to load it."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from bpf_objects import BODY, FOOTER, HEADER, compile_object
from copies import MakeCopies
from hogs import Hogs

from runoff.engines import sim
from runoff.engines.lab import guest, kernel
from runoff.engines.outcome import ValidSample

pytestmark = [pytest.mark.lab, pytest.mark.core]

CALL = "scx_bpf_dispatch((void *)ctx[0], 0, 0, 0);"
READ = "volatile int no = ((struct task_struct___gone *)ctx[0])->never_was;"
FIELD = "((struct task_struct___gone *)0)->never_was"
CASES = {
    "nothing": ("", ""),
    "a function that is there": ("u32 scx_bpf_nr_cpu_ids(void) __ksym;", "scx_bpf_nr_cpu_ids();"),
    "a function that is not there": ("u32 scx_bpf_never(void) __ksym;", "scx_bpf_never();"),
    "other parameters": ("u32 scx_bpf_nr_cpu_ids(u64 one) __ksym;", "scx_bpf_nr_cpu_ids(1);"),
    "a call that is not guarded": ("", CALL),
    "a call that is guarded": ("", f"if (scx_bpf_dispatch) {CALL}"),
    "a call behind a constant": ("const volatile u8 old_way = 0;", f"if (old_way) {CALL}"),
    "a call behind another constant": ("const volatile u8 old_way = 1;", f"if (old_way) {CALL}"),
    "a call behind the version": ("extern int LINUX_KERNEL_VERSION __kconfig;",
                                  f"if (LINUX_KERNEL_VERSION < 0x060d00) {CALL}"),
    "a call behind an option": ("extern _Bool CONFIG_PREEMPT_RT __kconfig __weak;", f"if (CONFIG_PREEMPT_RT) {CALL}"),
    "an option that is not there": ("extern _Bool CONFIG_NEVER __kconfig;", f"if (CONFIG_NEVER) {CALL}"),
    "a variable of the kernel": ("extern struct rq runqueues __ksym;", "void *volatile cpu = (void *)&runqueues;"),
    "a variable that may be missing": ("extern u64 scx_never __ksym __weak;", "if (&scx_never) scx_bpf_now();"),
    "a variable of another type": ("extern int runqueues __ksym __weak;", "void *volatile cpu = (void *)&runqueues;"),
    "a field that is not there": ("", READ),
    "a field that is asked for first": ("", f"if (exists({FIELD})) {{ {READ} }}"),
}  # fmt: skip


def make(folder: Path, name: str) -> Path:
    before, statements = CASES[name]
    folder.mkdir()
    return compile_object(folder, f"{HEADER}{before}\n{BODY % statements}\n{FOOTER}")


def asked(path: str) -> dict[str, Any]:
    request = Hogs("default", (0,), seconds=0.1).request
    return {**request, "id": path, "scheduler": {"kind": "object", "path": path, "parameters": {}}}


def test_verdicts_are_those_of_the_kernel(tmp_path: Path, lab_kernel: kernel.Kernel, copies: MakeCopies) -> None:
    version = ".".join(lab_kernel.name.removeprefix("debian:").split(".")[:2])
    objects = {f"/objects/{number}.bpf.o": make(tmp_path / str(number), name) for number, name in enumerate(CASES)}
    answers = [
        next(each for each in sim.inspect(made)[0]["kernels"] if each["kernel"] == version)["verdict"]
        for made in objects.values()
    ]
    running = copies(cpus=1, cargo=guest.Cargo(files=objects))
    outcomes, _ = running.session([asked(path) for path in objects])
    loaded = [isinstance(outcome, ValidSample) for outcome in outcomes]
    said = [answer != "does_not_load" for answer in answers]
    assert dict(zip(CASES, said, strict=True)) == dict(zip(CASES, loaded, strict=True))
    assert {True, False} <= set(loaded)


def test_a_description_is_made_of_the_real_types(tmp_path: Path, lab_kernel: kernel.Kernel) -> None:
    """Another build of this version may have other types; what is described here is of one that is named."""
    release = lab_kernel.name.removeprefix("debian:")
    known = {each["release"]: each["name"] for each in sim.list_kernels()}
    if release not in known:
        pytest.skip(f"{release} is none of those that are described")
    words = [sim.find_sim(), "describe-kernel", lab_kernel.vmlinux, tmp_path / "made"]
    names = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    shown = subprocess.run([sim.find_sim(), "description", known[release]], check=True, capture_output=True).stdout
    assert (tmp_path / "made").read_bytes() == shown
    assert "f scx_bpf_kick_cpu\n" in names
