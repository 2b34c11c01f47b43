"""What is said on standard error while a campaign runs, where nobody looks at a terminal."""

import pytest

from runoff.cli.progress import Progress
from runoff.plan.make import make_plan
from runoff.plan.settings import parse_settings


def test_the_metric_is_named_once_and_only_if_a_sample_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"arms": ("default", "bfs"), "workloads": ("hackbench",), "clock": "real", "blocks": 1}
    plan = make_plan(parse_settings(settings, "test"))
    progress = Progress()
    progress.began(plan, plan.planned)
    progress.ended()
    assert capsys.readouterr().err == ""
    progress.began(plan, 0)
    for cell in plan.cells:
        progress.started(cell)
    progress.ended()
    assert capsys.readouterr().err == "a line of hackbench ends with: time to pass all messages\n"
