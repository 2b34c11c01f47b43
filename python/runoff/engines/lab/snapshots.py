"""The snapshots of a campaign: one for each kernel, and one more for each scheduler that can be made ready."""

import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from runoff.engines.agent import AgentLost
from runoff.engines.lab import qemu, snapshot
from runoff.engines.lab.cache import Progress
from runoff.engines.lab.guest import Cargo
from runoff.engines.lab.kernel import Kernel
from runoff.engines.lab.running import name_guest
from runoff.errors import RunoffError


class Snapshots:
    """Makes each snapshot once, and again if another runoff has forgotten it. Threads of a campaign share it."""

    def __init__(
        self,
        folder: Path,
        machine: Callable[[Kernel, str, Path], qemu.Machine],
        cargo: Callable[[], Cargo],
        limit_s: float,
    ) -> None:
        """``machine`` makes the files of a guest with more words for its kernel in a directory, during its boot one in
        ``folder``; ``limit_s`` is the time limit of a boot."""
        self._folder = folder
        self._machine = machine
        self._cargo = cargo
        self._limit_s = limit_s
        self._guests: dict[tuple[str, str], snapshot.Snapshot] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> Mapping[str, str]:
        """Names of the snapshots in the cache, by kernel or by the arm's label."""
        return {owner: kept.name for (_, owner), kept in sorted(self._guests.items())}

    def list_directories(self) -> list[Path]:
        """Return where they are, the ones that others were made of first."""
        return [kept.directory for _, kept in sorted(self._guests.items(), key=lambda item: item[0][0] == "arm")]

    def find_quiet(self, kernel: Kernel, parameters: str, say: Progress) -> snapshot.Snapshot:
        """Return a guest that has booted ``kernel`` with these words and is idle. Raises RunoffError with the reason
        from the console."""
        with self._lock:
            return self._ensure_quiet(kernel, parameters, say)

    def find_ready(
        self, kernel: Kernel, parameters: str, label: str, scheduler: Mapping[str, Any], say: Progress
    ) -> snapshot.Snapshot:
        """Return a snapshot in which ``scheduler`` is ready too; one without it if that fails."""
        with self._lock:
            base = self._ensure_quiet(kernel, parameters, say)
            return self._find(("arm", label), lambda: self._make_ready(base, scheduler, say))

    def forget(self, kept: snapshot.Snapshot) -> None:
        """Forget a snapshot: the next user checks it, and makes it again if it is damaged."""
        with self._lock:
            self._guests = {owner: other for owner, other in self._guests.items() if other != kept}

    def _ensure_quiet(self, kernel: Kernel, parameters: str, say: Progress) -> snapshot.Snapshot:
        owner = name_guest(kernel.name, parameters)
        return self._find(("kernel", owner), lambda: self._boot(kernel, parameters, say))

    def _find(self, owner: tuple[str, str], make: Callable[[], snapshot.Snapshot]) -> snapshot.Snapshot:
        kept = self._guests.get(owner)
        if kept is None or not kept.is_there:
            kept = self._guests[owner] = make()
        return kept

    def _boot(self, kernel: Kernel, parameters: str, say: Progress) -> snapshot.Snapshot:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        try:
            return snapshot.ensure(
                self._machine(kernel, parameters, self._folder), kernel, self._cargo(), self._limit_s, say
            )
        except AgentLost as lost:
            raise RunoffError(str(lost)) from None
        finally:
            shutil.rmtree(self._folder)

    def _make_ready(self, base: snapshot.Snapshot, scheduler: Mapping[str, Any], say: Progress) -> snapshot.Snapshot:
        try:
            return snapshot.ensure_ready(base, scheduler, self._limit_s, say)
        except AgentLost:
            # The agent that is asked to attach it will say why it cannot.
            return base
