"""The journal's database file: made, opened, found to be ours and whole, and read without leaving a trace."""

import shutil
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from runoff.errors import MissingError, UsageError
from runoff.files import temporary_directory
from runoff.reading import LARGEST_COPY_BYTES, read_own

FILE = "journal.sqlite"
LOG = f"{FILE}-wal"
"""SQLite's own, while somebody has the journal open, or after a kill."""
_BESIDE = (LOG, f"{FILE}-shm", f"{FILE}-journal")
"""What SQLite may put beside it."""
_MOST_NAMED = 4
"""Campaigns that are named where a directory has several."""
_APPLICATION = 0x52554E4F
"""SQLite's application_id ("RUNO"): tells our journals from other databases."""
_SCHEMA_VERSION = 5
_SCHEMA = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL, "
    "body TEXT NOT NULL, digest TEXT NOT NULL) STRICT",
    "CREATE UNIQUE INDEX one_sample_a_cell ON entries (subject) WHERE kind = 'sample'",
    "CREATE TABLE head (number INTEGER NOT NULL, digest TEXT NOT NULL) STRICT",
)
"""Rows are only ever added; `head` is the last of them."""


def make(path: Path) -> sqlite3.Connection:
    """Make an empty journal. Raises MissingError, or sqlite3.OperationalError where it cannot be written."""
    connection = _connect(path, "rwc")
    connection.execute("PRAGMA journal_mode=WAL")
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO head VALUES (0, '')")
    connection.execute(f"PRAGMA application_id={_APPLICATION}")
    connection.execute(f"PRAGMA user_version={_SCHEMA_VERSION}")
    return connection


def open_whole(path: Path, *, write: bool) -> sqlite3.Connection:
    """Open a journal of this format whose tables are as they were made. Raises UsageError or MissingError."""
    connection = _connect(path, "rw") if write else _connect_to_read(path)
    try:
        _require_whole(connection, path)
        if write:
            connection.execute("PRAGMA synchronous=FULL")
            # Each row reaches the file itself at once: nothing depends on the log beside it for long.
            connection.execute("PRAGMA wal_autocheckpoint=1")
    except BaseException:
        connection.close()
        raise
    return connection


def _require_whole(connection: sqlite3.Connection, path: Path) -> None:
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        healthy = connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
        tables = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    except sqlite3.OperationalError as error:
        raise MissingError(
            f"cannot open the journal in {path.parent} ({error}): copy the campaign to a place where this user may "
            "write, and go on with the copy"
        ) from None
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{path} is damaged ({error}): copy the campaign back from a backup") from None
    if application != _APPLICATION:
        raise UsageError(f"{path} was not written by runoff")
    if version != _SCHEMA_VERSION:
        raise UsageError(
            f"{path} has format {version}, this runoff reads {_SCHEMA_VERSION}: use the runoff that wrote it"
        )
    # A view or a trigger of somebody else's would do what it says when a row is read or written.
    if not healthy or _words(sql for (sql,) in tables) != _words(_SCHEMA):
        raise UsageError(f"{path} is damaged: copy the campaign back from a backup")


def require_files(directory: Path) -> None:
    """Raise UsageError unless ``directory`` has a journal that is a file, and no link beside it that SQLite uses."""
    for name in (FILE, *_BESIDE):
        try:
            mode = (directory / name).lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            if not directory.exists():
                raise UsageError(f"there is no campaign {directory}: no such directory") from None
            if name == FILE:
                raise UsageError(f"{directory} is not a campaign: it has no {FILE}{_name_inner(directory)}") from None
            continue
        except OSError as error:
            raise UsageError(f"cannot read the campaign {directory}: {error.strerror}") from None
        if stat.S_ISLNK(mode):
            raise UsageError(f"{directory} is not a campaign: {name} is a link; put what it leads to in its place")
        if not stat.S_ISREG(mode):
            raise UsageError(f"{directory} is not a campaign: {name} is not a file")


def _name_inner(directory: Path) -> str:
    """Return the rest of a sentence that names the campaigns in ``directory``, as sweeps of sizes and matrices have."""
    inner = sorted(path.parent.name for path in directory.glob(f"*/{FILE}"))
    more = f" and {len(inner) - _MOST_NAMED} more" if len(inner) > _MOST_NAMED else ""
    return f"; the campaigns in it: {', '.join(inner[:_MOST_NAMED])}{more}" if inner else ""


def require_no_other_names(directory: Path) -> None:
    """Raise UsageError if a file that SQLite will write has another name, under which it would change too."""
    for name in (FILE, *_BESIDE):
        path = directory / name
        with suppress(FileNotFoundError):
            if path.lstat().st_nlink > 1:
                raise UsageError(
                    f"{path} has another name (a hard link), and would change under that too: copy the campaign, and "
                    "go on with the copy"
                )


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    """Write the whole block or nothing, and read one moment's content; ``kind`` is SQLite's word."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _connect(file: Path, mode: str) -> sqlite3.Connection:
    uri = f"{file.absolute().as_uri()}?mode={mode}"
    try:
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise MissingError(f"cannot open the journal in {file.parent}: {error}") from None
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open the journal without writing anything beside it, on any disk and as any user."""
    log = path.with_name(LOG)
    if not log.exists():
        connection = _load(path)
        # Nobody has begun to write meanwhile.
        if not log.exists():
            return connection
        connection.close()
    connection = _connect(path, "ro")
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        # The log's index is not there, and cannot be made here: in a copy it can.
        connection.close()
        with temporary_directory() as folder:
            for each in (path, log):
                shutil.copy(each, folder)
            with closing(_connect(folder / FILE, "rw")) as copy:
                connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
                copy.backup(connection)
    return connection


def _load(path: Path) -> sqlite3.Connection:
    """Return all of the file at once, in memory. Raises MissingError."""
    try:
        content = bytearray(read_own(path, LARGEST_COPY_BYTES))
    except OSError as error:
        raise MissingError(f"cannot open the journal in {path.parent}: {error.strerror}") from None
    # What is in memory has no write-ahead log (format of the database header, offsets 18 and 19).
    content[18:20] = b"\1\1"
    connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.deserialize(bytes(content))
    return connection


def _words(statements: Iterable[str]) -> Sequence[Sequence[str]]:
    return [statement.split() for statement in statements]
