"""Files as they are named on a command line: ``FILE`` or ``NAME=FILE``, also a folder of criterion's."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runoff.errors import UsageError
from runoff.imports.reading import File

LARGEST_BYTES = 256 << 20


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
    has_name = bool(equals) and not Path(word).exists()
    if has_name and not (name and rest):
        raise UsageError(f"{word}: give a name and a file, such as base=results.csv")
    path = Path(rest if has_name else word)
    for place in sorted(path.glob("**/new/sample.json")) if path.is_dir() else [path]:
        yield _read_file(word, place, name if has_name else path.name.partition(".")[0], has_name=has_name)
    if path.is_dir() and not any(path.glob("**/new/sample.json")):
        raise UsageError(f"{path} is a folder without results of criterion (new/sample.json): give files")


def _read_file(word: str, path: Path, arm: str, *, has_name: bool) -> Source:
    try:
        if path.is_file() and path.stat().st_size > LARGEST_BYTES:
            raise UsageError(f"{path} has more than {LARGEST_BYTES >> 20} MiB")
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is not a file")
        content = path.read_bytes()
        text = content.decode()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8") from None
    if "\0" in text:
        raise UsageError(f"{path} is not text: it has NUL characters")
    return Source(word, arm, has_name, File(str(path), text), content, hashlib.sha256(content).hexdigest())
