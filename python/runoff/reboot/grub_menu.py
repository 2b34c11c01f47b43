"""GRUB's menu: which entry boots which kernel."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GrubEntry:
    """One entry of GRUB's menu."""

    path: str
    """As grub-reboot takes it: identifiers of submenus and of the entry, with ``>`` between them."""
    image: str
    """File name of the kernel."""
    is_recovery: bool


_ID = r"\$(?:\{menuentry_id_option\}|menuentry_id_option)"
_OPENS = re.compile(rf"^\s*(submenu|menuentry)\s+(?P<title>'[^']*'|\"[^\"]*\")(?:.*?{_ID}\s+'(?P<id>[^']*)')?.*\{{\s*$")
_LINUX = re.compile(r"^\s*linux(?:16|efi)?\s+(\S+)(.*)$")
_RECOVERY = re.compile(r"\b(?:single|rescue|emergency|recovery)\b")
_INCLUDES = re.compile(r"^\s*blscfg\b", re.MULTILINE)


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


def includes_loader_entries(text: str) -> bool:
    """Return whether the menu of this ``grub.cfg`` has a file for each entry, as on Fedora (command ``blscfg``)."""
    return _INCLUDES.search(text) is not None


def read_loader_entries(directory: Path) -> Iterator[GrubEntry]:
    """Yield the entries of files ``*.conf`` (Boot Loader Specification, type 1), which GRUB calls by their names."""
    for path in sorted(directory.glob("*.conf")):
        fields = dict(
            line.split(maxsplit=1)
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
            if len(line.split(maxsplit=1)) == 2
        )
        if "linux" in fields:
            recovery = _RECOVERY.search(fields.get("options", "")) is not None
            yield GrubEntry(path.stem, Path(fields["linux"]).name, recovery)
