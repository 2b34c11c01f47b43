"""What is told to people on other distributions."""

import pytest

from runoff.engines import distribution, doctor
from runoff.engines.requirements import require_programs_here
from runoff.errors import MissingError
from runoff.plan.make import make_plan
from runoff.plan.settings import parse_settings


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("runoff.engines.tools._ADMIN_DIRECTORIES", ())
    monkeypatch.setattr(doctor.debian, "KEYRING", tmp_path / "none")


def release(monkeypatch, text):
    told = dict(line.split("=", 1) for line in text.splitlines())
    monkeypatch.setattr(distribution.platform, "freedesktop_os_release", lambda: told)


def find(name):
    return next(finding for finding in doctor.examine() if finding.name == name)


@pytest.mark.parametrize(
    ("text", "qemu", "mmdebstrap"),
    [
        ("ID=debian", "sudo apt-get install qemu-system-x86", "sudo apt-get install mmdebstrap"),
        (
            "ID=linuxmint\nID_LIKE=ubuntu debian",
            "sudo apt-get install qemu-system-x86",
            "sudo apt-get install mmdebstrap",
        ),
        ("ID=fedora", "sudo dnf install qemu-system-x86-core", "sudo dnf install mmdebstrap"),
        ("ID=nobara\nID_LIKE=fedora", "sudo dnf install qemu-system-x86-core", "sudo dnf install mmdebstrap"),
        ("ID=arch", "sudo pacman -S qemu-base", "use a kernel and an image made elsewhere"),
        ("ID=cachyos\nID_LIKE=arch", "sudo pacman -S qemu-base", "use a kernel and an image made elsewhere"),
        ("ID=nixos", "install what Debian has in qemu-system-x86", "use a kernel and an image made elsewhere"),
    ],
)
def test_each_gets_its_own_commands(text, qemu, mmdebstrap, monkeypatch):
    release(monkeypatch, text)
    assert find("qemu-system-x86_64").fix == qemu
    assert find("mmdebstrap").fix.startswith(mmdebstrap)


def test_one_command_installs_all_that_is_lacking(monkeypatch):
    release(monkeypatch, "ID=debian")
    lacking = [finding for finding in doctor.examine() if finding.area == "lab" and finding.packages]
    assert doctor.advise(lacking) == (
        "sudo apt-get install qemu-system-x86 mmdebstrap e2fsprogs kmod dpkg-dev apt debian-archive-keyring "
        "gcc make pkg-config patch xz-utils libglib2.0-dev zlib1g-dev"
    )


def test_a_machine_without_a_description(monkeypatch):
    def fail():
        raise OSError("no such file")

    monkeypatch.setattr(distribution.platform, "freedesktop_os_release", fail)
    assert distribution.find_distribution() is distribution.OTHER


@pytest.mark.parametrize(
    ("text", "work", "sentence"),
    [
        ("ID=debian", "hackbench", "needs hackbench: sudo apt-get install rt-tests"),
        ("ID=fedora", "hackbench", "needs hackbench: sudo dnf install realtime-tests"),
        ("ID=cachyos\nID_LIKE=arch", "cyclictest", "needs cyclictest: sudo pacman -S rt-tests"),
        ("ID=arch", "make", "needs make: sudo pacman -S gcc make glibc bc bison flex xz"),
    ],
)
def test_a_program_that_work_needs_is_named_with_the_command_of_this_distribution(text, work, sentence, monkeypatch):
    release(monkeypatch, text)
    plan = make_plan(parse_settings({"arms": ["default"], "workloads": [work], "on": "host", "blocks": 1}, "test"))
    with pytest.raises(MissingError, match=sentence):
        require_programs_here(plan)


@pytest.mark.parametrize(("text", "way"), [("ID=debian", r" \(apt-get source e2fsprogs\)"), ("ID=arch", "")])
def test_a_source_that_work_needs_is_named(text, way, monkeypatch):
    release(monkeypatch, text)
    monkeypatch.setattr("runoff.engines.requirements.which", lambda program, **_: program)
    monkeypatch.setattr("runoff.engines.requirements.Path.exists", lambda _: False)
    plan = make_plan(parse_settings({"arms": ["default"], "workloads": ["compile"], "on": "host"}, "test"))
    unpack = "unpack the source of e2fsprogs in /usr/src/e2fsprogs"
    with pytest.raises(MissingError, match=f"{unpack}{way}, or use --on lab$"):
        require_programs_here(plan)
