"""The plan and the report of a campaign that ends when all is decided."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_campaigns import made, noisy

from runoff.campaign.directory import read_results
from runoff.campaign.journal.journal import Journal
from runoff.cli.main import cli
from runoff.cli.report import command as report
from runoff.decide.stopping import DECIDED
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.settings import parse_settings

UNTIL = {"until": 0.01, "most_blocks": 60, "rare": 0.3}


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"until": 0.0}, "is not more than 0"),
        ({"until": 1.0}, "is not less than 1"),
        ({"most_blocks": 50}, "add --until"),
        ({"until": 0.01, "margin": 0.02}, "leave --margin 2% out"),
        ({"until": 0.01, "most_blocks": 9}, "before its first look, after block 10"),
        ({"until": 0.01, "most_blocks": 30, "blocks": 31}, "before its first look, after block 31"),
        ({"until": 0.01, "arms": ("default",)}, "name a second one"),
        ({"until": 0.01, "loads": ("none", "io"), "load_blocks": {"io": 2}}, "leave --load-blocks out"),
        ({"until": 0.01, "clock": "virtual", "sensitivity": "quantum"}, "choose one of the two"),
    ],
)
def test_plans_that_contradict_themselves_are_refused(settings, text):
    values = {"arms": ("default", "bfs"), "workloads": ("hackbench",), **settings}
    with pytest.raises(UsageError) as caught:
        make_plan(parse_settings(values, "test"))
    assert text in str(caught.value)


def test_the_command_line_makes_the_plan():
    arguments = [
        "compare",
        "default",
        "bfs",
        "--work",
        "hackbench",
        "--until",
        "1%",
        "--most-blocks",
        "80",
        "--plan-only",
    ]
    plan = CliRunner().invoke(cli, arguments).output
    assert "until = 0.01\n" in plan
    assert "most_blocks = 80\n" in plan
    assert make_plan(parse_settings({"arms": ["a"], "workloads": ["hackbench"]}, "")).load_blocks == (10,)


def document(place: Path) -> dict[str, object]:
    answer = CliRunner().invoke(report, [str(place), "--json"], standalone_mode=False)
    assert answer.exception is None
    found: dict[str, object] = json.loads(answer.output)
    return found


def test_the_report_says_how_it_ended_and_by_which_rule(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.05, sd=0.02), stop_after=24, **UNTIL)
    with Journal.open(place, write=True) as journal:
        journal.set_fact("ended", {"blocks": 12, "why": DECIDED, "decided": True})
    results = read_results(place)
    assert (results.planned, results.blocks, results.margin) == (24, 12, 0.01)
    told = document(place)
    assert told["ended"] == {"blocks": 12, "why": DECIDED, "decided": True}
    assert any("this ended after 12: every headline comparison is decided" in str(w) for w in told["warnings"])  # type: ignore[attr-defined]
    text = " ".join(CliRunner().invoke(report, [str(place), "-v"], standalone_mode=False).output.split())
    assert "hold after all blocks at once, however often somebody looked" in text
    assert "--until 1% --most-blocks 60 --rare 30%" in text.replace(" \\", "")


def test_a_campaign_that_goes_on_is_not_called_provisional_but_open(tmp_path):
    told = document(made(tmp_path / "c", noisy(0.0, 0.0, sd=0.02), stop_after=22, **UNTIL))
    assert any("not known yet whether more are needed" in str(warning) for warning in told["warnings"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(("decided", "code"), [(True, 0), (False, 2)])
def test_what_is_not_decided_at_its_end_is_exit_code_two(tmp_path, decided, code):
    place = made(tmp_path / "c", noisy(0.0, 0.05), stop_after=24, **UNTIL)
    with Journal.open(place, write=True) as journal:
        journal.set_fact("ended", {"blocks": 12, "why": "x", "decided": decided})
    assert CliRunner().invoke(report, [str(place)], standalone_mode=False).return_value == code


@pytest.mark.parametrize("value", ['{"blocks": 12}', "7", '{"blocks": "x", "why": "", "decided": true}', '"no"'])
def test_an_edited_end_is_a_sentence(tmp_path, value):
    place = made(tmp_path / "c", noisy(0.0, 0.05), stop_after=24, **UNTIL)
    with Journal.open(place, write=True) as journal:
        journal.set_fact("ended", json.loads(value))
    with pytest.raises(UsageError, match="ended"):
        read_results(place)
