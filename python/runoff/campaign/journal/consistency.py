"""Do the samples of a journal belong to its plan, and to each other?"""

from collections.abc import Mapping, Sequence

from runoff.campaign.journal.records import Outline, Part, Row
from runoff.plan.order import Cell
from runoff.plan.settings import Settings


def check(
    settings: Settings, outline: Outline, begun: Sequence[Part], cells: Mapping[str, Cell], rows: Sequence[Row]
) -> None:
    """Raise ValueError naming the first place where they do not fit; ``cells`` are the plan's by id."""
    _check_takers(settings, outline, begun)
    for row in rows:
        _check_place(row, cells, outline)
        if row.part >= max(len(begun), 1):
            raise ValueError(f"sample {row.cell}: part: nothing is known of part {row.part}")
    _check_objects(rows)


def _check_takers(settings: Settings, outline: Outline, begun: Sequence[Part]) -> None:
    """Raise ValueError if samples come from several engines or clocks."""
    for number, part in enumerate(begun):
        if (part.runoff.engine, part.runoff.clock) != (settings.on, outline.clock):
            raise ValueError(
                f"fact parts: {number}: its samples are of {part.runoff.engine}, {part.runoff.clock} clock, the plan's "
                f"of {settings.on}, {outline.clock} clock"
            )


def _check_place(row: Row, cells: Mapping[str, Cell], outline: Outline) -> None:
    cell = cells.get(row.cell)
    if cell is None:
        raise ValueError(f"sample {row.cell}: the plan has none of that name")
    planned: dict[str, int | str] = {
        "block": cell.block,
        "position": cell.position,
        "arm": outline.arms[cell.arm],
        "workload": outline.workloads[cell.work],
        "load": outline.loads[cell.load],
    }
    for column, value in planned.items():
        if getattr(row, column) != value:
            raise ValueError(f"sample {row.cell}: {column}: the plan has {value!r}, not {getattr(row, column)!r}")


def _check_objects(rows: Sequence[Row]) -> None:
    """Raise ValueError if the samples of one arm were taken with different objects."""
    seen: dict[str, Row] = {}
    for row in rows:
        first = seen.setdefault(row.arm, row) if row.valid else row
        if first.object != row.object:
            was, is_now = (each.object[:12] or "none" for each in (first, row))
            raise ValueError(
                f"the arm {row.arm!r} had the object {was} in sample {first.cell} and {is_now} in {row.cell}"
            )
