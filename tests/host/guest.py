"""Runs tests as root on a kernel with sched_ext: virtme-ng boots one with this machine's own files as its root."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import forked
import modules
import run_log

from runoff.engines.lab import cache, guest, kernel
from runoff.errors import MissingError

REPOSITORY = Path(__file__).parents[2]
LIMIT_S = 1800
"""Limit for one guest. A busy host has needed 13 minutes."""
GUESTS = 4
"""When one is lost, the next goes on with the tests that are left. With one thread for both CPUs QEMU cannot crash it
(docs/lab.md, QEMU), but is slower."""
KERNEL_WORDS = (
    # As in the lab (engines/lab/qemu.py): mitigations double the time of emulated Python and protect from nothing here.
    *("mitigations=off", "tsc=reliable"),
    # virtme-ng's own 0 would keep even a panic to itself.
    "loglevel=5",
)
PYTEST = (
    *("-q", "-p", "no:cacheprovider"),
    # What only the machine outside needs takes two thirds of the start: plug-ins, and tests/conftest.py with its xdist.
    *("-p", "pytest_timeout", "-p", "run_log", "--confcutdir=tests/host"),
)


class Unavailable(Exception):
    """What is missing, and how to get it."""


def run(tests: list[str], folder: Path) -> dict[str, str]:
    """Run pytest on ``tests`` in the guest; the failure's text, or nothing, by test id.

    A guest that is lost is the failure of the test that it was at, unless QEMU crashed it (docs/lab.md, QEMU).
    Raises Unavailable.
    """
    failures: dict[str, str] = {}
    for number in range(1, GUESTS + 1):
        own = folder / f"guest{number}"
        own.mkdir()
        left = [test for test in tests if test not in failures]
        lost = _boot(left, own, "tcg" if number == 1 else "tcg,thread=single")
        told = run_log.read(own / "run.jsonl")
        failures |= told.failures
        if not lost or failures.keys() >= set(tests):
            break
        if told.cut and guest.STALE not in lost:
            failures[told.cut] = lost
    lost = lost or f"the guest did not run this test:\n{_end(own / 'output.txt')}"
    return {test: failures.get(test, lost) for test in tests}


def _boot(tests: list[str], folder: Path, accelerator: str) -> str:
    """Run them in one guest. Why it was lost, or nothing."""
    script, console = folder / "tests.sh", folder / "kernel.txt"
    pytest = [sys.executable, "-m", "pytest", *PYTEST, f"--run-log={folder / 'run.jsonl'}", *tests]
    command = [
        _program("vng"), "--run", _kernel(), "--disable-kvm", "--user", "root",
        "--cpus", "2", "--memory", "2G", *(f"--append={word}" for word in KERNEL_WORDS),
        # The console would go to /dev/null.
        f"--qemu-opts=-accel {accelerator} -set chardev.console.path={console}",
        f"--rwdir={folder}", "--cwd", REPOSITORY, "--", f"sh {script}",
    ]  # fmt: skip
    # In a file, because it travels on the kernel's command line, which holds 2047 bytes.
    script.write_text(f"{_variables()} {shlex.join(pytest)}\ntouch {folder / 'end'}\n")
    _program("virtiofsd")
    # A file, not a pipe: virtme-ng opens its streams anew by their paths.
    with (folder / "output.txt").open("w") as output:
        ended = _wait(
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, "PATH": _search_path()},
                start_new_session=True,
            )
        )
    if (folder / "end").exists():
        return ""
    said = "\n".join(_end(file) for file in (folder / "output.txt", console))
    return f"the guest was lost ({ended}): {guest.find_console_reason(console)}\n{said}"


def _wait(machine: subprocess.Popen[bytes]) -> str:
    try:
        return f"exit {machine.wait(LIMIT_S)}"
    except subprocess.TimeoutExpired:
        return f"ended after {LIMIT_S} s"
    finally:
        if machine.poll() is None:
            # With QEMU and all else that it has started.
            os.killpg(machine.pid, signal.SIGKILL)
            machine.wait()


def _end(file: Path) -> str:
    return file.read_text(errors="replace")[-4000:] if file.exists() else ""


def _variables() -> str:
    """The guest's shell starts with a clean environment."""
    given = {key: value for key, value in os.environ.items() if key.startswith("RUNOFF_")}
    modules = [*os.environ.get("PYTHONPATH", "").split(":"), str(REPOSITORY / "tests")]
    own = {
        "PATH": _search_path(),
        "PYTHONPATH": ":".join(filter(None, modules)),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        forked.WANTED: "1",
    }
    return " ".join(f"{key}={shlex.quote(value)}" for key, value in {**given, **own}.items())


def _search_path() -> str:
    """virtme-ng calls its other programs by name: they lie beside this Python and in the cache (tools/setup)."""
    return f"{Path(sys.executable).parent}:{cache.root() / 'tools/bin'}:{os.environ['PATH']}"


def _kernel() -> Path:
    try:
        chosen = kernel.find_default()
        for name in modules.NAMES:
            chosen.module(name)
        return chosen.vmlinux
    except MissingError as missing:
        raise Unavailable(str(missing)) from None


def _program(name: str) -> str:
    found = shutil.which(name, path=_search_path())
    if found is None:
        raise Unavailable(f"{name} is not installed, which boots a kernel with sched_ext here: make test-all")
    return found
