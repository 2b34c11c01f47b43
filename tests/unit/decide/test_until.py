"""Campaigns that go on until all is decided, or get more blocks after a look: their rule, their ends, their reports."""

import json
import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_campaigns import add, made, noisy

from runoff.analysis import build
from runoff.campaign.directory import read_results, reopen
from runoff.campaign.extend import extend
from runoff.campaign.journal import Journal
from runoff.campaign.waiting import WaitingCells, choose_edges
from runoff.cli.main import cli
from runoff.cli.report import command as report
from runoff.decide.looks import Look, Rule
from runoff.decide.stopping import DECIDED, UntilRule, look
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.order import Cell, draw
from runoff.plan.settings import parse_settings
from runoff.results import Results
from runoff.statistics import Verdict

UNTIL = {"until": 0.01, "most_blocks": 60, "rare": 0.3}


def first_end(results: Results, most: int) -> Look:
    return next(found for blocks in range(10, most + 1) if (found := look(results, blocks, most)).ends is not None)


@pytest.mark.parametrize(
    ("change", "sd", "verdict"),
    [(0.05, 0.02, Verdict.WORSE), (-0.05, 0.02, Verdict.BETTER), (0.0, 0.006, Verdict.SAME)],
)
def test_it_ends_when_all_is_decided_and_not_before(tmp_path, change, sd, verdict):
    results = read_results(made(tmp_path / "c", noisy(0.0, change, sd=sd), **UNTIL))
    end = first_end(results, 60)
    assert (end.ends, end.decided, end.undecided) == (DECIDED, True, ())
    assert 10 <= end.blocks < 60
    samples = tuple(sample for sample in results.samples if sample.block < end.blocks)
    (table,) = build.build_report(replace(results, samples=samples)).headline
    assert table.analysis.question.sequential
    assert table.analysis.comparisons["bfs"].verdict is verdict


def test_what_is_undecided_is_named_and_its_end_foretold(tmp_path):
    found = look(read_results(made(tmp_path / "c", noisy(0.0, 0.012, sd=0.02), **UNTIL)), 10, 60)
    assert found.undecided == ("bfs on hackbench, time to pass all messages",)
    median, low, high = found.ahead
    assert low is not None
    assert low >= 1
    assert low <= (median or 51) <= (high or 51)


def test_nothing_is_foretold_beyond_the_cap(tmp_path):
    results = read_results(made(tmp_path / "c", noisy(0.0, 0.022, sd=0.02), **UNTIL))
    median = look(results, 10, 60).ahead[0]
    assert median is not None
    assert 4 <= median <= 10
    assert look(results, 10, 10 + median // 2).ahead[0] is None


def test_the_cap_ends_it_undecided(tmp_path):
    results = read_results(made(tmp_path / "c", noisy(0.0, 0.0, sd=0.1), **UNTIL))
    assert look(results, 59, 60).ends is None
    end = look(results, 60, 60)
    assert end.ends is not None
    assert "more than 60 blocks" in end.ends
    assert not end.decided


def test_one_table_that_is_not_decided_goes_on_for_all(tmp_path):
    def values(cell: Cell) -> dict[str, float]:
        quiet, loud = noisy(0.0, 0.1, sd=0.001)(cell), noisy(0.0, 0.01, sd=0.05, seed=2)(cell)
        return {"wakeup_p99_us": quiet["time_s"], "request_p99_us": loud["time_s"]}

    found = look(read_results(made(tmp_path / "c", values, workloads=("schbench",), **UNTIL)), 20, 60)
    assert found.ends is None
    assert found.undecided == ("bfs on schbench, request latency, 99th percentile",)


def test_a_void_arm_ends_it_with_its_name(tmp_path):
    def values(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.arm == 2 else noisy(0.0, 0.1, 0.0)(cell)

    found = look(read_results(made(tmp_path / "c", values, arms=("default", "bfs", "o1"), **UNTIL)), 10, 60)
    assert found.ends is not None
    assert "o1 on hackbench, time to pass all messages (no valid sample)" in found.ends
    assert not found.decided


def test_copies_of_one_run_end_it(tmp_path):
    place = made(tmp_path / "c", lambda cell: {"time_s": 10.0 + cell.arm}, **{**UNTIL, "clock": "virtual"})
    found = look(read_results(place), 10, 60)
    assert found.ends is not None
    assert "every block repeats the same run" in found.ends


def test_values_too_coarse_to_be_the_same_end_it(tmp_path):
    """In steps of 10 % two equal arms never show that they differ by less than 1 %."""

    def values(cell: Cell) -> dict[str, float]:
        return {"time_s": 0.010 + 0.001 * (cell.block % 20 == 7)}

    found = look(read_results(made(tmp_path / "c", values, **UNTIL)), 10, 60)
    assert found.ends is not None
    assert "time to pass all messages (its values are too coarse to be called the same)" in found.ends
    assert not found.decided


def test_differences_without_percent_can_be_apart_only(tmp_path):
    def values(cell: Cell) -> dict[str, float]:
        return {"time_s": random.Random(cell.id).gauss(20.0 * cell.arm, 1.0)}

    found = first_end(read_results(made(tmp_path / "c", values, **UNTIL)), 60)
    assert (found.blocks, found.ends) == (10, DECIDED)


def test_it_keeps_its_error_over_whole_campaigns(tmp_path):
    """Two equal arms with a margin too narrow for any to be the same: what is decided is a false difference."""
    campaigns, most, wrong = 120, 20, 0
    settings = {"until": 0.001, "most_blocks": most}
    for seed in range(campaigns):
        results = read_results(made(tmp_path / f"{seed}", noisy(0.0, 0.0, sd=0.02, seed=seed), **settings))
        wrong += first_end(results, most).decided
    assert wrong <= 0.05 * campaigns + 3 * math.sqrt(0.05 * 0.95 * campaigns)


@pytest.mark.parametrize(("cells", "jobs"), [(2, 1), (2, 4)])
def test_looks_are_between_whole_blocks_when_nothing_runs(cells, jobs):
    order = draw(cells, 1, [30], seed=1)
    taken, looked = [], []

    def rule(blocks: int) -> Look:
        looked.append((blocks, len(taken)))
        return Look(blocks, (), (0, 0, 0), "done" if blocks >= 16 else None)

    waiting = WaitingCells(order, look=rule, edges=choose_edges(10, 30, -(-jobs // cells)))
    running: list[Cell] = []
    while True:
        while len(running) < jobs and (cell := waiting.next(idle=not running)) is not None:
            running.append(cell)
        if not running:
            break
        taken.append(running.pop(0))
    assert waiting.ended
    assert all(samples == blocks * cells for blocks, samples in looked)
    assert [blocks for blocks, _ in looked] == list(range(10, 17, -(-jobs // cells)))
    assert len(taken) == 16 * cells


def watching(ends: str) -> tuple[list[int], Rule]:
    """A rule that ends the campaign, and where it looked."""
    looked: list[int] = []

    def rule(blocks: int) -> Look:
        looked.append(blocks)
        return Look(blocks, (), (0, 0, 0), ends)

    return looked, rule


def test_a_campaign_that_was_killed_before_a_look_looks_first():
    order = draw(2, 1, [30], seed=1)
    looked, look_at = watching("x")
    waiting = WaitingCells(order[24:], look=look_at, edges=choose_edges(10, 30, 1))
    assert waiting.next(idle=True) is None
    assert (looked, waiting.ended) == ([12], True)


def test_the_last_block_is_looked_at_too():
    order = draw(2, 1, [10], seed=1)
    looked, look_at = watching("cap")
    waiting = WaitingCells(order[-1:], look=look_at, edges=choose_edges(10, 10, 1))
    assert waiting.next(idle=True) is order[-1]
    assert waiting.next(idle=False) is None
    assert not looked
    assert waiting.next(idle=True) is None
    assert looked == [10]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"until": 0.0}, "until: Input should be greater than 0"),
        ({"until": 1.0}, "until: Input should be less than 1"),
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
    text = " ".join(CliRunner().invoke(report, [str(place)], standalone_mode=False).output.split())
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


def test_more_blocks_after_a_look_put_a_campaign_under_the_rule(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.03, sd=0.02))
    before = read_results(place)
    assert not before.is_sequential
    extend(place, 14)
    after = read_results(place)
    assert (after.looks, after.blocks, after.planned, after.is_sequential) == ((10,), 14, 28, True)
    assert after.samples == before.samples
    plan, journal = reopen(place)
    with journal:
        add(journal, plan, noisy(0.0, 0.03, sd=0.02), range(20, 28))
    results = read_results(place)
    (table,) = build.build_report(results).headline
    (once,) = build.build_report(replace(results, looks=())).headline
    wide, narrow = (t.analysis.comparisons["bfs"].percent_interval for t in (table, once))
    assert wide is not None
    assert narrow is not None
    assert wide.high - wide.low > 1.4 * (narrow.high - narrow.low)
    assert any("after 10 had been seen" in str(warning) for warning in document(place)["warnings"])  # type: ignore[attr-defined]


def test_looks_are_counted_up(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.0))
    extend(place, 14)
    extend(place, 20)
    assert read_results(place).looks == (10, 10)


def test_more_blocks_before_the_first_sample_are_no_look(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.0), stop_after=0)
    extend(place, 14)
    assert (read_results(place).looks, read_results(place).planned) == ((), 28)


@pytest.mark.parametrize("blocks", [1, 9, 10])
def test_fewer_blocks_than_there_are_is_refused(tmp_path, blocks):
    place = made(tmp_path / "c", noisy(0.0, 0.0))
    with pytest.raises(UsageError, match="is of 10 blocks already"):
        extend(place, blocks)
    assert CliRunner().invoke(cli, ["resume", str(place), "--blocks", "0"]).exit_code != 0


def test_more_blocks_for_one_that_had_ended(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.05), stop_after=24, **UNTIL)
    with Journal.open(place, write=True) as journal:
        journal.set_fact("ended", {"blocks": 12, "why": "x", "decided": True})
    with pytest.raises(UsageError, match="is of 12 blocks already"):
        extend(place, 12)
    extend(place, 30)
    results = read_results(place)
    assert (results.ended, results.looks, results.planned) == (None, (12,), 120)
    plan, journal = reopen(place)
    journal.close()
    assert (plan.settings.blocks, plan.settings.most_blocks) == (30, 60)
    extend(place, 80)
    plan, journal = reopen(place)
    journal.close()
    assert (plan.settings.blocks, plan.settings.most_blocks) == (80, 80)


def test_a_rule_reads_the_directory(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.05, sd=0.01), **UNTIL)
    assert UntilRule(lambda: read_results(place), 60)(10) == look(read_results(place), 10, 60)
