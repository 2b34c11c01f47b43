"""Blocks that are added to a campaign after the user has seen it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_campaigns import add, made, noisy

from runoff import conduct, make_settings, resume
from runoff.analysis import build
from runoff.campaign.directory import read_results, reopen
from runoff.campaign.journal.journal import Journal
from runoff.campaign.more_blocks import extend
from runoff.cli.main import cli
from runoff.cli.report import command as report
from runoff.errors import UsageError
from runoff.results import Stopping

UNTIL = {"until": 0.01, "most_blocks": 60, "rare": 0.3}


def document(place: Path) -> dict[str, object]:
    answer = CliRunner().invoke(report, [str(place), "--json"], standalone_mode=False)
    assert answer.exception is None
    found: dict[str, object] = json.loads(answer.output)
    return found


def test_more_blocks_after_a_look_put_a_campaign_under_the_rule(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.03, sd=0.02))
    before = read_results(place)
    assert before.stopping.rule == "planned"
    extend(place, 14)
    after = read_results(place)
    assert (after.stopping.looks, after.blocks, after.planned, after.stopping.rule) == ((10,), 14, 28, "extended")
    assert after.samples == before.samples
    plan, journal = reopen(place)
    with journal:
        add(journal, plan, noisy(0.0, 0.03, sd=0.02), range(20, 28))
    results = read_results(place)
    (table,) = build.build_report(results).headline
    (once,) = build.build_report(replace(results, stopping=Stopping())).headline
    wide, narrow = (t.analysis.comparisons["bfs"].percent_interval for t in (table, once))
    assert wide is not None
    assert narrow is not None
    assert wide.high - wide.low > 1.4 * (narrow.high - narrow.low)
    assert any("after 10 had been seen" in str(warning) for warning in document(place)["warnings"])  # type: ignore[attr-defined]


def test_a_call_takes_what_is_missing_once(tmp_path):
    place = tmp_path / "c"
    settings = make_settings(arms=["default"], workloads=["command:true"], on="host", blocks=2)
    before = conduct(settings, place).results.samples
    after = resume(place, blocks=3).results.samples
    assert [sample.block for sample in after] == [0, 1, 2]
    assert after[:2] == before
    assert resume(place).results.samples == after


def test_looks_are_counted_up(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.0))
    extend(place, 14)
    extend(place, 20)
    assert read_results(place).stopping.looks == (10, 10)


def test_more_blocks_before_the_first_sample_are_not_a_look(tmp_path):
    place = made(tmp_path / "c", noisy(0.0, 0.0), stop_after=0)
    extend(place, 14)
    assert (read_results(place).stopping.looks, read_results(place).planned) == ((), 28)


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
    assert (results.stopping.ended, results.stopping.looks, results.planned) == (None, (12,), 120)
    plan, journal = reopen(place)
    journal.close()
    assert (plan.settings.blocks, plan.settings.most_blocks) == (30, 60)
    extend(place, 80)
    plan, journal = reopen(place)
    journal.close()
    assert (plan.settings.blocks, plan.settings.most_blocks) == (80, 80)
