"""How often a view of campaigns errs, however these were stopped: each view knows how, and none forgets it.

In STOPPING_CAMPAIGNS of each kind, in `make test-all` many more.
"""

import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import report_examples as examples

from runoff.analysis.beside import lay_beside
from runoff.analysis.build import build_report
from runoff.campaign.machines.join import join_results
from runoff.history.build import Ordered, make_history
from runoff.history.order import order_campaigns
from runoff.history.subjects import Wanted
from runoff.results import Ended, Results, Sample, Stopping, StoppingRule
from runoff.statistics import Verdict
from runoff.statistics.level import critical
from runoff.statistics.stopping import find_multiple

CAMPAIGNS = int(os.environ.get("STOPPING_CAMPAIGNS") or 30)
NOISE = 0.02
SPREAD = NOISE * math.sqrt(2)
"""SD of the differences, as logarithms."""
MARGIN = 0.35 * SPREAD
FIRST, MOST = 10, 80
FALSE = (Verdict.BETTER, Verdict.WORSE)

Noise = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
SHAPES: Mapping[str, Noise] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "two heaps": lambda rng, shape: np.where(rng.random(shape) < 0.5, -1.0, 1.0) + 0.2 * rng.standard_normal(shape),
}
RULES: Sequence[StoppingRule] = ("planned", "until", "extended")


def at_most(rate: float, count: int, of: int) -> bool:
    return count / of <= rate + 3 * math.sqrt(rate * (1 - rate) / of)


def stop(differences: np.ndarray, rule: StoppingRule) -> tuple[int, Stopping]:
    """After how many blocks a campaign ends that is stopped by its own values."""

    def is_apart(n: int, multiple: float) -> bool:
        return bool(abs(differences[:n].mean()) > multiple * differences[:n].std(ddof=1) / math.sqrt(n))

    if rule == "planned":
        return FIRST, Stopping()
    if rule == "extended":
        if is_apart(FIRST, critical(0.05, 1, FIRST - 1)):
            return FIRST, Stopping()
        for n in range(FIRST + 1, MOST):
            if is_apart(n, find_multiple(n, 0.05, 1, "extended")):
                return n, Stopping(looks=(FIRST,))
        return MOST, Stopping(looks=(FIRST,))
    for n in range(FIRST, MOST):
        half = find_multiple(n, 0.05, 1, "until") * differences[:n].std(ddof=1) / math.sqrt(n)
        mean = differences[:n].mean()
        if abs(mean) > half or abs(mean) + half < MARGIN:
            return n, Stopping(MARGIN, ended=Ended(n, "every headline comparison is decided", True))
    return MOST, Stopping(MARGIN, ended=Ended(MOST, "more blocks are not allowed", False))


def take(seed: Sequence[int], rule: StoppingRule, shape: str, change: float = 0.0, works: int = 1) -> Results:
    """Conduct a campaign; every twentieth sample is void."""
    rng = np.random.default_rng(seed)
    logs = NOISE * SHAPES[shape](rng, (works, MOST, 2))
    logs[:, :, 1] += change
    is_void = rng.random(logs.shape) < 0.05
    blocks, stopping = stop((logs[..., 1] - logs[..., 0]).mean(axis=0) * math.sqrt(works), rule)
    names = [f"w{number}" for number in range(works)]
    samples = []
    for block, (work, name), (arm, label) in itertools.product(
        range(blocks), enumerate(names), enumerate(("default", "bfs"))
    ):
        void = bool(is_void[work, block, arm])
        metrics = {} if void else {"elapsed_s": float(np.exp(logs[work, block, arm]))}
        place = len(samples)
        samples.append(
            Sample(f"{place}", block, place, label, name, "none", not void, "ejected" if void else None, metrics)
        )
    return Results(
        engine="lab",
        clock="real",
        seed=seed[-1],
        blocks=blocks,
        arms=("default", "bfs"),
        workloads=tuple(names),
        loads=("none",),
        metrics=dict.fromkeys(names, (examples.WALL,)),
        samples=tuple(samples),
        planned=len(samples),
        fingerprint={"machine": {"hostname": f"m{seed[-1]}"}, "runoff": {"machine": f"{seed[-1]:032x}"}},
        margin=MARGIN,
        stopping=stopping,
    )


def look_alone(seed: Sequence[int], rule: StoppingRule, shape: str) -> bool:
    (table,) = build_report(take(seed, rule, shape)).headline
    return table.analysis.comparisons["bfs"].verdict in FALSE


def look_beside(seed: Sequence[int], rule: StoppingRule, shape: str) -> bool:
    """A change of a fifth of a spread is in both campaigns alike, and often stops only one of them."""
    campaigns = {name: take([*seed, number], rule, shape, SPREAD / 5) for number, name in enumerate(("one", "two"))}
    (table,) = build_report(lay_beside(campaigns)).headline
    return table.analysis.comparisons["two"].verdict in FALSE


def look_merged(seed: Sequence[int], rule: StoppingRule, shape: str) -> bool:
    machines = {f"m{number}": take([*seed, number], rule, shape) for number in range(3)}
    (table,) = build_report(join_results(machines)).headline
    found = table.analysis.comparisons["bfs"]
    return found.verdict in FALSE or bool(found.between and found.between.has_sides)


def look_over_all(seed: Sequence[int], rule: StoppingRule, shape: str) -> bool:
    overall = build_report(take(seed, rule, shape, works=2)).overall
    assert overall is not None
    assert overall.analysis is not None
    return overall.analysis.comparisons["bfs"].separated


def look_back(seed: Sequence[int], rule: StoppingRule, shape: str) -> bool:
    """Whether the interval of the second of two campaigns in a history misses their change."""
    campaigns = {name: take([*seed, number], rule, shape, SPREAD / 5) for number, name in enumerate(("one", "two"))}
    places, _ = order_campaigns(campaigns, "given", Path())
    (series,) = make_history(Ordered(campaigns, places, "given"), Wanted()).series
    interval = series.entries[1].summary.geometric_ci
    return interval is not None and not interval.low <= math.exp(SPREAD / 5) <= interval.high


def test_each_machine_keeps_its_rule() -> None:
    """Over all machines the rule is of none of them: they were taken once."""
    machines = {rule: take([1, number], rule, "normal") for number, rule in enumerate(RULES)}
    joined = build_report(join_results(machines))
    (table,) = joined.headline
    assert not table.analysis.comparisons["bfs"].is_sequential
    found = {rule: each.comparisons["bfs"].is_sequential for rule, each in table.analysis.machines.items()}
    assert found == {"planned": False, "until": True, "extended": bool(machines["extended"].stopping.looks)}
    assert {rule: joined.select_machine(rule).results.stopping for rule in RULES} == {
        rule: each.stopping for rule, each in machines.items()
    }


VIEWS = {
    "alone": look_alone,
    "beside": look_beside,
    "merged": look_merged,
    "over all": look_over_all,
    "history": look_back,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_knows_how_campaigns_were_stopped(view: str, rule: StoppingRule, shape: str) -> None:
    wrong = sum(VIEWS[view]([number, RULES.index(rule)], rule, shape) for number in range(CAMPAIGNS))
    # Of a merged campaign two things are asked: all machines together, and each of them.
    rate = 0.1 if view == "merged" else 0.055
    assert at_most(rate, wrong, CAMPAIGNS), f"{100 * wrong / CAMPAIGNS:.1f} % of {CAMPAIGNS}"
