"""Writes files whole or not at all, never through a link, in directories that stay the same ones meanwhile."""

import contextlib
import errno
import fcntl
import os
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Self

from runoff.errors import MissingError, UsageError
from runoff.ownership import find_other_writer

NEW = ".new"
"""The ending of a file that is still being written, or whose writer was killed."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def write_whole(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write ``content`` to ``path`` durably: a new file beside it, synced, takes its place.

    A link at ``path`` is replaced and not followed; readers find the old content or the new. Its permissions are
    ``mode``, or else those of new files. Raises OSError.
    """
    with HeldDirectory(path.parent) as directory:
        directory.write_whole(path.name, content, mode)


def create_whole(path: Path, content: bytes) -> None:
    """Write a new file as `write_whole` does; of several that do so at a time one succeeds.

    Raises FileExistsError if anything is at ``path``, and OSError.
    """
    with HeldDirectory(path.parent) as directory:
        directory.create_whole(path.name, content)


def write_output(path: Path, text: str) -> None:
    """Write ``text`` to a file that the user has named: whole, as `write_whole` does, or into a pipe or device.

    A link is followed only in /dev, /dev/fd and /proc, where it leads to a stream of this process. Raises OSError.
    """
    if _is_stream(path) or (path.exists() and not path.is_symlink() and not path.is_file()):
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
    else:
        write_whole(path, text.encode())


def append_output(path: Path, text: str) -> None:
    """Add ``text`` to a file that the user has named, which is made where it is missing; as `write_output` has it, no
    link is followed. Raises OSError.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | (0 if _is_stream(path) else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags, _choose_mode(0o666))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link") from error
        raise
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)


def _is_stream(path: Path) -> bool:
    """Whether what is there is a stream of this process or a device, and a link leads to one.

    Anybody may write files and links in /dev/shm.
    """
    return str(path.parent) in ("/dev", "/dev/fd") or path.is_relative_to("/proc")


def make_directories(path: Path) -> None:
    """Make the directory ``path`` and those above it that are missing; others may not write in what root makes.

    Raises OSError.
    """
    if path.is_dir():
        return
    if path.parent != path:
        make_directories(path.parent)
    with contextlib.suppress(FileExistsError):
        path.mkdir(_choose_mode(0o777))
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


@contextlib.contextmanager
def temporary_directory() -> Iterator[Path]:
    """Yield a new directory that only this user can enter, and remove it.

    Raises UsageError as root where another user could put something else in its place.
    """
    place = Path(tempfile.gettempdir())
    if os.geteuid() == 0 and (why := find_other_writer(place, is_passed=True)) is not None:
        raise UsageError(f"{why}, who could redirect what root writes there: set TMPDIR to another directory")
    with tempfile.TemporaryDirectory(prefix="runoff-", dir=place) as folder:
        yield Path(folder)


def sync_directory(directory: Path) -> None:
    """Make the names in ``directory`` durable. Raises OSError."""
    with HeldDirectory(directory) as held:
        held.sync()


def _choose_mode(usual: int) -> int:
    """Return permissions for something new; the umask takes away more of them."""
    return usual & 0o755 if os.geteuid() == 0 else usual


@dataclass(frozen=True, slots=True)
class Identity:
    """Identifies a file independently of its name."""

    device: int
    inode: int

    @classmethod
    def from_stat(cls, about: os.stat_result) -> Self:
        return cls(about.st_dev, about.st_ino)


class HeldDirectory:
    """A directory that stays open: what is written in it stays in it, wherever its path leads meanwhile."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self.path = path
        self._descriptor = os.open(path, _DIRECTORY)
        self.identity = Identity.from_stat(os.fstat(self._descriptor))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write_whole(self, name: str | PurePath, content: bytes, mode: int | None = None) -> None:
        """Write the file ``name`` in it durably, as the function of this name does; folders on the way are made.

        No link is followed. Raises OSError.
        """
        *folders, last = PurePath(name).parts
        place = os.dup(self._descriptor)
        try:
            for folder in folders:
                inside = _enter(place, folder)
                os.close(place)
                place = inside
            _write_whole(place, last, content, mode)
        finally:
            os.close(place)

    def create_whole(self, name: str, content: bytes) -> None:
        """Write the new file ``name`` in it, as the function of this name does. Raises OSError."""
        new = f"{name}.{secrets.token_hex(8)}{NEW}"
        _write_new(self._descriptor, new, content, None)
        try:
            os.link(new, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor, follow_symlinks=False)
        finally:
            os.unlink(new, dir_fd=self._descriptor)
        self.sync()

    def lock(self) -> bool:
        """Take the exclusive lock, which ends with this process; return False if another process has it."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # Not every network file system can lock directories.
            return True
        return True

    def identify(self, name: str) -> Identity | None:
        """Return the identity of the file ``name`` in it now; None if there is none."""
        try:
            return Identity.from_stat(os.stat(name, dir_fd=self._descriptor, follow_symlinks=False))
        except OSError:
            return None

    @property
    def is_in_place(self) -> bool:
        """Return whether its path still leads to it."""
        try:
            return Identity.from_stat(self.path.stat()) == self.identity
        except OSError:
            return False

    @property
    def present_path(self) -> Path | None:
        """Return its present path; None if it was removed."""
        if os.fstat(self._descriptor).st_nlink == 0:
            return None
        return Path(f"/proc/self/fd/{self._descriptor}").readlink()

    def sync(self) -> None:
        """Make the names in it durable. Raises OSError."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


@contextlib.contextmanager
def hold_same(path: Path, identity: Identity | None) -> Iterator[HeldDirectory]:
    """Hold a directory that is known by its ``identity``. Raises MissingError where ``path`` leads to another."""
    try:
        held = HeldDirectory(path)
    except OSError as error:
        raise MissingError(f"cannot use {path}: {error.strerror}") from None
    with held:
        if identity is not None and held.identity != identity:
            raise MissingError(f"{path} was replaced by something else just now: nothing is written there")
        yield held


def _enter(place: int, folder: str) -> int:
    """Open the directory ``folder`` in the open directory ``place``, made where it is missing. Raises OSError."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, _choose_mode(0o777), dir_fd=place)
        os.fsync(place)
    return os.open(folder, _DIRECTORY | os.O_NOFOLLOW, dir_fd=place)


def _write_whole(place: int, name: str, content: bytes, mode: int | None) -> None:
    new = name + NEW
    _write_new(place, new, content, mode)
    os.replace(new, name, src_dir_fd=place, dst_dir_fd=place)
    os.fsync(place)


def _write_new(place: int, new: str, content: bytes, mode: int | None) -> None:
    """Write a file that takes its name later. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new, dir_fd=place)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(new, flags, _choose_mode(0o666) if mode is None else 0o600, dir_fd=place)
    with os.fdopen(descriptor, "wb") as file:
        if mode is not None:
            os.fchmod(descriptor, mode)
        file.write(content)
        file.flush()
        os.fsync(descriptor)
