"""A guest that is kept: made once, by one at a time, the same each time, and never used when it is not whole."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import run, samples, start
from processes import children
from waiting import LIMIT_S, wait_until

from runoff.engines.lab import cache, snapshot

pytestmark = [pytest.mark.lab]

PLAN = ("default", "--work", "counters:n=2,count=100000,passes=1", "--clock", "virtual", "--memory", "512")


@pytest.fixture
def kept(tmp_path: Path, lab_kernel, own_qemu, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where guests are kept, in a cache of the test's own with the kernels and QEMUs of the usual one."""
    usual = cache.root()
    private = tmp_path / "cache"
    private.mkdir()
    for name in ("kernels", "qemus"):
        (private / name).symlink_to(usual / name)
    monkeypatch.setenv("RUNOFF_CACHE", str(private))
    return private / "snapshots"


def compare(folder: Path) -> tuple[str | Path, ...]:
    return ("compare", "--seed", "1", *PLAN, "--blocks", "1", "--out", folder, "--json")


def figures(document: str) -> dict[str, float]:
    (sample,) = samples(document).values()
    assert sample["valid"], sample
    return dict(sample["metrics"])


def only(kept: Path) -> Path:
    (found,) = kept.glob("[!.]*")
    return found


def memory(kept: Path) -> str:
    """Digest of the kept guest's."""
    digest: str = json.loads((only(kept) / "meta.json").read_text())["sha256"]["ram"]
    return digest


def test_two_at_once_boot_one_guest_and_a_damaged_one_is_booted_again_to_the_same_bytes(
    tmp_path: Path, kept: Path
) -> None:
    both = [start(*compare(tmp_path / name)) for name in ("a", "b")]
    said = [process.communicate(timeout=LIMIT_S) for process in both]
    first, second = (figures(out) for out, _ in said)
    assert first == second
    assert sum("samples run in copies" in err for _, err in said) == 1
    assert sum("waiting for another runoff" in err for _, err in said) == 1

    before = memory(kept)
    with (only(kept) / "ram").open("r+b") as ram:
        ram.seek(64 << 20)
        ram.write(b"not what the guest had there")
    third = run(*compare(tmp_path / "c"))
    assert "is damaged: it is made again" in third.stderr
    assert figures(third.stdout) == first
    assert memory(kept) == before

    fourth = run(*compare(tmp_path / "d"))
    assert "booted" not in fourth.stderr
    assert "samples run in copies" not in fourth.stderr


def test_a_runoff_that_is_killed_while_it_boots_leaves_no_guest_and_nothing_that_is_used(
    tmp_path: Path, kept: Path
) -> None:
    killed = start(*compare(tmp_path / "a"))
    wait_until(lambda: any(kept.glob(".*.part/ram")))
    emulators = children(killed.pid)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=LIMIT_S)
    wait_until(lambda: not any(Path(f"/proc/{each}/exe").exists() for each in emulators))
    assert not list(kept.glob("[!.]*"))
    figures(run(*compare(tmp_path / "b")).stdout)
    assert not list(kept.glob(".*.part"))


def test_a_guest_that_another_runoff_has_forgotten_is_booted_again(tmp_path: Path, kept: Path) -> None:
    campaign = start("compare", "--seed", "1", *PLAN, "--blocks", "3", "--out", tmp_path / "a", "--json")
    wait_until(lambda: any((tmp_path / "a").glob("guests/boot-*/qemu.txt")))
    shutil.rmtree(only(kept))
    out, err = campaign.communicate(timeout=LIMIT_S)
    assert campaign.returncode == 0, err
    assert all(sample["valid"] for sample in samples(out).values())
    assert memory(kept)


def test_the_least_recently_used_snapshot_is_forgotten(tmp_path: Path, kept: Path) -> None:
    kept.mkdir()
    for number in range(snapshot.MOST + 3):
        other = kept / f"other{number:02}"
        other.mkdir()
        os.utime(other, (number, number))
    run(*compare(tmp_path / "a"))
    left = sorted(path.name for path in kept.glob("[!.]*"))
    assert len(left) == snapshot.MOST
    assert [name for name in left if name.startswith("other")] == [
        f"other{number:02}" for number in range(4, snapshot.MOST + 3)
    ]


def test_a_snapshot_that_was_just_used_is_not_forgotten(tmp_path: Path, kept: Path) -> None:
    kept.mkdir()
    for number in range(snapshot.MOST + 3):
        (kept / f"other{number:02}").mkdir()
    run(*compare(tmp_path / "a"))
    assert len(list(kept.glob("[!.]*"))) == snapshot.MOST + 4


@pytest.mark.parametrize("spoil", [lambda state: os.truncate(state, 1000), os.unlink], ids=["cut short", "gone"])
def test_a_guest_whose_state_is_spoilt_between_two_samples_is_made_again(
    spoil: Callable[[Path], None], tmp_path: Path, kept: Path
) -> None:
    campaign = start("compare", "--seed", "1", *PLAN, "--blocks", "3", "--out", tmp_path / "a", "--json")
    # The second copy begins when the first has given its sample.
    wait_until(lambda: len(list((tmp_path / "a").glob("guests/boot-*/qemu.txt"))) > 1)
    before = memory(kept)
    spoil(only(kept) / "state")
    out, err = campaign.communicate(timeout=LIMIT_S)
    assert campaign.returncode == 0, err
    assert "is damaged: it is made again" in err
    assert all(sample["valid"] for sample in samples(out).values())
    assert memory(kept) == before


def test_a_disk_that_is_full_before_the_guest_is_quiet_is_named(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    small = kept.parent.parent / "small"
    small.mkdir()
    size = f"size={snapshot.ROOM_MB + 1}M,mode=755"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", small], check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        for name in ("kernels", "qemus"):
            (small / name).symlink_to(kept.parent / name)
        monkeypatch.setenv("RUNOFF_CACHE", str(small))
        campaign = start(*compare(tmp_path / "a"))
        wait_until(lambda: any(small.glob("snapshots/.*.part/ram")))
        with (small / "filler").open("wb") as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(1 << 20))
        _, err = campaign.communicate(timeout=LIMIT_S)
        assert campaign.returncode == 69
        assert f"8 MB are needed, and {small} has 0: free some" in err
        assert not list(small.glob("snapshots/[!.]*"))
        assert not list(small.glob("snapshots/.*.part"))
    finally:
        subprocess.run(["umount", "--lazy", small], check=True)


def test_a_scheduler_is_loaded_once_and_attached_in_every_copy(tmp_path: Path, kept: Path) -> None:
    plan = ("bfs", "--work", "counters:n=2,count=100000,passes=1", "--clock", "virtual", "--memory", "512")
    first = run("compare", "--seed", "1", *plan, "--blocks", "2", "--out", tmp_path / "a", "--json")
    assert first.stderr.count("loading bfs in a copy of this guest once") == 1
    taken = samples(first.stdout)
    for sample in taken.values():
        assert sample["valid"], sample
    assert len(list(kept.glob("[!.]*"))) == 2
    again = run("compare", "--seed", "1", *plan, "--blocks", "2", "--out", tmp_path / "b", "--json")
    assert "loading" not in again.stderr
    assert {cell: sample["metrics"] for cell, sample in samples(again.stdout).items()} == {
        cell: sample["metrics"] for cell, sample in taken.items()
    }


def test_an_object_that_cannot_be_loaded_is_refused_with_the_verifiers_words(
    tmp_path: Path, kept: Path, test_objects: Path
) -> None:
    plan = (test_objects / "rejected.bpf.o", "--work", "counters:n=2,count=100000", "--clock", "virtual")
    done = run("compare", "--seed", "1", *plan, "--memory", "512", "--out", tmp_path / "c", expect=64)
    assert "cannot be used: the kernel rejected" in done.stderr
    assert "END PROG LOAD LOG" in done.stderr


def test_copies_leave_the_kept_guest_as_it_was(tmp_path: Path, kept: Path) -> None:
    first = figures(run(*compare(tmp_path / "a")).stdout)
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_blocks) for path in only(kept).iterdir()}
    assert figures(run(*compare(tmp_path / "b")).stdout) == first
    assert {path.name: (path.stat().st_mtime_ns, path.stat().st_blocks) for path in only(kept).iterdir()} == before
