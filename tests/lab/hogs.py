"""Processes that only use the CPU, run in a guest under a scheduler: what each of them got."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from copies import LIMIT_S, Copies

from runoff.engines.outcome import ValidSample

SLOW_CPU = 3
"""Instruction shift for hogs that share many seconds: at 8 ns each, the host emulates an eighth of the work."""

SLOW_WAKE_US = 500
"""Time that a wake-up takes on such a CPU without waiting for others: 120 us, and an interrupt or two in between."""


@dataclass(frozen=True)
class Hogs:
    """A sample of ``runoff-agent hogs`` under one scheduler."""

    scheduler: str
    nice: tuple[int, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 4
    arguments: tuple[str, ...] = ()
    """More of the command line."""

    @property
    def id(self) -> str:
        chosen = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.scheduler}:{chosen} {self.nice} {' '.join(self.arguments)}"

    @property
    def request(self) -> dict[str, Any]:
        levels = ",".join(map(str, self.nice))
        extract = [
            {"metric": f"{name}{index}", "find": {"pattern": _of_hog(name, index)}}
            for index in range(len(self.nice))
            for name in ("cpu_s", "longest_gap_ms")
        ]
        if "--sleeper-ms" in " ".join(self.arguments):
            extract += [
                {"metric": name, "find": {"pattern": rf'"{name}":([0-9.]+)'}}
                for name in ("mean_us", "p99_us", "max_us")
            ]
        arguments = [f"--nice={levels}", f"--seconds={self.seconds}", *self.arguments]
        return {
            "type": "sample",
            "id": self.id,
            "scheduler": described(self.scheduler, self.parameters),
            "workload": {
                "name": "hogs",
                "root": None,
                "prepare": [],
                "command": ["runoff-agent", "hogs", *arguments],
                "environment": {},
                "timeout_s": LIMIT_S,
                "extract": extract,
            },
        }


def described(scheduler: str, parameters: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The agent's message for a scheduler by name."""
    if scheduler == "default":
        return {"kind": "default"}
    return {"kind": "builtin", "name": scheduler, "parameters": dict(parameters or {})}


def _of_hog(name: str, index: int) -> str:
    return rf'"hogs":\[(?:\{{[^{{}}]*\}},){{{index}}}\{{[^{{}}]*"{name}":([0-9.]+)'


@dataclass(frozen=True)
class Got:
    """The results of a sample of hogs."""

    hogs: Hogs
    metrics: dict[str, float]

    @property
    def shares_pct(self) -> list[float]:
        """The share of one CPU, per hog."""
        return [100 * self.metrics[f"cpu_s{index}"] / self.metrics["elapsed_s"] for index in range(len(self.hogs.nice))]

    @property
    def gaps_ms(self) -> list[float]:
        """The longest time without the CPU, per hog."""
        return [self.metrics[f"longest_gap_ms{index}"] for index in range(len(self.hogs.nice))]


def measure(copies: Copies, hogs: Hogs) -> Got:
    outcome = copies.take(hogs.request)
    assert isinstance(outcome, ValidSample), outcome
    if hogs.scheduler != "default":
        assert outcome.proof["before"]["ops"] == hogs.scheduler
        assert outcome.proof["threads_checked"] > outcome.proof["threads_outside"] == 0
    return Got(hogs, dict(outcome.metrics))


def measure_all(copies: Copies, samples: Iterable[Hogs]) -> dict[str, Got]:
    """The results by the ids of the requests."""
    return {hogs.id: measure(copies, hogs) for hogs in samples}
