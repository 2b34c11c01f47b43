"""Journals with all digests computed anew, as a forger would: their content is not trusted either."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import astuple
from pathlib import Path
from typing import Any

from runoff.campaign.journal import chain
from runoff.campaign.journal.database import FILE

Rows = list[tuple[str, str, str]]
"""Kind, subject and body of each row."""


def read_rows(campaign: Path) -> Rows:
    """The rows as they are in the file, unchecked."""
    with closing(sqlite3.connect(campaign / FILE)) as connection:
        return connection.execute("SELECT kind, subject, body FROM entries ORDER BY number").fetchall()


def read_fact(campaign: Path, key: str) -> Any:
    """The last one of its key."""
    return json.loads([body for kind, subject, body in read_rows(campaign) if (kind, subject) == ("fact", key)][-1])


def forge(campaign: Path, change: Callable[[Rows], Rows]) -> None:
    """Put other rows in the place of all that there are, with a chain of their own."""
    head, entries = chain.Head(), []
    for row in change(read_rows(campaign)):
        entries.append(chain.follow(head, *row))
        head = chain.Head(entries[-1].number, entries[-1].digest)
    with closing(sqlite3.connect(campaign / FILE)) as connection, connection:
        connection.execute("DELETE FROM entries")
        connection.executemany("INSERT INTO entries VALUES (?,?,?,?,?)", map(astuple, entries))
        connection.execute("UPDATE head SET number = ?, digest = ?", astuple(head))


def forge_fact(campaign: Path, key: str, body: str | None) -> None:
    """Put ``body`` in the place of each fact of this key; None removes it."""
    others = {("fact", key): body}
    forge(
        campaign,
        lambda rows: [
            (kind, subject, others.get((kind, subject), old) or "")
            for kind, subject, old in rows
            if body is not None or (kind, subject) != ("fact", key)
        ],
    )


def forge_samples(campaign: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Put what ``change`` makes of each sample in its place; None removes it."""

    def changed(rows: Rows) -> Rows:
        found = []
        for kind, subject, body in rows:
            sample = change(json.loads(body)) if kind == "sample" else None
            if kind == "fact":
                found.append((kind, subject, body))
            elif sample is not None:
                found.append((kind, subject, json.dumps(sample, sort_keys=True)))
        return found

    forge(campaign, changed)


def keep_first_block(campaign: Path) -> None:
    """Leaves it as if it had been stopped after its first block."""
    forge_samples(campaign, lambda sample: sample if sample["block"] < 1 else None)
