"""Reads files that others have written, within limits: regular files of a sane size, whole text, JSON that ends.

Everything that is wrong with a file is an OSError or a ValueError whose text completes "cannot read FILE: ...".
"""

import errno
import json
import os
import re
import stat
import tomllib
import zlib
from pathlib import Path
from typing import Any, BinaryIO

MIB = 1 << 20
LARGEST_TEXT_BYTES = 256 * MIB
"""Most of a file of text, such as a plan, a list of machines or a file that is imported."""
LARGEST_COPY_BYTES = 4096 * MIB
"""Most of a file that a campaign keeps a copy of, and of its journal."""
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def read_own(path: Path, most_bytes: int = LARGEST_TEXT_BYTES) -> bytes:
    """Return the content of a file that runoff has written. Raises OSError, also for a link, device or pipe."""
    return _read(path, most_bytes, os.O_NOFOLLOW)


def read_named(path: Path, most_bytes: int = LARGEST_TEXT_BYTES) -> bytes:
    """Return the content of a file that the user has named, maybe by a link. Raises OSError."""
    return _read(path, most_bytes, 0)


def read_text(path: Path) -> str:
    """Return the text of a file that the user has named. Raises OSError, and ValueError unless it is UTF-8."""
    return decode(read_named(path))


def decode(content: bytes) -> str:
    """Return text from UTF-8, without a byte order mark. Raises ValueError."""
    try:
        text = content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise ValueError("it is not text in UTF-8") from None
    if "\0" in text:
        raise ValueError("it is not text: it has NUL characters")
    return text


def parse_json(text: str) -> Any:
    """Return the document. Raises ValueError where it is broken, too deep, or has text that is not Unicode."""
    try:
        document = json.loads(text)
        if _HALF_PAIR.search(text):
            json.dumps(document, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("its JSON has lists in lists, too deep to be read") from None
    except UnicodeEncodeError:
        raise ValueError("its JSON has half a surrogate pair, which is not a character") from None
    except ValueError as error:
        at = getattr(error, "lineno", None)
        raise ValueError(
            f"it is not whole JSON ({getattr(error, 'msg', error)}{f' in line {at}' if at else ''})"
        ) from None
    return document


def parse_toml(text: str) -> dict[str, Any]:
    """Return the document. Raises ValueError."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its TOML has lists in lists, too deep to be read") from None


def unpack_gzip(content: bytes, most_bytes: int = LARGEST_TEXT_BYTES) -> bytes:
    """Return what gzip has packed. Raises ValueError, also where that is much more than a sane file has."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacker.decompress(content, most_bytes + 1)
    except zlib.error as error:
        raise ValueError(f"it is not packed by gzip: {error}") from None
    if len(unpacked) > most_bytes:
        raise ValueError(f"unpacked it has more than {most_bytes // MIB} MiB")
    if not unpacker.eof:
        raise ValueError("its end is missing")
    return unpacked


def does_exist(path: Path) -> bool:
    """Return whether something is at ``path``; a name that no file can have is not."""
    try:
        path.stat()
    except (OSError, ValueError):
        return False
    return True


def _read(path: Path, most_bytes: int, flags: int) -> bytes:
    # Opening a pipe waits for a writer, unless told not to.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(path))
        # A file of /proc has no size, and one may grow meanwhile.
        content = b"" if about.st_size > most_bytes else _read_pieces(file, most_bytes + 1)
        if max(about.st_size, len(content)) > most_bytes:
            raise OSError(errno.EFBIG, f"it has more than {most_bytes // MIB} MiB", str(path))
        return content


def _read_pieces(file: BinaryIO, most_bytes: int) -> bytes:
    """Read at most this number of bytes; room is made for what is there only."""
    content = bytearray()
    while piece := file.read(min(MIB, most_bytes - len(content))):
        content += piece
    return bytes(content)
