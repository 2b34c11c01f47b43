"""The journal: every sample is in it, on the disk, before the next one starts."""

import fcntl
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

from runoff.campaign.order import Cell
from runoff.engines.outcome import Outcome, Taken
from runoff.errors import MissingError, UsageError
from runoff.results import Conditions

FILE = "journal.sqlite"
_UNFINISHED = f"{FILE}.new"
"""Until everything is in it that makes it a journal: whoever looks finds a whole one, or none."""
_LOCK = "lock"
_APPLICATION = 0x52554E4F
"""SQLite's application_id ("RUNO"): tells our journals from other databases."""
_SCHEMA_VERSION = 2
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
    conditions TEXT
) STRICT;
"""


class Journal:
    """One campaign's database; only one process may write it at a time."""

    def __init__(self, directory: Path, connection: sqlite3.Connection, lock: IO[str] | None) -> None:
        self.directory = directory
        self._connection = connection
        self._lock = lock

    @classmethod
    def create(cls, directory: Path, facts: Mapping[str, Any]) -> Self:
        """Start a campaign in a new or empty directory. Raises UsageError or MissingError."""
        try:
            directory.mkdir(parents=True, exist_ok=True)
            occupied = any(not entry.name.startswith((_LOCK, _UNFINISHED)) for entry in directory.iterdir())
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
        """Open an existing campaign. Raises UsageError when it is none, or in use by another process."""
        path = directory / FILE
        if not path.is_file():
            raise UsageError(f"{directory} is not a campaign: it has no {FILE}")
        lock = _lock(directory) if write else None
        connection = _connect(path, "rw")
        try:
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
        row = self._connection.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
        return default if row is None else json.loads(row[0])

    def add(
        self,
        cell: Cell,
        arm: str,
        workload: str,
        load: str,
        outcome: Outcome,
        conditions: Conditions | None = None,
    ) -> None:
        """Write one sample durably; a second one for the same cell is a bug and fails."""
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
        )
        with _explained(self.directory), self._connection:
            self._connection.execute("INSERT INTO samples VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", row)

    def done(self) -> set[str]:
        """Ids of the cells that have a sample, valid or void."""
        return {row[0] for row in self._connection.execute("SELECT cell FROM samples")}

    def rows(self) -> list[dict[str, Any]]:
        """All samples in run order."""
        cursor = self._connection.execute("SELECT * FROM samples ORDER BY position")
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor]
        for row in rows:
            row["metrics"] = json.loads(row["metrics"])
            for key in ("proof", "conditions"):
                row[key] = None if row[key] is None else json.loads(row[key])
        return rows


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
