"""A journal in which anything was edited, removed, moved or hit by a bit flip is refused with the row's number."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import made_campaigns
import pytest
from click.testing import CliRunner

from runoff.campaign import directory
from runoff.campaign.journal.database import FILE
from runoff.campaign.journal.journal import Journal
from runoff.cli.main import cli
from runoff.errors import RunoffError, UsageError
from runoff.files import HeldDirectory

EDITS = 60
SEED = 20261125


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    return made_campaigns.made(tmp_path / "c", made_campaigns.noisy(0.0, 0.02), blocks=4)


def report(campaign: Path) -> Any:
    """The report of it, or the message by which it is refused."""
    result = CliRunner().invoke(cli, ["report", str(campaign), "--json"])
    if isinstance(result.exception, RunoffError):
        return str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return json.loads(result.stdout)


def execute(campaign: Path, statement: str) -> None:
    with closing(sqlite3.connect(campaign / FILE)) as connection, connection:
        connection.execute(statement)


def test_random_edits_of_the_file_are_refused_or_have_no_effect(campaign: Path) -> None:
    whole = (campaign / FILE).read_bytes()
    sound = report(campaign)
    assert isinstance(sound, dict)
    draw = random.Random(SEED)
    refused = 0
    for number in range(EDITS):
        damaged = bytearray(whole)
        place = draw.randrange(len(whole))
        # Every other one is a single bit.
        damaged[place] ^= 1 << draw.randrange(8) if number % 2 else draw.randrange(1, 256)
        (campaign / FILE).write_bytes(damaged)
        found = report(campaign)
        assert found == sound or isinstance(found, str), (place, found)
        refused += isinstance(found, str)
    assert refused > EDITS // 4
    (campaign / FILE).write_bytes(whole)
    assert report(campaign) == sound


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE entries SET body = replace(body, 'time_s', 'time_t') WHERE number = 9", "row 9, sample b1.w0.a"),
        ("UPDATE entries SET body = body || ' ' WHERE number = 2", "row 2, fact "),
        ("UPDATE entries SET subject = 'b9.w0.a0' WHERE number = 11", "row 11, sample b9.w0.a0, is not"),
        ("UPDATE entries SET kind = 'fact' WHERE number = 9", "row 9, fact "),
        ("UPDATE entries SET digest = '' WHERE number = 9", "row 9, sample"),
        ("DELETE FROM entries WHERE number = 1", "row 1 is missing"),
        ("DELETE FROM entries WHERE number = 10", "row 10 is missing"),
        ("DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)", "row 14 is missing"),
        ("DELETE FROM entries WHERE kind = 'sample'", "row 7 is missing"),
        ("UPDATE entries SET number = 99 WHERE number = 10", "row 10 is missing"),
        ("UPDATE head SET number = 3", "row 3 is not the last that was written"),
        ("UPDATE head SET digest = ''", "is not the last that was written"),
        ("DELETE FROM head", "it has 0 last rows"),
        ("INSERT INTO head VALUES (1, '')", "it has 2 last rows"),
        ("INSERT INTO entries VALUES (15, 'sample', 'b9', '{}', 'x')", "row 15, sample b9, is not what was written"),
    ],
)
def test_each_kind_of_edit_is_refused_with_the_row(campaign: Path, statement: str, sentence: str) -> None:
    execute(campaign, statement)
    for write in (False, True):
        with pytest.raises(UsageError) as caught:
            Journal.open(campaign, write=write)
        assert sentence in str(caught.value)
        assert str(caught.value).endswith("copy the campaign back from a backup")
        assert "\n" not in str(caught.value)


def test_rows_that_have_changed_places_are_refused(campaign: Path) -> None:
    for before, after in ((9, 90), (10, 9), (90, 10)):
        execute(campaign, f"UPDATE entries SET number = {after} WHERE number = {before}")
    with pytest.raises(UsageError, match="row 9, sample b1"):
        directory.read_results(campaign)


def test_rows_of_another_campaign_are_refused(campaign: Path, tmp_path: Path) -> None:
    other = made_campaigns.made(tmp_path / "other", made_campaigns.noisy(0.0, 0.5, seed=2), blocks=4)
    with closing(sqlite3.connect(campaign / FILE)) as connection:
        connection.execute(f"ATTACH '{other / FILE}' AS other")
        with connection:
            connection.execute("DELETE FROM entries WHERE number = 12")
            connection.execute("INSERT INTO entries SELECT * FROM other.entries WHERE number = 12")
    with pytest.raises(UsageError, match="row 12, sample"):
        directory.read_results(campaign)


def test_a_log_of_requests_is_of_its_sample(campaign: Path) -> None:
    """The digest of a log is in the sample's row, and is computed when it is read."""
    from request_logs import FEW

    from runoff.campaign.journal import requests
    from runoff.results import request_log

    digest = requests.store_log(HeldDirectory(campaign), "b0", FEW)
    with Journal.open(campaign, write=False) as journal:
        row = journal.rows()[0]
    kept = requests.find_logs(campaign, [row.model_copy(update={"cell": "b0", "requests_sha256": digest})])
    assert len(request_log.read(kept["b0"]).requests) == 5
    path = kept["b0"].path
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is damaged"):
        request_log.read(kept["b0"])


def test_two_writers_stop_at_the_second_ones_row(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where directories cannot be locked the chain itself keeps a second writer out."""
    monkeypatch.setattr("runoff.files.HeldDirectory.lock", lambda _: True)
    with Journal.open(campaign, write=True) as one, Journal.open(campaign, write=True) as other:
        one.set_fact("looks", [1])
        with pytest.raises(UsageError, match="another runoff has written in"):
            other.set_fact("looks", [2])
        one.set_fact("looks", [1, 2])
    with Journal.open(campaign, write=False) as journal:
        assert journal.fact("looks") == [1, 2]
