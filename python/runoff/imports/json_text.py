"""JSON that a program has written, checked where it is read."""

from collections.abc import Iterator
from typing import Any

from runoff import reading
from runoff.imports.values import File, parse_number


def parse(file: File) -> Any:
    """Return the document. Raises UsageError where it breaks off or is broken."""
    try:
        return reading.parse_json(file.text)
    except ValueError as error:
        raise file.refuse(str(error)) from None


def looks_like(text: str, *keys: str) -> bool:
    """Return whether a JSON text has these keys somewhere near its begin, whole or not."""
    head = text[:200_000].lstrip()
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


def take_number(value: Any, key: str, file: File, where: str) -> float:
    """Return the number ``value[key]``. Raises UsageError."""
    if not isinstance(value, dict) or key not in value:
        raise file.refuse(f"{where} has no {key}, which is needed")
    return parse_number(value[key], file, f"{where}: {key}")


def list_texts(value: Any, *keys: str) -> dict[str, str]:
    """Return the entries of an object that are texts, numbers or true or false, as texts: all, or those of ``keys``."""
    if not isinstance(value, dict):
        return {}
    return {
        key: str(each).lower() if isinstance(each, bool) else str(each)
        for key, each in value.items()
        if isinstance(each, str | int | float) and (not keys or key in keys)
    }


def cut_document(text: str) -> str:
    """Return the first JSON object in a text, without what stands before it and behind it."""
    start = text.find("{")
    depth, is_quoted, is_escaped = 0, False, False
    for position in range(max(start, 0), len(text)):
        letter = text[position]
        if is_quoted:
            is_quoted = is_escaped or letter != '"'
            is_escaped = letter == "\\" and not is_escaped
        elif letter == '"':
            is_quoted = True
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
            if depth == 0:
                return text[start : position + 1]
    return text[max(start, 0) :]
