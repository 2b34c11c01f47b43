"""JSON that a program has written, checked where it is read."""

from collections.abc import Iterator
from typing import Any

from runoff import reading
from runoff.imports.reading import File


def parse(file: File) -> Any:
    """Return the document. Raises UsageError where it breaks off or is broken."""
    try:
        return reading.parse_json(file.text)
    except ValueError as error:
        raise file.refuse(str(error)) from None


def looks_like(text: str, *keys: str) -> bool:
    """Return whether a JSON text has these keys somewhere near its begin, whole or not."""
    head = text.lstrip()[:200_000]
    return head.startswith(("{", "[")) and all(f'"{key}"' in head for key in keys)


def list_entries(file: File, key: str) -> Iterator[tuple[str, Any]]:
    """Yield where each entry of the list ``key`` is in the document, and the entry. Raises UsageError."""
    for number, entry in enumerate(take(parse(file), key, list, file, "it")):
        yield f"{key}[{number}]", entry


def take(value: Any, key: str, kind: type, file: File, where: str) -> Any:
    """Return ``value[key]``, of this kind. Raises UsageError."""
    found = value.get(key) if isinstance(value, dict) else None
    if not isinstance(found, kind):
        raise file.refuse(f"{where} has no {key}, which is needed")
    return found
