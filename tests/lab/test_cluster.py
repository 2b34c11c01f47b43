"""Samples on a cluster are those of this machine, whatever happens to its workers."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import checkout
import dask_processes
import pytest
from campaign_rows import rows
from command import run, start
from waiting import LIMIT_S, wait_until

import runoff
from runoff.engines.agent import find_agent
from runoff.engines.lab import cache
from runoff.engines.lab.kernel import Kernel

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("lab_kernel", "own_qemu")]

WORK = ("--work", "counters:n=2,count=100000,passes=1", "--memory", "512", "--cpus", "1", "--seed", "1")
VIRTUAL = ("default", "bfs", *WORK, "--clock", "virtual")


def values(campaign: Path) -> dict[str, Any]:
    """The metrics of valid samples by cell."""
    taken = rows(campaign)
    assert len({row["cell"] for row in taken}) == len(taken)
    return {row["cell"]: row["metrics"] for row in taken if row["valid"]}


@pytest.mark.core
def test_workers_with_empty_caches_take_the_samples_of_this_machine_though_one_is_killed(tmp_path: Path) -> None:
    run("compare", *VIRTUAL, "--blocks", "4", "-j", "2", "--out", tmp_path / "here")
    with dask_processes.start(tmp_path / "dask") as dask:
        doomed = dask.start_worker("doomed", "--no-nanny")
        campaign = start("compare", *VIRTUAL, "--blocks", "4", "--out", tmp_path / "there", "--cluster", dask.file)
        wait_until(lambda: campaign.poll() is not None or _finished(tmp_path / "there") > 0)
        dask.start_worker("heir", "--no-nanny", prefix=dask_processes.hide(cache.root()))
        dask_processes.kill(doomed)
        _, err = campaign.communicate(timeout=LIMIT_S)
        assert campaign.returncode in (0, 2), err
    assert values(tmp_path / "there") == values(tmp_path / "here")
    assert len(values(tmp_path / "there")) == 8
    assert "is gone" in err
    assert "sending" in err
    assert {"qemu-system-x86_64"} <= {path.name for path in dask.folder.glob("cache-heir/received/*/*/*")}
    assert not list((dask.folder / "cache-heir" / "received").glob(".*"))


def _finished(campaign: Path) -> int:
    return len(rows(campaign)) if (campaign / "journal.sqlite").exists() else 0


def find_processes(word: str) -> list[int]:
    """Processes whose arguments or environment have the word in them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            about = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            if word.encode() in about and int(process.name) != os.getpid():
                found.append(int(process.name))
    return found


def test_a_scheduler_that_is_started_again_is_found_again(tmp_path: Path) -> None:
    with dask_processes.start(tmp_path / "dask") as dask:
        scheduler, worker = dask.processes[0], dask.start_worker("one")
        campaign = start("compare", *VIRTUAL, "--blocks", "6", "--out", tmp_path / "there", "--cluster", dask.file)
        wait_until(lambda: campaign.poll() is not None or _finished(tmp_path / "there") > 1)
        port = int(dask.address.rpartition(":")[2])
        dask_processes.kill(scheduler)
        dask_processes.kill(worker)
        dask.start_scheduler(port)
        dask.start_worker("two")
        _, err = campaign.communicate(timeout=LIMIT_S)
        assert campaign.returncode in (0, 2), err
    assert len(values(tmp_path / "there")) == 12


def test_a_sample_that_ends_every_worker_is_void_and_not_for_ever(tmp_path: Path) -> None:
    deadly = tmp_path / "agent"
    deadly.write_text(f'#!/bin/sh\n[ "$1" != end-with ] || kill -9 "$2"\nexec {find_agent()} "$@"\n')
    deadly.chmod(0o755)
    environment = {"RUNOFF_CACHE": str(cache.root()), "RUNOFF_AGENT": str(deadly)}
    with dask_processes.start(tmp_path / "dask") as dask:
        for name in ("one", "two"):
            dask.start_worker(name, environment=environment)
        words = ("compare", "default", *WORK, "--clock", "virtual", "--blocks", "1")
        done = run(*words, "--out", tmp_path / "c", "--cluster", dask.file, expect=2)
    reason = "the workers that took it died or went away, 10 times"
    assert [(row["valid"], row["reason"]) for row in rows(tmp_path / "c")] == [(0, reason)]
    assert reason in done.stdout + done.stderr


def test_local_workers_take_the_same_samples_and_leave_nothing(tmp_path: Path) -> None:
    run("compare", *VIRTUAL, "--blocks", "2", "--out", tmp_path / "here")
    run("compare", *VIRTUAL, "--blocks", "2", "--out", tmp_path / "there", "--cluster", "local:2")
    assert values(tmp_path / "there") == values(tmp_path / "here")
    left = [path for path in tmp_path.rglob("*") if path.suffix in (".part", ".new")]
    assert not left


def test_another_user_with_other_places_takes_the_same_samples(tmp_path: Path, lab_kernel: Kernel) -> None:
    """The guest is made anew too: by another user, with kernel, QEMU, agent and runoff in other directories."""
    run("compare", *VIRTUAL, "--blocks", "2", "--out", tmp_path / "here", "-j", "2")
    own = tmp_path / "somebody else's"
    shutil.copytree(Path(runoff.__file__).parent, own / "python/runoff", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(find_agent(), own / "agent")
    for place in ("kernels", "qemus"):
        # Without what another process makes at this moment.
        shutil.copytree(cache.root() / place, own / "cache" / place, ignore=shutil.ignore_patterns(".*"))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(own),
        "PYTHONPATH": str(own / "python"),
        "RUNOFF_AGENT": str(own / "agent"),
        "RUNOFF_CACHE": str(own / "cache"),
    }
    command = ("unshare", "--user", "--map-user=1000", "--map-group=1000", sys.executable, "-m", "runoff", "compare")
    words = (*command, *VIRTUAL, "--blocks", "2", "--out", str(tmp_path / "there"))
    done = subprocess.run(words, env=environment, cwd=own, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    assert values(tmp_path / "there") == values(tmp_path / "here")
    assert (own / "cache/snapshots").is_dir()


def test_the_real_clock_takes_whole_blocks_on_one_machine_and_says_which(tmp_path: Path) -> None:
    words = ("default", *WORK, "--clock", "real", "--blocks", "2", "--warmup", "1")
    run("compare", *words, "--out", tmp_path / "there", "--cluster", "local:1")
    taken = rows(tmp_path / "there")
    assert [row["valid"] for row in taken] == [1, 1, 1], [row["reason"] for row in taken]
    done = run("compare", *words, "--out", tmp_path / "two", "--cluster", "local:2")
    assert "another worker takes the samples of its machine" in done.stderr


def test_two_machines_take_whole_blocks_each_and_are_read_like_merged_ones(tmp_path: Path) -> None:
    words = ("default", "-n", "again=default", *WORK, "--clock", "real", "--blocks", "4", "--warmup", "0")
    with dask_processes.start(tmp_path / "dask") as dask:
        for name in ("north", "south"):
            prefix = dask_processes.rename(dask.folder, name)
            dask.start_worker(name, "--no-nanny", "--resources", "machine=1", prefix=prefix)
        done = run("compare", *words, "--out", tmp_path / "c", "--cluster", dask.file, "--json")
    document = json.loads(done.stdout)
    machines: dict[int, set[str]] = {}
    for sample in document["samples"]:
        machines.setdefault(sample["block"], set()).add(sample["machine"])
    assert [len(each) for each in machines.values()] == [1, 1, 1, 1]
    assert set.union(*machines.values()) == {"north", "south"}
    assert "Over 2 machines" in document["verdict"][0]


def test_a_block_whose_machine_is_gone_is_given_up_and_another_goes_on(tmp_path: Path) -> None:
    """The first machine dies as it is asked for the second sample of its block."""
    words = ("default", "-n", "again=default", *WORK, "--clock", "real", "--blocks", "2", "--warmup", "0")
    deadly = tmp_path / "deadly.py"
    deadly.write_text(
        "import os, signal\n"
        "from runoff.cluster import worker\n"
        # Dask loads it more than once.
        "before = getattr(worker.conditions.read_conditions, 'before', worker.conditions.read_conditions)\n"
        "calls = []\n"
        "def read_conditions():\n"
        "    calls.append(1)\n"
        "    if len(calls) > 1:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return before()\n"
        "read_conditions.before = before\n"
        "worker.conditions.read_conditions = read_conditions\n"
    )
    with dask_processes.start(tmp_path / "dask") as dask:

        def start_machine(name: str, *more: str) -> "subprocess.Popen[bytes]":
            prefix = dask_processes.rename(dask.folder, name)
            return dask.start_worker(name, "--no-nanny", "--resources", "machine=1", *more, prefix=prefix)

        north = start_machine("north", "--preload", str(deadly))
        campaign = start("compare", *words, "--out", tmp_path / "c", "--cluster", dask.file)
        wait_until(lambda: campaign.poll() is not None or north.poll() is not None)
        campaign.kill()
        _, err = campaign.communicate(timeout=LIMIT_S)
        assert [row["block"] for row in rows(tmp_path / "c")] == [0], err
        start_machine("south")
        refused = run("resume", tmp_path / "c", expect=64)
        assert "was taken on machines of a cluster" in refused.stderr
        resume = ("resume", tmp_path / "c", "--cluster", dask.file, "--give-up", "1", "--json")
        done = run(*resume)
    document = json.loads(done.stdout)
    reason = "block 1 was given up: its machine, north, is gone"
    assert reason in done.stderr
    taken = [(sample["block"], sample["machine"], sample["reason"]) for sample in document["samples"]]
    assert taken[0] == (0, "north", None)
    assert taken[1:] == [(0, "north", reason), (1, "south", None), (1, "south", None)]


def test_workers_that_cannot_take_samples_are_named_and_keep_no_other_from_it(tmp_path: Path) -> None:
    older = tmp_path / "older.py"
    older.write_text('from runoff.cluster import worker\nworker.__version__ = "0.0.1"\n')
    words = ("compare", *VIRTUAL, "--blocks", "1")
    with dask_processes.start(tmp_path / "dask") as dask:
        dask.start_worker("older", "--no-nanny", "--preload", str(older))
        done = run(*words, "--out", tmp_path / "none", "--cluster", dask.file, expect=69)
        assert "runoff: no worker of the cluster can take samples: " in done.stderr
        assert "it has runoff 0.0.1, and here is " in done.stderr
        assert not (tmp_path / "none").exists()
        full = dask.folder / "cache-full"
        full.mkdir()
        dask.start_worker(
            "full", "--no-nanny", prefix=(*dask_processes.hide(full, "2m"), *dask_processes.hide(cache.root()))
        )
        without = {"PATH": f"{Path(sys.executable).parent}:/usr/bin/nowhere", "RUNOFF_CACHE": str(cache.root())}
        dask.start_worker("without", "--no-nanny", environment=without)
        dask.start_worker("good", "--no-nanny", environment={"RUNOFF_CACHE": str(cache.root())})
        done = run(*words, "--out", tmp_path / "c", "--cluster", dask.file)
    assert len(values(tmp_path / "c")) == 2
    for told in ("it has runoff 0.0.1", "the lab needs qemu-system-x86_64", f"MB are needed, and {full} has"):
        assert told in done.stderr


def test_orders_travel_over_tls_and_nobody_else_is_answered(tmp_path: Path) -> None:
    words = ("compare", *VIRTUAL, "--blocks", "1")
    with dask_processes.start(tmp_path / "dask", is_trusted=False) as dask:
        ours = (dask.folder / "ours.pem", dask.folder / "ours.key")
        dask.start_worker("one", "--no-nanny", environment={"RUNOFF_CACHE": str(cache.root())})
        assert dask.address.startswith("tls://127.0.0.1:")
        refused = run(*words, "--out", tmp_path / "c", "--cluster", dask.address, expect=69)
        told = f"{dask.address} asks for certificates: name them in Dask's configuration"
        assert refused.stderr.startswith(f"runoff: {told}"), refused.stderr
        with dask_processes.trust(*dask_processes.make_certificate(tmp_path, "theirs")):
            refused = run(*words, "--out", tmp_path / "c", "--cluster", dask.address, expect=69)
        assert f"no scheduler answers at {dask.address}: " in refused.stderr
        assert "certificate" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert not (tmp_path / "c").exists()
        with dask_processes.trust(*ours):
            run(*words, "--out", tmp_path / "c", "--cluster", dask.address)
    assert len(values(tmp_path / "c")) == 2


def test_a_worker_that_dies_while_it_is_admitted_is_given_up_at_once(tmp_path: Path) -> None:
    """The nanny starts the worker again; the campaign ends long before an answer of the dead one would be given up."""
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import os, pathlib, signal\n"
        "from runoff.cluster import worker\n"
        # Dask loads it more than once.
        "before = getattr(worker.store.find, 'before', worker.store.find)\n"
        "def find(parcel):\n"
        f"    died = pathlib.Path({str(tmp_path / 'died')!r})\n"
        "    if not died.exists():\n"
        "        died.touch()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return before(parcel)\n"
        "find.before = before\n"
        "worker.store.find = find\n"
    )
    with dask_processes.start(tmp_path / "dask") as dask:
        dask.start_worker("one", "--preload", str(slow), environment={"RUNOFF_CACHE": str(cache.root())})
        done = run("compare", *VIRTUAL, "--blocks", "1", "--out", tmp_path / "c", "--cluster", dask.file)
    assert (tmp_path / "died").exists()
    assert len(values(tmp_path / "c")) == 2
    assert "is gone" in done.stderr


def test_a_worker_with_other_files_of_the_same_version_is_refused(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(checkout.ROOT / "python", clone)
    virtual = clone / "runoff" / "engines" / "lab" / "guest.py"
    virtual.write_text(virtual.read_text() + "\n# Another guest.\n")
    with dask_processes.start(tmp_path / "dask") as dask:
        own = {"RUNOFF_CACHE": str(cache.root()), "PYTHONPATH": str(clone)}
        dask.start_worker("clone", "--no-nanny", environment=own)
        refused = run("compare", *VIRTUAL, "--blocks", "1", "--out", tmp_path / "c", "--cluster", dask.file, expect=69)
    assert "it has files of runoff " in refused.stderr
    assert not (tmp_path / "c").exists()


def test_a_campaign_that_is_interrupted_leaves_no_worker_and_goes_on_here(tmp_path: Path) -> None:
    campaign = start("compare", *VIRTUAL, "--blocks", "6", "--out", tmp_path / "c", "--cluster", "local:2")
    wait_until(lambda: campaign.poll() is not None or _finished(tmp_path / "c") > 1)
    campaign.kill()
    campaign.communicate(timeout=LIMIT_S)
    wait_until(lambda: not find_processes(str(tmp_path / "c")))
    before = values(tmp_path / "c")
    run("resume", tmp_path / "c", "-j", "2")
    after = values(tmp_path / "c")
    assert before.items() <= after.items()
    assert len(after) == 12
