"""A disk of the soak's own, whose elevator campaigns may borrow."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runoff.engines.questions import describe_elevators

SIZE_MB = 64
BESIDE = {"nr_requests": "200", "iosched/low_latency": "0", "iosched/slice_idle_us": "4000"}
"""Settings that the owner has chosen besides bfq."""


class NoDisk(Exception):
    """The reason why this machine cannot have the disk."""


def _call(*words: str | Path) -> str:
    try:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120)
    except OSError as error:
        raise NoDisk(f"{words[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise NoDisk(done.stderr.strip())
    return done.stdout.strip()


@dataclass(frozen=True)
class Disk:
    name: str
    """The name in /sys/block."""
    place: Path
    """Where it is mounted."""
    elevators: list[str]


@contextmanager
def loop(folder: Path) -> Iterator[Disk]:
    """One that is a file in ``folder``. Raises NoDisk."""
    image, place = folder / "image", folder / "place"
    with image.open("wb") as file:
        file.truncate(SIZE_MB << 20)
    place.mkdir()
    device = _call("losetup", "--find", "--show", image)
    try:
        queue = Path("/sys/block", Path(device).name, "queue")
        elevators = (queue / "scheduler").read_text().replace("[", " ").replace("]", " ").split()
        if "bfq" in elevators:
            (queue / "scheduler").write_text("bfq")
            for name, value in BESIDE.items():
                (queue / name).write_text(value)
        _call("mkfs.ext4", "-q", device)
        _call("mount", device, place)
        try:
            kernels = [entry["name"] for entry in describe_elevators()["kernel"]]
            known = [each for each in elevators if each in kernels]
            yield Disk(Path(device).name, place, known)
        finally:
            subprocess.run(["umount", "--lazy", place], check=False)
    finally:
        subprocess.run(["losetup", "--detach", device], check=False)
