"""What to do next with a campaign: the commands that may decide what is open."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from runoff.decide.next_blocks import FARTHEST, NextBlocks
from runoff.statistics.values import DECIDED
from runoff.text import format_duration

MOST = 3
"""Arms that are named."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What could be done."""

    text: str
    command: str = ""
    """Empty where no command does it."""


def list_next_steps(found: Sequence[NextBlocks], directory: Path) -> Iterator[NextStep]:
    """Yield a step for each of the first arms."""
    for each in found[:MOST]:
        tables = "" if each.tables == 1 else f" in {each.tables} tables"
        if each.blocks is None:
            text = f"over {FARTHEST} blocks; a wider --margin or less noise takes fewer"
            yield NextStep(f"to decide {each.arm}{tables}: {text}")
        else:
            command = f"runoff resume {quote(str(directory))} --blocks {each.blocks}"
            yield NextStep(f"to decide {each.arm}{tables}{_describe(each)}:", command)
    if len(found) > MOST:
        yield NextStep(f"{len(found) - MOST} more arms are not decided")


def _describe(found: NextBlocks) -> str:
    """Return what the chance is and how long it takes, in brackets; empty where neither is known."""
    each = " in each" if found.tables > 1 else ""
    chance = f"{100 * DECIDED:g} % chance{each}" if found.is_measured else ""
    time = "" if found.seconds is None else f"{format_duration(found.seconds)} more"
    text = ", ".join(part for part in (chance, time) if part)
    return f" ({text})" if text else ""
