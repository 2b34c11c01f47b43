"""A campaign's directory that another user has prepared, or changes meanwhile, does no harm."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import journals
import made_campaigns
import pytest
from answering import Answering, answer_after
from strangers import NOBODY, ROOT_ONLY, give_acl, give_to_nobody, open_to_a_group, runoff

from runoff import resume
from runoff.campaign import directory
from runoff.campaign.journal.database import FILE
from runoff.campaign.journal.journal import Journal
from runoff.campaign.loop.execution import Execution
from runoff.campaign.loop.observer import SilentObserver
from runoff.campaign.loop.run import run
from runoff.errors import MissingError, UsageError

PAGES = ("report.html", "runs.csv")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """One that is complete, of a workload whose preparation leaves a trace."""
    work = tmp_path / "work.toml"
    work.write_text(f'title = "w"\ndescription = "w"\nprepare = [["touch", "{tmp_path}/ran"]]\ncommand = ["true"]\n')
    return made_campaigns.made(
        tmp_path / "c", lambda _: {"elapsed_s": 1.0}, on="host", clock=None, arms=("default",),
        workloads=(str(work),), blocks=2,
    )  # fmt: skip


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "victim"
    path.write_text("keep")
    yield path
    assert path.read_text() == "keep"


LINKED = ("lock", *PAGES, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal", "report.html.new", "objects", "requests")


@pytest.mark.parametrize("name", [*LINKED, "guests", "sensitivity"])
@pytest.mark.parametrize("words", [["resume"], ["resume", "--blocks", "3"], ["resume", "--give-up", "1"]])
def test_links_in_it_are_named_and_not_followed(campaign: Path, victim: Path, name: str, words: list[str]) -> None:
    (campaign / name).symlink_to(victim)
    done = runoff(*words, campaign)
    assert done.returncode == 64
    assert name in done.stderr
    assert "is a link" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["lock", FILE, f"{FILE}-wal", "objects"])
def test_a_call_goes_on_with_nothing_that_the_command_refuses(campaign: Path, victim: Path, name: str) -> None:
    (campaign / name).unlink(missing_ok=True)
    (campaign / name).symlink_to(victim)
    with pytest.raises(UsageError, match=f"{name}.* is a link"):
        resume(campaign, blocks=3)


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("content", ["", "not a database at all" * 999])
def test_a_directory_that_is_not_a_campaign_is_left_alone(
    tmp_path: Path, victim: Path, name: str, content: str
) -> None:
    place = tmp_path / "e"
    place.mkdir()
    (place / FILE).write_text(content)
    (place / name).symlink_to(victim)
    for command in ("resume", "report", "gate"):
        assert runoff(command, place).returncode == 64
    assert (place / FILE).read_text() == content


@pytest.mark.parametrize("command", ["resume", "report", "gate", "blocks"])
def test_a_journal_behind_a_link_is_not_taken(campaign: Path, tmp_path: Path, command: str) -> None:
    (campaign / FILE).rename(tmp_path / "elsewhere")
    (campaign / FILE).symlink_to(tmp_path / "elsewhere")
    done = runoff(command, campaign)
    assert (done.returncode, "is a link" in done.stderr) == (64, True)


def test_a_journal_with_another_name_is_read_but_not_written(campaign: Path, tmp_path: Path) -> None:
    os.link(campaign / FILE, tmp_path / "backup")
    before = (tmp_path / "backup").read_bytes()
    assert runoff("report", campaign).returncode == 0
    done = runoff("resume", campaign, "--blocks", "3")
    assert (done.returncode, "has another name (a hard link)" in done.stderr) == (64, True)
    assert (tmp_path / "backup").read_bytes() == before


def test_pages_are_new_files(campaign: Path, victim: Path) -> None:
    """A hard link does not look like a link: the file that it shares must not be written in place."""
    for name in PAGES:
        os.link(victim, campaign / name)
    assert runoff("resume", campaign).returncode == 0
    assert all(victim.read_bytes() != (campaign / name).read_bytes() for name in PAGES)


@pytest.mark.parametrize("name", [f"{FILE}-shm", f"{FILE}-wal", f"{FILE}-journal"])
@pytest.mark.parametrize("more", [[], ["--blocks", "3"], ["--give-up", "1"]])
def test_what_sqlite_would_write_has_no_other_name(campaign: Path, victim: Path, name: str, more: list[str]) -> None:
    os.link(victim, campaign / name)
    done = runoff("resume", campaign, *more)
    assert (done.returncode, f"{name} has another name (a hard link)" in done.stderr) == (64, True)


@ROOT_ONLY
def test_a_campaign_that_cannot_be_written_is_not_called_damaged(campaign: Path) -> None:
    mount = ["mount", "--bind", "-o", "ro", campaign, campaign]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("may not mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", campaign], check=True)
        assert runoff("report", campaign).returncode == 0
        done = runoff("resume", campaign, "--blocks", "3")
    finally:
        subprocess.run(["umount", campaign], check=True)
    assert done.returncode == 69, done.stderr
    assert "cannot open the journal" in done.stderr
    assert "damaged" not in done.stderr
    assert done.stderr.count("\n") == 1


def give_all_to_nobody(path: Path) -> None:
    for folder, folders, files in os.walk(path):
        for name in (".", *folders, *files):
            give_to_nobody(Path(folder, name))


def give_a_page_to_nobody(campaign: Path) -> None:
    (campaign / "runs.csv").touch()
    give_to_nobody(campaign / "runs.csv")


def make_sticky(path: Path) -> None:
    path.mkdir()
    path.chmod(0o1777)


STRANGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "all of it": (give_all_to_nobody, "belongs to nobody (user 65534)"),
    "the directory": (give_to_nobody, "belongs to nobody"),
    "the journal": (lambda c: give_to_nobody(c / FILE), f"{FILE} belongs to nobody"),
    "a page": (give_a_page_to_nobody, "runs.csv belongs to"),
    "anybody may write in it": (lambda c: c.chmod(0o777), "can be written by others"),
    "a group may write in it": (open_to_a_group, "can be written by others"),
    "anybody may write the journal": (lambda c: (c / FILE).chmod(0o666), "can be written by others"),
    "anybody may make files in it": (lambda c: c.chmod(0o1777), "can be written by others"),
    "anybody may make files inside": (lambda c: make_sticky(c / "objects"), "objects can be written by others"),
    "an ACL of the directory": (give_acl, "can be written by others (see getfacl)"),
    "an ACL of the journal": (lambda c: give_acl(c / FILE), f"{FILE} can be written by others (see getfacl)"),
    "an ACL for what is made in it": (lambda c: give_acl(c, "default"), "can be written by others (see getfacl)"),
    "an ACL above": (lambda c: give_acl(c.parent), "can be written by others (see getfacl)"),
    "the directory above": (lambda c: give_to_nobody(c.parent), "belongs to nobody"),
    "anybody may write above": (lambda c: c.parent.chmod(0o777), "can be written by others"),
}


@ROOT_ONLY
@pytest.mark.parametrize("what", STRANGE)
@pytest.mark.parametrize("more", [[], ["--blocks", "3"], ["--give-up", "1"]])
def test_root_does_not_run_what_others_may_have_written(campaign: Path, what: str, more: list[str]) -> None:
    change, sentence = STRANGE[what]
    change(campaign)
    before = (campaign / FILE).read_bytes()
    done = runoff("resume", campaign, *more)
    assert done.returncode == 64, done.stderr
    first, *rest = done.stderr.splitlines()
    assert sentence in first
    assert "--trust-directory" in first
    assert rest == [f"  work: touch {campaign.parent}/ran", "  work: true"]
    assert not (campaign.parent / "ran").exists()
    assert (campaign / FILE).read_bytes() == before
    assert runoff("report", campaign).returncode == 0
    done = runoff("resume", "--trust-directory", campaign)
    assert done.returncode == 0, done.stderr


@ROOT_ONLY
def test_root_calls_nothing_that_others_may_have_written(campaign: Path) -> None:
    (campaign / "runs.csv").touch()
    give_to_nobody(campaign / "runs.csv")
    with pytest.raises(UsageError, match=r"runs\.csv belongs to nobody.*--trust-directory"):
        resume(campaign, blocks=3)
    assert not (campaign.parent / "ran").exists()
    resume(campaign, trust_directory=True)


@ROOT_ONLY
def test_a_sticky_directory_above_and_the_user_of_sudo_are_trusted(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign.parent.chmod(0o1777)
    assert runoff("resume", campaign).returncode == 0
    give_all_to_nobody(campaign)
    assert runoff("resume", campaign).returncode == 64
    monkeypatch.setenv("SUDO_UID", str(NOBODY))
    assert runoff("resume", campaign).returncode == 0


@ROOT_ONLY
def test_root_begins_no_campaign_in_a_directory_of_another_user(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    place.mkdir()
    give_to_nobody(place)
    done = runoff("compare", "default", "--work", "command:true", "--on", "host", "--blocks", "1", "--out", place)
    assert (done.returncode, "belongs to nobody" in done.stderr) == (64, True)
    assert list(place.iterdir()) == []


def move(place: Path) -> None:
    place.rename(place.with_name("moved"))


def replace(place: Path) -> None:
    move(place)
    shutil.copytree(place.with_name("moved"), place)


def remove_journal(place: Path) -> None:
    (place / FILE).unlink()


def replace_journal(place: Path) -> None:
    shutil.copy(place / FILE, place / "copy")
    (place / "copy").rename(place / FILE)


@pytest.mark.parametrize(
    ("act", "sentence", "left"),
    [
        (move, "moved to {}/moved while the campaign ran; go on with it there: runoff resume {}/moved", "moved"),
        (replace, "moved to {}/moved while the campaign ran; go on with it there: runoff resume {}/moved", "moved"),
        (shutil.rmtree, "was removed while the campaign ran, and its samples with it", None),
        (remove_journal, "was removed while the campaign ran, and has been written once more", "c"),
        (replace_journal, "was removed or replaced while the campaign ran", None),
        (lambda place: (place / f"{FILE}-wal").unlink(), "was removed or replaced while the campaign ran", "c"),
    ],
    ids=["moved", "replaced", "removed", "journal removed", "journal replaced", "log removed"],
)  # fmt: skip
def test_a_campaign_whose_directory_is_not_its_own_any_more_stops_at_the_next_sample(
    tmp_path: Path, act: Callable[[Path], None], sentence: str, left: str | None
) -> None:
    place = made_campaigns.made(
        tmp_path / "c", lambda _: None, stop_after=0, on="host", clock=None, arms=("default",), blocks=9
    )
    journals.forge_fact(place, "parts", None)
    plan, journal = directory.reopen(place)
    engine = Answering(answer_after(lambda: act(place)))
    with journal, pytest.raises(MissingError) as caught:
        run(plan, journal, engine, SilentObserver(), Execution())
    assert engine.taken == 2
    assert sentence.format(tmp_path, tmp_path) in caught.value.describe()
    assert "\n" not in str(caught.value)
    if left is not None:
        with Journal.open(tmp_path / left, write=True) as again:
            assert again.done() == {cell.id for cell in plan.cells[:2]}


def test_a_directory_that_took_its_place_is_not_removed(tmp_path: Path) -> None:
    """A campaign that cannot begin takes its directory away again, and no other."""
    place = tmp_path / "c"
    plan = made_campaigns.make_plan(
        made_campaigns.parse_settings({"arms": ["default"], "workloads": ["hackbench"]}, "")
    )
    with directory.create(place, plan) as journal:
        place.rename(tmp_path / "moved")
        place.mkdir()
        (place / "thesis.tex").touch()
        journal.discard()
        assert (place / "thesis.tex").exists()
    with pytest.raises(UsageError):
        Journal.open(place, write=False)


def test_a_second_writer_is_refused_though_nothing_in_the_directory_says_so(campaign: Path) -> None:
    with Journal.open(campaign, write=True):
        for path in campaign.iterdir():
            if not path.name.startswith(FILE):
                path.unlink() if path.is_file() else shutil.rmtree(path)
        done = runoff("resume", campaign)
        assert (done.returncode, "another runoff is working in" in done.stderr) == (64, True)
