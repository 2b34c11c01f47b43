"""Any finite numbers make a report that fits and parses."""

import json as stdlib_json
import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runoff.analysis import build
from runoff.report import markdown
from runoff.report.data import csv_table
from runoff.report.data import document as json
from runoff.report.historic import classic
from runoff.report.html import page as html
from runoff.report.terminal import mail, screen
from runoff.results import Metric, Results, Sample

SCHEMA = stdlib_json.loads((Path(__file__).parents[2] / "docs/schema/runoff.report.3.json").read_text())

LARGEST = 1e100
"""Beyond anything that is measured; the squares of larger numbers leave the range of floating point."""

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-LARGEST, max_value=LARGEST),
    st.sampled_from([0.0, 5.0, 1e-300, -1e-300, LARGEST, 12345678.0]),
    st.integers(0, 20).map(float),
)
labels = st.text(min_size=1, max_size=50, alphabet=st.characters(min_codepoint=33, max_codepoint=126))


@st.composite
def campaigns(draw):
    arms = tuple(draw(st.lists(labels, min_size=1, max_size=5, unique=True)))
    blocks = draw(st.integers(1, 5))
    metric = Metric(
        "m",
        draw(st.sampled_from(["s", "ns", "", "ops/s"])),
        draw(st.sampled_from(["lower", "higher", "none"])),
        "title",
        True,
    )
    samples = []
    for block in range(blocks):
        for arm in arms:
            valid = draw(st.integers(0, 5)) > 0
            values = {"m": draw(numbers)} if valid else {}
            samples.append(
                Sample(
                    str(len(samples)), block, len(samples), arm, "w", "none", valid, None if valid else "exited", values
                )
            )
    engine, clock = draw(st.sampled_from([("host", "real"), ("lab", "real"), ("lab", "virtual")]))
    return Results(
        engine,
        clock,
        1,
        blocks,
        arms,
        ("w",),
        ("none",),
        {"w": (metric,)},
        tuple(samples),
        len(samples),
        rerun="runoff compare " + " ".join(arms),
    )


@pytest.mark.filterwarnings("error")
@settings(deadline=None, max_examples=60)
@given(campaigns(), st.integers(40, 120))
def test_every_view_of_any_campaign(results, width):
    report = build.build_report(results)
    terminal = screen.render(report, width)
    assert max(map(len, terminal.splitlines())) <= width
    numbers = terminal.split("rerun")[-1].split("\n\n", 1)[-1]
    is_a_name = re.search("nan|inf", "".join(results.arms))
    assert is_a_name or not re.search(r"\b(nan|inf)\b", numbers)
    document = stdlib_json.loads(json.render(report))
    assert len(document["samples"]) == len(results.samples)
    jsonschema.validate(document, SCHEMA)
    assert max(map(len, mail.render(report).splitlines())) <= 80
    assert classic.render(report)
    page = html.render(report)
    assert page.count("</html>") == 1
    figures = "".join(re.findall(r"<svg viewBox.*?</svg>", page, re.DOTALL))
    assert not re.search(r'(?:d|x|y|width|height)="[^"]*(?:nan|inf)', figures)
    assert len(csv_table.render(report).splitlines()) == 1 + len(results.samples)
    assert markdown.render(report)
