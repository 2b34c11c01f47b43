"""GRUB 2, which forgets the choice of its next entry as it boots, if it can write where the choice is."""

import re
from pathlib import Path

from runoff.engines import tools
from runoff.errors import MissingError, RunoffError
from runoff.reboot.grub_menu import GrubEntry, includes_loader_entries, read_grub_entries, read_loader_entries

DIRECTORIES = (Path("/boot/grub"), Path("/boot/grub2"))
"""Where distributions have it. Its programs begin with the directory's name: grub-reboot, grub2-reboot."""
LOADER_ENTRIES = Path("/boot/loader/entries")
_ENCRYPTED = {"cryptodisk", "luks", "luks2"}
_WRITTEN = ("ext2", "fat", "xfs")
"""File systems, as grub-probe calls them, whose blocks GRUB writes in place. On the others it writes nothing (btrfs,
ZFS), or is not known to."""
_LASTS = re.compile(r"WARNING|will remain the default")
"""What Debian's grub-reboot prints where GRUB cannot forget the choice."""


class Grub:
    """GRUB in one directory; its ``next_entry`` in ``grubenv`` is the choice."""

    name = "GRUB"

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._environment = directory / "grubenv"

    def require_one_boot(self) -> None:
        place = self._environment if self._environment.exists() else self._directory
        layers = [name for name in self._probe("abstraction", place).split() if name not in _ENCRYPTED]
        file_system = self._probe("fs", place).strip()
        if layers:
            raise self._refuse(f"it cannot write to {self._environment}, which is on {layers[0]}")
        if file_system not in _WRITTEN:
            raise self._refuse(f"it cannot write to {self._environment}, which is on {file_system}")
        if "next_entry" not in self._read_menu():
            raise self._refuse(f"{self._directory / 'grub.cfg'} does not read next_entry")

    def find_entry(self, release: str) -> str:
        for entry in self._list_entries():
            if entry.image == f"vmlinuz-{release}" and not entry.is_recovery:
                return entry.path
        raise MissingError(
            f"GRUB's menu has no entry for the kernel {release}: write it anew with update-grub or "
            f"{self._directory.name}-mkconfig"
        )

    def choose_once(self, entry: str) -> None:
        output = self._run("reboot", f"--boot-directory={self._directory.parent}", entry)
        if _LASTS.search(output):
            self.forget_choice()
            raise self._refuse(f"grub-reboot says: {' '.join(output.split())}")
        if self.read_choice() != entry:
            raise RunoffError(f"GRUB did not keep the choice of {entry!r} in {self._environment}")

    def read_choice(self) -> str:
        found = re.search(r"^next_entry=(.*)$", self._run("editenv", self._environment, "list"), re.MULTILINE)
        return found[1] if found else ""

    def forget_choice(self) -> None:
        if self._environment.exists():
            self._run("editenv", self._environment, "unset", "next_entry")

    def _list_entries(self) -> list[GrubEntry]:
        menu = self._read_menu()
        return [
            *read_grub_entries(menu),
            *(read_loader_entries(LOADER_ENTRIES) if includes_loader_entries(menu) else ()),
        ]

    def _read_menu(self) -> str:
        return (self._directory / "grub.cfg").read_text(encoding="utf-8", errors="replace")

    def _probe(self, target: str, place: Path) -> str:
        try:
            return self._run("probe", f"--target={target}", place)
        except RunoffError as error:
            raise self._refuse(f"what {place} is on is not known: {error}") from None

    def _refuse(self, why: str) -> MissingError:
        return MissingError(
            f"GRUB cannot choose a kernel for one boot alone here ({why}), so that a kernel that does not boot would "
            "be booted for ever: boot each kernel by hand, then go on",
            hint=("resume", "DIRECTORY"),
        )

    def _run(self, name: str, *words: str | Path) -> str:
        """Return what one of GRUB's programs prints, warnings too. Raises RunoffError."""
        program = f"{self._directory.name}-{name}"
        return tools.run([tools.require(program, "grub2-common"), *words], what=program, with_errors=True)


def find_grub() -> Grub | None:
    """Return this machine's GRUB; None if it has no menu or lacks the program that chooses for one boot."""
    for directory in DIRECTORIES:
        if (directory / "grub.cfg").is_file() and tools.locate(f"{directory.name}-reboot"):
            return Grub(directory)
    return None
