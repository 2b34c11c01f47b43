"""The end of the terminal's report: what to do next, and the answer once more."""

from dataclasses import replace
from pathlib import Path

import report_examples as examples
from cli_runner import run
from made_campaigns import made, noisy

from runoff.analysis import build
from runoff.decide.next_blocks import NextBlocks, list_next_blocks
from runoff.report.terminal import screen
from runoff.report.words.next_steps import NextStep, list_next_steps
from runoff.report.words.sentences import render_verdict
from runoff.results import Stopping


def test_arms_without_a_verdict_have_a_command_that_may_decide_them() -> None:
    report = build.build_report(examples.three_arms())
    bfs, zaphod = list_next_blocks(report)
    assert (bfs.arm, bfs.tables, zaphod.arm, zaphod.tables) == ("bfs", 1, "zaphod:mode=eb", 2)
    assert (bfs.blocks or 0) > report.results.blocks
    first, _ = list_next_steps([bfs, zaphod], Path("results/a b"))
    assert first == NextStep("to decide bfs (80 % chance):", f"runoff resume 'results/a b' --blocks {bfs.blocks}")


def test_time_and_what_is_too_far_are_told() -> None:
    found = [NextBlocks("a", 2, 40, 3600.0), NextBlocks("b", 1, None, None), NextBlocks("c", 1, 9, None, False)]
    found += [NextBlocks("d", 1, 9, None)] * 2
    steps = list(list_next_steps(found, Path("d")))
    assert steps[0] == NextStep(
        "to decide a in 2 tables (80 % chance in each, 1 h 00 min more):", "runoff resume d --blocks 40"
    )
    assert steps[1].text.startswith("to decide b: over 1000 blocks; ")
    assert steps[2].text == "to decide c:"
    assert steps[3:] == [NextStep("2 more arms are not decided")]


def test_a_campaign_of_one_block_is_to_have_ten() -> None:
    report = build.build_report(examples.wide(2, 1, blocks=1))
    assert [each.blocks for each in list_next_blocks(report)] == [10]


def test_an_arm_with_one_block_in_one_of_its_tables_is_to_have_ten_too() -> None:
    cells = {w: {arm: {"elapsed_s": (10, 1.0)} for arm in ("default", "bfs")} for w in ("v", "w")}
    voids = {("w", "bfs", block): "gone" for block in range(3)}
    results = examples.campaign(cells, dict.fromkeys(cells, (examples.WALL,)), blocks=4, voids=voids)
    (found,) = list_next_blocks(build.build_report(results))
    assert (found.blocks, found.is_measured) == (10, False)


def test_nothing_is_asked_for_where_blocks_are_not_the_question() -> None:
    whole = examples.three_arms()
    decided = examples.two_arms()
    for results in (decided, replace(whole, planned=99), replace(whole, stopping=Stopping(until=0.01))):
        assert list(list_next_blocks(build.build_report(results))) == []


def test_a_long_report_ends_in_its_verdict_and_a_short_one_says_it_once() -> None:
    report = build.build_report(examples.three_arms())
    first = render_verdict(report)[0][:40]
    assert screen.render(report, 80).count(first) == 1
    assert screen.render(report, 80, height=1000).count(first) == 1
    long = screen.render(report, 80, height=24, next_steps=[NextStep("to decide bfs:", "runoff resume x --blocks 9")])
    assert long.count(first) == 2
    end = long.splitlines()[-8:]
    assert end[:2] == ["to decide bfs:", "  runoff resume x --blocks 9"]
    assert end[3].startswith("VERDICT  bfs is better than default in kernel-build")


def test_the_last_lines_are_step_verdict_and_page(tmp_path: Path) -> None:
    place = made(tmp_path / "c", noisy(0.0, 0.004, sd=0.01))
    out = run("resume", place).stdout
    assert out == run("report", place).stdout
    words = " ".join(out.replace("\\\n", " ").split())
    assert f"to decide bfs (80 % chance, 2 min 20 s more): runoff resume {place} --blocks 45" in words
    assert "45 blocks (3 min more), or --rare 21%" in words
    assert out.splitlines()[-1] == f"page: {place}/report.html"
    verbose = run("report", place, "-v").stdout
    assert "as the geometric mean over blocks" in verbose
    assert "as the geometric mean over blocks" not in out


def test_the_page_has_the_same_step_for_any_directory(tmp_path: Path) -> None:
    place = made(tmp_path / "c", noisy(0.0, 0.004, sd=0.01))
    run("report", place, "--html", tmp_path / "page.html")
    shown = " ".join((tmp_path / "page.html").read_text().split())
    assert "<code>runoff resume DIR --blocks 45</code>" in shown
    assert "to decide bfs (80 % chance, 2 min 20 s more)" in shown
