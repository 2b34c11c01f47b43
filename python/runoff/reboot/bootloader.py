"""Bootloaders that can choose a kernel for the next boot alone: GRUB and systemd-boot."""

from typing import Protocol

from runoff.errors import MissingError
from runoff.reboot.efi import read_variable
from runoff.reboot.grub import find_grub
from runoff.reboot.systemd_boot import SystemdBoot

_BY_HAND = "boot each kernel by hand, then go on"
_RESUME = ("resume", "DIRECTORY")


class Bootloader(Protocol):
    """Chooses what is booted next. What is booted after that stays as it is."""

    name: str

    def require_one_boot(self) -> None:
        """Raise MissingError if a choice would be booted more than once."""

    def find_entry(self, release: str) -> str:
        """Return the entry that boots this kernel. Raises MissingError."""

    def choose_once(self, entry: str) -> None:
        """Boot this entry next. Raises RunoffError, and leaves no choice then."""

    def read_choice(self) -> str:
        """Return the entry that is booted next because it was chosen; nothing if none was. Raises RunoffError."""

    def forget_choice(self) -> None:
        """Boot next what is always booted. Raises RunoffError."""


def find_bootloader() -> Bootloader:
    """Return the bootloader that has booted this machine. Raises MissingError if it cannot choose for one boot."""
    # Others may be installed beside it, and GRUB before 2.12 does not say that it was there.
    booted_by = read_variable("LoaderInfo")
    if booted_by.startswith(SystemdBoot.name):
        return SystemdBoot()
    if booted_by and not booted_by.startswith("GRUB"):
        raise MissingError(
            f"{booted_by} has booted this machine, and runoff can choose a kernel for one boot with GRUB and "
            f"systemd-boot only: {_BY_HAND}",
            hint=_RESUME,
        )
    if (grub := find_grub()) is not None:
        return grub
    raise MissingError(
        "this machine has no bootloader that can choose a kernel for one boot, as GRUB and systemd-boot can: "
        f"{_BY_HAND}",
        hint=_RESUME,
    )
