"""A campaign needs nothing but its directory: not the files its plan named, not the place, user or disk it began on."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from runoff.campaign import directory
from runoff.campaign.journal import requests
from runoff.campaign.journal.journal import FILE, Journal
from runoff.campaign.journal.stored_files import OBJECTS, store_copies, use_copies
from runoff.campaign.manifest import find_changes
from runoff.cli.main import cli
from runoff.engines.outcome import ValidSample
from runoff.errors import MissingError, RunoffError, UsageError
from runoff.files import HeldDirectory
from runoff.plan.make import make_plan
from runoff.plan.order import Cell, draw
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings

WORK = """title = "spin"
description = "turns"
command = ["spin", "{jobs}"]
[parameters.jobs]
about = "processes"
default = "{cpus}"
[metrics.speed]
pattern = "speed ([0-9.]+)"
unit = "1/s"
direction = "lower"
title = "speed"
"""
LOAD = 'title = "burn"\ndescription = "burns"\ncommand = ["burn"]\n'
OBJECT = b"\x7fELF one"
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user or mount a disk")


def cells(plan: Plan) -> Sequence[Cell]:
    return draw(len(plan.arms), len(plan.works), plan.load_blocks, plan.seed)


def begun(folder: Path) -> Plan:
    """The plan that `campaign` carried out in ``folder``, as its first part had it."""
    values = {
        "arms": ["default", "./my.bpf.o:slice_ns=5", "mine"], "names": {"mine": "./my.bpf.o"},
        "workloads": ["./spin.toml"], "loads": ["none", "./burn.toml"], "blocks": 2, "seed": 7, "on": "host",
    }  # fmt: skip
    return make_plan(parse_settings(values, "test"))


@pytest.fixture
def workshop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory that anybody may enter, with the files of a plan; the present one."""
    with tempfile.TemporaryDirectory(prefix="runoff-test-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        monkeypatch.chdir(folder)
        (folder / "my.bpf.o").write_bytes(OBJECT)
        (folder / "spin.toml").write_text(WORK)
        (folder / "burn.toml").write_text(LOAD)
        yield folder


@pytest.fixture
def campaign(workshop: Path) -> Path:
    """One whose first block is there."""
    plan = begun(workshop)
    with directory.create(Path("c"), plan) as journal:
        for cell in cells(plan)[:6]:
            arm, load = plan.arms[cell.arm], plan.load_labels[cell.load]
            proof = {"object": arm.object.sha256 if arm.object else ""}
            journal.add(cell, arm.label, "spin", load, ValidSample({"speed": 10.0 + cell.arm, "elapsed_s": 1.0}, proof))
    return workshop / "c"


def report(campaign: Path, *, cwd: Path | None = None, **options: Any) -> dict[str, Any]:
    """The results that another process reads."""
    main = "from runoff.cli.main import main; main()"
    words = [sys.executable, "-c", main, "report", str(campaign), "--json"]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_the_plan_names_may_be_gone(campaign: Path, workshop: Path) -> None:
    before = report(campaign)
    for name in ("my.bpf.o", "spin.toml", "burn.toml"):
        (workshop / name).unlink()
    assert report(campaign) == before
    assert [m["direction"] for m in (t["metric"] for t in before["tables"]) if m["name"] == "speed"] == ["lower"] * 2


def test_what_the_plan_names_may_say_the_contrary(campaign: Path, workshop: Path) -> None:
    before = report(campaign)
    (workshop / "my.bpf.o").write_bytes(b"\x7fELF another")
    (workshop / "spin.toml").write_text(WORK.replace('"lower"', '"higher"') + METRIC_MORE)
    (workshop / "burn.toml").write_text("nonsense")
    assert report(campaign) == before


METRIC_MORE = '[metrics.more]\npattern = "m"\nunit = ""\ndirection = "lower"\ntitle = "more"\n'


def test_a_report_is_the_same_from_any_directory_and_with_any_number_of_cpus(campaign: Path, tmp_path: Path) -> None:
    before = report(campaign)
    assert report(campaign, cwd=tmp_path) == before
    one = {min(os.sched_getaffinity(0))}
    pinned = report(campaign, preexec_fn=lambda: os.sched_setaffinity(0, one))
    assert pinned == before
    cpus = str(len(os.sched_getaffinity(0)))
    with_log = directory.read_results(campaign)
    assert with_log.parameters["spin"] == {"jobs": cpus}
    assert f"--cpus {cpus}" in with_log.rerun


def test_a_report_leaves_nothing_behind(campaign: Path) -> None:
    before = files(campaign)
    report(campaign)
    assert files(campaign) == before


def test_a_copy_is_as_good(campaign: Path, tmp_path: Path) -> None:
    before = report(campaign)
    shutil.move(campaign, tmp_path / "elsewhere")
    assert report(tmp_path / "elsewhere") == before


def left_open(campaign: Path, *, index: bool) -> None:
    """Leaves the campaign as after `kill -9`: the last sample is in the write-ahead log only."""
    program = (
        "import os, signal, sys; from pathlib import Path; from runoff.campaign.journal.journal import Journal\n"
        "journal = Journal.open(Path(sys.argv[1]), write=True)\n"
        "journal._connection.execute('PRAGMA wal_autocheckpoint=0'); journal.set_fact('late', 1)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, campaign], check=False)
    assert (campaign / f"{FILE}-wal").stat().st_size > 0
    if not index:
        (campaign / f"{FILE}-shm").unlink()


READ = (
    "import sys; from pathlib import Path; from runoff.campaign.journal.journal import Journal\n"
    "with Journal.open(Path(sys.argv[1]), write=False) as journal:\n"
    "    print(journal.fact('late'), len(journal.rows()))\n"
)


@contextmanager
def nobody() -> Iterator[None]:
    """Inside, this process has the rights of no user in particular."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def read(campaign: Path) -> tuple[Any, int]:
    with Journal.open(campaign, write=False) as journal:
        return journal.fact("late"), len(journal.rows())


@ROOT_ONLY
def test_another_user_may_read_what_root_has_written(campaign: Path) -> None:
    before = files(campaign)
    as_root = CliRunner().invoke(cli, ["report", str(campaign)]).output
    with nobody():
        with pytest.raises(PermissionError):
            (campaign / "x").touch()
        assert read(campaign) == (None, 6)
        assert CliRunner().invoke(cli, ["report", str(campaign)]).output == as_root
    assert files(campaign) == before


@ROOT_ONLY
@pytest.mark.parametrize("index", [True, False])
def test_another_user_may_read_what_a_killed_campaign_has_left(campaign: Path, index: bool) -> None:
    left_open(campaign, index=index)
    before = files(campaign)
    with nobody():
        assert read(campaign) == (1, 6)
    assert files(campaign) == before


@ROOT_ONLY
@pytest.mark.parametrize("closed", ["", FILE, "requests"])
def test_another_user_who_may_not_look_gets_a_message(campaign: Path, closed: str) -> None:
    with Journal.open(campaign, write=True) as journal:
        cell, plan = cells(begun(campaign))[6], begun(campaign)
        proof = {"object": "".join(arm.object.sha256 for arm in [plan.arms[cell.arm]] if arm.object)}
        arm, load, digest = (
            plan.arms[cell.arm].label,
            plan.load_labels[cell.load],
            requests.store_log(HeldDirectory(campaign), "x", "log"),
        )
        taken = ValidSample({"elapsed_s": 1.0}, proof)
        journal.add(cell, arm, "spin", load, taken, requests_sha256=digest)
    (campaign / closed).chmod(0)
    with nobody(), pytest.raises(RunoffError) as caught:
        directory.read_results(campaign)
    assert str(campaign) in str(caught.value)
    assert "ermission denied" in str(caught.value) or "unable to open" in str(caught.value)


@ROOT_ONLY
@pytest.mark.parametrize("open_log", [False, True])
def test_a_disk_may_be_read_only(campaign: Path, open_log: bool) -> None:
    if open_log:
        left_open(campaign, index=False)
    script = f"mount --bind {campaign} {campaign} && mount -o remount,bind,ro {campaign} && ! touch {campaign}/x && "
    words = ["unshare", "--mount", "sh", "-c", f'{script} exec "$0" "$@"', sys.executable, "-c", READ, campaign]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == ("1 6" if open_log else "None 6"), done.stderr


def test_objects_are_in_it_by_their_digest_before_anything_else(campaign: Path) -> None:
    (kept,) = (campaign / OBJECTS).iterdir()
    plan = begun(campaign)
    assert plan.arms[1].object is not None
    assert kept.name == f"{plan.arms[1].object.sha256}.bpf.o"
    assert kept.read_bytes() == OBJECT


def test_a_campaign_goes_on_with_what_it_has_kept(campaign: Path, workshop: Path) -> None:
    (workshop / "my.bpf.o").write_bytes(b"\x7fELF another")
    (workshop / "spin.toml").write_text(WORK.replace('["spin"', '["other"'))
    (workshop / "burn.toml").unlink()
    plan, journal = directory.reopen(campaign)
    with journal:
        assert plan.works[0].message(None)["command"] == ["spin", str(len(os.sched_getaffinity(0)))]
        assert [load and load.message(None)["command"] for load in plan.loads] == [None, ["burn"]]
        arms = use_copies(plan, campaign).arms
        assert [Path(arm.scheduler["path"]).read_bytes() for arm in arms[1:]] == [OBJECT, OBJECT]
        assert arms[1].scheduler["parameters"] == {"slice_ns": "5"}
        assert [arm.label for arm in arms] == ["default", "./my.bpf.o:slice_ns=5", "mine"]
        load, work, object = find_changes(plan)
    assert work.startswith("the workload ./spin.toml is not what the campaign began with (sha256 was ")
    assert work.endswith("): it goes on with what it has kept")
    assert load.startswith("the load ./burn.toml is not what the campaign began with")
    assert ", is gone)" in load
    assert object.startswith("the object ./my.bpf.o is not what the campaign began with")


def test_nothing_is_said_where_nothing_has_changed(campaign: Path) -> None:
    plan, journal = directory.reopen(campaign)
    with journal:
        assert list(find_changes(plan)) == []


def test_cpus_stay_those_that_it_began_with(campaign: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from runoff.campaign.directory import reopen\n"
        "print(reopen(Path(sys.argv[1]))[0].works[0].values['jobs'])\n"
    )
    one = {min(os.sched_getaffinity(0))}
    done = subprocess.run(
        [sys.executable, "-c", program, campaign], capture_output=True, text=True, check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, one),
    )  # fmt: skip
    assert done.stdout.strip() == str(len(os.sched_getaffinity(0)))


@pytest.mark.parametrize("content", [b"\x7fELF changed", None])
def test_a_kept_object_that_is_not_whole_is_named_with_the_way_out(campaign: Path, content: bytes | None) -> None:
    (kept,) = (campaign / OBJECTS).iterdir()
    kept.unlink()
    if content is not None:
        kept.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        use_copies(begun(campaign), campaign)
    text = str(caught.value)
    assert "the object of the arm './my.bpf.o:slice_ns=5'" in text
    assert str(kept) in text
    assert "copy it back there" in text
    report(campaign)


def test_an_object_that_changes_while_it_is_kept_is_refused(workshop: Path) -> None:
    plan = begun(workshop)
    (workshop / "my.bpf.o").write_bytes(b"\x7fELF newer")
    with pytest.raises(UsageError, match="changed while it was copied: run again"):
        directory.create(Path("c"), plan)
    assert not (workshop / "c" / FILE).exists()


def test_leftovers_of_a_runoff_killed_while_storing_objects_are_not_an_obstacle(workshop: Path) -> None:
    plan = begun(workshop)
    (workshop / "c").mkdir()
    store_copies(plan, HeldDirectory(workshop / "c"))
    (workshop / "c" / OBJECTS / f"{'0' * 64}.bpf.o.new").write_bytes(b"half")
    directory.create(Path("c"), plan).close()
    (workshop / "d" / OBJECTS).mkdir(parents=True)
    (workshop / "d" / OBJECTS / "thesis.tex").write_text("")
    with pytest.raises(UsageError, match="is not empty"):
        directory.create(Path("d"), plan)


def test_a_full_disk_is_reported_before_the_campaign_begins(workshop: Path) -> None:
    (workshop / "c").mkdir()
    (workshop / "c" / OBJECTS).write_text("a file where the folder should be")
    with pytest.raises(MissingError, match="cannot write"):
        store_copies(begun(workshop), HeldDirectory(workshop / "c"))


def test_repeats_have_what_the_campaign_has_kept(campaign: Path, workshop: Path) -> None:
    """A repeat begins when the campaign is done: hours later."""
    plan = begun(workshop)
    (workshop / "my.bpf.o").write_bytes(b"\x7fELF another")
    place = campaign / "sensitivity" / "quantum=500"
    arms = use_copies(plan, campaign).arms
    directory.create(place, Plan(plan.settings, arms, plan.works, plan.loads)).close()
    (kept,) = (place / OBJECTS).iterdir()
    assert kept.read_bytes() == OBJECT
    again, journal = directory.reopen(place)
    journal.close()
    assert [arm.object for arm in again.arms] == [arm.object for arm in plan.arms]


def test_a_runoff_that_would_make_other_samples_of_the_plan_is_refused(campaign: Path) -> None:
    with Journal.open(campaign, write=True) as journal:
        outline = journal.fact("outline").model_dump(mode="json")
        outline["parameters"]["spin"] = {"jobs": "99"}
        journal.set_fact("outline", outline)
    with pytest.raises(UsageError, match="this runoff would take other samples than the campaign began with"):
        directory.reopen(campaign)
