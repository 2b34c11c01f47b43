"""Every scheduler keeps all tasks through forks, moves, changes of nice value and policy, stops and CPU hotplug.

RUNOFF_STRESS_SECONDS lengthens each sample, e.g. 600 for the full ten minutes.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hogs import Renewed, described

from runoff.engines.agent import describe_schedulers
from runoff.engines.lab import guest, kernel, qemu
from runoff.engines.outcome import Taken
from runoff.errors import MissingError

SECONDS = float(os.environ.get("RUNOFF_STRESS_SECONDS", "8"))

END_LIMIT_S = 180
"""The stress gives its children a minute to end, and the watchdog ends a scheduler that loses them in half of that."""

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.timeout(1200 + 5 * SECONDS)]

COUNTS = (
    "forks", "affinity_changes", "nice_changes", "policy_changes", "stops", "hotplugs", "yields", "naps", "messages",
    "lost", "unfinished",
)  # fmt: skip

COMPLAINT = re.compile(r"WARNING|BUG|stall")


def schedulers() -> list[str]:
    try:
        return ["default", *describe_schedulers()]
    except MissingError:
        return []


def request(scheduler: str, *options: str) -> dict[str, Any]:
    return {
        "type": "sample",
        "id": scheduler,
        "scheduler": described(scheduler),
        "workload": {
            "name": "stress",
            "root": None,
            "prepare": [],
            "command": ["runoff-agent", "stress", f"--seconds={SECONDS}", "--seed=1", *options],
            "environment": {},
            "timeout_s": SECONDS + END_LIMIT_S,
            "extract": [{"metric": name, "pattern": rf'"{name}":([0-9.]+)'} for name in COUNTS],
        },
    }


class Ring:
    """A guest for all samples, and what its kernel says of each."""

    def __init__(self, folder: Path, used: kernel.Kernel, cpus: int) -> None:
        machine = qemu.Machine(
            kernel=used.vmlinux,
            initramfs=folder / "initramfs",
            console=folder / "console.txt",
            cpus=cpus,
            memory_mb=512,
            clock="real",
            accelerator="tcg",
        )
        self._console = machine.console
        self._guest = Renewed(lambda: guest.boot(folder, machine, used, guest.Cargo(), guest.Orders(), END_LIMIT_S))
        self._read = 0

    def take(self, message: dict[str, Any]) -> dict[str, float]:
        """The metrics of a valid sample during which the kernel did not complain."""
        try:
            outcome = self._guest.take(message, lambda _phase: None, SECONDS + 2 * END_LIMIT_S)
        except AssertionError as lost:
            said, self._read = self._said(), 0
            raise AssertionError(f"{lost}\n{said}") from None
        said = self._said()
        assert isinstance(outcome, Taken), f"{outcome}\n{said}"
        assert not COMPLAINT.search(said), said
        return dict(outcome.metrics)

    def _said(self) -> str:
        """What the console has said since the last time."""
        text = self._console.read_text(errors="replace")
        new, self._read = text[self._read :], len(text)
        return new

    def close(self) -> None:
        self._guest.close()


Rings = Callable[[int], Ring]


@pytest.fixture(scope="module")
def rings(tmp_path_factory: pytest.TempPathFactory, lab_kernel: kernel.Kernel) -> Iterator[Rings]:
    made: dict[int, Ring] = {}

    def ring(cpus: int) -> Ring:
        if cpus not in made:
            made[cpus] = Ring(tmp_path_factory.mktemp(f"cpus{cpus}"), lab_kernel, cpus)
        return made[cpus]

    yield ring
    for each in made.values():
        each.close()


SAMPLES = 5
"""How much happens in one depends on the host: beside other work a busy guest gets to a few yields a second. And
staircase lets a task wait up to 15 s for its rescue while others send to each other (docs/schedulers/staircase.md)."""

HAPPENS = ("forks", "affinity_changes", "nice_changes", "policy_changes", "stops", "yields", "naps", "messages")


def check(ring: Ring, scheduler: str, *options: str, happens: tuple[str, ...] = HAPPENS) -> None:
    """Nothing is lost, in as many samples as it takes until everything has happened often."""
    counts: Counter[str] = Counter()
    for _ in range(SAMPLES):
        metrics = ring.take(request(scheduler, *options))
        assert metrics["lost"] == metrics["unfinished"] == 0
        counts.update({name: int(metrics[name]) for name in happens})
        if min(counts.values()) > SECONDS / 4:
            return
    raise AssertionError(counts)


@pytest.mark.parametrize("scheduler", schedulers())
@pytest.mark.parametrize("cpus", [2, 4])
def test_nothing_is_lost_under_stress(cpus: int, scheduler: str, rings: Rings) -> None:
    check(rings(cpus), scheduler)


@pytest.mark.parametrize("scheduler", schedulers())
def test_nothing_is_lost_when_cpus_come_and_go(scheduler: str, rings: Rings) -> None:
    check(rings(2), scheduler, "--hotplug", happens=(*HAPPENS, "hotplugs"))
