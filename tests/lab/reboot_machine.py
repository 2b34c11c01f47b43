"""A machine in QEMU that lasts over boots: Debian with systemd, GRUB, two kernels, a broken one, and this runoff."""

import os
import re
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from waiting import LIMIT_S

from runoff.engines.agent import find_agent
from runoff.engines.lab import debian

REPOSITORY = Path(__file__).parents[2]
IMAGE = "linux-image-cloud-amd64"
BROKEN = "9.9.9-broken"
DISK_MB = 4096
FIRST_SECTOR = 2048
"""First sector of the only partition; GRUB is between the table and it."""
PACKAGES = (
    "systemd-sysv",
    "udev",
    "kmod",
    "grub2-common",
    "grub-pc-bin",
    "initramfs-tools",
    "python3-minimal",
    "python3",
    "e2fsprogs",
    "btrfs-progs",
    "lvm2",
    "mdadm",
)
PYTHON = "3.13"
"""Python of Debian's release in the machine."""
FAILED = "Traceback (most recent call last)"
"""What the console shows when runoff itself is at fault."""
KERNEL_WORDS = "console=ttyS0 panic=5 mitigations=off tsc=reliable systemd.journald.forward_to_console=1"

BEGIN = """[Unit]
Description=begins the campaign
ConditionPathExists=!/campaign
[Service]
Type=idle
Environment=PYTHONPATH=/opt/runoff/python:/opt/runoff/libraries RUNOFF_AGENT=/usr/local/bin/runoff-agent
ExecStart=/usr/bin/python3 -m runoff run /plan.toml --out /campaign --reboot --notify "systemctl poweroff"
[Install]
WantedBy=multi-user.target
"""

CHECKS = """[Unit]
Description=ends campaigns in every way
[Service]
Type=idle
Environment=PYTHONPATH=/opt/runoff/python:/opt/runoff/libraries RUNOFF_AGENT=/usr/local/bin/runoff-agent
ExecStart=/usr/bin/python3 /checks/reboot_checks.py /many.toml {kernel}
[Install]
WantedBy=multi-user.target
"""

PREPARE = """#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
grub-install --target=i386-pc /dev/vda && grub-mkconfig -o /boot/grub/grub.cfg && echo GRUB is there
sync
echo o >/proc/sysrq-trigger
sleep 60
"""


def run(*words: str | Path) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def build(disk: Path, plan: str) -> list[str]:
    """Make the disk of a machine that carries out ``plan`` when it is booted; return the releases of its kernels, the
    one that it boots without being asked first."""
    archive = debian.open_archive(None, lambda _: None)
    suites = (debian.SUITE, debian.BACKPORTS)
    images = [find_image(archive, suite) for suite in suites]
    folder = disk.parent
    tarball = folder / "root.tar"
    lines = [f"deb [signed-by={debian.keyring()}] {archive.address} {suite} main" for suite in suites]
    run(
        "mmdebstrap", "--variant=minbase", "--format=tar", "--architectures=amd64",
        f"--include={','.join([*PACKAGES, f'linux-base/{debian.BACKPORTS}', *images])}", debian.SUITE, tarball, *lines,
    )  # fmt: skip
    uuid = format_disk(disk)
    releases = [image.removeprefix("linux-image-") for image in images]
    with mount(disk) as root:
        run("tar", "-xpf", tarball, "-C", root)
        tarball.unlink()
        install_runoff(root)
        (root / "plan.toml").write_text(plan)
        add_service(root, "begin.service", BEGIN)
        for name in ("vmlinuz", "initrd.img"):
            shutil.copy(root / f"boot/{name}-{releases[0]}", folder / name)
        _break_a_kernel(root, releases[0])
        _prepare_grub(root, uuid, releases[0])
    _install_grub(disk, folder / "vmlinuz", folder / "initrd.img")
    return releases


def format_disk(disk: Path) -> str:
    """Write a disk with one empty file system; return its UUID."""
    _partition(disk)
    device = attach(disk)
    run("mkfs.ext4", "-q", "-F", device)
    uuid = run("blkid", "-s", "UUID", "-o", "value", device).strip()
    run("losetup", "--detach", device)
    return uuid


def _partition(disk: Path) -> None:
    """Write an empty disk with one partition that can be booted, in the table that every BIOS knows."""
    sectors = (DISK_MB << 11) - FIRST_SECTOR
    entry = struct.pack("<B3sB3sII", 0x80, b"\xfe\xff\xff", 0x83, b"\xfe\xff\xff", FIRST_SECTOR, sectors)
    with disk.open("wb") as file:
        file.truncate(DISK_MB << 20)
        file.seek(446)
        file.write(entry + bytes(48) + b"\x55\xaa")


def find_image(archive: debian.Archive, suite: str) -> str:
    """Return the package of the kernel that the usual one of this suite stands for."""
    found = re.search(r"linux-image-\d\S*", archive.fields(IMAGE, suite)["Depends"])
    assert found is not None
    return found[0].rstrip(",")


def install_runoff(root: Path) -> None:
    place = root / "opt/runoff"
    run(
        "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
        f"--python-version={PYTHON}", "--target", place / "libraries", "-r", REPOSITORY / "requirements.lock",
    )  # fmt: skip
    shutil.copytree(REPOSITORY / "python/runoff", place / "python/runoff", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(find_agent(), root / "usr/local/bin/runoff-agent")
    (root / "etc/machine-id").write_text("")


def add_service(root: Path, name: str, text: str) -> None:
    """Let systemd start it after each boot."""
    place = Path("etc/systemd/system")
    (root / place / name).write_text(text)
    wants = root / place / "multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    (wants / name).symlink_to(Path("/") / place / name)


def _break_a_kernel(root: Path, release: str) -> None:
    """Add a kernel whose first file system is none, so that it panics."""
    shutil.copy(root / f"boot/vmlinuz-{release}", root / f"boot/vmlinuz-{BROKEN}")
    shutil.copy(root / f"boot/config-{release}", root / f"boot/config-{BROKEN}")
    (root / f"boot/initrd.img-{BROKEN}").write_bytes(b"none")
    (root / f"lib/modules/{BROKEN}").mkdir()


def _prepare_grub(root: Path, uuid: str, usual: str) -> None:
    """Let the machine install GRUB itself: the kernel here may know no partitions."""
    (root / "etc/fstab").write_text(f"UUID={uuid} / ext4 defaults 0 1\n")
    entry = f"gnulinux-advanced-{uuid}>gnulinux-{usual}-advanced-{uuid}"
    (root / "etc/default/grub").write_text(
        f'GRUB_DEFAULT="{entry}"\nGRUB_TIMEOUT=0\nGRUB_DISABLE_OS_PROBER=true\nGRUB_CMDLINE_LINUX="{KERNEL_WORDS}"\n'
    )
    (root / "prepare").write_text(PREPARE)
    (root / "prepare").chmod(0o755)


def _install_grub(disk: Path, kernel: Path, initrd: Path) -> None:
    """Boot the machine once without GRUB, so that it installs it."""
    console = disk.parent / "prepare.txt"
    words = f"root=/dev/vda1 rw init=/prepare {KERNEL_WORDS}"
    machine = Machine(disk, console, "-kernel", str(kernel), "-initrd", str(initrd), "-append", words)
    machine.wait_until_off(LIMIT_S)
    assert "GRUB is there" in machine.read_console(), machine.read_console()[-3000:]


@contextmanager
def mount(disk: Path) -> Iterator[Path]:
    """Yield where the disk's file system is mounted."""
    root = disk.parent / "mounted"
    root.mkdir(exist_ok=True)
    device = attach(disk)
    try:
        run("mount", device, root)
        try:
            yield root
        finally:
            run("umount", root)
    finally:
        run("losetup", "--detach", device)


def attach(disk: Path) -> str:
    """Return a block device that is the disk's partition."""
    return run("losetup", "--find", "--show", "--offset", str(FIRST_SECTOR * 512), disk).strip()


class Machine:
    """The machine while it has power."""

    def __init__(self, disk: Path, console: Path, *more: str) -> None:
        self.console = console
        command = [
            "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-m", "1024", "-smp", "2",
            "-display", "none", "-drive", f"file={disk},format=raw,if=virtio", "-nic", "none",
            "-serial", f"file:{console}", *more,
        ]  # fmt: skip
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def wait_for(self, words: str, limit_s: float = LIMIT_S) -> None:
        """Wait until the console shows this."""
        end = time.monotonic() + limit_s
        while words not in self.read_console():
            assert FAILED not in self.read_console(), self.read_console()[-3000:]
            assert self._process.poll() is None, f"it was switched off before {words!r}\n{self.read_console()[-3000:]}"
            assert time.monotonic() < end, f"no {words!r} within {limit_s} s\n{self.read_console()[-3000:]}"
            time.sleep(0.1)

    def read_console(self) -> str:
        return self.console.read_text(errors="replace") if self.console.exists() else ""

    def wait_until_off(self, limit_s: float) -> None:
        self._process.wait(limit_s)

    def cut_power(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
