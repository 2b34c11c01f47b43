"""A machine in QEMU: Debian with systemd, whose kernel takes schedulers, and this runoff."""

import shutil
from pathlib import Path

import reboot_machine
from reboot_machine import Machine, mount, run

from runoff.engines.lab import debian

PACKAGES = ("systemd-sysv", "udev", "kmod", "dbus", "initramfs-tools", "python3", "libelf1t64", "polkitd")
LOADED = ("scx_loader", "scx_flash")
"""Programs of the scx project for the check of scx_loader, if they are here."""
WORDS = f"root=/dev/vda1 rw {reboot_machine.KERNEL_WORDS}"

SCX = """[Unit]
Description=has a scheduler in charge
[Service]
ExecStart=/usr/local/bin/runoff-agent attach bfs
StandardOutput=null
"""

LOADER = """[Unit]
Description=starts schedulers that it is asked for
[Service]
Type=dbus
BusName=org.scx.Loader
ExecStart=/usr/bin/scx_loader
KillSignal=SIGINT
"""

BUS_POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <policy user="root">
    <allow own="org.scx.Loader"/>
    <allow send_destination="org.scx.Loader"/>
  </policy>
</busconfig>
"""

ACTION = """<?xml version="1.0" encoding="UTF-8"?>
<policyconfig>
  <action id="org.scx.loader.manage-schedulers">
    <defaults><allow_any>no</allow_any><allow_inactive>no</allow_inactive><allow_active>no</allow_active></defaults>
  </action>
</policyconfig>
"""

CHECKS = """[Unit]
Description=runs campaigns while a service has a scheduler in charge
[Service]
Type=idle
Environment=PYTHONPATH=/opt/runoff/python:/opt/runoff/libraries RUNOFF_AGENT=/usr/local/bin/runoff-agent
Environment=PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=/usr/bin/python3 /checks/service_checks.py
ExecStopPost=/usr/bin/systemctl poweroff
[Install]
WantedBy=multi-user.target
"""


def build(disk: Path) -> Machine:
    """Make the disk of a machine that runs service_checks.py when it is booted, and boot it."""
    archive = debian.open_archive(None, lambda _: None)
    image = reboot_machine.find_image(archive, debian.BACKPORTS)
    tarball = disk.with_name("root.tar")
    lines = [
        f"deb [signed-by={debian.keyring()}] {archive.address} {suite} main"
        for suite in (debian.SUITE, debian.BACKPORTS)
    ]
    run(
        "mmdebstrap", "--variant=minbase", "--format=tar", "--architectures=amd64",
        f"--include={','.join([*PACKAGES, f'linux-base/{debian.BACKPORTS}', image])}", debian.SUITE, tarball, *lines,
    )  # fmt: skip
    reboot_machine.format_disk(disk)
    with mount(disk) as root:
        run("tar", "-xpf", tarball, "-C", root)
        tarball.unlink()
        reboot_machine.install_runoff(root)
        (root / "etc/systemd/system/scx.service").write_text(SCX)
        _install_loader(root)
        (root / "checks").mkdir()
        shutil.copy(Path(__file__).with_name("service_checks.py"), root / "checks")
        reboot_machine.add_service(root, "checks.service", CHECKS)
        release = image.removeprefix("linux-image-")
        for name in ("vmlinuz", "initrd.img"):
            shutil.copy(root / f"boot/{name}-{release}", disk.with_name(name))
    kernel, initrd = disk.with_name("vmlinuz"), disk.with_name("initrd.img")
    return Machine(
        disk, disk.with_name("console.txt"), "-kernel", str(kernel), "-initrd", str(initrd), "-append", WORDS
    )


def has_loader() -> bool:
    """Return whether scx_loader and a scheduler for it are on this machine."""
    return all(shutil.which(name) for name in LOADED)


def _install_loader(root: Path) -> None:
    if not has_loader():
        return
    for name in LOADED:
        shutil.copy(str(shutil.which(name)), root / "usr/bin" / name)
    (root / "etc/systemd/system/scx_loader.service").write_text(LOADER)
    (root / "etc/dbus-1/system.d/org.scx.Loader.conf").write_text(BUS_POLICY)
    (root / "usr/share/polkit-1/actions/org.scx.Loader.policy").write_text(ACTION)
