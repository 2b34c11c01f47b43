"""How often verdicts over several machines are wrong, and what they see: by simulation.

No machine is measured. Machines differ in speed (1 to 20 times), in noise (1 to 4 %) and in what a block does to them.
The change of the second arm is none, or differs between machines with a mean of zero: by the same steps in every
campaign, or drawn at random, from a normal or an exponential distribution. Every cell has a seed of its own. The
tables are those of docs/statistics.md.
MACHINE_CAMPAIGNS=200 is quicker.
"""

import os
import zlib
from collections import Counter
from collections.abc import Callable

import numpy as np
from scipy import special

from runoff.statistics import Analysis, Observation, Question, Verdict, analyse_machines

MACHINES = (2, 3, 7)
BLOCKS = (1, 3, 10)
NOISE = (0.01, 0.04)
BLOCK_SD = 0.05
SPREAD = 0.05
"""SD of the changes between machines, as logarithms."""
NO_MARGIN = 1e-9
"""So small that no arm is called the same."""

Effects = Callable[[np.random.Generator, int], np.ndarray]

EFFECTS: dict[str, Effects] = {
    "no change anywhere": lambda _rng, machines: np.zeros(machines),
    "opposite changes, mean 0": lambda _rng, machines: np.linspace(-SPREAD, SPREAD, machines),
    "changes drawn, mean 0": lambda rng, machines: rng.normal(0, SPREAD, machines),
    "skewed changes, mean 0": lambda rng, machines: rng.exponential(SPREAD, machines) - SPREAD,
}


def draw_campaign(
    rng: np.random.Generator,
    machines: int,
    blocks: int,
    effects: np.ndarray,
    noise: np.ndarray,
    block_sd: float = BLOCK_SD,
) -> dict[str, dict[str, list[Observation]]]:
    """Return observations by machine and arm; without a ``block_sd`` they are runs in no blocks."""
    speeds = np.geomspace(1, 20, machines)
    campaign = {}
    for number in range(machines):
        level = np.log(speeds[number]) + rng.normal(0, block_sd, blocks)
        logs = {"a": level + rng.normal(0, noise[number], blocks)}
        logs["b"] = level + effects[number] + rng.normal(0, noise[number], blocks)
        first = rng.integers(0, 2, blocks)
        campaign[f"m{number}"] = {
            arm: [
                Observation(float(np.exp(value)), 2 * block + int(first[block] == place), block)
                for block, value in enumerate(logs[arm])
            ]
            for place, arm in enumerate(logs)
        }
    return campaign


def judge(rng: np.random.Generator, machines: int, blocks: int, effects: np.ndarray, noise: np.ndarray) -> Analysis:
    """Return the analysis of one campaign."""
    return analyse_machines(
        draw_campaign(rng, machines, blocks, effects, noise), Question("a", "lower", margin=NO_MARGIN)
    )


def count_verdicts(name: str, machines: int, blocks: int, campaigns: int) -> Counter[Verdict | None]:
    """Return how many campaigns have each verdict over all machines."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), machines, blocks])
    noise = np.linspace(*NOISE, machines)
    return Counter(
        judge(rng, machines, blocks, EFFECTS[name](rng, machines), noise).comparisons["b"].verdict
        for _ in range(campaigns)
    )


def find_power(machines: int, blocks: int, campaigns: int) -> tuple[float, float, float]:
    """Return percent of campaigns in which machines are found to differ: none do, they do, and theory of the latter.

    Noise is equal on all machines, for which theory has an exact answer: F with random effects.
    """
    rng = np.random.default_rng([1, machines, blocks])
    sd = 0.02
    noise = np.full(machines, sd)
    found = []
    for spread in (0.0, sd):
        values = [
            judge(rng, machines, blocks, rng.normal(0, spread, machines), noise).comparisons["b"].between
            for _ in range(campaigns)
        ]
        found.append(100 * sum(v is not None and v.p is not None and v.p <= 0.05 for v in values) / campaigns)
    df = machines - 1, machines * (blocks - 1)
    # Differences have twice the variance of a run.
    ratio = 1 + blocks * spread**2 / (2 * sd**2)
    theory = 100 * float(special.fdtrc(*df, special.fdtri(*df, 0.95) / ratio))
    return found[0], found[1], theory


def main(campaigns: int) -> None:
    heads = [f"{machines} x {blocks}" for machines in MACHINES for blocks in BLOCKS]
    print(f"+ or - over all machines, % of {campaigns} campaigns; in brackets: x, better on some and worse on others")
    print(f"{'machines x blocks on each':28}" + "".join(head.rjust(14) for head in heads))
    for name in EFFECTS:
        cells = []
        for machines in MACHINES:
            for blocks in BLOCKS:
                seen = count_verdicts(name, machines, blocks, campaigns)
                wrong = 100 * (seen[Verdict.BETTER] + seen[Verdict.WORSE]) / campaigns
                cells.append(f"{wrong:.1f} ({100 * seen[Verdict.MIXED] / campaigns:.0f})".rjust(14))
        print(f"{name:28}" + "".join(cells), flush=True)
    print("\nmachines found to differ (p <= .05), %: none do / SD between machines that of a run / theory of that")
    for machines in MACHINES:
        for blocks in BLOCKS[1:]:
            print(f"{machines} x {blocks}: " + " / ".join(f"{v:.1f}" for v in find_power(machines, blocks, campaigns)))


if __name__ == "__main__":
    main(int(os.environ.get("MACHINE_CAMPAIGNS", "2000")))
