"""The report's forms as they were last looked at (tests/approved.py)."""

import pytest
import report_examples as examples
from approved import assert_approved

from runoff.analysis import build
from runoff.report import markdown
from runoff.report.data import document
from runoff.report.historic import relative
from runoff.report.html import page
from runoff.report.terminal import screen

FORMS = {
    "three-80.txt": ("three_arms", lambda report: screen.render(report, 80)),
    "three-100.txt": ("three_arms", lambda report: screen.render(report, 100)),
    "three.md": ("three_arms", markdown.render),
    "three.json": ("three_arms", document.render),
    "three.html": ("three_arms", page.render),
    "bonuses-relative.txt": ("bonuses", relative.render),
    "loaded-80.txt": ("loaded", lambda report: screen.render(report, 80)),
    "two-80.txt": ("two_arms", lambda report: screen.render(report, 80)),
}


@pytest.fixture(scope="module")
def reports():
    return {
        name: build.build_report(getattr(examples, name)()) for name in ("three_arms", "two_arms", "bonuses", "loaded")
    }


@pytest.mark.parametrize("name", FORMS)
def test_looks_as_approved(name, reports):
    campaign, render = FORMS[name]
    assert_approved(f"report/{name}", render(reports[campaign]))
