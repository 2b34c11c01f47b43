"""Whether what is repeated under the virtual clock is the same to the last digit.

Samples: each campaign is taken twice, one sample at a time on an idle machine, then two at a time beside two programs
that keep every CPU of this machine busy. A pair differs if anything that the report has of a sample does.
Guests: the guest whose copies the samples are is booted again and again; a pair differs if a byte of its memory does.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import figures
import progress

from runoff.engines.lab import cache

PAIRS = {1: 100, 2: 100, 4: 100, 8: 20}
"""By number of CPUs; half of them with all probes."""
WORKS = ["hackbench:groups=1,loops=5", "schbench:operations=1,footprint_kb=32,warm_up_s=0,seconds=1"]
COMPILE = "compile:part=et"
ARMS = ["default", "bfs"]
GUESTS = 20


@contextlib.contextmanager
def keep_busy() -> Iterator[None]:
    """As many spinning programs as this machine has CPUs."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def read_samples(campaign: progress.Campaign) -> dict[str, Any]:
    """By id."""
    return {each["id"]: each for each in campaign.report["samples"]}


def compare(cpus: int, works: list[str], blocks: int, *options: str) -> tuple[int, int]:
    """Pairs that were compared, and how many of them differ; each that does is printed."""
    chosen = [word for work in works for word in ("--work", work)]
    plan = [*ARMS, *chosen, "--clock", "virtual", "--cpus", str(cpus), "--blocks", str(blocks), *options]
    first = read_samples(progress.compare(*plan, "-j", "1"))
    with keep_busy():
        second = read_samples(progress.compare(*plan, "-j", "2"))
    different = [cell for cell, sample in first.items() if sample != second.get(cell)]
    for cell in different:
        print(f"differs: {cpus} CPUs, {cell}: {first[cell]} and {second.get(cell)}", flush=True)
    return len(first), len(different)


def show_samples() -> None:
    for cpus, pairs in PAIRS.items():
        blocks = pairs // (2 * len(WORKS) * len(ARMS)) + 1
        for what, works, count, options in (
            ("without probes", WORKS, blocks, []),
            ("with all probes", WORKS, blocks, ["--probe", "all"]),
            ("of compile", [COMPILE], 1, []),
        ):
            compared, different = compare(cpus, works, count, *options)
            print(f"{cpus} CPUs, pairs {what}: {different} of {compared} differ", flush=True)


def hash_memory(plan: list[str], guests: Path) -> str:
    """Digests of a guest that is booted now."""
    progress.compare(*plan)
    (kept,) = guests.glob("[!.]*")
    files = json.loads((kept / "meta.json").read_text())["sha256"]
    for path in kept.iterdir():
        path.unlink()
    kept.rmdir()
    return json.dumps({name: digest for name, digest in files.items() if name not in ("state", "initramfs")})


@contextlib.contextmanager
def use_private_cache() -> Iterator[Path]:
    """With the kernels, QEMUs and images of the usual one, and no guests."""
    usual = cache.root()
    with tempfile.TemporaryDirectory() as private:
        for name in ("kernels", "qemus", "images"):
            (Path(private) / name).symlink_to(usual / name)
        os.environ["RUNOFF_CACHE"] = private
        try:
            yield Path(private)
        finally:
            os.environ["RUNOFF_CACHE"] = str(usual)


def show_guests() -> None:
    with use_private_cache() as private:
        for cpus in (2, 4):
            plan = ["default", "--work", "counters:n=1,count=1000", "--clock", "virtual", "--cpus", str(cpus)]
            found = {hash_memory([*plan, "--blocks", "1"], private / "snapshots") for _ in range(GUESTS)}
            print(f"{cpus} CPUs, {GUESTS} boots: {len(found)} different memories", flush=True)


def main() -> None:
    """Samples, then guests."""
    print(figures.machine())
    show_samples()
    show_guests()


if __name__ == "__main__":
    main()
