"""A campaign in the lab that goes on when something has changed: object, kernel, agent, QEMU, image."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import journals
import pytest
from campaign_rows import rows
from command import run, samples

from runoff.engines.agent import find_agent
from runoff.engines.lab import cache

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("lab_kernel", "own_qemu")]

WORK = ("--work", "counters:n=2,count=100000,passes=1", "--memory", "512", "--cpus", "1", "--seed", "1")
WORK += ("--clock", "virtual")


def begin(folder: Path, *arms: str | Path, words: Sequence[str] = WORK) -> Path:
    """A campaign with only the first of two blocks."""
    run("compare", *arms, *words, "--blocks", "2", "--out", folder / "c")
    journals.keep_first_block(folder / "c")
    return folder / "c"


def parts(campaign: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = journals.read_fact(campaign, "parts")
    return found


def edited(campaign: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Makes the first part look as if it had been taken with something else."""
    known = parts(campaign)
    change(known[0])
    journals.forge_fact(campaign, "parts", json.dumps(known))


def warnings(campaign: Path) -> list[str]:
    found: list[str] = json.loads(run("report", campaign, "--json").stdout)["warnings"]
    return found


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lab_kernel) -> Path:
    """The directory of a copy of the kernel, in a cache of the test's own that has the rest of the usual one."""
    usual, own = cache.root(), tmp_path / "cache"
    (own / "kernels").mkdir(parents=True)
    for name in ("qemus", "images"):
        (own / name).symlink_to(usual / name)
    kernel = own / "kernels" / lab_kernel.directory.name
    shutil.copytree(lab_kernel.directory, kernel, symlinks=True)
    monkeypatch.setenv("RUNOFF_CACHE", str(own))
    return kernel


def test_a_rebuilt_object_does_not_make_two_schedulers_of_one_arm(tmp_path: Path, test_objects: Path) -> None:
    mine = tmp_path / "my.bpf.o"
    shutil.copy(test_objects / "choosy.bpf.o", mine)
    campaign = begin(tmp_path, "default", mine)
    shutil.copy(test_objects / "staller.bpf.o", mine)
    done = run("resume", campaign)
    assert f"the object {mine} is not what the campaign began with (sha256 was " in done.stderr
    assert "it goes on with what it has kept" in done.stderr
    taken = [row for row in rows(campaign) if row["arm"] != "default"]
    assert [row["valid"] for row in taken] == [1, 1], [row["reason"] for row in taken]
    assert len({row["proof"]["object"] for row in taken}) == 1
    assert {row["proof"]["before"]["ops"] for row in taken} == {"choosy"}
    (kept,) = (campaign / "objects").iterdir()
    assert kept.name == f"{taken[0]['proof']['object']}.bpf.o"
    mine.unlink()
    run("report", campaign)


def test_a_kept_object_that_was_changed_is_refused(tmp_path: Path, test_objects: Path) -> None:
    campaign = begin(tmp_path, "default", test_objects / "choosy.bpf.o")
    (kept,) = (campaign / "objects").iterdir()
    with kept.open("ab") as file:
        file.write(b"\0")
    done = run("resume", campaign, expect=64)
    assert f"the object of the arm '{test_objects}/choosy.bpf.o' in {kept} was changed" in done.stderr


def test_an_arm_and_itself_under_two_names_have_perturbations_of_their_own(tmp_path: Path) -> None:
    run("compare", "-n", "a=bfs", "-n", "b=bfs", *WORK, "--blocks", "1", "--out", tmp_path / "c")
    taken = rows(tmp_path / "c")
    assert sorted(row["arm"] for row in taken) == ["a", "b"]
    assert len({json.dumps(row["metrics"]) for row in taken}) == 2
    assert parts(tmp_path / "c")[0]["arms"]["a"]["arm"] == "bfs"


def test_a_newer_kernel_is_not_taken_by_a_campaign_that_began_without_it(tmp_path: Path, private: Path) -> None:
    campaign = begin(tmp_path, "default")
    (name,) = parts(campaign)[0]["kernels"]
    newer = private.with_name("newer")
    newer.mkdir()
    meta = json.loads((private / "meta.json").read_text())
    (newer / "meta.json").write_text(json.dumps({**meta, "name": "debian:99.1", "release": "99.1", "sha256": "0" * 64}))
    run("resume", campaign)
    assert [list(part["kernels"]) for part in parts(campaign)] == [[name], [name]]
    assert not [text for text in warnings(campaign) if "not all samples" in text]


def test_another_kernel_of_the_same_name_is_refused(tmp_path: Path, private: Path) -> None:
    campaign = begin(tmp_path, "default")
    meta = json.loads((private / "meta.json").read_text())
    with (private / "vmlinux").open("ab") as file:
        file.write(b"\0")
    other = hashlib.sha256((private / "vmlinux").read_bytes()).hexdigest()
    (private / "meta.json").write_text(json.dumps({**meta, "sha256": other}))
    done = run("resume", campaign, expect=64)
    told = f"this campaign began with another kernel ({meta['name']} was {meta['sha256'][:12]}, is {other[:12]}"
    assert told in done.stderr
    assert list(samples(run("report", campaign, "--json").stdout)) == ["b0.w0.a0"]


@pytest.mark.core
def test_a_kernel_that_was_damaged_is_not_booted_and_nothing_of_it_is_kept(tmp_path: Path, private: Path) -> None:
    """One byte of a text in it has changed: every figure would be of another kernel than the report says."""
    whole = (private / "vmlinux").read_bytes()
    (private / "vmlinux").write_bytes(whole.replace(b"Linux version", b"Linvx version", 1))
    for clock in ("virtual", "real"):
        words = ("default", "--work", "counters:n=1,count=1000", "--memory", "512", "--cpus", "1", "--blocks", "1")
        done = run("compare", *words, "--clock", clock, "--out", tmp_path / clock, expect=69)
        assert "is damaged" in done.stderr
        assert "runoff kernel remove" in done.stderr
    assert not list(cache.snapshots().glob("*"))
    assert not list(tmp_path.glob("*/guests/boot-*"))


def test_a_kernel_that_is_gone_is_named_with_the_way_out(tmp_path: Path, private: Path) -> None:
    campaign = begin(tmp_path, "default")
    (name,) = parts(campaign)[0]["kernels"]
    meta = json.loads((private / "meta.json").read_text())
    (private / "meta.json").write_text(json.dumps({**meta, "name": "debian:99.1", "release": "99.1"}))
    assert f"the lab has no kernel {name}: runoff kernel add {name}" in run("resume", campaign, expect=69).stderr


def test_another_agent_and_its_guests_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = begin(tmp_path, "default")
    other = tmp_path / "agent"
    shutil.copy(find_agent(), other)
    with other.open("ab") as file:
        file.write(b"\0")
    monkeypatch.setenv("RUNOFF_AGENT", str(other))
    run("resume", campaign)
    told = [text for text in warnings(campaign) if "not all samples were taken with the same " in text]
    assert [text.split("the same ")[1].split(":")[0] for text in told] == ["agent", "snapshots"]
    assert told == warnings(campaign)[:2]
    assert all(" in block 1; " in text and text.endswith(" in block 2") for text in told)


def test_another_object_of_a_scheduler_that_comes_with_runoff_is_refused(tmp_path: Path) -> None:
    """An agent with other objects is another build; the part before is told to have had one."""
    campaign = begin(tmp_path, "default", "bfs")
    edited(campaign, lambda part: part["arms"]["bfs"].update(object_sha256="0" * 64))
    done = run("resume", campaign, expect=64)
    assert "this campaign began with another object of the arm 'bfs' (it was 000000000000, is " in done.stderr


@pytest.mark.parametrize("table", ["image", "qemu"])
def test_another_image_or_qemu_is_reported_under_the_real_clock(tmp_path: Path, table: str, lab_image) -> None:
    """The part before is told to have had another."""
    work = ("--work", "command:sleep 0.1", "--package", "rt-tests", "--memory", "512", "--cpus", "1")
    campaign = begin(tmp_path, "default", words=(*work, "--clock", "real"))
    edited(campaign, lambda part: part[table].update(sha256="0" * 64))
    run("resume", campaign)
    (told,) = [text for text in warnings(campaign) if "not all samples" in text]
    assert told.startswith(f"not all samples were taken with the same {table}: sha256 000000000000 in block 1; sha256 ")
    assert told.endswith(f"{parts(campaign)[1][table]['sha256'][:12]} in block 2")
