"""What not all samples were taken with the same is said before the verdict, in every view that has one."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.report import html, json, markdown, model, text

CHANGE = "not all samples were taken with the same agent: sha256 a1 in block 1; sha256 b2 in blocks 2-5"


@pytest.mark.parametrize("view", [html, markdown])
def test_it_stands_before_the_verdict(view) -> None:
    report = model.build(replace(examples.three_arms(), changes=(CHANGE,)))
    rendered = view.render(report)
    told = rendered.index("not all samples were taken with the same agent")
    assert told < rendered.index(report.sentences[0][:20])
    assert "not all samples" not in view.render(model.build(examples.three_arms()))


def test_it_stands_before_the_verdict_of_a_terminal() -> None:
    report = model.build(replace(examples.three_arms(), changes=(CHANGE,)))
    lines = text.render(report, 80).splitlines()
    assert lines[2].startswith("  ! not all samples were taken with the same agent")
    assert all(len(line) <= 80 for line in lines)
    assert next(number for number, line in enumerate(lines) if line.startswith("VERDICT")) == 4


def test_it_is_the_first_of_the_warnings() -> None:
    report = model.build(replace(examples.three_arms(), changes=(CHANGE,)))
    assert json.document(report)["warnings"][0] == CHANGE
