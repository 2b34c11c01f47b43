"""What is told to people on other distributions."""

import pytest

from runoff.engines import distribution, doctor


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
