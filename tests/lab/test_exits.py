"""The record of a scheduler that the kernel takes down while a sample runs."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from copies import MakeCopies
from hogs import described

from runoff.engines.lab import guest
from runoff.engines.lab.libraries import add_libraries
from runoff.engines.outcome import Outcome, VoidSample

pytestmark = [pytest.mark.lab]

OURS = ("bfs", "cfs", "eevdf", "hydra", "o1", "staircase", "zaphod")
ENDED_BY_ROOT = "echo S > /proc/sysrq-trigger; sleep 1"
NOT_OURS = {"quitter": "true", "staller": "cp /usr/bin/sleep stallme; ./stallme 1 & sleep 20"}


def request(scheduler: dict[str, Any], script: str) -> dict[str, Any]:
    return {
        "type": "sample",
        "id": "taken down",
        "scheduler": scheduler,
        "workload": {
            "name": "ended",
            "root": None,
            "prepare": [],
            "command": ["sh", "-c", script],
            "environment": {},
            "timeout_s": 60,
            "extract": [],
        },
    }


@pytest.fixture(scope="module")
def taken(copies: MakeCopies, test_objects: Path) -> dict[str, Outcome]:
    """One after the other in one copy: each scheduler has a record of its own."""
    found = {name: shutil.which(name, path="/usr/bin:/bin") for name in ("cp", "sh", "sleep")}
    programs = {f"/usr/bin/{name}": Path(path) for name, path in found.items() if path is not None}
    files = {f"/{name}.bpf.o": test_objects / f"{name}.bpf.o" for name in NOT_OURS}
    cargo = guest.Cargo(files=files, programs=add_libraries(programs))
    requests = {name: request(described(name, {}), ENDED_BY_ROOT) for name in OURS}
    for name, script in NOT_OURS.items():
        requests[name] = request({"kind": "object", "path": f"/{name}.bpf.o", "parameters": {}}, script)
    outcomes, _ = copies(cargo=cargo).session(list(requests.values()), expected="stall")
    return dict(zip(requests, outcomes, strict=True))


def void(outcome: Outcome) -> VoidSample:
    assert isinstance(outcome, VoidSample), outcome
    assert outcome.proof is not None
    return outcome


@pytest.mark.parametrize("name", OURS)
def test_every_scheduler_leaves_the_reason_and_its_counters(taken: dict[str, Outcome], name: str) -> None:
    outcome = void(taken[name])
    assert outcome.reason == f"scheduler {name} was ejected during the run: disabled by sysrq-S"
    assert outcome.proof["exit"] == {"reason": "disabled by sysrq-S", "message": "", "code": 0}
    counted = re.search(r"^its counters when it exited: (\{.*\})$", outcome.detail, re.MULTILINE)
    assert counted is not None, outcome.detail
    assert sum(json.loads(counted[1]).values()) > 0


def test_an_object_that_is_not_ours_leaves_the_kernels_dump(taken: dict[str, Outcome]) -> None:
    outcome = void(taken["staller"])
    assert re.search(r"ejected during the run: runnable task stall \(stallme\[\d+\] failed to run for ", outcome.reason)
    assert outcome.proof["exit"]["reason"] == "runnable task stall"
    _, dump = outcome.detail.split("the kernel's dump when it exited:\n")
    # Its place in the list of tasks that wait, and where it stands in the kernel.
    assert re.search(r"R stallme\[\d+\] ", dump), dump


def test_a_scheduler_that_exits_while_it_is_being_attached_says_why(taken: dict[str, Outcome]) -> None:
    outcome = taken["quitter"]
    assert isinstance(outcome, VoidSample)
    assert re.search(r"ejected at once: scx_bpf_error \(.*: not with init\)", outcome.reason)
