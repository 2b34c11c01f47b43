"""Guests under the virtual clock that are booted once: each sample runs in a copy and repeats to the last digit."""

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runoff.engines.agent import AgentLost
from runoff.engines.lab import guest, kernel, qemu, snapshot
from runoff.engines.lab.emulator.store import Emulator
from runoff.engines.lab.image import Image
from runoff.engines.outcome import Outcome
from runoff.plan.settings import DEFAULT_QUANTUM

Request = Mapping[str, Any]

LIMIT_S = 900

SEED = int(os.environ.get("RUNOFF_TEST_SEED", "1"))
"""Seed of every copy. Tests must hold with any seed; each shifts the same things as another build of the agent."""

COMPLAINTS = ("WARNING", "BUG:", "stall", "clocksource", "unstable", "skew", "soft lockup", "hung task")
"""Words of a kernel that has a fault, or does not trust its clocks."""


class Copies:
    """Copies of one guest."""

    def __init__(
        self,
        folder: Path,
        used: kernel.Kernel,
        emulator: Emulator,
        *,
        cpus: int = 1,
        instruction_shift: int = 0,
        memory_mb: int = 512,
        root: Image | None = None,
        cargo: guest.Cargo | None = None,
        limit_s: float = LIMIT_S,
        budget_s: float | None = None,
    ) -> None:
        """``limit_s`` is for every silence of a copy, ``budget_s`` what it has of its own time."""
        self._folder = folder
        self._limit_s = limit_s
        self._budget_s = budget_s
        self._kernel = used
        self._cargo = cargo or guest.Cargo()
        self._machine = qemu.Machine(
            kernel=used.vmlinux,
            initramfs=folder / "initramfs",
            console=folder / "console.txt",
            cpus=cpus,
            memory_mb=memory_mb,
            clock="virtual",
            accelerator="tcg",
            program=emulator.program,
            quantum=DEFAULT_QUANTUM,
            instruction_shift=instruction_shift,
            image=None if root is None else root.path,
        )
        self._numbers = itertools.count()
        self._kept: snapshot.Snapshot | None = None

    def take(self, request: Request) -> Outcome:
        """In a copy of its own."""
        return self.session([request])[0][0]

    def session(self, requests: Sequence[Request], expected: str = "") -> tuple[list[Outcome], str]:
        """Outcomes of the requests, one after the other in one copy, and the console of its kernel, which must not have
        complaints except the ``expected`` one.
        """
        if self._kept is None or not self._kept.is_there:
            self._kept = snapshot.ensure(self._machine, self._kernel, self._cargo, LIMIT_S, lambda _: None)
        own = self._folder / f"copy{next(self._numbers)}"
        own.mkdir()
        copy = snapshot.restore(self._kept, own, guest.Orders(seed=SEED, requests=requests), LIMIT_S, self._budget_s)
        try:
            outcomes = [copy.agent.take(request, lambda _phase: None, self._limit_s) for request in requests]
        except AgentLost as lost:
            copy.kill()
            raise AssertionError(f"the guest was lost: {copy.last_words() or lost}\n{_said(own)}") from None
        finally:
            copy.close()
        said = _said(own)
        assert not [word for word in COMPLAINTS if word in said and word != expected], said
        return outcomes, said


MakeCopies = Callable[..., Copies]
"""With the options of ``Copies``, and the kernel first if it is another one."""


def _said(folder: Path) -> str:
    return (folder / "console.txt").read_text(errors="replace")
