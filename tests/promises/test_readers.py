"""What every command that reads campaigns promises: it changes nothing, believes nothing that was edited, follows no
link, writes nothing but what was asked for, and tells voids.
"""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import made_campaigns
import pytest
from click.testing import CliRunner, Result
from doors import ONE_FILE, READ, Words

from runoff.campaign.journal.database import FILE
from runoff.cli.main import cli
from runoff.errors import RunoffError
from runoff.plan.order import Cell

VOIDS = 3


def values(cell: Cell) -> dict[str, float] | None:
    """Samples of some blocks of the arm that is compared are void."""
    is_void = cell.arm == 1 and cell.block < VOIDS
    return None if is_void else made_campaigns.noisy(0, -0.03, sd=0.002)(cell)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """One with voids, and one of another machine that is whole, which `READ` names other."""
    made_campaigns.made(tmp_path / "other", made_campaigns.noisy(0, -0.02, sd=0.003, seed=2), seed=6, blocks=10)
    return made_campaigns.made(tmp_path / "c", values, blocks=10)


def call(words: Words) -> Result:
    return CliRunner().invoke(cli, [*map(str, words)], standalone_mode=False)


def look(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Content, mode and time of change of all below a directory."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def refuse(words: Words) -> str:
    """What the command says that refuses."""
    error = call(words).exception
    assert isinstance(error, RunoffError), error
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.parametrize("door", READ)
def test_reading_changes_nothing_of_a_campaign(door: str, campaign: Path, tmp_path: Path) -> None:
    (campaign / "report.html").write_text("the page of the campaign's end")
    before = look(campaign), look(tmp_path / "other")
    result = call(READ[door](tmp_path, campaign))
    assert result.exception is None, result.exception
    after = look(campaign), look(tmp_path / "other")
    if door == "report":
        for each in (*before, *after):
            each.pop("report.html", None)
    assert after == before


@pytest.mark.parametrize("door", READ)
def test_an_edited_row_is_refused_by_every_reader(door: str, campaign: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(campaign / FILE)) as connection, connection:
        connection.execute("UPDATE entries SET body = replace(body, '9.', '8.') WHERE kind = 'sample'")
    before = look(tmp_path)
    assert "is damaged" in refuse(READ[door](tmp_path, campaign))
    assert look(tmp_path) == before


@pytest.mark.parametrize("door", READ)
def test_a_journal_behind_a_link_is_refused_by_every_reader(door: str, campaign: Path, tmp_path: Path) -> None:
    (campaign / FILE).rename(tmp_path / "elsewhere")
    (campaign / FILE).symlink_to(tmp_path / "elsewhere")
    before = look(tmp_path)
    assert "link" in refuse(READ[door](tmp_path, campaign))
    assert look(tmp_path) == before


@pytest.mark.parametrize("door", ONE_FILE)
def test_a_link_where_a_file_is_to_be_written_is_not_followed(door: str, campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "written").symlink_to("precious")
    words = READ[door](tmp_path, campaign)
    if door == "gate --github-summary":
        assert refuse(words) == f"cannot write {tmp_path / 'written'}: it is a link; name another file"
    else:
        assert call(words).exception is None
        assert not (tmp_path / "written").is_symlink()
        assert (tmp_path / "written").stat().st_size
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("door", READ)
def test_a_name_of_a_campaign_is_printable_in_every_view(door: str, campaign: Path, tmp_path: Path) -> None:
    """A campaign's name, and that of the directory that it is in, which is its name beside others."""
    place = campaign.rename(tmp_path / "c\x1b[31m\u202egnp")
    result = call(READ[door](tmp_path, place))
    assert result.exception is None, result.exception
    shown = [result.output, *(path.read_text() for path in tmp_path.glob("written"))]
    assert [letter for text in shown for letter in text if letter in "\x1b\u202e"] == []


@pytest.mark.parametrize("door", READ)
def test_voids_are_told_by_every_reader(door: str, campaign: Path, tmp_path: Path) -> None:
    result = call(READ[door](tmp_path, campaign))
    folder = tmp_path / "figures"
    written = [tmp_path / "written", *(folder.iterdir() if folder.is_dir() else ())]
    texts = [result.output, *(path.read_text() for path in written if path.exists())]
    assert any(re.search(r"void|ejected|\b3!", text) for text in texts), texts
