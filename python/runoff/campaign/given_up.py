"""Begun blocks that the user gives up, because their machine of a cluster never comes back."""

from collections.abc import Iterator, Sequence

from runoff.campaign.journal.journal import Journal
from runoff.campaign.journal.records import Part
from runoff.campaign.loop.voids import add_void
from runoff.campaign.origin.parts import find_first_parts
from runoff.errors import UsageError
from runoff.plan.order import Cell
from runoff.plan.plan import Plan


def give_up(plan: Plan, journal: Journal, numbers: Sequence[int]) -> Iterator[str]:
    """Void the samples that these blocks still lack; what they have stays. Yields a sentence for each block.

    See ``require_waiting``.
    """
    parts: list[Part] = journal.fact("parts", [])
    begun = find_first_parts(journal) if numbers else {}
    for number in dict.fromkeys(numbers):
        part = begun[number - 1]
        reason = f"block {number} was given up: its machine, {parts[part].runoff.hostname}, is gone"
        lacking = _list_lacking(plan, journal, number - 1)
        for cell in lacking:
            add_void(plan, journal, cell, reason, part)
        yield f"{reason}; samples that are void because of it: {len(lacking)}"


def require_waiting(plan: Plan, journal: Journal, numbers: Sequence[int]) -> None:
    """Raise UsageError for a block, by its number from one, that waits for no machine of a cluster."""
    parts: list[Part] = journal.fact("parts", [])
    begun = find_first_parts(journal) if numbers else {}
    for number in numbers:
        taker = parts[begun[number - 1]] if number - 1 in begun else None
        if reason := _explain_refusal(plan, journal, number, taker):
            raise UsageError(f"--give-up {number}: {reason}")
        if reason := _explain_any_machine(plan, taker):
            raise UsageError(f"--give-up {number}: {reason}, so leave it out", hint=("resume", journal.directory))


def _list_lacking(plan: Plan, journal: Journal, block: int) -> list[Cell]:
    done = journal.done()
    return [cell for cell in plan.cells if cell.block == block and cell.id not in done]


def _explain_refusal(plan: Plan, journal: Journal, number: int, taker: Part | None) -> str:
    """Return why there is no such block to give up; empty if there is."""
    most = max(plan.load_blocks)
    if journal.fact("ended") is not None:
        return f"the campaign in {journal.directory} has ended, and waits for no machine: leave the option out"
    if number > most:
        return f"the last block is {most}: give the number of a block that was begun"
    if not _list_lacking(plan, journal, number - 1):
        return "the block is whole: leave the option out"
    return ""


def _explain_any_machine(plan: Plan, taker: Part | None) -> str:
    """Return why the block waits for no machine that may be gone; empty if it does."""
    if plan.clock == "virtual":
        return "under the virtual clock any machine takes the rest of a block"
    if taker is None:
        return "the block was not begun, and any machine takes it"
    if not taker.runoff.hostname:
        return "the block was not begun on a cluster, whose machines may be gone"
    return ""
