"""attach, set and stats on a kernel with sched_ext: what they change, show and refuse."""

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from command import run, start
from in_charge import attach, attached, state
from processes import children
from waiting import LIMIT_S, wait_until

from runoff.engines.control import Watch, set_parameters
from runoff.engines.questions import describe_schedulers
from runoff.errors import RunoffError, UsageError

pytestmark = [pytest.mark.host, pytest.mark.sched_ext]

BUSY = "while :; do :; done"


def values(scheduler: str, *pairs: str) -> dict[str, Any]:
    """What the parameters are after ``runoff set``, without the time that the command itself takes."""
    document = set_parameters(scheduler, pairs)
    assert document["scheduler"] == scheduler
    return {parameter["name"]: parameter["value"] for parameter in document["parameters"]}


def refused(scheduler: str, *pairs: str, kind: type[RunoffError] = UsageError) -> str:
    """Why ``runoff set`` does nothing."""
    with pytest.raises(kind) as caught:
        set_parameters(scheduler, pairs)
    assert type(caught.value) is kind
    return str(caught.value)


def stop(process: "subprocess.Popen[str]", how: signal.Signals = signal.SIGINT) -> str:
    """End ``runoff attach`` as its user does; what it wrote on standard error."""
    process.send_signal(how)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, err
    assert state() == "disabled"
    return err


class Readings:
    """The JSON lines of ``runoff attach``: the scheduler's counters as the process that attached it sees them."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        self._lines = process.stdout
        self.latest: dict[str, int] = {}
        self.count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._lines:
            self.latest = json.loads(line)["counters"]
            self.count += 1

    def next(self, count: int = 1) -> dict[str, int]:
        """The last of the next ``count`` readings."""
        wanted = self.count + count
        wait_until(lambda: self.count >= wanted)
        return self.latest


def test_set_changes_all_or_nothing_and_reads_back():
    process = attach()
    before = values("bfs")
    assert values("bfs", "rr_interval_ms=3", "iso_cpu=50") == {"rr_interval_ms": 3, "iso_cpu": 50}
    changed = {**before, "rr_interval_ms": 3, "iso_cpu": 50}
    assert values("bfs") == changed

    sentence = "bfs: rr_interval_ms=1001 is out of range; it may be 1..1000 ms"
    assert refused("bfs", "iso_cpu=10", "rr_interval_ms=1001") == sentence
    assert 'no parameter "rr"' in refused("bfs", "iso_cpu=10", "rr=1")
    assert "is not key=value" in refused("bfs", "iso_cpu=10", "rr_interval_ms")
    assert values("bfs") == changed
    assert "rr_interval_ms=3  (1..1000 ms)\n      How long" in run("set", "bfs").stdout
    assert json.loads(run("set", "bfs", "iso_cpu=0", "--json").stdout)["parameters"][0]["value"] == 0
    assert sentence in run("set", "bfs", "rr_interval_ms=1001", expect=64).stderr
    assert "bfs is detached" in stop(process)


def test_nothing_is_set_or_read_where_the_scheduler_is_not_attached(test_objects):
    own = "bfs is not attached: the kernel's own scheduler is in charge"
    assert refused("bfs", "rr_interval_ms=3", kind=RunoffError) == own
    assert refused("bfs", kind=RunoffError) == own
    assert own in run("stats", "bfs", expect=1).stderr
    assert 'no scheduler "bsf"' in refused("bsf", "x=1")
    process = attach(test_objects / "choosy.bpf.o", name="choosy")
    other = 'bfs is not attached: "choosy" is in charge'
    assert refused("bfs", "rr_interval_ms=3", kind=RunoffError) == other
    assert other in run("stats", "bfs", "--follow", expect=1).stderr
    stop(process)


def test_a_choice_is_set_by_name_and_works(test_objects):
    choosy = test_objects / "choosy.bpf.o"
    assert 'choosy: queue="1" is none of machine, cpu' in run("attach", choosy, "queue=1", expect=64).stderr
    process = attach(choosy, "era=2.6.8", "--json", name="choosy")
    readings = Readings(process)
    first = readings.next(2)
    assert first["machine"] > 0
    assert first["cpu"] == first["newer"] == 0

    assert values("choosy", "queue=cpu", "slice_ms=3") == {"queue": "cpu", "slice_ms": 3}
    second = readings.next(2)
    third = readings.next(2)
    assert third["cpu"] > second["cpu"] > 0
    assert third["machine"] == second["machine"]
    assert third["newer"] == 0

    assert refused("choosy", "queue=both") == 'choosy: queue="both" is none of machine, cpu'
    assert refused("choosy", "queue=0") == 'choosy: queue="0" is none of machine, cpu'
    assert "era is fixed once attached" in refused("choosy", "slice_ms=9", "era=2.6.31")
    shown = run("set", "choosy").stdout
    assert "queue=cpu  (machine or cpu)\n      Where tasks wait." in shown
    assert "slice_ms=3  (1..100 ms)" in shown
    assert "era=2.6.8  (2.6.8 or 2.6.31, fixed once attached)" in shown
    stop(process, signal.SIGTERM)


def rounds(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Values of all parameters to set together, until each has had its ends or choices; in the end the defaults."""
    ends = {each["name"]: each.get("choices") or [each["min"], each["max"]] for each in parameters}
    most = max(map(len, ends.values()), default=0)
    tried = [{key: allowed[min(turn, len(allowed) - 1)] for key, allowed in ends.items()} for turn in range(most)]
    return [*tried, {each["name"]: each["default"] for each in parameters}] if parameters else []


def test_every_scheduler_of_ours_can_be_attached_set_and_read():
    for name, described in describe_schedulers().items():
        watch = Watch("attach", "--per-cpu", "--", name)
        reading = next(iter(watch))
        assert attached() == reading["scheduler"] == name
        defaults = {each["name"]: each["default"] for each in described["parameters"]}
        assert values(name) == defaults
        for parameter in described["parameters"]:
            key, default = parameter["name"], parameter["default"]
            if parameter["runtime"]:
                assert refused(name, f"{key}=neither").startswith(f'{name}: {key}="neither" is ')
            else:
                assert f"{name}: {key} is fixed once attached" in refused(name, f"{key}={default}")
        for wanted in rounds([each for each in described["parameters"] if each["runtime"]]):
            assert values(name, *(f"{key}={value}" for key, value in wanted.items())) == wanted
        assert values(name) == defaults
        statistics = [each["name"] for each in described["statistics"]]
        assert [each["name"] for each in watch.statistics] == statistics
        assert all(sorted(each["counters"]) == sorted(statistics) for each in reading["per_cpu"])
        watch.end()
        assert state() == "disabled"


def test_the_modes_of_hydra_are_refused_by_name():
    assert refused("hydra", "mode=xx") == 'hydra: mode="xx" is none of sc, pb, eb'


def test_stats_of_a_running_scheduler(test_objects):
    process = attach(test_objects / "choosy.bpf.o", "--json", name="choosy")
    readings = Readings(process)
    before = readings.next()["machine"]
    document = json.loads(run("stats", "choosy", "--per-cpu", "--json").stdout)
    after = readings.next()["machine"]
    assert document["scheduler"] == "choosy"
    assert before <= document["counters"]["machine"] <= after
    assert [each["cpu"] for each in document["per_cpu"]] == list(range(os.cpu_count() or 0))
    assert sum(each["counters"]["machine"] for each in document["per_cpu"]) == document["counters"]["machine"]

    table = run("stats", "choosy").stdout
    assert "Tasks put into the queue of the machine." in table
    assert "per second" not in table

    follower = start("stats", "choosy", "--follow")
    assert follower.stdout is not None
    lines = [follower.stdout.readline() for _ in range(3)]
    assert all(line.startswith("choosy  ") and "  machine " in line for line in lines)
    totals = [int(line.split("machine ")[1].split()[0]) for line in lines]
    assert totals == sorted(set(totals))
    stop(process)
    _, err = follower.communicate(timeout=LIMIT_S)
    assert follower.returncode == 1
    assert "choosy is no longer in charge" in err


def test_set_reaches_the_attached_one_among_several_of_its_name(test_objects):
    choosy = test_objects / "choosy.bpf.o"
    killed = attach(choosy, name="choosy")
    os.kill(children(killed.pid)[0], signal.SIGKILL)
    killed.kill()
    killed.communicate(timeout=LIMIT_S)
    wait_until(lambda: state() == "disabled")

    # Ejected while its process cannot let go of it: all of its object stays in the kernel.
    kept = attach(choosy, "--json", name="choosy")
    assert kept.stdout is not None
    assert "counters" in kept.stdout.readline()
    (agent,) = children(kept.pid)
    os.kill(agent, signal.SIGSTOP)
    Path("/proc/sysrq-trigger").write_text("S")
    wait_until(lambda: state() == "disabled")

    process = attach(choosy, "slice_ms=2", "--json", name="choosy")
    readings = Readings(process)
    assert readings.next(2)["cpu"] == 0
    assert values("choosy") == {"queue": "machine", "slice_ms": 2, "era": "2.6.31"}
    values("choosy", "queue=cpu")
    assert readings.next(2)["cpu"] > 0

    os.kill(agent, signal.SIGCONT)
    _, err = kept.communicate(timeout=LIMIT_S)
    assert kept.returncode == 1
    assert 'choosy is no longer in charge, "choosy" is' in err
    assert attached() == "choosy"
    stop(process)


def test_another_scheduler_under_the_name_of_ours_is_left_alone(test_objects):
    process = attach(test_objects / "impostor.bpf.o")
    foreign = "it is another scheduler than runoff's of that name"
    assert foreign in refused("bfs", "rr_interval_ms=3", kind=RunoffError)
    assert foreign in refused("bfs", kind=RunoffError)
    assert foreign in run("stats", "bfs", expect=1).stderr
    stop(process)


def test_an_ejection_is_explained_and_the_machine_is_on_its_own(tmp_path, test_objects):
    process = attach(test_objects / "staller.bpf.o", name="staller")
    (tmp_path / "stallme").symlink_to("/bin/sh")
    forgotten = [subprocess.Popen([tmp_path / "stallme", "-c", BUSY]) for _ in range(2 * (os.cpu_count() or 1))]
    _, err = process.communicate(timeout=LIMIT_S)
    for each in forgotten:
        each.kill()
        each.wait()
    assert process.returncode == 1
    assert "staller is no longer in charge, the kernel's own scheduler is" in err
    assert "\nrunnable task stall (stallme[" in err
    _, dump = err.split("the kernel's dump when it exited:\n")
    assert "R stallme[" in dump
    assert state() == "disabled"


def test_a_terminal_shows_a_live_table():
    master, slave = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24", "NO_COLOR": "1"}
    process = attach(stdout=slave, env=environment)
    os.close(slave)
    written = ""
    while written.count("per second") < 2:
        written += os.read(master, 4096).decode()
    err = stop(process, signal.SIGTERM)
    os.close(master)
    assert "bfs is detached" in err
    # The sentence is longer than the rest of the 80 columns, and must not push the table apart.
    for text in ("counter", "total", "renewals", "Tasks that used up their quota and got", "…"):
        assert text in written


def of_task(pid: int) -> dict[str, int]:
    counters: dict[str, int] = json.loads(run("stats", "zaphod", "--task", str(pid), "--json").stdout)["counters"]
    return counters


def test_zaphod_keeps_accounts_for_each_task():
    process = attach("zaphod", name="zaphod")
    hog = subprocess.Popen(["sh", "-c", BUSY])
    wait_until(lambda: of_task(hog.pid)["cpu_ns"] > 10**8)
    assert of_task(hog.pid)["cycles"] < 100
    napper = subprocess.Popen(["sh", "-c", "while :; do sleep 0.01; done"])
    wait_until(lambda: of_task(napper.pid)["voluntary_switches"] > 10)
    assert of_task(napper.pid)["sleep_ns"] > of_task(napper.pid)["cpu_ns"]
    assert "Time on a CPU (ns)." in run("stats", "zaphod", "--task", str(hog.pid)).stdout
    for each in (hog, napper):
        each.kill()
        each.wait()
    assert f"there is no thread {hog.pid}" in run("stats", "zaphod", "--task", str(hog.pid), expect=1).stderr
    assert "do not go together" in run("stats", "zaphod", "--task", "1", "--per-cpu", expect=64).stderr
    stop(process)
    process = attach()
    assert "bfs counts nothing for single tasks" in run("stats", "bfs", "--task", "1", expect=1).stderr
    stop(process)
