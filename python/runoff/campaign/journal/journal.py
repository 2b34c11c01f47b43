"""The journal: every sample is in it, on the disk, before another is started in its place."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from runoff.campaign.journal import chain, database
from runoff.campaign.journal.records import Row, read_fact
from runoff.campaign.journal.stored_files import is_left_over
from runoff.campaign.journal.trust import make_own_place
from runoff.engines.outcome import Outcome, ValidSample
from runoff.errors import MissingError, UsageError
from runoff.files import HeldDirectory, Identity
from runoff.plan.order import Cell
from runoff.results import Conditions
from runoff.validation import describe_mistake

FILE = database.FILE
_UNFINISHED = f"{FILE}.new"
"""Name of a journal that is being written; it is renamed when complete, so readers find a complete one or none."""


class Journal:
    """One campaign's database; only one process may write it at a time."""

    def __init__(self, directory: Path, connection: sqlite3.Connection, held: HeldDirectory | None) -> None:
        """``held`` is the directory of one that is written; one that is read keeps what it had at this moment.

        Raises UsageError where a row is not what was written.
        """
        self.directory = directory
        self._connection = connection
        self._held = held
        self._facts: dict[str, str] = {}
        self._cells: set[str] = set()
        self._head = chain.Head()
        self._first_sample = ""
        self._is_together = False
        self._files: dict[str, Identity | None] = {}
        with self.explain_contents():
            self._read()

    @classmethod
    def create(
        cls,
        directory: Path,
        facts: Mapping[str, Any],
        keep: Callable[[HeldDirectory], None] = lambda _: None,
        fill: Callable[[Self], None] = lambda _: None,
        *,
        trusted: bool = False,
    ) -> Self:
        """Start a campaign in a new or empty directory.

        ``keep`` puts there what has to be there with the journal, and ``fill`` adds samples that it begins with. Not
        ``trusted``: root starts none where others may write.

        Raises UsageError or MissingError.
        """
        make_own_place(directory, trusted=trusted)
        try:
            occupied = any(not _is_left_over(entry) for entry in directory.iterdir())
        except OSError as error:
            raise _make_unusable_error(directory, error) from None
        if occupied:
            sentence = f"{directory} is not empty: choose another --out, or go on with it"
            raise UsageError(sentence, hint=("resume", directory))
        with _hold_directory(directory) as held:
            for left in directory.glob(f"{_UNFINISHED}*"):
                left.unlink()
            keep(held)
            unfinished = directory / _UNFINISHED
            with _explain_errors(directory), closing(database.make(unfinished)) as connection:
                journal = cls(directory, connection, None)
                with journal._write_together():
                    for key, value in facts.items():
                        journal.set_fact(key, value)
                    fill(journal)
            unfinished.rename(directory / FILE)
            held.sync()
            return cls(directory, database.open_whole(directory / FILE, write=True), held)

    @classmethod
    def open(cls, directory: Path, *, write: bool) -> Self:
        """Open an existing campaign: to ``write``, or else to read it without leaving a trace.

        Raises UsageError when it is not a campaign, is not what was written, cannot be read, or is written by another
        process.
        """
        path = directory / FILE
        database.require_files(directory)
        if not write:
            return cls(directory, database.open_whole(path, write=False), None)
        database.require_no_other_names(directory)
        with _hold_directory(directory) as held:
            return cls(directory, database.open_whole(path, write=True), held)

    def close(self) -> None:
        self._connection.close()
        if self._held is not None:
            self._held.close()
            self._held = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def folder(self) -> HeldDirectory:
        """The directory of one that is written."""
        assert self._held is not None
        return self._held

    def require_in_place(self) -> None:
        """Raise MissingError if the path of the directory or of the journal leads to something else by now."""
        held = self._held
        if held is None:
            return
        if not held.is_in_place:
            where = held.present_path
            if where is None:
                raise MissingError(f"{self.directory} was removed while the campaign ran, and its samples with it")
            raise MissingError(
                f"{self.directory} is not the campaign's directory any more, which was moved to {where} while the "
                "campaign ran; go on with it there",
                hint=("resume", where),
            )
        for name, known in self._files.items():
            found = held.identify(name)
            if found is None and name == FILE:
                held.write_whole(FILE, self.serialize())
                raise MissingError(
                    f"{self.directory / FILE} was removed while the campaign ran, and has been written once more; "
                    "go on with it",
                    hint=("resume", self.directory),
                )
            if found != known:
                raise MissingError(
                    f"{self.directory / name} was removed or replaced while the campaign ran: look at what is there, "
                    "then go on with it",
                    hint=("resume", self.directory),
                )

    def discard(self) -> None:
        """Remove the campaign, unless something else is in its place by now."""
        if self._held is not None and self._held.is_in_place:
            shutil.rmtree(self.directory)

    def set_fact(self, key: str, value: Any) -> None:
        """Write a fact durably; the last one of its key counts. Raises MissingError or UsageError."""
        body = json.dumps(value, sort_keys=True)
        if self._facts.get(key) != body:
            self._append("fact", key, body)
            self._facts[key] = body

    def fact(self, key: str, default: Any = None) -> Any:
        """Return a fact; ``default`` if there is none. Raises UsageError for a value of the wrong type."""
        with _explain_contents(self.directory, f"fact {key}"):
            return read_fact(key, self._facts[key]) if key in self._facts else default

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
        requests_sha256: str | None = None,
    ) -> None:
        """Write one sample durably; a second one for the same cell is a bug and fails.

        ``seconds`` is the wall time that all of it took, ``part`` counts how often the campaign was resumed before,
        ``requests_sha256`` is that of the log of its requests. Raises MissingError or UsageError.
        """
        taken = isinstance(outcome, ValidSample)
        row = {
            "cell": cell.id,
            "block": cell.block,
            "position": cell.position,
            "arm": arm,
            "workload": workload,
            "load": load,
            "valid": taken,
            "reason": None if isinstance(outcome, ValidSample) else outcome.reason,
            "detail": "" if isinstance(outcome, ValidSample) else outcome.detail,
            "metrics": dict(outcome.metrics) if isinstance(outcome, ValidSample) else {},
            "proof": None if outcome.proof is None else dict(outcome.proof),
            "conditions": None if conditions is None else asdict(conditions),
            "seconds": seconds,
            "part": part,
            "requests_sha256": requests_sha256,
            "worker": outcome.origin.worker if outcome.origin is not None else "",
        }
        body = json.dumps(row, sort_keys=True)
        self._append("sample", cell.id, body)
        self._cells.add(cell.id)

    def explain_contents(self) -> AbstractContextManager[None]:
        """Turn a ValueError about the journal's content into a UsageError."""
        return _explain_contents(self.directory)

    @property
    def last_row(self) -> str:
        """Digest of the last row, which covers all rows before it."""
        return self._head.digest

    @property
    def first_sample(self) -> str:
        """Digest of the row of the first sample that was taken; empty without one."""
        return self._first_sample

    def serialize(self) -> bytes:
        """Return the whole database as a file has it."""
        return self._connection.serialize()

    def done(self) -> set[str]:
        """Return ids of the cells that have a sample, valid or void."""
        return set(self._cells)

    def rows(self) -> list[Row]:
        """Return all samples in run order. Raises UsageError when one is not of its kind."""
        rows = []
        with self.explain_contents():
            # Another process may have written more since this journal was opened.
            known = self._read_entries(f"WHERE number <= {self._head.number}")
            samples = {entry.subject: entry.body for entry in known if entry.kind == "sample"}
        for cell, body in samples.items():
            with _explain_contents(self.directory, f"sample {cell}"):
                row = Row.model_validate_json(body)
                if row.cell != cell:
                    raise ValueError(f"it says that it is of {row.cell}")
                rows.append(row)
        return sorted(rows, key=lambda row: row.position)

    def _read(self) -> None:
        """Read the facts, and which samples there are: their content may not fit into memory in a long campaign."""
        with database.transaction(self._connection, "DEFERRED"):
            heads = self._connection.execute("SELECT number, digest FROM head").fetchall()
            if len(heads) != 1:
                raise ValueError(f"it has {len(heads)} last rows")
            self._head = chain.Head(*heads[0])
            for entry in self._read_entries():
                self._note(entry)

    def _read_entries(self, condition: str = "") -> Iterator[chain.Entry]:
        """Yield the rows, in SQL of a ``condition``. Raises ValueError where one is not what was written."""
        found = self._connection.execute(f"SELECT * FROM entries {condition} ORDER BY number")
        return chain.check((chain.Entry(*row) for row in found), self._head)

    def _note(self, entry: chain.Entry) -> None:
        match entry.kind:
            case "fact":
                self._facts[entry.subject] = entry.body
            case "sample":
                self._cells.add(entry.subject)
                self._first_sample = self._first_sample or entry.digest
            case _:
                raise ValueError(f"row {entry.number} is neither a fact nor a sample")

    @contextmanager
    def _write_together(self) -> Iterator[None]:
        """Make one transaction of all that is written meanwhile."""
        with database.transaction(self._connection, "IMMEDIATE"):
            self._is_together = True
            try:
                yield
            finally:
                self._is_together = False

    def _append(self, kind: str, subject: str, body: str) -> None:
        entry = chain.follow(self._head, kind, subject, body)
        head = chain.Head(entry.number, entry.digest)
        own = nullcontext() if self._is_together else database.transaction(self._connection, "IMMEDIATE")
        with _explain_errors(self.directory), own:
            found = self._connection.execute("SELECT number, digest FROM head").fetchone()
            if chain.Head(*found) != self._head:
                raise UsageError(
                    f"another runoff has written in {self.directory}: wait for it, or choose another --out"
                )
            self._connection.execute("INSERT INTO entries VALUES (?,?,?,?,?)", astuple(entry))
            self._connection.execute("UPDATE head SET number = ?, digest = ?", astuple(head))
        self._head = head
        if self._held is not None and not self._files:
            self._files = {name: self._held.identify(name) for name in (FILE, database.LOG)}


@contextmanager
def _explain_contents(directory: Path, what: str = "") -> Iterator[None]:
    """Turn errors about the journal's content into UsageError; ``what`` is being read."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        reason = str(error)
    except ValidationError as error:
        reason = ": ".join(filter(None, [what, describe_mistake(error)]))
    except ValueError as error:
        reason = ": ".join(filter(None, [what, str(error)]))
    else:
        return
    raise UsageError(f"{directory / FILE} is damaged ({reason}): copy the campaign back from a backup")


@contextmanager
def _explain_errors(directory: Path) -> Iterator[None]:
    """Turn errors of SQLite into errors of runoff."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise MissingError(
            f"cannot write the journal in {directory} ({error}): "
            "make room or the directory writable, then go on with it",
            hint=("resume", directory),
        ) from None


def _is_left_over(entry: Path) -> bool:
    """Return whether ``entry`` of a directory without a journal is from a runoff that was killed while it made one."""
    return entry.name.startswith(_UNFINISHED) or is_left_over(entry)


@contextmanager
def _hold_directory(directory: Path) -> Iterator[HeldDirectory]:
    """Lock the directory for this process; release it if the block fails. Raises UsageError, MissingError."""
    try:
        held = HeldDirectory(directory)
    except OSError as error:
        raise _make_unusable_error(directory, error) from None
    try:
        if not held.lock():
            raise UsageError(f"another runoff is working in {directory}: wait for it, or choose another --out")
        yield held
    except BaseException:
        held.close()
        raise


def _make_unusable_error(directory: Path, error: OSError) -> MissingError:
    return MissingError(f"cannot use the directory {directory}: {error.strerror}; choose another with --out")
