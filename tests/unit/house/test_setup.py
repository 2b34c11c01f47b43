"""tools/setup on machines that lack something: programs stand in for those of such a machine; nothing is installed."""

import os
import shutil
import subprocess

import pytest
from checkout import ROOT

SETUP = ROOT / "tools/setup"

USUAL = (
    "sh",
    "dirname",
    "uname",
    "id",
    "sed",
    "sort",
    "head",
    "grep",
    "cut",
    "mktemp",
    "ls",
    "env",
    "rm",
    "awk",
    "df",
    "mkdir",
    "tail",
    "touch",
)

MACHINE = {
    "uname": "echo x86_64",
    "id": "echo 0",
    "dpkg-query": "exit 1",
    "apt-cache": "echo '  Candidate: 1.0'",
    "dpkg": "true",
    "apt-get": 'echo "$@" >>asked',
}
"""One on which everything is offered and nothing installed."""


@pytest.fixture
def machine(tmp_path):
    """A copy of the script, and a directory of programs; ``machine(name=script)`` runs a part with other ones."""
    (tmp_path / "tools").mkdir()
    shutil.copy(SETUP, tmp_path / "tools")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in USUAL:
        (programs / name).symlink_to(shutil.which(name) or name)

    def run(part: str, *without: str, **other: str) -> tuple[int, str, str]:
        for name, script in {**MACHINE, **other}.items():
            (programs / name).unlink(missing_ok=True)
            (programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (programs / name).chmod(0o755)
        for name in without:
            (programs / name).unlink()
        done = subprocess.run(
            [tmp_path / "tools/setup", part], env={"PATH": str(programs), "HOME": os.environ["HOME"]},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        asked = tmp_path / "asked"
        return done.returncode, done.stderr, asked.read_text() if asked.exists() else ""

    return run


def test_another_processor(machine):
    assert machine("system", uname="echo aarch64") == (69, "setup: is for x86-64, and this is aarch64\n", "")


def test_another_kind_of_distribution(machine):
    code, told, _ = machine("system", "apt-get")
    assert code == 69
    assert told.endswith("has no apt-get: install by hand what tools/setup lists\n")


def test_an_older_distribution(machine):
    code, told, asked = machine("system", **{"apt-cache": "[ $2 = clang-19 ] || echo '  Candidate: 1.0'"})
    assert code == 69
    assert "offers no clang-19: Debian 12, Ubuntu 24.04 or newer do" in told
    assert "update" in asked
    assert "install" not in asked


def test_an_ordinary_user_without_sudo(machine):
    code, told, asked = machine("system", id="echo 1000")
    assert (code, asked) == (69, "")
    assert told == "setup: needs root to install packages: run tools/setup system as root, or get sudo\n"


def test_an_ordinary_user_refused_by_sudo(machine):
    code, told, asked = machine("system", id="echo 1000", sudo="exit 1")
    assert (code, asked) == (69, "")
    assert "needs root to install packages" in told


def test_no_network(machine):
    code, told, _ = machine("system", **{"apt-get": "echo 'E: Failed to fetch' >&2; exit 100"})
    assert code == 69
    assert told.splitlines()[-1].startswith("setup: could not install gcc make")
    assert "without a network, set its proxy or try again later (all of it is in build/setup.log)" in told
    assert "E: Failed to fetch" in told


def test_what_the_programs_print_is_in_the_log(machine, tmp_path):
    noisy = {
        "apt-get": "for i in 1 2 3; do echo Unpacking $i; done; echo done >&2",
        "qemu-system-x86_64": "echo version 9.0",
    }
    code, told, _ = machine("system", **noisy)
    assert (code, told) == (0, "")
    log = (tmp_path / "build/setup.log").read_text()
    assert log.startswith("$ env DEBIAN_FRONTEND=noninteractive apt-get ")
    assert log.endswith("Unpacking 1\nUnpacking 2\nUnpacking 3\ndone\n")


def test_the_demo_installs_nothing_that_only_tests_need(machine):
    _, _, asked = machine("system", **{"qemu-system-x86_64": "echo version 9.0"})
    assert "gcc" in asked
    for package in ("chromium", "cpio", "clang-format"):
        assert package not in asked
    makefile = (ROOT / "Makefile").read_text()
    assert "demo: setup\n" in makefile or "demo: setup kernel qemu image\n" in makefile
    locks = [(ROOT / f"requirements{kind}.lock").read_text() for kind in ("", "-dev")]
    assert [("pytest==" in lock, "click==" in lock) for lock in locks] == [(False, True), (True, False)]


def test_an_interrupted_installation_is_finished_first(machine):
    """Behaves like apt-get and dpkg: nothing is installed before `dpkg --configure` has run."""
    apt = 'echo "apt-get $*" >>asked; [ -e finished ]'
    dpkg = 'if [ "$1" = --audit ]; then [ -e finished ] || echo cpio; else echo "dpkg $*" >>asked; : >finished; fi'
    _, _, asked = machine("system", **{"apt-get": apt, "dpkg": dpkg})
    said = [line.split(" --")[0].split(" -o")[0] for line in asked.splitlines()]
    assert said[:4] == ["apt-get", "dpkg", "apt-get", "apt-get"]
    assert "dpkg --configure --pending" in asked
    assert "--fix-broken" in asked.splitlines()[2]


@pytest.mark.parametrize(("part", "mb"), [("python", 600), ("runoff", 1200)])
def test_no_room(machine, part, mb):
    words = {"df": "printf 'Filesystem blocks Used Available\\n/dev/disk 9 9 5\\n'"}
    code, told, _ = machine(part, **words, **{"python3": "true"})
    assert code == 69
    assert told.startswith(f"setup: needs {mb} MB on the disk of /")
    assert told.endswith(", and 5 MB are free\n")
