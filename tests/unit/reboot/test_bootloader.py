"""GRUB's menu as grub-mkconfig writes it: which entry boots which kernel."""

from pathlib import Path

import pytest

from runoff.errors import MissingError
from runoff.reboot.bootloader import Grub, GrubEntry, read_grub_entries

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
