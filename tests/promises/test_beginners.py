"""What every command or call that begins a campaign promises of the place that it is told to begin in."""

from pathlib import Path

import made_campaigns
import pytest
from doors import BEGIN, BEGIN_BY_CALL
from strangers import ROOT_ONLY, give_to_nobody, runoff

from runoff.errors import RunoffError, UsageError


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    made_campaigns.made(tmp_path / "other", made_campaigns.noisy(0, -0.02, seed=2), seed=6, blocks=4)
    return made_campaigns.made(tmp_path / "c", made_campaigns.noisy(0, -0.02), blocks=4)


@ROOT_ONLY
@pytest.mark.parametrize("door", BEGIN)
def test_every_command_refuses_a_strangers_directory(door: str, campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    give_to_nobody(tmp_path / "theirs")
    done = runoff(*BEGIN[door](tmp_path, campaign), "--out", tmp_path / "theirs/new/c")
    assert done.returncode == 64, done.stderr
    assert "theirs belongs to nobody" in done.stderr
    assert "--trust-directory" in done.stderr
    assert list((tmp_path / "theirs").iterdir()) == []


@pytest.mark.parametrize("door", BEGIN)
def test_every_command_refuses_a_link_that_leads_nowhere(door: str, campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "made-by-following")
    done = runoff(*BEGIN[door](tmp_path, campaign), "--out", tmp_path / "link")
    assert done.returncode in (64, 69), done.stderr
    assert str(tmp_path / "link") in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "made-by-following").exists()


@pytest.mark.parametrize("door", BEGIN)
def test_every_command_leaves_a_directory_alone_that_is_not_empty(door: str, campaign: Path, tmp_path: Path) -> None:
    place = tmp_path / "full"
    place.mkdir()
    (place / "precious").write_text("precious")
    done = runoff(*BEGIN[door](tmp_path, campaign), "--out", place)
    assert done.returncode == 64, done.stderr
    assert str(place) in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in place.iterdir()] == ["precious"]


@pytest.mark.parametrize("door", BEGIN_BY_CALL)
def test_every_call_refuses_a_link_that_leads_nowhere(door: str, campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "made-by-following")
    with pytest.raises(RunoffError, match="link"):
        BEGIN_BY_CALL[door](tmp_path, campaign, tmp_path / "link")
    assert not (tmp_path / "made-by-following").exists()


@ROOT_ONLY
@pytest.mark.parametrize("door", BEGIN_BY_CALL)
def test_every_call_refuses_a_strangers_directory(door: str, campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    give_to_nobody(tmp_path / "theirs")
    with pytest.raises(UsageError, match="theirs belongs to nobody"):
        BEGIN_BY_CALL[door](tmp_path, campaign, tmp_path / "theirs/c")
    assert list((tmp_path / "theirs").iterdir()) == []


@pytest.mark.parametrize("door", BEGIN_BY_CALL)
def test_every_call_leaves_a_directory_alone_that_is_not_empty(door: str, campaign: Path, tmp_path: Path) -> None:
    place = tmp_path / "full"
    place.mkdir()
    (place / "precious").write_text("precious")
    with pytest.raises(UsageError, match=str(place)):
        BEGIN_BY_CALL[door](tmp_path, campaign, place)
    assert [path.name for path in place.iterdir()] == ["precious"]
