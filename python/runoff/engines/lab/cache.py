"""The lab's cache: where kernels, images and apt's private state live, built once and never seen half built."""

import contextlib
import errno
import fcntl
import functools
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import platformdirs

from runoff.errors import MissingError, UsageError
from runoff.files import make_directories
from runoff.ownership import find_other_writer

Progress = Callable[[str], None]

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_NO_ACCESS = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ELOOP}
_CHUNK = 1 << 20


def root() -> Path:
    """Return the cache's top directory: ``RUNOFF_CACHE``, or the user's cache directory.

    Raises UsageError as root where others may write: with a kernel or QEMU they could change its digest, too.
    """
    chosen = os.environ.get("RUNOFF_CACHE")
    found = Path(chosen).absolute() if chosen else platformdirs.user_cache_path("runoff")
    if os.geteuid() == 0:
        _require_own(found)
    return found


@functools.cache
def _require_own(directory: Path) -> None:
    try:
        why = find_other_writer(directory)
    except OSError as error:
        raise MissingError(f"cannot use the cache {directory}: {error.strerror}; set RUNOFF_CACHE") from None
    if why is not None:
        raise UsageError(f"{why}, who could change what root boots and runs of the lab's cache: set RUNOFF_CACHE")


def kernels() -> Path:
    """Return the directory with one folder per kernel."""
    return root() / "kernels"


def images() -> Path:
    """Return the directory with one folder per root file system."""
    return root() / "images"


def snapshots() -> Path:
    """Return the directory with one folder per snapshot of a guest."""
    return root() / "snapshots"


def emulators() -> Path:
    """Return the directory with one folder per QEMU of runoff's own."""
    return root() / "qemus"


def apt() -> Path:
    """Return the directory of private apt state, which has one folder per mirror."""
    return root() / "apt"


def sha256(path: Path) -> str:
    """Return the hex digest of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def known_sha256(path: Path) -> str:
    """Return the digest of a file's content, read once for as long as the file stays as it is. Raises OSError."""
    about = path.stat()
    return _sha256_of(path, about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


@functools.lru_cache(maxsize=64)
def _sha256_of(path: Path, *_identity: int) -> str:
    return sha256(path)


def measure_bytes(path: Path) -> int:
    """Return what a file, or all that is below a directory, takes of the disk; what goes meanwhile is not counted."""
    total = 0
    for each in path.rglob("*") if path.is_dir() and not path.is_symlink() else [path]:
        with contextlib.suppress(OSError):
            total += each.lstat().st_blocks * 512
    return total


@contextlib.contextmanager
def explain_write_errors() -> Iterator[None]:
    """Turn the error of a full or unwritable cache into a message that names it.

    Raises:
        MissingError: in place of the OSError.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise MissingError(f"no room left in {root()}: free some, or set RUNOFF_CACHE to a larger disk") from error
        if error.errno in _NO_ACCESS:
            raise MissingError(
                f"{error.filename or root()} cannot be written ({error.strerror}): "
                "set RUNOFF_CACHE to a directory of your own"
            ) from error
        raise


def require_room(directory: Path, wanted_mb: int) -> None:
    """Raise MissingError if ``directory`` has too little room."""
    free_mb = shutil.disk_usage(directory).free // (1 << 20)
    if free_mb < wanted_mb:
        raise MissingError(
            f"{wanted_mb} MB are needed, and {root()} has {free_mb}: free some, or set RUNOFF_CACHE to a larger disk"
        )


@contextlib.contextmanager
def hold_lock(path: Path, progress: Progress) -> Iterator[None]:
    """Hold the exclusive lock that belongs to ``path``; says so when another process has it."""
    with contextlib.ExitStack() as stack:
        with explain_write_errors():
            make_directories(path.parent)
            lock = stack.enter_context(_open_lock(path))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another runoff that builds {path.name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Hold the lock that belongs to ``path``, which must exist; yields False at once if another process has it."""
    with _open_lock(path) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield os.path.lexists(path)


def _open_lock(path: Path) -> IO[bytes]:
    """Open the lock that belongs to ``path``, which is not a link. Raises OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path.parent / f".{path.name}.lock", flags, 0o600), "r+b", buffering=0)


def remove(path: Path) -> None:
    """Remove a file, a link itself, or a directory with all that is in it. Raises OSError."""
    if stat.S_ISDIR(path.lstat().st_mode):
        shutil.rmtree(path)
    else:
        path.unlink()


@contextlib.contextmanager
def build_directory(
    final: Path, progress: Progress, is_whole: Callable[[Path], bool] = Path.exists
) -> Iterator[Path | None]:
    """Build the directory ``final``: yields a temporary one that takes its place when the block succeeds.

    Yields None when ``final`` is there and whole already, maybe because another process has just finished it. What a
    killed build left behind is removed by the next one.
    """
    with hold_lock(final, progress):
        if final.exists():
            if is_whole(final):
                yield None
                return
            progress(f"{final.name} is damaged: it is made again")
            # Another process may be removing it at this moment.
            with explain_write_errors(), contextlib.suppress(FileNotFoundError):
                remove(final)
        part = final.parent / f".{final.name}.part"
        with explain_write_errors():
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
        try:
            with explain_write_errors():
                yield part
                part.chmod(0o755)
                part.rename(final)
        finally:
            shutil.rmtree(part, ignore_errors=True)
