"""The live line: whole parts, in their order, and the time that is left as it is now."""

import io

import pytest
from rich.console import Console
from rich.status import Status

from runoff.campaign.manifest import list_metrics
from runoff.cli.live_line import LiveLine, fit
from runoff.cli.progress import Progress
from runoff.engines.outcome import ValidSample
from runoff.plan.make import make_plan
from runoff.plan.settings import parse_settings

PARTS = ["12/60", "ETA 9 min 56 s", "[##--------]", "block 3/10", "bfs:rr_interval_ms=6", "", "default 1.234 s"]


def test_parts_are_whole_or_missing() -> None:
    assert fit(PARTS, 200) == ("12/60  ETA 9 min 56 s  [##--------]  block 3/10  bfs:rr_interval_ms=6  default 1.234 s")
    assert fit(PARTS, 36) == "12/60  ETA 9 min 56 s  [##--------]"
    assert fit(PARTS, 34) == "12/60  ETA 9 min 56 s  block 3/10"
    assert fit(["a long sentence alone", "x"], 10) == "a long sen"
    assert fit(["", ""], 10) == ""
    assert "\x1b" not in fit(["\x1b[31mred"], 40)


@pytest.mark.parametrize("width", [20, 36, 56, 76, 116])
def test_the_number_done_and_the_time_left_are_on_every_terminal(width: int) -> None:
    settings = {"arms": ("default", "bfs:rr_interval_ms=6"), "workloads": ("hackbench:groups=10,loops=25",)}
    plan = make_plan(parse_settings({**settings, "clock": "real", "blocks": 10}, "test"))
    progress = Progress()
    progress.began(plan, 0)
    cell = next(each for each in plan.cells if (each.block, each.arm) == (2, 1))
    for value in (1.0, 2.0, 3.0):
        progress.started(cell)
        progress.finished(cell, ValidSample({list_metrics(plan, plan.works[0])[0].name: value}, {}))
    progress.ended()
    line = fit(progress._list_parts(cell, "run"), width)
    assert len(line) <= width
    assert line.startswith("3/20  ETA ")
    if width > 56:
        assert "block 3/10" in line


def test_a_line_is_made_anew_when_it_is_shown() -> None:
    left = {"s": 9}
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=40)
    status = Status("", console=console)
    status.update(LiveLine(lambda: [f"ETA {left['s']} s"], lambda: 30))
    for seconds in (9, 8, 7):
        left["s"] = seconds
        console.print(status.renderable)
        assert f"ETA {seconds} s" in out.getvalue()
