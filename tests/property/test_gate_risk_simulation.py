"""The chances that a gate names for itself are those with which gates of the same kind end.

In RISK_CAMPAIGNS of each kind, in `make test-all` many more.
"""

import math
import os

import numpy as np
import pytest

from runoff.analysis.build import build_report
from runoff.decide.gate import judge as gate
from runoff.results import Metric, Results, Sample
from runoff.statistics.gate import Outcome

CAMPAIGNS = int(os.environ.get("RISK_CAMPAIGNS") or 20)
LIMIT = 0.05
OFF = 0.05
"""How far a chance may be off."""
OFF_OF_MANY = 0.12
"""Merged campaigns of many machines with few blocks each, whose noise and whose differences are hardly known."""
ENDS = (Outcome.FINE, Outcome.UNCLEAR, Outcome.WORSE, Outcome.REGRESSED)
TIME = Metric("time", "s", "time", "lower", headline=True)


def make(rng: np.random.Generator, runs: tuple[int, int], tables: int, machines: int, change: float, noise: float):
    """A campaign whose first workload is the noisiest, and changes; machines differ by half of the noise of a run."""
    samples = []
    for machine in range(max(machines, 1)):
        own = 0.5 * noise * rng.standard_normal(tables) if machines else np.zeros(tables)
        for work in range(tables):
            for arm, count in enumerate(runs):
                for run in range(count):
                    log = noise * rng.standard_normal() + arm * own[work]
                    log = log + arm * change if work == 0 else 0.5 * log
                    block, position = machine * max(runs) + run, 2 * run + (arm + run) % 2
                    label, name = ("base", "new")[arm], f"m{machine}" if machines else ""
                    values = {"time": math.exp(log)}
                    sample = Sample(
                        str(len(samples)), block, position, label, f"w{work}", "", True, None, values, machine=name
                    )
                    samples.append(sample)
    works = tuple(f"w{work}" for work in range(tables))
    return Results(
        engine="lab", clock="real", seed=1, blocks=max(runs), arms=("base", "new"), workloads=works, loads=("",),
        metrics=dict.fromkeys(works, (TIME,)), samples=tuple(samples), planned=len(samples),
        is_paired=runs[0] == runs[1], machines=tuple(f"m{machine}" for machine in range(machines)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("runs", "tables", "machines", "noise", "off"),
    [
        ((10, 10), 1, 0, 0.045, OFF), ((10, 10), 3, 0, 0.04, OFF),
        ((5, 40), 1, 0, 0.045, OFF), ((40, 5), 2, 0, 0.04, OFF),
        ((10, 10), 1, 2, 0.04, OFF), ((10, 10), 1, 3, 0.02, OFF), ((5, 5), 2, 7, 0.03, OFF_OF_MANY),
    ],
)  # fmt: skip
def test_chances(runs: tuple[int, int], tables: int, machines: int, noise: float, off: float) -> None:
    said, ended = np.zeros((3, 4)), np.zeros((3, 4))
    limit = math.log1p(LIMIT)
    for number in range(CAMPAIGNS):
        for row, by in enumerate((0.0, 1.0, 2.0)):
            rng = np.random.default_rng([number, row, *runs, tables, machines])
            found = gate.judge(build_report(make(rng, runs, tables, machines, by * limit, noise)), LIMIT)
            ended[row, ENDS.index(found.outcome)] += 1 / CAMPAIGNS
            risk = found.risk
            assert risk is not None
            chances = (risk.unchanged, risk.at_limit, risk.at_twice)[row]
            said[row] += np.array([chances.fine, chances.unclear, chances.worse, chances.regressed]) / CAMPAIGNS
    allowed = off + 3 * np.sqrt(said * (1 - said) / CAMPAIGNS) + 1 / CAMPAIGNS
    assert (np.abs(said - ended) <= allowed).all()
