"""The journal: every sample is in it, on the disk, before another is started in its place."""

import fcntl
import json
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

from pydantic import ValidationError

from runoff.campaign.contents import Row, read_fact
from runoff.engines.outcome import Outcome, Taken
from runoff.errors import MissingError, UsageError
from runoff.kept import is_left_over
from runoff.order import Cell
from runoff.results import Conditions
from runoff.strict import mistake

FILE = "journal.sqlite"
_UNFINISHED = f"{FILE}.new"
"""Until everything is in it that makes it a journal: whoever looks finds a whole one, or none."""
_LOCK = "lock"
_APPLICATION = 0x52554E4F
"""SQLite's application_id ("RUNO"): tells our journals from other databases."""
_SCHEMA_VERSION = 4
_SCHEMA = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE samples (
    cell TEXT PRIMARY KEY,
    block INTEGER NOT NULL,
    position INTEGER NOT NULL,
    arm TEXT NOT NULL,
    workload TEXT NOT NULL,
    load TEXT NOT NULL,
    valid INTEGER NOT NULL,
    reason TEXT,
    detail TEXT NOT NULL,
    metrics TEXT NOT NULL,
    proof TEXT,
    conditions TEXT,
    seconds REAL,
    part INTEGER NOT NULL
) STRICT;
"""


class Journal:
    """One campaign's database; only one process may write it at a time."""

    def __init__(self, directory: Path, connection: sqlite3.Connection, lock: IO[str] | None) -> None:
        self.directory = directory
        self._connection = connection
        self._lock = lock

    @classmethod
    def create(cls, directory: Path, facts: Mapping[str, Any], keep: Callable[[], None] = lambda: None) -> Self:
        """Start a campaign in a new or empty directory; ``keep`` puts there what has to be there with the journal.

        Raises UsageError or MissingError.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
            occupied = any(not _is_left_over(entry) for entry in directory.iterdir())
        except OSError as error:
            raise _unusable(directory, error) from None
        if occupied:
            raise UsageError(
                f"{directory} is not empty: choose another --out, or go on with it by: runoff resume {directory}"
            )
        lock = _lock(directory)
        unfinished = directory / _UNFINISHED
        for left in directory.glob(f"{_UNFINISHED}*"):
            left.unlink()
        keep()
        journal = cls(directory, _connect(unfinished, "rwc"), None)
        with _explained(directory), journal:
            connection = journal._connection
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_SCHEMA)
            connection.execute(f"PRAGMA application_id={_APPLICATION}")
            connection.execute(f"PRAGMA user_version={_SCHEMA_VERSION}")
            for key, value in facts.items():
                journal.set_fact(key, value)
        unfinished.rename(directory / FILE)
        connection = _connect(directory / FILE, "rw")
        connection.execute("PRAGMA synchronous=FULL")
        return cls(directory, connection, lock)

    @classmethod
    def open(cls, directory: Path, *, write: bool) -> Self:
        """Open an existing campaign: to ``write``, or else to read it without leaving a trace.

        Raises UsageError when it is none, cannot be read, or is written by another process.
        """
        path = directory / FILE
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise UsageError(f"{directory} is not a campaign: {FILE} is no file")
        except (FileNotFoundError, NotADirectoryError):
            raise UsageError(f"{directory} is not a campaign: it has no {FILE}") from None
        except OSError as error:
            raise UsageError(f"cannot read the campaign {directory}: {error.strerror}") from None
        lock = _lock(directory) if write else None
        try:
            connection = _connect(path, "rw") if write else _connect_to_read(path)
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            healthy = connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        except sqlite3.DatabaseError as error:
            raise UsageError(f"{path} is damaged ({error}): copy the campaign back from a backup") from None
        if application != _APPLICATION:
            raise UsageError(f"{path} was not written by runoff")
        if version != _SCHEMA_VERSION:
            raise UsageError(
                f"{path} has format {version}, this runoff reads {_SCHEMA_VERSION}: use the runoff that wrote it"
            )
        if not healthy:
            raise UsageError(f"{path} is damaged: copy the campaign back from a backup")
        if write:
            connection.execute("PRAGMA synchronous=FULL")
        return cls(directory, connection, lock)

    def close(self) -> None:
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def set_fact(self, key: str, value: Any) -> None:
        with _explained(self.directory), self._connection:
            self._connection.execute(
                "INSERT INTO facts VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                (key, json.dumps(value, sort_keys=True)),
            )

    def fact(self, key: str, default: Any = None) -> Any:
        """Raises UsageError when it is not of its kind."""
        with _legible(self.directory, f"fact {key}"):
            row = self._connection.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
            return default if row is None else read_fact(key, row[0])

    def add(
        self,
        cell: Cell,
        arm: str,
        workload: str,
        load: str,
        outcome: Outcome,
        conditions: Conditions | None = None,
        *,
        seconds: float | None = None,
        part: int = 0,
    ) -> None:
        """Write one sample durably; a second one for the same cell is a bug and fails.

        ``seconds`` is the wall time that all of it took, ``part`` counts how often the campaign was resumed before.
        """
        taken = isinstance(outcome, Taken)
        row = (
            cell.id,
            cell.block,
            cell.position,
            arm,
            workload,
            load,
            int(taken),
            None if isinstance(outcome, Taken) else outcome.reason,
            "" if isinstance(outcome, Taken) else outcome.detail,
            json.dumps(outcome.metrics if isinstance(outcome, Taken) else {}, sort_keys=True),
            None if outcome.proof is None else json.dumps(outcome.proof, sort_keys=True),
            None if conditions is None else json.dumps(asdict(conditions), sort_keys=True),
            seconds,
            part,
        )
        with _explained(self.directory), self._connection:
            self._connection.execute("INSERT INTO samples VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", row)

    def legible(self) -> AbstractContextManager[None]:
        """Inside, a ValueError is one of what the journal holds; it leaves as a UsageError."""
        return _legible(self.directory)

    def done(self) -> set[str]:
        """Ids of the cells that have a sample, valid or void."""
        with _legible(self.directory):
            return {row[0] for row in self._connection.execute("SELECT cell FROM samples")}

    def rows(self) -> list[Row]:
        """All samples in run order. Raises UsageError when one is not of its kind."""
        with _legible(self.directory):
            cursor = self._connection.execute("SELECT * FROM samples ORDER BY position")
            names = [column[0] for column in cursor.description]
            found = [dict(zip(names, row, strict=True)) for row in cursor]
        rows = []
        for values in found:
            with _legible(self.directory, f"sample {values.get('cell')}"):
                rows.append(Row.model_validate(values))
        return rows


@contextmanager
def _legible(directory: Path, what: str = "") -> Iterator[None]:
    """Turns what a journal cannot hold into an error of ours; ``what`` is being read."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        reason = str(error)
    except ValidationError as error:
        reason = ": ".join(filter(None, [what, mistake(error)]))
    except ValueError as error:
        reason = str(error)
    else:
        return
    raise UsageError(f"{directory / FILE} is damaged ({reason}): copy the campaign back from a backup")


class _explained:
    """Turns the database's errors into ours."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, sqlite3.OperationalError):
            raise MissingError(
                f"cannot write the journal in {self._directory} ({error}): "
                f"make room or the directory writable, then: runoff resume {self._directory}"
            ) from None


def _connect(file: Path, mode: str) -> sqlite3.Connection:
    try:
        # Autocommit off: every write below is one explicit transaction.
        return sqlite3.connect(f"{file.resolve().as_uri()}?mode={mode}", uri=True, check_same_thread=False)
    except sqlite3.OperationalError as error:
        raise MissingError(f"cannot open the journal in {file.parent}: {error}") from None


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """As it is, with nothing written beside it: on any disk, for any user."""
    log = path.with_name(f"{FILE}-wal")
    if not log.exists():
        return _connect(path, "ro&immutable=1")
    connection = _connect(path, "ro")
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        # The log's index is not there, and cannot be made here: in a copy it can.
        with tempfile.TemporaryDirectory() as folder:
            for each in (path, log):
                shutil.copy(each, folder)
            with closing(_connect(Path(folder) / FILE, "rw")) as copy:
                connection = sqlite3.connect(":memory:", check_same_thread=False)
                copy.backup(connection)
    return connection


def _is_left_over(entry: Path) -> bool:
    """Whether ``entry`` of a directory without a journal is from a runoff that was killed while it made one."""
    return entry.name == _LOCK or entry.name.startswith(_UNFINISHED) or is_left_over(entry)


def _lock(directory: Path) -> IO[str]:
    try:
        lock = (directory / _LOCK).open("w")
    except OSError as error:
        raise _unusable(directory, error) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise UsageError(f"another runoff is working in {directory}: wait for it, or choose another --out") from None
    return lock


def _unusable(directory: Path, error: OSError) -> MissingError:
    return MissingError(f"cannot use the directory {directory}: {error.strerror}; choose another with --out")
