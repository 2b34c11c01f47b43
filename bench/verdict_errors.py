"""How often verdicts are wrong, how wide intervals are and what they see: by simulation, 20,000 tables a cell.

No machine is measured. Every cell has a seed of its own, so that the figures are the same wherever it runs. The tables
are those of docs/statistics.md. VERDICT_TABLES=1000 is quicker.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import verdict_rule as rule
import verdict_scenarios as scenarios
from verdict_scenarios import Shape, Tables

ARMS = (2, 3, 5)
BLOCKS = (5, 10, 20)
NOISE = 0.02
STALLS = ((0.1, 1.3), (0.05, 1.6), (0.02, 2.5))
"""Share of runs, and how many times longer they take: 3 % in the mean."""

Draw = Callable[[np.random.Generator, Shape, scenarios.Array], scenarios.Array]


def take(draw: Draw, shape: Shape, seed: int = 1) -> Tables:
    """Return the tables of a cell."""
    rng = np.random.default_rng([seed, *shape.size])
    positions = scenarios.order(rng, shape)
    return Tables(draw(rng, shape, positions), positions)


def percent(hits: scenarios.Array) -> float:
    return 100 * float(np.mean(hits))


def count_false_verdicts(draw: Draw, shape: Shape) -> tuple[float, float]:
    """Return percent of tables with a + or -, and percent in which all intervals hold the truth; no arm differs."""
    judged = rule.judge(take(draw, shape))
    covered = (judged.low <= 0) & (judged.high >= 0)
    return percent(judged.separated.any(axis=1)), percent(covered.all(axis=1))


def _false(title: str, group: Mapping[str, Draw], tables: int) -> Iterator[str]:
    yield f"{title}: false + or - in a table / simultaneous coverage, %"
    heads = [f"{k} arms, {n}" for k in ARMS for n in BLOCKS]
    yield f"{'':42}" + "".join(head.rjust(13) for head in heads)
    for name, draw in group.items():
        cells = [count_false_verdicts(draw, Shape(tables, n, k)) for k in ARMS for n in BLOCKS]
        yield f"{name:42}" + "".join(f"{false:5.1f} /{covered:5.1f}".rjust(13) for false, covered in cells)


def count_false_campaigns(draw: Draw, shape: Shape, headlines: int = 4) -> float:
    """Return percent of campaigns of ``tables`` such tables with a + or - in one of them, by Holm over all."""
    tables = shape.tables // headlines * headlines
    return percent(rule.judge_campaigns(rule.judge(take(draw, Shape(tables, shape.blocks, shape.arms))), headlines))


def _campaigns(tables: int) -> Iterator[str]:
    yield "false + or - in a campaign of 4 headline tables, %"
    yield f"{'':42}" + "".join(f"{k} arms, {n}".rjust(13) for k in ARMS for n in BLOCKS)
    for name, draw in {"normal, SD 5 %": scenarios.USUAL["normal, SD 5 %"], **scenarios.BEYOND}.items():
        cells = [count_false_campaigns(draw, Shape(tables, n, k)) for k in ARMS for n in BLOCKS]
        yield f"{name:42}" + "".join(f"{cell:13.1f}" for cell in cells)


def _unequal(tables: int) -> Iterator[str]:
    yield "one arm has voids and a larger SD: false + or - / coverage, %"
    for k in ARMS:
        for full, short in ((5, 3), (10, 4), (20, 8)):
            told = []
            for factor in (1, 3, 10):
                draw = scenarios.draw_unsteady(factor, 1 - short / full)
                false, covered = count_false_verdicts(draw, Shape(tables, full, k))
                told.append(f"SD {factor}x {false:.1f} / {covered:.1f}")
            yield f"  {k} arms, {full} and {short} blocks: {', '.join(told)}"


def _one_spread(tables: int) -> Iterator[str]:
    yield "the classic analysis, one SD for all arms: tables with an arm separated from the baseline, %"
    draws: dict[str, Draw] = {name: scenarios.USUAL[name] for name in ("normal, SD 5 %", "baseline 10 times noisier")}
    draws["one arm 10 times noisier, 60 % of it void"] = scenarios.draw_unsteady(10, 0.6)
    for name, draw in draws.items():
        told = [
            f"{k} arms, {n}: {percent(rule.judge_one_spread(take(draw, Shape(tables, n, k))).any(axis=1)):.1f}"
            for k in ARMS
            for n in BLOCKS
        ]
        yield f"  {name}: {', '.join(told)}"


def measure_width(block_sd: float, shape: Shape) -> tuple[float, float, float]:
    """Return the median half-widths: ours, the two-way model's, Welch's without blocks; of logs in percent."""
    taken = take(scenarios.blocks(block_sd, NOISE), shape)
    ours = rule.judge(taken).half
    return tuple(
        100 * float(np.median(half)) for half in (ours, rule.judge_two_way(taken), rule.judge_unblocked(taken))
    )


def _widths(tables: int) -> Iterator[str]:
    yield "median half-width of a change, %, noise 2 %: ours / arms and blocks with one SD, Tukey / no blocks, Welch"
    for k in ARMS:
        for n in BLOCKS:
            told = [
                "{:.2f} / {:.2f} / {:.2f}".format(*measure_width(times * NOISE, Shape(tables, n, k)))
                for times in (0, 1, 5)
            ]
            yield f"  {k} arms, {n} blocks: block SD / noise 0: {told[0]}; 1: {told[1]}; 5: {told[2]}"


def power(block_sd: float, shape: Shape) -> float:
    """Chance that an arm gets its - that takes 5 % longer, at 5 % noise."""
    taken = take(scenarios.blocks(block_sd, 0.05), shape)
    taken.values[:, :, 1] *= np.exp(0.05)
    return percent(rule.judge(taken).separated[:, 0]) / 100


def _powers(tables: int) -> Iterator[str]:
    yield "chance of - for +5 % at 5 % noise: one SD for all and no block effect in theory / ours with block SD 0, 10 %"
    for k in ARMS:
        for n in BLOCKS:
            shape = Shape(tables, n, k)
            theory = rule.pooled_power(k, n, 1.0)
            yield f"  {k} arms, {n} blocks: {theory:.2f} / {power(0, shape):.2f}, {power(0.1, shape):.2f}"


def count_same(tables: Tables, rare: float = 0.05) -> float:
    """Return percent of tables in which the first arm is called the same as the baseline."""
    return percent(rule.judge(tables, rare=rare).same[:, 0])


def draw_stalling(share: float, times: float, shape: Shape) -> Tables:
    """Return the first arm stalls in a ``share`` of its runs; noise 0.5 %."""
    taken = take(scenarios.normal(0.005), shape)
    stalled = np.random.default_rng([7, *shape.size]).random(shape.size[:2]) < share
    taken.values[:, :, 1] *= np.where(stalled, times, 1.0)
    return taken


def _list_same(tables: int) -> Iterator[str]:
    yield "called the same although the truth is the margin, 2 %, noise 0.5 / 2 %, %"
    for k in ARMS:
        told = []
        for n in (10, 20, 45, 100):
            cells = []
            for noise in (0.005, 0.02):
                taken = take(scenarios.normal(noise), Shape(tables, n, k))
                taken.values[:, :, 1] *= 1.02
                cells.append(f"{count_same(taken, rare=0.21):.1f}")
            told.append(f"{n} blocks {' / '.join(cells)}")
        yield f"  {k} arms (--rare 21%): {', '.join(told)}"
    yield "called the same although stalls cost 3 % in the mean, usual --rare 5%, %"
    for share, times in STALLS:
        told = [
            f"{n} blocks {count_same(draw_stalling(share, times, Shape(tables, n, 2))):.1f}"
            for n in (5, 10, 20, 45, 90)
        ]
        yield f"  {100 * share:.0f} % of runs times {times}: {', '.join(told)}"
    yield "called the same with reason (no difference, 2 arms), %"
    for noise in (0.01, 0.02):
        told = [
            f"{n} blocks {count_same(take(scenarios.normal(noise), Shape(tables, n, 2))):.0f}"
            for n in (10, 45, 60, 100)
        ]
        yield f"  noise {100 * noise:.0f} %: {', '.join(told)}"


THIRD = {"none": None, "like the others": (1, 1), "SD 10 %": (10, 1), "10x slower": (1, 10)}
"""SD of the third arm as a multiple of the others', and its mean."""


def simulate_third_arm(third: tuple[float, float] | None, blocks: int, tables: int) -> float:
    """Chance of the right verdict on an arm that takes 3 % longer, at 1 % noise, beside a third arm."""
    factor, size = third or (1, 1)
    taken = take(scenarios.spread(1, 1, factor, noise=0.01), Shape(tables, blocks, 3 if third else 2))
    taken.values[:, :, 1] *= 1.03
    taken.values[:, :, 2:] *= size
    return percent(rule.judge(taken).separated[:, 0]) / 100


def _third(tables: int) -> Iterator[str]:
    yield "chance of the right verdict on +3 % at 1 % noise beside a third arm"
    for n in BLOCKS:
        chances = [f"{name} {simulate_third_arm(third, n, tables):.2f}" for name, third in THIRD.items()]
        yield f"  {n} blocks: {', '.join(chances)}"


def main() -> None:
    """All tables."""
    warnings.simplefilter("ignore", RuntimeWarning)
    tables = int(os.environ.get("VERDICT_TABLES", "20000"))
    print(f"{tables} tables a cell; standard error of 5 %: {100 * np.sqrt(0.05 * 0.95 / tables):.2f}")
    for part in (
        _false("scenarios", scenarios.USUAL, tables),
        _false("where the rule does not hold", scenarios.BEYOND, tables),
        _campaigns(tables), _unequal(tables), _one_spread(tables), _widths(tables), _powers(tables),
        _list_same(tables), _third(tables),
    ):  # fmt: skip
        print()
        for line in part:
            print(line, flush=True)


if __name__ == "__main__":
    main()
