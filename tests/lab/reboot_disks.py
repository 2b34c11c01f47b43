"""Runs in the machine of reboot_machine.py: GRUB's directory on disks of several kinds, and what GRUB can do there."""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from runoff.errors import RunoffError
from runoff.reboot.grub import Grub

IMAGE_MB = 256


def list_refusals() -> dict[str, str]:
    """Return for each kind of disk why GRUB cannot choose for one boot there; nothing if it can.

    ``lvm, chosen`` is grub-reboot's own word, without a look at the disk before, and what is left of the choice then.
    """
    found = {}
    for kind, make in KINDS.items():
        grub = put_grub(kind, make(kind))
        found[kind] = refuse(grub.require_one_boot)
        if kind == "lvm":
            found["lvm, chosen"] = refuse(lambda grub=grub: grub.choose_once("0")) + grub.read_choice()
    return found


def refuse(act: Callable[[], None]) -> str:
    try:
        act()
    except RunoffError as error:
        return f"{error.exit_code} {error}"
    return ""


def put_grub(kind: str, device: str) -> Grub:
    """Mount it with GRUB's menu and environment."""
    place = Path("/disks", kind)
    place.mkdir(parents=True)
    run("mount", device, place)
    (place / "grub").mkdir()
    for name in ("grub.cfg", "grubenv"):
        shutil.copy(Path("/boot/grub", name), place / "grub" / name)
    run("sync")
    return Grub(place / "grub")


def make_ext4(kind: str) -> str:
    return format_with("mkfs.ext4", attach(kind))


def make_btrfs(kind: str) -> str:
    return format_with("mkfs.btrfs", attach(kind))


def make_lvm(kind: str) -> str:
    device = attach(kind)
    run("pvcreate", device)
    run("vgcreate", "group", device)
    run("lvcreate", "--yes", "--size", "128M", "--name", "volume", "group")
    return format_with("mkfs.ext4", "/dev/group/volume")


def make_raid(kind: str) -> str:
    devices = [attach(f"{kind}{number}") for number in range(2)]
    run("mdadm", "--create", "/dev/md0", "--run", "--metadata=1.2", "--level=1", "--raid-devices=2", *devices)
    return format_with("mkfs.ext4", "/dev/md0")


KINDS: Mapping[str, Callable[[str], str]] = {
    "ext4": make_ext4,
    "btrfs": make_btrfs,
    "lvm": make_lvm,
    "raid": make_raid,
}


def attach(name: str) -> str:
    """Return a device of an empty file."""
    image = Path(f"/{name}.image")
    run("truncate", "--size", f"{IMAGE_MB}M", image)
    return run("losetup", "--find", "--show", image).strip()


def format_with(program: str, device: str) -> str:
    run(program, "-q", device)
    return device


def run(*words: str | Path) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout
