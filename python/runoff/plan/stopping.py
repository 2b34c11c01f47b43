"""The end of a campaign: after a number of blocks, or when all is decided, with a limit."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from runoff.errors import UsageError
from runoff.results import FIRST_LOOK
from runoff.text import format_percent, suggest

USUAL_MOST = 500
"""Default limit of blocks for a campaign that goes on until all is decided."""


class StoppingKeys(Protocol):
    """The keys of a plan that say when it ends."""

    @property
    def arms(self) -> Sequence[str]: ...
    @property
    def blocks(self) -> int: ...
    @property
    def until(self) -> float | None: ...
    @property
    def most_blocks(self) -> int | None: ...
    @property
    def margin(self) -> float | None: ...
    @property
    def load_blocks(self) -> Mapping[str, int]: ...
    @property
    def sensitivity(self) -> str | None: ...


def find_most_blocks(asked: StoppingKeys) -> int:
    """Return the most blocks that the campaign may have."""
    if asked.until is None:
        return asked.blocks
    return asked.most_blocks if asked.most_blocks is not None else max(USUAL_MOST, asked.blocks)


def find_first_look(asked: StoppingKeys) -> int:
    """Return the number of blocks before the first decision, in a campaign that goes on until all is decided."""
    return max(asked.blocks, FIRST_LOOK)


def check(asked: StoppingKeys, load_labels: Collection[str]) -> None:
    """Raise UsageError for keys that contradict each other."""
    for label, count in asked.load_blocks.items():
        if label not in load_labels:
            raise UsageError(f"load_blocks: no load {label!r}{suggest(label, load_labels)}")
        if count > asked.blocks:
            raise UsageError(f"load_blocks: {label} is to be in {count} blocks, but there are {asked.blocks}")
    if asked.until is None:
        if asked.most_blocks is not None:
            raise UsageError("--most-blocks ends what goes on until all is decided: add --until, e.g. --until 1%")
        return
    _check_until(asked, asked.until)


def _check_until(asked: StoppingKeys, until: float) -> None:
    if len(asked.arms) < 2:
        raise UsageError("--until decides between arms: name a second one, or leave it out")
    if asked.margin is not None and asked.margin != until:
        raise UsageError(
            f"--until {format_percent(until)} is the margin too: leave --margin {format_percent(asked.margin)} out"
        )
    if asked.load_blocks:
        raise UsageError("--until decides beside all loads alike: leave --load-blocks out")
    if asked.sensitivity is not None:
        raise UsageError("--until would end each repeat of --sensitivity elsewhere: choose one of the two")
    blocks, first = find_most_blocks(asked), find_first_look(asked)
    if blocks < first:
        raise UsageError(
            f"--most-blocks {blocks} ends the campaign before its first look, after block {first}: allow more"
        )
