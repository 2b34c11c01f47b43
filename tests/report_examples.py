"""Campaigns made from a seed, in the shape the runner delivers them."""

import importlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from runoff.results import Metric, Results, Sample

WALL = Metric("elapsed_s", "s", "lower", "elapsed time", headline=True)
TAIL = Metric("wakeup_p99_ns", "ns", "lower", "wake-up latency p99", headline=True)
RATE = Metric("rate", "msg/s", "higher", "messages", headline=True)
SWITCHES = Metric("involuntary_switches", "count", "none", "involuntary switches")
MIGRATIONS = Metric("migrations", "count", "none", "migrations")

FINGERPRINT = {
    "machine": {"cpu": "AMD Ryzen 7 7840U", "cpus": 16, "memory_mib": 31987},
    "kernel": {"release": "7.2.0-cloud-amd64", "config_sha256": "9f2c41d0", "command_line": "quiet mitigations=auto"},
    "tools": {"gcc": "12.2.0", "make": "4.3"},
    "arms": {
        "default": {"scheduler": "EEVDF", "object_sha256": "-", "governor": "performance"},
        "bfs": {"scheduler": "bfs", "object_sha256": "51aa03ce", "governor": "performance"},
        "zaphod:mode=eb": {"scheduler": "zaphod", "object_sha256": "c0ffee11", "governor": "performance"},
    },
}

Cell = Mapping[str, tuple[float, float]]
"""Mean and SD by metric name."""


def campaign(
    cells: Mapping[str, Mapping[str, Cell]],
    metrics: Mapping[str, tuple[Metric, ...]],
    *,
    blocks: int,
    voids: Mapping[tuple[str, str, int], str] | None = None,
    loads: Sequence[str] = ("none",),
    seed: int = 4711,
    **fields,
) -> Results:
    """Samples for ``cells[workload][arm]``; ``voids`` names (workload, arm, block) and the reason."""
    rng = random.Random(seed)
    arms = tuple(dict.fromkeys(arm for by_arm in cells.values() for arm in by_arm))
    samples: list[Sample] = []
    for block in range(blocks):
        order = [(w, load, arm) for w in cells for load in loads for arm in arms]
        rng.shuffle(order)
        for workload, load, arm in order:
            reason = (voids or {}).get((workload, arm, block))
            values = {name: abs(rng.gauss(mean, sd)) for name, (mean, sd) in cells[workload][arm].items()}
            samples.append(
                Sample(
                    f"{len(samples):04}",
                    block,
                    len(samples),
                    arm,
                    workload,
                    load,
                    reason is None,
                    reason,
                    values if reason is None else {},
                )
            )
    defaults = {
        "engine": "lab", "clock": "real", "fingerprint": FINGERPRINT, "version": "0.1.0",
        "rerun": f"runoff compare {' '.join(arms)} --work {' --work '.join(cells)} "
        f"--on {fields.get('engine', 'lab')} --blocks {blocks} --seed {seed}",
        "plan_text": f"seed = {seed}\nblocks = {blocks}\n",
    }  # fmt: skip
    return Results(
        seed=seed,
        blocks=blocks,
        arms=arms,
        workloads=tuple(cells),
        loads=tuple(loads),
        metrics=metrics,
        samples=tuple(samples),
        planned=len(samples),
        **{**defaults, **fields},
    )


def loaded() -> Results:
    """Two arms on one workload beside nothing, a load, and a heavy one under which one arm has no valid sample."""
    plain = campaign(
        {"compile": {arm: {"elapsed_s": (mean, 0.01)} for arm, mean in (("default", 1.2), ("bfs", 1.0))}},
        {"compile": (WALL,)},
        blocks=4,
        loads=("none", "io", "mem"),
    )
    slower = {"none": 1.0, "io": 1.5, "mem": 6.0}
    samples = []
    for sample in plain.samples:
        lost = (sample.arm, sample.load) == ("bfs", "mem")
        metrics = {} if lost else {name: value * slower[sample.load] for name, value in sample.metrics.items()}
        samples.append(replace(sample, valid=not lost, reason="ejected" if lost else None, metrics=metrics))
    return replace(plain, samples=tuple(samples))


def three_arms() -> Results:
    """Three arms, two workloads, five blocks, one void: the ordinary report."""
    counters = {"involuntary_switches": (48211.0, 2100.0), "migrations": (812.0, 60.0)}
    return campaign(
        {
            "kernel-build": {
                "default": {"elapsed_s": (61.4, 0.5), **counters},
                "bfs": {"elapsed_s": (58.9, 0.6), **counters, "involuntary_switches": (90100.0, 3000.0)},
                "zaphod:mode=eb": {"elapsed_s": (61.8, 0.7), **counters},
            },
            "hackbench": {
                "default": {"elapsed_s": (1.20, 0.01), "wakeup_p99_ns": (412e3, 21e3), **counters},
                "bfs": {"elapsed_s": (1.21, 0.008), "wakeup_p99_ns": (310e3, 18e3), **counters},
                "zaphod:mode=eb": {"elapsed_s": (1.32, 0.02), "wakeup_p99_ns": (455e3, 30e3), **counters},
            },
        },
        {"kernel-build": (WALL, SWITCHES, MIGRATIONS), "hackbench": (WALL, TAIL, SWITCHES, MIGRATIONS)},
        blocks=5,
        voids={("hackbench", "zaphod:mode=eb", 3): "scheduler exited: runnable task stall (swapper/3, 5.0 s)"},
        warnings=("QEMU emulates the CPUs (no KVM): absolute times are not those of this machine",),
    )


def two_arms() -> Results:
    """Two arms under the virtual clock with a wake-up tail only."""
    return campaign(
        {"wakeups": {"default": {"wakeup_p99_ns": (2.9e6, 2.1e5)}, "bfs": {"wakeup_p99_ns": (3.3e6, 2.4e5)}}},
        {"wakeups": (TAIL,)},
        blocks=10,
        clock="virtual",
        fingerprint={"machine": {"description": "2 cores, 1 LLC"}, "arms": {}},
    )


def bonuses() -> Results:
    """One scheduler in several settings on two sizes of one workload, some samples void."""
    settings = ("mode=eb,max_ia_bonus=10", "mode=pb,max_ia_bonus=10", "mode=pb,max_ia_bonus=0,slice_ms=50")
    arms = ("o1", *(f"zaphod:{setting}" for setting in settings), "exec:scx_bpfland -k", "default@debian:6.18")

    def cells(mean: float) -> dict[str, Cell]:
        return {arm: {"elapsed_s": (mean * (1 + 0.02 * i), mean * 0.004 * (i + 1))} for i, arm in enumerate(arms)}

    return campaign(
        {"hackbench:groups=10": cells(1.583), "hackbench:groups=100": cells(16.74), "compile": cells(61.0)},
        {"hackbench:groups=10": (WALL,), "hackbench:groups=100": (WALL,), "compile": (WALL, SWITCHES)},
        blocks=10,
        voids={
            ("hackbench:groups=10", arms[2], 3): "the guest was lost",
            **{("compile", arms[4], block): "scx_bpfland ended during the run" for block in range(10)},
        },
    )


def wide(arms: int, metrics: int, *, name: str = "scheduler", blocks: int = 6, headlines: int = 99) -> Results:
    """``arms`` arms with long labels and ``metrics`` metrics of all magnitudes, the first of them headlines."""
    labels = ["default+io=anticipatory", *(f"{name}-{i}:slice_ns={10**i},mode=interactive" for i in range(1, arms))]
    units, directions = ("s", "ns", "ops/s", ""), ("lower", "higher", "none")
    kinds = tuple(
        Metric(f"m{i}", units[i % 4], directions[i % 3], f"a rather long metric title {i}", i < headlines)
        for i in range(metrics)
    )
    cell = {
        label: {kind.name: (10.0 ** (i - 9) * (1 + 0.1 * place), 10.0 ** (i - 10)) for i, kind in enumerate(kinds)}
        for place, label in enumerate(labels)
    }
    return campaign({"a-workload-with-a-long-name": cell}, {"a-workload-with-a-long-name": kinds}, blocks=blocks)


def stand_in(monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], Results]) -> None:
    """Let commands read these results instead of a directory."""
    # A module that has the reader under a name of its own takes it when it is imported, and would keep this one.
    for name in ("runoff.campaign.merge", "runoff.cli.published"):
        importlib.import_module(name)
    monkeypatch.setattr("runoff.campaign.directory.read_results", read)
