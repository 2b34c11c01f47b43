"""The terminal form: fits, is ASCII, needs no colour, and says the essential first."""

import io
import json
import re
import shlex
import subprocess
from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.report.data import document
from runoff.report.html import page
from runoff.report.terminal import mail, screen
from runoff.report.words import numbers
from runoff.report.words.layout import cut_middle, find_distinct_width, wrap, wrap_command, wrap_commands
from runoff.report.words.wording import describe_order
from runoff.results import Stopping
from runoff.statistics import Interval

ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def three():
    return build.build_report(examples.three_arms())


@pytest.mark.parametrize("arms", [2, 3, 6])
@pytest.mark.parametrize("metrics", [1, 20])
def test_no_line_is_wider_than_the_terminal(arms, metrics):
    report = build.build_report(examples.wide(arms, metrics, blocks=3))
    for width in (40, 60, 80, 100, 132):
        out = screen.render(report, width)
        assert max(map(len, out.splitlines())) <= width
        assert out.isascii()


def test_one_row_per_arm_and_headline_metric(three):
    rows = [line for line in screen.render(three, 80).splitlines() if re.match(r"  (default|bfs|zaphod)\S* +\d", line)]
    assert len(rows) == 3 * 3


def test_removing_colour_loses_nothing(three):
    coloured = screen.render(three, 80, colour=True)
    assert coloured != screen.render(three, 80)
    assert ANSI.sub("", coloured) == screen.render(three, 80)


def test_only_separated_differences_are_coloured(three):
    """Blue and orange are colours 33 and 208 of the 256."""
    for line in screen.render(three, 80, colour=True).splitlines():
        judged = re.search(r" [+-](?:\x1b\[0m)?( |$)", line) and not line.startswith(" ! ")
        if "38;5;33m" in line or "38;5;208m" in line:
            assert judged
            assert "baseline" not in line


@pytest.mark.parametrize(
    ("terminal", "environment", "expected"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(terminal, environment, expected):
    class Stream(io.StringIO):
        def isatty(self):
            return terminal

    assert screen.wants_colour(Stream(), environment) is expected


def test_the_first_24_lines_answer_everything():
    """Who, how much, how sure, how many, which machine, how to rerun."""
    head = "\n".join(screen.render(build.build_report(examples.two_arms()), 80, verbose=True).splitlines()[:24])
    for needed in (
        "default",
        "bfs",
        "+14.7 %",
        "[+4.4, +26.1]",
        ".011",
        " 10 ",
        "2 cores, 1 LLC",
        "runoff compare",
        "4711",
    ):
        assert needed in head


def test_secondary_metrics_are_named_and_not_shown(three):
    assert "Not shown" not in screen.render(three, 80)
    out = screen.render(three, 80, verbose=True)
    assert re.search(r"Not shown here but in the page.*involuntary switches", out)
    assert "involuntary switches (" not in out
    assert "hackbench: migrations" not in out


def test_voids_are_marked_counted_and_explained(three):
    out = screen.render(three, 80)
    assert re.search(r"zaphod:mode=eb +4! ", out)
    assert "30/30 samples, 1 void" in out
    assert "void: zaphod:mode=eb, hackbench, block 4: scheduler exited" in out


def test_the_log_of_a_void_sample_is_in_the_page_and_in_json():
    log = "runnable task stall <1234>\n  second line"
    results = examples.three_arms()
    samples = tuple(sample if sample.valid else replace(sample, detail=log) for sample in results.samples)
    report = build.build_report(replace(results, samples=samples))
    assert "runnable task stall &lt;1234&gt;\n  second line</pre>" in page.render(report)
    assert [each["detail"] for each in json.loads(document.render(report))["samples"] if not each["valid"]] == [log]
    words = " ".join(screen.render(report, 80).split())
    assert "logged when samples became void is in the page" in words
    assert "second line" not in words


def test_a_wholly_void_arm_stays_in_the_table():
    results = examples.campaign(
        {"w": {"default": {"elapsed_s": (10.0, 0.1)}, "bad": {"elapsed_s": (11.0, 0.1)}}},
        {"w": (examples.WALL,)},
        blocks=3,
        voids={("w", "bad", block): "exited" for block in range(3)},
    )
    out = screen.render(build.build_report(results), 80)
    assert re.search(r"bad +0! +- .* ! *$", out, re.MULTILINE)
    assert "bad has no valid sample" in out
    words = " ".join(out.split())
    assert "bad has no valid sample, all 3 are void" in words
    assert "void: bad, w, all 3 blocks: exited" in words


def test_differences_in_units_where_percent_means_nothing():
    metric = examples.Metric("slack", "ms", "higher", "slack", headline=True)
    base = examples.campaign(
        {"w": {"default": {"slack": (5.0, 0.2)}, "bfs": {"slack": (9.0, 0.2)}}}, {"w": (metric,)}, blocks=6
    )
    shifted = replace(
        base,
        samples=tuple(replace(s, metrics={"slack": s.metrics["slack"] - 7}) for s in base.samples),
    )
    out = screen.render(build.build_report(shifted), 80)
    assert "diff" in out
    assert re.search(r"bfs +6 +2\.\d+ .*\+4\.\d+ +\[\+3\.\d+, \+4\.\d+\] +<\.001 +\+", out)
    assert not re.search(r"\d %  \[", out)


def test_an_incomplete_campaign_is_provisional():
    out = screen.render(build.build_report(replace(examples.two_arms(), planned=40)), 80)
    assert "VERDICT  Provisional, 20 of 40 samples:" in out
    assert "runoff resume" in " ".join(out.split())


def test_all_kernels_of_a_campaign_are_named() -> None:
    names = [f"debian:{version}-cloud-amd64" for version in ("7.3.4+deb13", "6.18.15+deb14", "6.16.12+deb14+1")]
    results = examples.three_arms()
    fingerprint = {**results.fingerprint, "kernels": dict.fromkeys(names, "00")}
    report = build.build_report(replace(results, fingerprint=fingerprint))
    for out in (screen.render(report, 80), screen.render(report, 60), mail.render(report)):
        assert all(name in out for name in names)
    assert "several" not in screen.render(build.build_report(results), 80)


def test_a_single_arm_is_described():
    results = examples.campaign({"w": {"default": {"elapsed_s": (10.0, 0.1)}}}, {"w": (examples.WALL,)}, blocks=5)
    out = screen.render(build.build_report(results), 80)
    assert "only arm" in out
    assert "change" not in out


def test_no_sample_yet():
    empty = replace(examples.three_arms(), samples=())
    assert "No sample has been taken yet." in screen.render(build.build_report(empty), 80)


def test_names_are_cut_in_the_middle_and_stay_distinct():
    assert cut_middle("scheduler:slice=1,mode=x", 12) == "sched..ode=x"
    names = ["a-very-long-name-1-mode", "a-very-long-name-2-mode"]
    width = find_distinct_width(names, 8, 40)
    assert len({cut_middle(name, width) for name in names}) == 2


def test_percent_signs_stay_with_their_number():
    assert all(not line.startswith("%") for line in wrap("about 12 % " * 30, 41))


def test_a_wrapped_command_is_still_the_command():
    command = "runoff compare default 'exec:/usr/bin/scx_bpfland -k' --work " + "x" * 90 + " --blocks 5"
    lines = list(wrap_command(command, 50, "rerun "))
    assert max(map(len, lines)) <= 50
    assert any("'exec:/usr/bin/scx_bpfland -k'" in line for line in lines)
    joined = "\n".join(lines).removeprefix("rerun ").replace("\\\n", "")
    assert joined.split() == command.split()


@pytest.mark.parametrize("width", [20, 41, 80])
@pytest.mark.parametrize(
    "words",
    [
        ["a" * 200, "b"],
        ["two words " * 12, "b"],
        ["it's " * 30, "'", "''\"" * 20],
        ["first\nsecond and\n\nlast " + "x" * 90, "after"],
        ["\n" * 3, "\\" * 60, "a b\\"],
    ],
)
def test_a_shell_reads_the_words_of_a_wrapped_command(words: list[str], width: int):
    lines = list(wrap_command(shlex.join(["printf", r"%s\0", *words]), width, "       "))
    assert max(map(len, lines)) <= width
    assert all("\n" not in line for line in lines)
    printed = subprocess.run(["sh", "-c", "\n".join(lines)], capture_output=True, text=True, check=True).stdout
    assert printed.split("\0")[:-1] == words


def test_commands_are_told_apart_by_breaks_outside_of_quotes():
    commands = ["runoff compare 'exec:sh -c \"true\n\ntrue\"' default", "runoff compare eevdf  # 'bob'\"'\"'s'"]
    lines = list(wrap_commands("\n".join(commands), 100, "rerun "))
    assert [line for line in lines if line.startswith("rerun ")] == [
        "rerun runoff compare 'exec:sh -c \"true",
        "rerun runoff compare eevdf # 'bob'\"'\"'s'",
    ]


def test_the_machines_of_a_cluster_share_a_seed_and_merged_ones_do_not():
    cluster = build.build_report(replace(examples.three_arms(), machines=("mars", "venus")))
    assert "drawn from seed 4711" in describe_order(cluster)
    merged = replace(cluster.results, members={name: Stopping() for name in cluster.results.machines})
    assert "drawn from a seed of each machine" in describe_order(replace(cluster, results=merged))


def test_a_factor_beside_one_does_not_read_as_no_change():
    assert numbers.format_change(1943.0, 1) == "x20.4"
    assert numbers.format_change_range(Interval(0.31, 3420.0), 494.0, 1) == "[x1.003, x35.2]"
    assert numbers.format_change_range(Interval(-0.02, 300.0), 120.0, 1) == "[x0.9998, x4]"
    assert numbers.format_change_range(Interval(0.0, 300.0), 120.0, 1) == "[x1, x4]"
