"""Then and now: which direction, never more than both sides say."""

import json
import random
import tomllib
from dataclasses import replace
from pathlib import Path

import cli_runner
import pytest

from runoff.campaign.conduct import CampaignResult
from runoff.campaign.loop.execution import Ending
from runoff.errors import UsageError
from runoff.files import Identity
from runoff.plan.settings import Settings, read_settings
from runoff.plan.shipped import find_shipped
from runoff.published import catalogue, replicate, then_and_now
from runoff.published.numbers import Number, Quantity
from runoff.published.replicate import Outcome, PresentCampaign, PresentResult, judge
from runoff.results import Metric, Results, Sample
from runoff.statistics import Verdict
from runoff.statistics.values import Interval
from runoff.workloads import WORKLOADS

TIME = Metric("time_s", "s", "lower", "time", headline=True)
BLOCKS = 12


def results(
    means: dict[str, dict[str, float]], *, load: str = "none", metric: Metric = TIME, sd: float = 0.001, **fields
) -> Results:
    """``means[workload][arm]``, with little noise."""
    rng = random.Random(7)
    arms = tuple(dict.fromkeys(arm for by_arm in means.values() for arm in by_arm))
    samples = [
        Sample(
            f"{block}.{w}.{arm}", block, 0, arm, w, load, True, None, {metric.name: mean * (1 + sd * rng.gauss(0, 1))}
        )
        for block in range(BLOCKS)
        for w, by_arm in means.items()
        for arm, mean in by_arm.items()
    ]
    return Results(
        engine="lab", clock="virtual", seed=1, blocks=BLOCKS, arms=arms, workloads=tuple(means), loads=(load,),
        metrics=dict.fromkeys(means, (metric,)), samples=tuple(samples), planned=len(samples), version="0.1.0",
        fingerprint={"kernel": {"release": "7.3.4"}, "machine": {"cpu_model": "QEMU"}}, **fields,
    )  # fmt: skip


def known(then: float, half: float = 0.01) -> Quantity:
    middle, step = Number.parse(f"{then:.3f}").value, Number.parse(f"{half:.3f}").value
    return Quantity(middle, middle - step, middle + step)


def now(verdict: Verdict | None, low: float, high: float) -> PresentResult:
    return PresentResult("w", "", 10, (low + high) / 2, Interval(low, high), verdict)


@pytest.mark.parametrize(
    ("then", "verdict", "low", "high", "outcome"),
    [
        (-30, Verdict.BETTER, -8, -5, Outcome.REPRODUCED),
        (-30, Verdict.WORSE, 5, 8, Outcome.NOT_REPRODUCED),
        (5, Verdict.WORSE, 5, 8, Outcome.REPRODUCED),
        (5, Verdict.BETTER, -8, -5, Outcome.NOT_REPRODUCED),
        (-30, Verdict.UNCLEAR, -8, 5, Outcome.CANNOT_TELL),
        (-30, Verdict.VOID, -8, 5, Outcome.CANNOT_TELL),
        (-30, None, -8, 5, Outcome.CANNOT_TELL),
        (-30, Verdict.SAME, -1, 1, Outcome.NOT_REPRODUCED),
        (-2.005, Verdict.SAME, -1, 1, Outcome.CANNOT_TELL),
        (-1, Verdict.SAME, -1.5, 0.2, Outcome.CANNOT_TELL),
        (-1, Verdict.SAME, -1.5, -0.2, Outcome.REPRODUCED),
        (-1, Verdict.SAME, 0.2, 1.5, Outcome.NOT_REPRODUCED),
        (1, Verdict.SAME, 0.2, 1.5, Outcome.REPRODUCED),
        (0, Verdict.SAME, 0.2, 1.5, Outcome.REPRODUCED),
        (0, Verdict.WORSE, 3, 4, Outcome.NOT_REPRODUCED),
        (0, Verdict.BETTER, -4, -3, Outcome.NOT_REPRODUCED),
    ],
)
def test_outcomes_of_judging(then: float, verdict: Verdict | None, low: float, high: float, outcome: Outcome) -> None:
    assert judge(known(then), now(verdict, low, high)) is outcome


def test_equal_whole_seconds_do_not_speak_against_less_than_they_hide() -> None:
    """75 s and 75 s may have been 1.3 % apart."""
    assert judge(known(0, 1.3), now(Verdict.WORSE, 0.5, 2.5)) is Outcome.CANNOT_TELL
    assert judge(known(0, 1.3), now(Verdict.WORSE, 1.4, 2.5)) is Outcome.NOT_REPRODUCED


def test_comparisons_that_were_not_run_have_no_outcome() -> None:
    assert judge(known(-30), None) is Outcome.NOT_RUN


def counters(**fields) -> Results:
    return results(
        {
            "counters:n=2": {"default": 1.0, "cfs:era=2.6.31": 1.25, "cfs:era=2.6.32": 0.9, "bfs": 1.0},
            "counters:n=3": {"default": 1.0, "cfs:era=2.6.31": 1.0, "cfs:era=2.6.32": 1.2, "bfs": 1.1},
        },
        **fields,
    )


def found(name: str, plan: str, campaign: Results | None) -> dict[tuple[str, str, str], replicate.ComparedPair]:
    report, (part,) = replicate.find_parts(name, [plan])
    compared = replicate.compare(report, part, None if campaign is None else PresentCampaign(campaign))
    return {(one.title, one.pair, one.row): one for one in compared}


def test_counters_are_seen_against_the_scheduler_of_then_whichever_arm_is_first() -> None:
    title = "processes that count at the same time"
    told = found("counters-2009", "counters-2009", counters())
    two = told[title, "BFS against 2.6.31", "2"]
    assert two.outcome is Outcome.REPRODUCED
    assert float(two.then.value) == pytest.approx(-30.93, abs=0.005)
    assert two.now is not None
    assert two.now.percent == pytest.approx(-20, abs=0.5)
    assert told[title, "BFS against 2.6.31", "3"].outcome is Outcome.NOT_REPRODUCED
    assert told[title, "BFS against 2.6.32", "3"].outcome is Outcome.REPRODUCED
    assert told[title, "BFS against 2.6.31", "4"].outcome is Outcome.NOT_RUN
    assert len(told) == 3 * 32


def test_sizes_are_distinguished_by_all_values_of_a_workload() -> None:
    """A workload whose label leaves a default out."""
    campaign = results(
        {"compile": {"cfs:era=2.6.31": 1.0, "bfs": 0.8}},
        metric=Metric("elapsed_s", "s", "lower", "elapsed time", headline=True),
        parameters={"compile": {"jobs": "2", "part": "et"}},
    )
    told = found("counters-2009", "e2fsprogs-2009", campaign)
    assert {row: one.outcome for (_, pair, row), one in told.items() if pair == "BFS against 2.6.31"} == {
        "1": Outcome.NOT_RUN, "2": Outcome.REPRODUCED, "3": Outcome.NOT_RUN, "4": Outcome.NOT_RUN, "5": Outcome.NOT_RUN,
    }  # fmt: skip


def test_runs_are_those_of_the_arm_that_has_fewer() -> None:
    campaign = counters()
    void = [
        replace(s, valid=False, metrics={}) if s.arm == "bfs" and s.block < 2 and s.workload == "counters:n=2" else s
        for s in campaign.samples
    ]
    told = found("counters-2009", "counters-2009", replace(campaign, samples=tuple(void)))
    now = told["processes that count at the same time", "BFS against 2.6.31", "2"].now
    assert now is not None
    assert now.n == BLOCKS - 2


def test_rows_have_arms_of_their_own() -> None:
    arms = {"o1": 1.0, "zaphod:mode=pb,max_ia_bonus=0,max_tpt_bonus=5": 1.1}
    told = found("zaphod-2004", "zaphod-2004", results({"hackbench:groups=10,loops=2": arms}))
    ran = {row: one for (_, _, row), one in told.items() if one.outcome is not Outcome.NOT_RUN}
    assert set(ran) == {"zaphod pb 0 5"}
    assert ran["zaphod pb 0 5"].outcome is Outcome.REPRODUCED
    assert len(told) == 2 * 8
    assert set(
        replicate.match_campaigns(replicate.find_parts("zaphod-2004", [])[1], [results({"hackbench": arms})])
    ) == {"zaphod-2004"}
    with pytest.raises(UsageError, match="no comparison of zaphod-2004"):
        replicate.match_campaigns(
            replicate.find_parts("zaphod-2004", [])[1], [results({"hackbench": {"o1": 1.0, "bfs": 1.0}})]
        )


def test_loads_of_contest() -> None:
    arms = {"default+io=anticipatory:variant=2003": 1.0, "default+io=deadline:variant=2.5.63-mm2": 3.0}
    metric = Metric("elapsed_s", "s", "lower", "elapsed time", headline=True)
    told = found("contest-iosched-2003", "contest-iosched-2003", results({"compile": arms}, load="io", metric=metric))
    ran = {(pair, row): one.outcome for (_, pair, row), one in told.items() if one.outcome is not Outcome.NOT_RUN}
    assert ran == {("deadline", "io_load"): Outcome.REPRODUCED}


def test_estimates_are_ratios() -> None:
    metric = Metric("completion_s", "s", "lower", "time", headline=True)
    campaign = results({"render:seconds=2": {"cfs:era=3.6": 1.0, "bfs": 0.5}}, metric=metric)
    told = found("render-2012", "render-2012", campaign)
    one = told["the time until all is rendered", "BFS against CFS", "time of BFS"]
    assert (float(one.then.value), one.outcome, one.same_size) == (-50, Outcome.REPRODUCED, True)


def test_every_part_names_existing_things() -> None:
    """Plans, arms, workloads, their parameters and metrics: a wrong name would be called not run for ever."""
    for name in catalogue.list_names():
        report, parts = replicate.find_parts(name, [])
        for part in parts:
            settings = read_settings(find_shipped(part.plan))
            assert replicate.compare(report, part, None)
            for about in part.comparisons:
                assert any(work.partition(":")[0] == about.workload for work in settings.workloads)
                definition = WORKLOADS.find(about.workload)
                assert set(about.parameters) <= set(definition.parameters)
                assert about.metric in {*definition.metrics, "elapsed_s"}
                for pair in about.pairs:
                    arms = {*about.arms.values()} if pair.other_arm == "{arm}" else {pair.other_arm}
                    assert arms
                    assert {pair.base_arm, *arms} <= set(settings.arms), pair.label
                loads = {load.partition(":")[0] for load in settings.loads}
                assert {*about.loads.values()} - {"io_other"} <= loads


def test_campaigns_are_matched_to_plans() -> None:
    _, parts = replicate.find_parts("counters-2009", [])
    assert set(replicate.match_campaigns(parts, [counters()])) == {"counters-2009"}
    with pytest.raises(UsageError, match="two campaigns have comparisons of counters-2009"):
        replicate.match_campaigns(parts, [counters(), counters()])
    with pytest.raises(UsageError, match="this campaign has no comparison of counters-2009, e2fsprogs-2009"):
        replicate.match_campaigns(parts, [results({"hackbench": {"o1": 1.0, "bfs": 1.0}})])


def test_a_report_without_a_plan(tmp_path: Path) -> None:
    (tmp_path / "report.toml").write_text('title = "t"\nauthor = "a"\ndate = "2000"\nwhere = "w"\nabout = "b"\n')
    with pytest.raises(UsageError, match=r"has no plan: add \[\[parts\]\]"):
        replicate.find_parts(str(tmp_path), [])


def test_the_text_says_what_differs_and_what_came_out() -> None:
    report, (part,) = replicate.find_parts("counters-2009", ["counters-2009"])
    today = PresentCampaign(counters())
    compared = replicate.compare(report, part, today)
    text = then_and_now.render(report, [(part, today, compared)], 80)
    assert "  then  kernel     Linux 2.6.31-gentoo-r4, the same with BFS 304, 2.6.32-rc5\n" in text
    assert "  now   kernel     Linux 7.3.4\n" in text
    assert "  differs: CPUs that count instructions" in text
    assert "not run: 1, 4, 5, 6, 7, 8, 9, 10 and 22 more" in text
    line = next(line for line in text.splitlines() if line.strip().startswith("2 ") and "30.9 % faster" in line)
    assert line.endswith("12  +  reproduced")
    assert then_and_now.summarise(compared) == "3 reproduced, 3 not reproduced, 0 cannot tell, 90 not run"
    assert max(map(len, text.splitlines())) <= 100
    document = then_and_now.make_document(report, [(part, today, compared)])
    assert json.loads(json.dumps(document))["totals"]["not run"] == 90


@pytest.mark.parametrize(
    ("percent", "words"),
    [(-30.93, "30.9 % faster"), (4.04, "4.0 % slower"), (0, "same"), (-0.04, "0.0 %"), (0.06, "0.1 % slower")],
)
def test_changes_in_words(percent: float, words: str) -> None:
    assert then_and_now.describe_change(percent) == words


def test_the_command_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    assert "no plan 'x'" in cli_runner.run("published", "replicate", "zaphod-2004", "--plan", "x", expect=64).stderr
    assert "leave" in cli_runner.run("published", "replicate", "zaphod-2004/hackbench", expect=64).stderr
    clash = cli_runner.run("published", "replicate", "zaphod-2004", "--from", tmp_path, "--quick", expect=64)
    assert "--from reads a campaign" in clash.stderr
    cli_runner.run("published", "replicate", "zaphod-2004", "--from", tmp_path / "none", expect=64)


def test_the_plans_of_a_report_are_printed() -> None:
    shown = cli_runner.run("published", "replicate", "zaphod-2004", "--quick", "--plan-only").stdout
    assert shown.startswith("# zaphod-2004\n")
    assert tomllib.loads(shown)["blocks"] == 3


def test_who_stops_one_plan_stops_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two interrupts ended the first of two plans, and the second began: it fetched sources and booted."""
    begun = []

    def conduct(settings: Settings, place: Path, *_: object) -> CampaignResult:
        begun.append(place.name)
        place.mkdir(parents=True)
        return CampaignResult(place, Ending.STOPPED, counters(), Identity.from_stat(place.stat()))

    monkeypatch.setattr("runoff.campaign.conduct.conduct", conduct)
    words = ("published", "replicate", "counters-2009", "--quick", "--out", tmp_path / "r")
    done = cli_runner.run(*words, expect=130)
    assert begun == ["counters-2009"]
    assert "not begun: e2fsprogs-2009; --plan runs one" in done.stderr
    assert "reproduced" in done.stdout
