"""Files as they are named on a command line: ``FILE`` or ``NAME=FILE``, also a folder of criterion's."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runoff.errors import UsageError
from runoff.imports.reading import File
from runoff.reading import decode, does_exist, read_named


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and the arm that it is of where a file is one."""

    word: str
    """What it was named by; a folder stands for several."""
    arm: str
    """The name that was given, or else that of the file without its ending."""
    has_name: bool
    file: File
    content: bytes
    sha256: str
    permissions: int
    """As of chmod(2)."""


def read_sources(words: Sequence[str]) -> list[Source]:
    """Return the files in the order given. Raises UsageError where one cannot be read, or is given twice."""
    sources = [source for word in words for source in _read(word)]
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
        yield _read_file(word, place, name if has_name else path.name.partition(".")[0], has_name=has_name)
    if path.is_dir() and not any(path.glob("**/new/sample.json")):
        raise UsageError(f"{path} is a folder without results of criterion (new/sample.json): give files")


def _read_file(word: str, path: Path, arm: str, *, has_name: bool) -> Source:
    try:
        content = read_named(path)
        text = decode(content)
        permissions = path.stat().st_mode & 0o777
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    sha256 = hashlib.sha256(content).hexdigest()
    return Source(word, arm, has_name, File(str(path), text), content, sha256, permissions)
