"""What commands print: nothing of it moves a cursor or hides text, and a stream that is full or closed is noticed."""

import contextlib
import errno
import io
import os
import stat
import sys
from pathlib import Path

import click

from runoff.errors import MissingError
from runoff.files import append_output, write_output
from runoff.text import escape_lines


class OutputError(Exception):
    """Standard output cannot be written."""


class _ClosedStream(io.RawIOBase):
    """Stands in for a standard output that was closed before this process began."""

    def writable(self) -> bool:
        return True

    def write(self, _data: object) -> int:
        raise OSError(errno.EBADF, "it is closed")


def open_streams() -> None:
    """Give closed standard streams something in their place, so that no file of ours takes their numbers."""
    closed = [number for number in (0, 1, 2) if not _is_open(number)]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)
    if 1 in closed:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_ClosedStream()), encoding="utf-8", write_through=True)
    if 2 in closed:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def echo(text: str = "", *, err: bool = False, nl: bool = True, styled: bool = False) -> None:
    """Print ``text`` with a newline; ``styled`` text has colours of ours, and nothing of others that is not printable.

    What cannot be written to standard error is lost: no campaign ends for it. Raises OutputError.
    """
    shown = text if styled else escape_lines(text)
    with contextlib.suppress(OSError) if err else _NoticedErrors():
        click.echo(shown, err=err, nl=nl)


def write(document: str) -> None:
    """Print a document as it is: JSON, Markdown or CSV of printable text. Raises OutputError."""
    with _NoticedErrors():
        sys.stdout.write(document)
        sys.stdout.flush()


def write_file(path: Path, text: str, *, append: bool = False) -> None:
    """Write a document into a file that the user has named, or add it there; ``-`` is standard output.

    Raises MissingError, and OutputError.
    """
    if str(path) == "-":
        write(text)
        return
    try:
        if append:
            append_output(path, text)
        else:
            write_output(path, text)
    except OSError as error:
        raise MissingError(f"cannot write {path}: {error.strerror}; name another file") from None


def flush() -> None:
    """Write what is still in standard output's buffer. Raises OutputError."""
    with _NoticedErrors():
        sys.stdout.flush()


class _NoticedErrors:
    """Turns an error of standard output into ours; what a terminal that is gone would have shown is lost."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
            return False
        if not _is_hung_up(error):
            raise OutputError(f"cannot write to standard output: {error.strerror}") from None
        give_up_stdout()
        return True


def _is_hung_up(error: OSError) -> bool:
    """Whether standard output was a terminal whose window was closed; a disk may have the same error."""
    return error.errno == errno.EIO and stat.S_ISCHR(os.fstat(1).st_mode)


def give_up_stdout() -> None:
    """Write nothing more to standard output, so that Python does not complain when it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = io.StringIO()
