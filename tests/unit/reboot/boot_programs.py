"""Programs of GRUB and systemd, as scripts that keep what they are told in files: the real ones run in the guest of
tests/lab/test_reboots.py."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from runoff.reboot import efi, grub, unit

EDITENV = """
case $2 in
list) cat "$1" ;;
set) echo "$3" >"$1" ;;
unset) : >"$1" ;;
esac
"""
REBOOT = """
directory=${{1#--boot-directory=}}/{name}
printf '%s' "$(cat {folder}/warning)"
printf '%s' "$(cat {folder}/error)" >&2
echo "next_entry=$2" >"$directory/grubenv"
"""
PROBE = """
cat "{folder}/${{1#--target=}}"
"""
SYSTEMCTL = """
echo "$*" >>{folder}/systemctl.log
case $1 in
is-system-running) cat {folder}/state ;;
enable) mkdir -p {units}/multi-user.target.wants && ln -sf {units}/$2 {units}/multi-user.target.wants/$2 ;;
reboot) cat {folder}/refusal >&2; test ! -s {folder}/refusal ;;
esac
"""


@dataclass(frozen=True)
class BootPrograms:
    """A machine whose GRUB is on ext4 and whose systemd runs, unless its files say otherwise."""

    folder: Path
    """What programs print: ``abstraction``, ``fs``, ``warning``, ``error``, ``state``, ``refusal``."""
    grub: Path
    units: Path

    def tell(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.folder / name).write_text(text)

    def set_loader(self, text: str) -> None:
        """Let the firmware know who has booted."""
        self.set_variable("LoaderInfo", text)

    def set_variable(self, name: str, text: str) -> None:
        content = bytes(4) + f"{text}\0".encode("utf-16-le")
        (efi.VARIABLES / f"{name}-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f").write_bytes(content)

    @property
    def choice(self) -> str:
        return (self.grub / "grubenv").read_text()

    @property
    def has_unit(self) -> bool:
        return any(self.units.rglob(f"{unit.NAME}*"))


def make_programs(folder: Path, monkeypatch: pytest.MonkeyPatch, menu: str, name: str = "grub") -> BootPrograms:
    made = BootPrograms(folder, folder / "boot" / name, folder / "units")
    programs = {f"{name}-editenv": EDITENV, f"{name}-reboot": REBOOT, f"{name}-probe": PROBE, "systemctl": SYSTEMCTL}
    for place in ("bin", "efi", "running", "loader"):
        (folder / place).mkdir()
    made.units.mkdir()
    made.grub.mkdir(parents=True)
    for program, text in programs.items():
        path = folder / "bin" / program
        path.write_text("#!/bin/sh\n" + (text if text is EDITENV else text.format(**vars(made), name=name)))
        path.chmod(0o755)
    made.tell(abstraction="", fs="ext2\n", warning="", error="", state="running\n", refusal="")
    (made.grub / "grub.cfg").write_text(menu)
    (made.grub / "grubenv").write_text("")
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(grub, "DIRECTORIES", (folder / "boot" / "grub", folder / "boot" / "grub2"))
    monkeypatch.setattr(grub, "LOADER_ENTRIES", folder / "loader")
    monkeypatch.setattr(efi, "VARIABLES", folder / "efi")
    monkeypatch.setattr(unit, "PLACE", made.units)
    monkeypatch.setattr(unit, "RUNNING", folder / "running")
    return made
