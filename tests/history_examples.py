"""Histories of made-up campaigns."""

import report_examples as examples

from runoff.history.build import Ordered, make_history
from runoff.history.subjects import Wanted
from runoff.history.values import History, Place
from runoff.results import Results

BOTH = ("default", "bfs")


def take(seed: int, bfs: float = 1.1, default: float = 1.0, rate: float | None = None, **more: object) -> Results:
    """A campaign of two arms, five blocks."""
    cell = {"default": {"elapsed_s": (default, 0.01)}, "bfs": {"elapsed_s": (bfs, 0.01)}}
    metrics = (examples.WALL,)
    if rate is not None:
        cell = {arm: values | {"rate": (rate, 1.0)} for arm, values in cell.items()}
        metrics = (examples.WALL, examples.RATE)
    return examples.campaign({"build": cell}, {"build": metrics}, blocks=5, seed=seed, **more)


def draw(campaigns: dict[str, Results], wanted: Wanted | None = None) -> History:
    places = {name: Place(name) for name in campaigns}
    return make_history(Ordered(campaigns, places, "given"), wanted or Wanted())


def nights(count: int, first_slow: int, slow: float = 1.2) -> dict[str, Results]:
    return {f"night{n:02}": take(n, slow if n >= first_slow else 1.1) for n in range(count)}
