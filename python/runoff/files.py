"""Writes files whole or not at all, never through a link, and detects directories that were replaced."""

import errno
import fcntl
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Self

NEW = ".new"
"""The ending of a file that is still being written, or whose writer was killed."""


def write_whole(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` durably: a new file beside it, synced, takes its place.

    A link at ``path`` is replaced and not followed; readers find the old content or the new. Raises OSError.
    """
    new = path.with_name(path.name + NEW)
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    new.replace(path)
    sync_directory(path.parent)


def read_own(path: Path) -> bytes:
    """Return the content of the file ``path``. Raises OSError, also if it is a link, a device or a pipe."""
    # Opening a pipe waits for a writer, unless told not to.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(path))
        return file.read()


def make_folder(path: Path) -> None:
    """Make the directory ``path`` unless it exists. Raises OSError, also if a link is in its place."""
    try:
        path.mkdir()
    except FileExistsError:
        if not stat.S_ISDIR(path.lstat().st_mode):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    else:
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the names in ``directory`` durable. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Identity:
    """Identifies a file independently of its name."""

    device: int
    inode: int

    @classmethod
    def from_stat(cls, about: os.stat_result) -> Self:
        return cls(about.st_dev, about.st_ino)


class HeldDirectory:
    """A directory that stays open, so that another one at its path is not mistaken for it."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._identity = Identity.from_stat(os.fstat(self._descriptor))

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
            return Identity.from_stat(self.path.stat()) == self._identity
        except OSError:
            return False

    @property
    def present_path(self) -> Path | None:
        """Return its present path; None if it was removed."""
        if os.fstat(self._descriptor).st_nlink == 0:
            return None
        return Path(f"/proc/self/fd/{self._descriptor}").readlink()

    def close(self) -> None:
        os.close(self._descriptor)
