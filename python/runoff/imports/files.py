"""Files as they are named on a command line: ``FILE`` or ``NAME=FILE``, also a folder of criterion's."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runoff.errors import UsageError
from runoff.imports.values import File
from runoff.reading import decode, does_exist, read_named

_WINDOWS = b"Hardware monitoring log v"
"""In the first line of MSI Afterburner's logs, which are not UTF-8."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and the arm that it is of where a file is one."""

    word: str
    """What it was named by; a folder stands for several."""
    path: str
    """The file or folder in it."""
    arm: str
    """The name that was given, or else that of the file without its ending."""
    has_name: bool
    file: File
    content: bytes
    sha256: str
    permissions: int
    """As of chmod(2)."""
    machine: str = ""
    """The machine that its numbers are of, if the user says that."""


def read_sources(words: Sequence[str], machines: Mapping[str, str] | None = None) -> list[Source]:
    """Return the files in the order given; ``machines`` are those of the files that have one, by file.

    Raises UsageError where a file cannot be read, is given twice, or has a machine and is not there.
    """
    known = dict(machines or {})
    sources = [replace(source, machine=known.get(source.path, "")) for word in words for source in _read(word)]
    strange = next((path for path in known if path not in {source.path for source in sources}), None)
    if strange is not None:
        raise UsageError(f"--machine {known[strange]}={strange}: that is not one of the files")
    seen: dict[str, Source] = {}
    for source in sources:
        first = seen.setdefault(source.sha256, source)
        if first is not source:
            raise UsageError(f"{first.file.name} and {source.file.name} have the same content: give each file once")
    return sources


def _read(word: str) -> Iterator[Source]:
    name, equals, rest = word.partition("=")
    has_name = bool(equals) and not does_exist(Path(word))
    if has_name and not (name and rest):
        raise UsageError(f"{word}: give a name and a file, such as base=results.csv")
    path = Path(rest if has_name else word)
    for place in sorted(path.glob("**/new/sample.json")) if path.is_dir() else [path]:
        yield _read_file(word, str(path), place, name if has_name else path.name.partition(".")[0], has_name=has_name)
    if path.is_dir() and not any(path.glob("**/new/sample.json")):
        raise UsageError(f"{path} is a folder without results of criterion (new/sample.json): give files")


def _read_file(word: str, given: str, path: Path, arm: str, *, has_name: bool) -> Source:
    try:
        content = read_named(path)
        text = content.decode("cp1252", "replace") if _WINDOWS in content[:200] else decode(content)
        permissions = path.stat().st_mode & 0o777
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    sha256 = hashlib.sha256(content).hexdigest()
    return Source(word, given, arm, has_name, File(str(path), text), content, sha256, permissions)
