"""Which samples a campaign has, in which order: of a plan, and of a campaign that is read."""

from collections.abc import Mapping, Sequence

from runoff.plan import stopping
from runoff.plan.order import Cell, draw
from runoff.plan.settings import Settings


def draw_cells(
    settings: Settings,
    arms: Sequence[str],
    works: int,
    loads: Sequence[str],
    *,
    twins: Mapping[str, int],
    kernels: Mapping[str, str],
) -> Sequence[Cell]:
    """Return all cells in run order, for labels of ``arms`` and ``loads``.

    ``twins`` has by label how many equal arms come before one that repeats them, ``kernels`` by label what has to be
    booted for each arm. Raises ValueError where the seed was not drawn yet.
    """
    if settings.seed is None:
        raise ValueError("fact settings: seed: there is none")
    return draw(
        len(arms),
        works,
        count_load_blocks(settings, loads),
        settings.seed,
        warmup=settings.warmup,
        twins={arms.index(label): before for label, before in twins.items()},
        kernels=[kernels[label] for label in arms] if kernels else [],
    )


def count_load_blocks(settings: Settings, labels: Sequence[str]) -> tuple[int, ...]:
    """Return for each load label the number of blocks that the load takes part in."""
    return tuple(settings.load_blocks.get(label, stopping.find_most_blocks(settings)) for label in labels)
