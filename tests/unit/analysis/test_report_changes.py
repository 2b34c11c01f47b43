"""Changes between samples are reported before the verdict, in every view that has one."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.report import markdown
from runoff.report.data import document
from runoff.report.html import page
from runoff.report.terminal import screen
from runoff.report.words.sentences import render_verdict

CHANGE = "not all samples were taken with the same agent: sha256 a1 in block 1; sha256 b2 in blocks 2-5"


@pytest.mark.parametrize("view", [page, markdown])
def test_it_stands_before_the_verdict(view) -> None:
    report = build.build_report(replace(examples.three_arms(), changes=(CHANGE,)))
    rendered = view.render(report)
    told = rendered.index("not all samples were taken with the same agent")
    assert told < rendered.index(render_verdict(report)[0][:20])
    assert "not all samples" not in view.render(build.build_report(examples.three_arms()))


def test_it_stands_before_the_verdict_of_a_terminal() -> None:
    report = build.build_report(replace(examples.three_arms(), changes=(CHANGE,)))
    lines = screen.render(report, 80).splitlines()
    assert lines[2].startswith("  ! not all samples were taken with the same agent")
    assert all(len(line) <= 80 for line in lines)
    assert next(number for number, line in enumerate(lines) if line.startswith("VERDICT")) == 4


def test_it_is_the_first_of_the_warnings() -> None:
    report = build.build_report(replace(examples.three_arms(), changes=(CHANGE,)))
    assert document.make_document(report)["warnings"][0] == CHANGE
