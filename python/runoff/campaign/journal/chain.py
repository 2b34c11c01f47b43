"""The chain of a journal's rows: each carries a digest over itself and the row before, so that an edit shows."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a journal."""

    number: int
    """Counted from 1, in the order of writing."""
    kind: str
    """``fact`` or ``sample``."""
    subject: str
    """The fact's key, or the sample's cell."""
    body: str
    """JSON."""
    digest: str
    """SHA-256, of this row and all before it."""


@dataclass(frozen=True, slots=True)
class Head:
    """The last row; without rows its number is 0."""

    number: int = 0
    digest: str = ""


def follow(head: Head, kind: str, subject: str, body: str) -> Entry:
    """Return the row that comes after ``head``."""
    number = head.number + 1
    text = json.dumps([head.digest, number, kind, subject, body], default=repr)
    return Entry(number, kind, subject, body, hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest())


def check(entries: Iterable[Entry], last: Head) -> Iterator[Entry]:
    """Yield the entries. Raises ValueError naming the first that is not what was written, or that is missing."""
    head = Head()
    for entry in entries:
        if entry.number != head.number + 1:
            raise ValueError(f"row {head.number + 1} is missing")
        if entry != follow(head, entry.kind, entry.subject, entry.body):
            raise ValueError(f"row {entry.number}, {entry.kind} {entry.subject}, is not what was written")
        head = Head(entry.number, entry.digest)
        yield entry
    if head != last:
        raise ValueError(f"row {head.number + 1} is missing, or row {last.number} is not the last that was written")
