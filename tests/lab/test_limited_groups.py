"""Limits of control groups that work is under are part of its sample, and stand with the verdict."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from command import run
from copies import Copies, MakeCopies
from hogs import Hogs

from runoff.engines.lab import guest, image
from runoff.engines.outcome import Outcome, ValidSample

pytestmark = [pytest.mark.lab]

ON = "write cgroup.subtree_control +cpu"
QUOTA = "20000_100000"
"""Quota of a group, in microseconds of each 0.1 s; the blank is written as a line."""
LIMITED = f"{ON} make g write g/cpu.max {QUOTA}"
INSIDE = f"{ON} make own/main write own/main/cgroup.procs 0"
"""With the process itself in a nested group, so that its own group may have controllers."""


@pytest.fixture(scope="module")
def guests(copies: MakeCopies, tmp_path_factory: pytest.TempPathFactory) -> Copies:
    program = tmp_path_factory.mktemp("groups") / "groups"
    source = Path(__file__).with_name("groups.c")
    subprocess.run(["gcc", "-static", "-O1", "-Wall", "-Werror", "-o", program, source], check=True)
    return copies(cargo=guest.Cargo(programs={"/groups": program}), cpus=2)


def asked(steps: str, scheduler: str) -> dict[str, Any]:
    """A request for a sample that takes ``steps``."""
    request = Hogs(scheduler, ()).request
    command = ["/groups", *(word.replace("_1", " 1") for word in steps.split())]
    work = {**request["workload"], "root": None, "command": command, "extract": [], "timeout_s": 100}
    return {**request, "id": steps[:40], "workload": work}


def found(outcome: Outcome) -> Mapping[str, Any]:
    assert isinstance(outcome, ValidSample), outcome
    limits: Mapping[str, Any] = outcome.proof["cpu_limits"]
    return limits


def test_probes_count_work_in_groups_four_deep(guests: Copies) -> None:
    def seen(group: str) -> float:
        parts = group.split("/")
        makes = " ".join(f"make {'/'.join(parts[:end])}" for end in range(2, len(parts) + 1))
        outcome = guests.take({**asked(f"{makes} work {group} 200", "default"), "probes": ["turns"]})
        assert isinstance(outcome, ValidSample), outcome
        return outcome.metrics["turns"] * outcome.metrics["turn_mean_us"] / 1e6

    assert seen("own/1/2/3/4") > 0.19
    assert seen("own/1/2/3/4/5") < 0.1


@pytest.mark.core
@pytest.mark.parametrize("scheduler", ["default", "bfs"])
def test_limits_that_work_sets_and_comes_into_are_found(scheduler: str, guests: Copies) -> None:
    """One sample after the other in one guest: what an earlier one has left does not limit a later one."""
    cases: Mapping[str, Sequence[str]] = {
        f"{LIMITED} work g 30": ["/g: cpu.max 20000 100000"],
        f"{ON} work g 5": ["/g: cpu.max 20000 100000"],
        f"{ON} make free work free 5": [],
        f"{ON} make gone write gone/cpu.max {QUOTA} work gone 5 remove gone": ["/gone: cpu.max 20000 100000"],
        f"{ON} make w write w/cpu.weight 50 work w 1": ["/w: cpu.weight 50"],
        f"{ON} make i write i/cpu.idle 1 work i 1": ["/i: cpu.idle 1"],
        f"{ON} make a write a/cgroup.subtree_control +cpu make a/b write a/cpu.max {QUOTA} work a/b 1":
            ["/a: cpu.max 20000 100000"],
        f"{INSIDE} write own/cpu.max {QUOTA} work own/main 1 write own/cpu.max max": ["workload: cpu.max 20000 100000"],
        f"{INSIDE} write own/cgroup.subtree_control +cpu make own/x write own/x/cpu.weight 7 work own/x 1 remove own/x":
            ["workload/x: cpu.weight 7"],
    }  # fmt: skip
    outcomes, _ = guests.session([asked(steps, scheduler) for steps in cases])
    assert [found(outcome)["found"] for outcome in outcomes] == list(cases.values())
    assert {found(outcome)["applied"] for outcome in outcomes} == {scheduler == "default"}
    assert {found(outcome)["unwatched"] for outcome in outcomes} == {""}


def test_thousands_of_groups_are_bounded(guests: Copies) -> None:
    limited = " ".join(f"write many{number}/cpu.weight {number + 1}" for number in range(20))
    one, several, all_of_them = guests.session(
        [asked(f"{ON} many 1", "default"), asked(f"{ON} remove many0 many 20 {limited}", "default"),
         asked("make more " + "".join(f"remove many{number} " for number in range(20)) + "many 5000", "default")]
    )[0]  # fmt: skip
    assert found(one)["found"] == []
    assert len(found(several)["found"]) == 9
    assert found(several)["found"][-1] == "and more"
    assert found(all_of_them)["unwatched"] == "there were more than 4096"


SCRIPT = """set -e
mount -t cgroup2 none /sys/fs/cgroup
cd /sys/fs/cgroup
echo +cpu >cgroup.subtree_control
mkdir -p g
echo '%s' >g/cpu.max
sh -c 'echo 0 >g/cgroup.procs; i=0; while [ $i -lt 7000 ]; do i=$((i + 1)); done'
rmdir g
"""


@pytest.mark.parametrize("limit", ["20000 100000", "max"])
def test_a_verdict_across_a_limit_says_so(limit: str, tmp_path: Path, lab_image: image.Image) -> None:
    script = (SCRIPT % limit).replace("\\", "\\\\").replace('"', '\\"')
    own = tmp_path / "limited.toml"
    own.write_text(
        'title = "l"\ndescription = "computes in a group of its own"\n'
        f'command = ["unshare", "--mount", "sh", "-c", """{script}"""]\n'
    )
    told = run("compare", "default", "bfs", "--work", own, "--clock", "virtual", "--blocks", "3", "--seed", "1",
               "--out", tmp_path / "out").stdout  # fmt: skip
    sentence = (
        "work was under a limit of CPU time (/g: cpu.max 20000 100000), which default applies and bfs does not, so a "
        "difference may be the limit and not the scheduler"
    )
    assert (sentence in " ".join(told.replace("\n", " ").split())) == (limit != "max"), told
