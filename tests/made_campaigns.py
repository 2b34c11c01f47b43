"""Campaigns whose samples are made up here, in journals as the program writes them."""

import math
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from runoff.campaign import directory
from runoff.engines.outcome import ValidSample, VoidSample
from runoff.plan.make import make_plan
from runoff.plan.order import Cell
from runoff.plan.settings import parse_settings
from runoff.results import Conditions

BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MACHINE_ID = ""
MACHINE = {"hostname": "here", "cpu_model": "A CPU @ 2 GHz", "cpus_online": "0-3", "memory": "32787452 kB", "smt": "on"}

Values = Callable[[Cell], Mapping[str, float] | None]
"""The metrics of a cell's sample; None is a void."""


def made(place: Path, values: Values, *, stop_after: int | None = None, seconds: float = 2.0, **settings: Any) -> Path:
    """A campaign on the lab's real clock with these samples, one after the other; at most ``stop_after`` of them."""
    usual = {"arms": ("default", "bfs"), "workloads": ("hackbench",), "clock": "real", "seed": 5, "blocks": 10}
    plan = make_plan(parse_settings({**usual, **settings}, "test"))
    with directory.create(place, plan) as journal:
        taker = {"version": "0.1.0", "engine": plan.settings.on, "clock": plan.clock, "machine": MACHINE_ID}
        arms = {arm.label: {"scheduler": arm.label} for arm in plan.arms}
        journal.set_fact("parts", [{"machine": MACHINE, "arms": arms, "runoff": taker}])
        add(journal, plan, values, range(0, stop_after) if stop_after is not None else range(0, plan.planned), seconds)
    return place


def add(journal: Any, plan: Any, values: Values, which: range, seconds: float = 2.0) -> None:
    """The samples at these places of the run order."""
    for cell in plan.cells[which.start : which.stop]:
        metrics = values(cell)
        outcome = VoidSample("ejected") if metrics is None else ValidSample(dict(metrics), {"object": ""})
        began = BEGIN + timedelta(seconds=seconds * cell.position)
        journal.add(
            cell,
            plan.arms[cell.arm].label,
            plan.works[cell.work].label,
            plan.load_labels[cell.load],
            outcome,
            Conditions(began.isoformat(timespec="milliseconds"), 0.25),
            seconds=seconds,
        )


def noisy(*changes: float, sd: float = 0.005, metric: str = "time_s", mean: float = 10.0, seed: int = 1) -> Values:
    """Arm i is ``1 + changes[i]`` times ``mean``, every sample with a relative noise of its own."""

    def values(cell: Cell) -> dict[str, float]:
        noise = random.Random(f"{seed}/{cell.id}").gauss(0, sd)
        return {metric: mean * (1 + changes[cell.arm]) * (1 + noise)}

    return values


def alternating(cell: Cell) -> dict[str, float]:
    """Log ratios to the first arm are +0.02 and -0.02 in turn."""
    return {"time_s": 10.0 * (math.exp(0.02 * (-1) ** cell.block) if cell.arm else 1.0)}
