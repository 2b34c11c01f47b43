"""Runs tests as root on a kernel with sched_ext: virtme-ng boots one with this machine's own files as its root."""

import os
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import forked
import modules

from runoff.engines.lab import kernel
from runoff.errors import MissingError

REPOSITORY = Path(__file__).parents[2]
LIMIT_S = 2400
KERNEL_WORDS = ("mitigations=off", "tsc=reliable")
"""As in the lab (engines/lab/qemu.py): mitigations double the time of emulated Python and protect from nothing here."""
PYTEST = (
    *("-q", "-p", "no:cacheprovider"),
    # What only the machine outside needs takes two thirds of the start: plug-ins, and tests/conftest.py with its xdist.
    *("-p", "pytest_timeout", "-p", "pytest_rerunfailures", "--confcutdir=tests/host"),
)


class Unavailable(Exception):
    """What is missing, and how to get it."""


class Broken(Exception):
    """The guest ended without results."""


def run(tests: list[str], folder: Path) -> dict[str, str]:
    """Run pytest on ``tests`` in the guest; the failure's text, or nothing, by test name.

    Raises Unavailable or Broken.
    """
    report, script = folder / "report.xml", folder / "tests.sh"
    pytest = [sys.executable, "-m", "pytest", *PYTEST, f"--junitxml={report}", *tests]
    command = [
        _program("vng"), "--run", _kernel(), "--disable-kvm", "--user", "root",
        "--cpus", "2", "--memory", "2G", *(f"--append={word}" for word in KERNEL_WORDS),
        f"--rwdir={folder}", "--cwd", REPOSITORY, "--", f"sh {script}",
    ]  # fmt: skip
    # In a file, because it travels on the kernel's command line, which holds 2047 bytes.
    script.write_text(f"{_variables()} {shlex.join(pytest)}\n")
    _program("virtiofsd")
    # A file, not a pipe: virtme-ng opens its streams anew by their paths.
    with (folder / "console.txt").open("w") as console:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            env={**os.environ, "PATH": _search_path()},
            timeout=LIMIT_S,
            check=False,
        )
    if not report.exists():
        end = (folder / "console.txt").read_text(errors="replace")[-4000:]
        raise Broken(f"the guest gave no report (exit {done.returncode}):\n{end}")
    return _failures(report)


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
    """virtme-ng calls its other programs, which lie beside this Python, by their names."""
    return f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def _kernel() -> Path:
    try:
        chosen = kernel.default()
        for name in modules.NAMES:
            chosen.module(name)
        return chosen.vmlinux
    except MissingError as missing:
        raise Unavailable(str(missing)) from None


def _program(name: str) -> str:
    found = shutil.which(name, path=_search_path())
    if found is None:
        raise Unavailable(f"{name} is not installed, which boots a kernel with sched_ext here: make test")
    return found


def _failures(report: Path) -> dict[str, str]:
    failures = {}
    for case in ElementTree.parse(report).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error", "skipped")]
        failures[case.attrib["name"]] = "\n".join(f"{child.tag}: {child.text or child.attrib}" for child in bad)
    return failures
