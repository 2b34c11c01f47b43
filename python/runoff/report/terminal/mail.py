"""The report for a mailing list: plain text, never wider than 80 columns, with what a reader cannot ask for."""

from runoff.analysis.values import Report
from runoff.report.terminal import screen

WIDTH = 80


def render(report: Report) -> str:
    """Render the report as in a terminal without colour, with all facts of machine and kernel, and the method."""
    return screen.render(report, WIDTH, mail=True)
