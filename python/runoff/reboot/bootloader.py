"""Bootloaders that can choose a kernel for the next boot alone: GRUB and systemd-boot."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runoff.engines import tools
from runoff.errors import MissingError, RunoffError

GRUB = Path("/boot/grub")
EFI = Path("/sys/firmware/efi")


class Bootloader(Protocol):
    """Chooses what is booted next. What is booted after that stays as it is."""

    name: str

    def find_entry(self, release: str) -> str:
        """Return the entry that boots this kernel. Raises MissingError."""

    def choose_once(self, entry: str) -> None:
        """Boot this entry next. Raises RunoffError."""

    def forget_choice(self) -> None:
        """Boot next what is always booted. Raises RunoffError."""


@dataclass(frozen=True, slots=True)
class GrubEntry:
    """One entry of GRUB's menu."""

    path: str
    """As grub-reboot takes it: identifiers of submenus and of the entry, with ``>`` between them."""
    image: str
    """File name of the kernel."""
    is_recovery: bool


class Grub:
    """GRUB 2, whose ``next_entry`` is forgotten as it boots."""

    name = "GRUB"

    def __init__(self, directory: Path = GRUB) -> None:
        self._directory = directory

    def find_entry(self, release: str) -> str:
        entries = list(read_grub_entries((self._directory / "grub.cfg").read_text(encoding="utf-8", errors="replace")))
        for entry in entries:
            if entry.image == f"vmlinuz-{release}" and not entry.is_recovery:
                return entry.path
        raise MissingError(f"GRUB's menu has no entry for the kernel {release}: update-grub makes one")

    def choose_once(self, entry: str) -> None:
        boot = self._directory.parent
        tools.run([_require("grub-reboot"), f"--boot-directory={boot}", entry], what="grub-reboot")
        if self._read_choice() != entry:
            raise RunoffError(f"GRUB did not keep the choice of {entry!r} in {self._directory / 'grubenv'}")

    def forget_choice(self) -> None:
        tools.run([_require("grub-editenv"), self._directory / "grubenv", "unset", "next_entry"], what="grub-editenv")

    def _read_choice(self) -> str:
        listed = tools.run([_require("grub-editenv"), self._directory / "grubenv", "list"], what="grub-editenv")
        found = re.search(r"^next_entry=(.*)$", listed, re.MULTILINE)
        return found[1] if found else ""


class SystemdBoot:
    """systemd-boot, whose one-shot entry is a variable of the firmware."""

    name = "systemd-boot"

    def find_entry(self, release: str) -> str:
        listed = json.loads(tools.run([_require("bootctl"), "list", "--json=short"], what="bootctl list"))
        for entry in listed:
            if entry.get("version") == release or str(entry.get("linux", "")).endswith(f"/{release}/linux"):
                return str(entry["id"])
        raise MissingError(f"systemd-boot has no entry for the kernel {release}: kernel-install adds one")

    def choose_once(self, entry: str) -> None:
        tools.run([_require("bootctl"), "set-oneshot", entry], what="bootctl set-oneshot")

    def forget_choice(self) -> None:
        tools.run([_require("bootctl"), "set-oneshot", ""], what="bootctl set-oneshot")


def find_bootloader() -> Bootloader:
    """Return this machine's bootloader. Raises MissingError if none can choose for one boot."""
    if EFI.is_dir() and tools.locate("bootctl") and _is_systemd_boot():
        return SystemdBoot()
    if (GRUB / "grub.cfg").is_file() and tools.locate("grub-reboot"):
        return Grub()
    raise MissingError(
        "this machine has no bootloader that can choose a kernel for one boot, as GRUB and systemd-boot can: "
        "boot each kernel by hand, then: runoff resume DIRECTORY"
    )


def _is_systemd_boot() -> bool:
    try:
        tools.run([_require("bootctl"), "is-installed"], what="bootctl is-installed")
    except RunoffError:
        return False
    return True


def _require(program: str) -> str:
    package = "systemd-boot" if program == "bootctl" else "grub2-common"
    return tools.require(program, package)


_ID = r"\$(?:\{menuentry_id_option\}|menuentry_id_option)"
_OPENS = re.compile(rf"^\s*(submenu|menuentry)\s+(?P<title>'[^']*'|\"[^\"]*\")(?:.*?{_ID}\s+'(?P<id>[^']*)')?.*\{{\s*$")
_LINUX = re.compile(r"^\s*linux(?:16|efi)?\s+(\S+)(.*)$")
_RECOVERY = re.compile(r"\b(?:single|rescue|emergency|recovery)\b")


def read_grub_entries(text: str) -> Iterator[GrubEntry]:
    """Yield the entries of a ``grub.cfg`` that boot Linux, in the order of the menu."""
    places: list[str] = []
    depth, opened = 0, []
    for line in text.splitlines():
        found = _OPENS.match(line)
        if found:
            places.append(found["id"] or found["title"][1:-1])
            opened.append(depth)
        if linux := _LINUX.match(line):
            recovery = _RECOVERY.search(linux[2]) is not None
            if places:
                yield GrubEntry(">".join(places), Path(linux[1]).name, recovery)
        depth += line.count("{") - line.count("}")
        while opened and depth <= opened[-1]:
            opened.pop()
            places.pop()
