"""The report of a campaign that was repeated with half and twice the quantum."""

from dataclasses import replace
from pathlib import Path

from report_examples import WALL, campaign

from runoff.analysis import build
from runoff.campaign import directory, repeats
from runoff.plan.make import make_plan
from runoff.plan.settings import Settings
from runoff.report.data import document
from runoff.report.terminal import screen
from runoff.report.words.sentences import render_verdict
from runoff.results import Results


def taken(**means: float) -> Results:
    """Two arms beside the baseline, whose mean is 1."""
    work = {
        "default": {"elapsed_s": (1.0, 0.001)},
        **{arm: {"elapsed_s": (mean, 0.001)} for arm, mean in means.items()},
    }
    return campaign({"work": work}, {"work": (WALL,)}, blocks=6)


def test_verdicts_that_survive_are_counted_and_the_others_named() -> None:
    half, twice = taken(bfs=1.2, o1=1.0), taken(bfs=1.2, o1=0.8)
    report = build.build_report(replace(taken(bfs=1.2, o1=1.0), repeats={"quantum=500": half, "quantum=2000": twice}))
    assert render_verdict(report)[2:] == (
        "Again with quantum=500 and with quantum=2000: 1 of 2 verdicts survive, the others:",
        "work, elapsed time: o1 small, with quantum=500 small, with quantum=2000 better.",
    )
    assert "1 of 2 verdicts survive" in screen.render(report, 100)
    kept, lost = document.make_document(report)["sensitivity"]
    assert (kept["arm"], kept["verdict"], kept["survives"]) == ("bfs", "worse", True)
    assert (lost["arm"], lost["quantum=500"], lost["quantum=2000"], lost["survives"]) == (
        "o1",
        "small",
        "better",
        False,
    )


def test_where_all_survive_nothing_else_is_said() -> None:
    once = taken(bfs=1.2)
    report = build.build_report(replace(once, repeats={"quantum=500": once, "quantum=2000": once}))
    assert render_verdict(report)[1:] == ("Again with quantum=500 and with quantum=2000: 1 of 1 verdicts survive.",)


def test_what_a_repeat_has_not_judged_yet_does_not_survive() -> None:
    once = taken(bfs=1.2)
    report = build.build_report(replace(once, repeats={"quantum=500": once, "quantum=2000": replace(once, samples=())}))
    assert (
        render_verdict(report)[-1]
        == "work, elapsed time: bfs worse, with quantum=500 worse, with quantum=2000 nothing."
    )


def test_without_repeats_nothing_is_said() -> None:
    report = build.build_report(taken(bfs=1.2))
    assert len(render_verdict(report)) == 1
    assert document.make_document(report)["sensitivity"] == []


def test_a_campaign_knows_its_repeats_by_their_directories(tmp_path: Path) -> None:
    settings = Settings(arms=("default",), workloads=("counters:n=1",), sensitivity="quantum", quantum=600)
    plan = make_plan(settings)
    with directory.create(tmp_path / "c", plan):
        pass
    assert directory.read_results(tmp_path / "c").repeats == {}
    others = repeats.derive_settings(plan.settings)
    assert {name: each.quantum for name, each in others.items()} == {"quantum=300": 300, "quantum=1200": 1200}
    with directory.create(
        repeats.repeat_directory(tmp_path / "c", "quantum=1200"), replace(plan, settings=others["quantum=1200"])
    ):
        pass
    (repeat,) = directory.read_results(tmp_path / "c").repeats.values()
    assert "--quantum 1200" in repeat.rerun
    assert "--sensitivity" not in repeat.rerun
