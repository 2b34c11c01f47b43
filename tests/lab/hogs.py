"""Processes that only use the CPU, run in a guest under a scheduler: what each of them got."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runoff.engines.agent import AgentLost
from runoff.engines.lab import guest, image, kernel, qemu
from runoff.engines.outcome import Outcome, Taken

LIMIT_S = 900

SLOW_CPU = 2
"""Instruction shift for those who share many seconds: at 4 ns each, the host emulates a quarter of the work."""


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
            {"metric": f"{name}{index}", "pattern": _of_hog(name, index)}
            for index in range(len(self.nice))
            for name in ("cpu_s", "longest_gap_ms")
        ]
        if "--sleeper-ms" in " ".join(self.arguments):
            extract += [{"metric": name, "pattern": rf'"{name}":([0-9.]+)'} for name in ("mean_us", "p99_us", "max_us")]
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
    """What a sample of hogs found."""

    hogs: Hogs
    metrics: dict[str, float]

    @property
    def shares_pct(self) -> list[float]:
        """Of one CPU, per hog."""
        return [100 * self.metrics[f"cpu_s{index}"] / self.metrics["elapsed_s"] for index in range(len(self.hogs.nice))]

    @property
    def gaps_ms(self) -> list[float]:
        """The longest time without the CPU, per hog."""
        return [self.metrics[f"longest_gap_ms{index}"] for index in range(len(self.hogs.nice))]


class Renewed:
    """A guest that makes way for a new one when it is lost: the next sample boots it."""

    def __init__(self, boot: Callable[[], guest.Guest]) -> None:
        self._boot = boot
        self._guest: guest.Guest | None = boot()

    @property
    def agent(self) -> "Renewed":
        """That of whichever guest is there."""
        return self

    def take(self, request: dict[str, Any], progress: Callable[[str], None], timeout_s: float) -> Outcome:
        if self._guest is None:
            self._guest = self._boot()
        try:
            return self._guest.agent.take(request, progress, timeout_s)
        except AgentLost as lost:
            reason = self._guest.last_words() or str(lost)
            self._guest.kill()
            self._guest = None
            raise AssertionError(f"the guest was lost: {reason}") from None

    def close(self) -> None:
        if self._guest is not None:
            self._guest.close()


@contextmanager
def booted(
    folder: Path,
    used: kernel.Kernel,
    *,
    cpus: int,
    requests: Sequence[dict[str, Any]] | None,
    root: image.Image | None = None,
    cargo: guest.Cargo | None = None,
    instruction_shift: int = 0,
) -> Iterator[guest.Guest | Renewed]:
    """A guest, perhaps with a root file system; under the virtual clock when its requests are given beforehand.

    It writes to ``console.txt`` in ``folder``, which in the end must hold no warning of the kernel.
    """
    machine = qemu.Machine(
        kernel=used.vmlinux,
        initramfs=folder / "initramfs",
        console=folder / "console.txt",
        cpus=cpus,
        memory_mb=512,
        clock="real" if requests is None else "virtual",
        instruction_shift=instruction_shift,
        accelerator="tcg",
        image=None if root is None else root.path,
    )
    orders = guest.Orders() if requests is None else guest.Orders(seed=1, requests=list(requests))

    def boot() -> guest.Guest:
        return guest.boot(folder, machine, used, cargo or guest.Cargo(), orders, LIMIT_S)

    running = Renewed(boot) if requests is None else boot()
    try:
        yield running
    finally:
        running.close()
    assert "WARNING" not in machine.console.read_text(errors="replace")


def measure(running: guest.Guest | Renewed, hogs: Hogs) -> Got:
    outcome = running.agent.take(hogs.request, lambda _phase: None, LIMIT_S)
    assert isinstance(outcome, Taken), outcome
    if hogs.scheduler != "default":
        assert outcome.proof["before"]["ops"] == hogs.scheduler
        assert outcome.proof["threads_checked"] > outcome.proof["threads_outside"] == 0
    return Got(hogs, dict(outcome.metrics))


def measure_all(
    folder: Path, used: kernel.Kernel, samples: Sequence[Hogs], instruction_shift: int = 0
) -> dict[str, Got]:
    """All samples in one boot on one CPU under the virtual clock, by their ids."""
    requests = [hogs.request for hogs in samples]
    with booted(folder, used, cpus=1, requests=requests, instruction_shift=instruction_shift) as running:
        return {hogs.id: measure(running, hogs) for hogs in samples}
