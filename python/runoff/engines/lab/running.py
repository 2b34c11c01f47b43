"""The guests of an engine that run at present."""

import itertools
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runoff.engines.lab.guest import Guest


def name_guest(kernel_name: str, parameters: str) -> str:
    """Return what tells guests of one plan apart: the kernel, and words at the end of its command line."""
    return f"{kernel_name} {parameters}".rstrip()


class RunningGuests:
    """The guests that must end with the engine, and their fingerprints. Threads share it."""

    def __init__(self, folder: Path) -> None:
        """``folder`` gets a directory for each guest."""
        self._folder = folder
        self._numbers = itertools.count()
        self._guests: set[Guest] = set()
        self._fingerprints: dict[str, Any] = {}
        self._lock = threading.Lock()

    def make_folder(self) -> Path:
        """Make a directory for the files of the next guest."""
        with self._lock:
            number = next(self._numbers)
        folder = self._folder / f"boot-{os.getpid()}-{number}"
        folder.mkdir()
        return folder

    def add(self, guest: Guest, name: str) -> None:
        """Remember a guest that has just started; see ``name_guest``."""
        with self._lock:
            self._guests.add(guest)
            self._fingerprints.setdefault(name, guest.fingerprint)

    def end(self, guest: Guest) -> None:
        """End one guest and forget it."""
        guest.close()
        with self._lock:
            self._guests.discard(guest)

    def end_all(self) -> None:
        """End every guest."""
        for guest in self._list_present():
            self.end(guest)

    def terminate_all(self) -> None:
        """Stop the work in every guest, from another thread than the samples'."""
        for guest in self._list_present():
            guest.agent.terminate()

    def _list_present(self) -> list[Guest]:
        with self._lock:
            return list(self._guests)

    @property
    def fingerprints(self) -> Mapping[str, Any]:
        """The fingerprint of the first guest of each name."""
        return self._fingerprints
