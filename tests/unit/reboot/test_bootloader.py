"""GRUB's menu as grub-mkconfig writes it, where GRUB can choose for one boot, and which bootloader has booted."""

from pathlib import Path

import pytest
from boot_programs import BootPrograms, make_programs

from runoff.errors import MissingError
from runoff.reboot.bootloader import find_bootloader
from runoff.reboot.grub import Grub
from runoff.reboot.grub_menu import GrubEntry, read_grub_entries
from runoff.reboot.systemd_boot import SystemdBoot

DISK = "0aa6f3fc-46a5-4c1a-9b5f-8f6a1d5e9f11"
OLD, NEW = "6.12.57+deb13-cloud-amd64", "6.18.5+deb13-cloud-amd64"


def entry(title: str, name: str, release: str, options: str = "ro quiet") -> str:
    return f"""
menuentry '{title}' --class debian --class gnu-linux --class gnu --class os $menuentry_id_option '{name}' {{
	load_video
	insmod gzio
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	insmod part_msdos
	set root='hd0,msdos1'
	if [ x$feature_platform_search_hint = xy ]; then
	search --no-floppy --fs-uuid --set=root --hint-bios=hd0,msdos1  {DISK}
	else
	search --no-floppy --fs-uuid --set=root {DISK}
	fi
	echo	'Loading Linux {release} ...'
	linux	/boot/vmlinuz-{release} root=UUID={DISK} {options}
	echo	'Loading initial ramdisk ...'
	initrd	/boot/initrd.img-{release}
}}
"""


MENU = f"""
### BEGIN /etc/grub.d/00_header ###
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${{next_entry}}" ] ; then
   set default="${{next_entry}}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="0"
fi
function load_video {{
  if [ x$feature_all_video_module = xy ]; then
    insmod all_video
  fi
}}
### BEGIN /etc/grub.d/10_linux ###
{entry("Debian GNU/Linux", f"gnulinux-simple-{DISK}", NEW)}
submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-{DISK}' {{
{entry(f"Debian, with Linux {NEW}", f"gnulinux-{NEW}-advanced-{DISK}", NEW)}
{entry(f"Debian, with Linux {NEW} (recovery mode)", f"gnulinux-{NEW}-recovery-{DISK}", NEW, "ro single")}
{entry(f"Debian, with Linux {OLD} (recovery mode)", f"gnulinux-{OLD}-recovery-{DISK}", OLD, "ro single")}
{entry(f"Debian, with Linux {OLD}", f"gnulinux-{OLD}-advanced-{DISK}", OLD)}
}}
### BEGIN /etc/grub.d/30_uefi-firmware ###
menuentry 'UEFI Firmware Settings' $menuentry_id_option 'uefi-firmware' {{
	fwsetup
}}
menuentry "Of another system" {{
	linux16 /other/vmlinuz-1.2.3 root=/dev/sdb1
}}
"""


@pytest.fixture
def grub(tmp_path: Path) -> Grub:
    (tmp_path / "grub").mkdir()
    (tmp_path / "grub" / "grub.cfg").write_text(MENU)
    return Grub(tmp_path / "grub")


def test_entries_are_named_by_their_place_in_the_menu():
    advanced = f"gnulinux-advanced-{DISK}"
    assert list(read_grub_entries(MENU)) == [
        GrubEntry(f"gnulinux-simple-{DISK}", f"vmlinuz-{NEW}", False),
        GrubEntry(f"{advanced}>gnulinux-{NEW}-advanced-{DISK}", f"vmlinuz-{NEW}", False),
        GrubEntry(f"{advanced}>gnulinux-{NEW}-recovery-{DISK}", f"vmlinuz-{NEW}", True),
        GrubEntry(f"{advanced}>gnulinux-{OLD}-recovery-{DISK}", f"vmlinuz-{OLD}", True),
        GrubEntry(f"{advanced}>gnulinux-{OLD}-advanced-{DISK}", f"vmlinuz-{OLD}", False),
        GrubEntry("Of another system", "vmlinuz-1.2.3", False),
    ]


def test_a_kernel_is_found_by_its_whole_release_and_never_in_recovery_mode(grub: Grub):
    assert grub.find_entry(OLD) == f"gnulinux-advanced-{DISK}>gnulinux-{OLD}-advanced-{DISK}"
    assert grub.find_entry(NEW) == f"gnulinux-simple-{DISK}"
    for absent in ("6.12.57", "6.18.5+deb13-cloud-amd6", "1.2"):
        with pytest.raises(MissingError, match="GRUB's menu has no entry for the kernel"):
            grub.find_entry(absent)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BootPrograms:
    return make_programs(tmp_path, monkeypatch, MENU)


@pytest.mark.parametrize(
    ("layers", "file_system", "on"),
    [
        ("lvm", "ext2", "lvm"),
        ("diskfilter mdraid1x", "ext2", "diskfilter"),
        ("luks lvm", "xfs", "lvm"),
        ("", "btrfs", "btrfs"),
        ("", "zfs", "zfs"),
        ("", "squash4", "squash4"),
        ("", "one of tomorrow", "one of tomorrow"),
    ],
)
def test_where_grub_cannot_write_it_cannot_choose_for_one_boot(machine, layers: str, file_system: str, on: str):
    machine.tell(abstraction=f"{layers}\n", fs=f"{file_system}\n")
    with pytest.raises(MissingError, match=f"cannot write to {machine.grub}/grubenv, which is on {on}"):
        find_bootloader().require_one_boot()
    assert machine.choice == ""


@pytest.mark.parametrize(
    ("layers", "file_system"), [("", "ext2"), ("", "fat"), ("", "xfs"), ("cryptodisk luks", "ext2")]
)
def test_where_grub_writes_it_can(machine, layers: str, file_system: str):
    machine.tell(abstraction=f"{layers}\n", fs=f"{file_system}\n")
    find_bootloader().require_one_boot()


def test_what_cannot_be_probed_is_refused(machine):
    (machine.folder / "fs").unlink()
    with pytest.raises(MissingError, match=r"what .*/grubenv is on is not known: grub-probe failed"):
        find_bootloader().require_one_boot()


def test_a_menu_that_reads_no_choice_is_refused(machine):
    (machine.grub / "grub.cfg").write_text(MENU.replace("next_entry", "another_entry"))
    with pytest.raises(MissingError, match=r"grub.cfg does not read next_entry"):
        find_bootloader().require_one_boot()


@pytest.mark.parametrize("where", ["warning", "error"])
def test_what_grub_reboot_warns_of_is_refused_and_its_choice_taken_back(machine, where: str):
    told = (
        "\nWARNING: Detected GRUB environment block on lvm device\n0 will remain the default boot entry until cleared\n"
    )
    machine.tell(**{where: told})
    with pytest.raises(
        MissingError, match="grub-reboot says: WARNING: Detected GRUB environment block on lvm device 0"
    ):
        find_bootloader().choose_once("0")
    assert machine.choice == ""


def test_a_choice_is_read_and_forgotten(machine):
    loader = find_bootloader()
    loader.choose_once("gnulinux-advanced>old")
    assert loader.read_choice() == "gnulinux-advanced>old"
    loader.forget_choice()
    assert loader.read_choice() == ""


def test_grub_is_found_where_other_distributions_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    menu = 'if [ "${next_entry}" ]; then set next_entry=; fi\nblscfg\n'
    machine = make_programs(tmp_path, monkeypatch, menu, "grub2")
    for name, release, options in (
        ("id-0-rescue", "0-rescue", "ro"),
        (f"id-{NEW}", NEW, "ro quiet"),
        (f"id-{OLD}-emergency", OLD, "ro emergency"),
        (f"id-{OLD}", OLD, "ro quiet"),
    ):
        text = f"title Linux\nversion {release}\nlinux /boot/vmlinuz-{release}\ninitrd /i\noptions {options}\n# end\n"
        (tmp_path / "loader" / f"{name}.conf").write_text(text)
    loader = find_bootloader()
    loader.require_one_boot()
    loader.choose_once(loader.find_entry(OLD))
    assert machine.choice == f"next_entry=id-{OLD}\n"
    with pytest.raises(MissingError, match="grub2-mkconfig"):
        loader.find_entry("1.2.3")


@pytest.mark.parametrize(("booted", "kind"), [("", Grub), ("GRUB 2.12", Grub), ("systemd-boot 252.38", SystemdBoot)])
def test_the_bootloader_that_has_booted_is_taken_whatever_lies_beside_it(machine, booted: str, kind: type):
    bootctl = machine.folder / "bin" / "bootctl"
    bootctl.write_text("#!/bin/sh\nexit 0\n")
    bootctl.chmod(0o755)
    if booted:
        machine.set_loader(booted)
    assert type(find_bootloader()) is kind


def test_another_bootloader_is_named(machine):
    machine.set_loader("rEFInd 0.14.2")
    with pytest.raises(MissingError, match=r"rEFInd 0.14.2 has booted this machine"):
        find_bootloader()


def test_the_choice_of_systemd_boot_is_the_firmwares(machine):
    machine.set_loader("systemd-boot 252.38")
    assert find_bootloader().read_choice() == ""
    machine.set_variable("LoaderEntryOneShot", "debian-6.12.conf")
    assert find_bootloader().read_choice() == "debian-6.12.conf"
