"""A campaign whose first block is void throughout for one reason stops and says so."""

from pathlib import Path
from typing import Any

import journals
import made_campaigns
import pytest
from answering import TAKEN, Answer, Answering

from runoff.campaign import directory
from runoff.campaign.loop.execution import Ending, Execution
from runoff.campaign.loop.observer import SilentObserver
from runoff.campaign.loop.run import run
from runoff.engines.outcome import VoidSample


class Watching(SilentObserver):
    """Keeps why it was given up."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def gave_up(self, reason: str) -> None:
        self.reasons.append(reason)


def carried_out(
    place: Path, answer: Answer, *, keep_going: bool = False, **settings: Any
) -> tuple[Ending, int, list[str]]:
    """How it ended, after how many samples, and what was said."""
    if not place.exists():
        values = {"on": "host", "clock": None, "arms": ("default", "again"), "names": {"again": "default"}, "blocks": 6}
        made_campaigns.made(place, lambda _: None, stop_after=0, **{**values, **settings})
        journals.forge_fact(place, "parts", None)
    plan, journal = directory.reopen(place)
    engine, watching = Answering(answer), Watching()
    with journal:
        ending = run(plan, journal, engine, watching, Execution(keep_going=keep_going))
    return ending, engine.taken, watching.reasons


def test_the_same_reason_with_other_numbers_ends_it_behind_the_first_block(tmp_path: Path) -> None:
    ending, taken, reasons = carried_out(tmp_path / "c", lambda n: VoidSample(f"sh[{40 + n}] was not found"))
    assert (ending, taken, reasons) == (Ending.HOPELESS, 2, ["sh[40] was not found"])
    again = carried_out(tmp_path / "c", lambda _: TAKEN)
    assert again == (Ending.HOPELESS, 0, ["sh[40] was not found"])
    assert carried_out(tmp_path / "c", lambda _: TAKEN, keep_going=True) == (Ending.COMPLETE, 10, [])


@pytest.mark.parametrize(
    "answer",
    [
        lambda n: TAKEN if n == 1 else VoidSample("lost"),
        lambda n: VoidSample("lost" if n else "not found"),
        lambda n: VoidSample("lost") if n > 1 else TAKEN,
    ],
    ids=["one is valid", "two reasons", "later blocks"],
)
def test_anything_else_goes_on(tmp_path: Path, answer: Answer) -> None:
    assert carried_out(tmp_path / "c", answer) == (Ending.COMPLETE, 12, [])


def test_one_void_sample_is_not_a_pattern(tmp_path: Path) -> None:
    """A single arm is judged after two blocks: one sample may have met an accident."""
    alone = {"arms": ("default",), "names": {}}
    assert carried_out(tmp_path / "a", lambda n: TAKEN if n else VoidSample("lost"), **alone)[:2] == (
        Ending.COMPLETE,
        6,
    )
    assert carried_out(tmp_path / "b", lambda _: VoidSample("lost"), **alone)[:2] == (Ending.HOPELESS, 2)
    assert carried_out(tmp_path / "c", lambda _: VoidSample("lost"), **{**alone, "blocks": 1})[:2] == (
        Ending.COMPLETE,
        1,
    )
