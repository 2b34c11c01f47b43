"""The report for a mailing list: plain text, never wider than 80 columns, with what a reader cannot ask for."""

from runoff.analysis.values import Report
from runoff.report.terminal import screen

WIDTH = 80


def render(report: Report) -> str:
    """As in a terminal without colour, but with all facts of machine and kernel, and with the method."""
    return screen.render(report, WIDTH, mail=True)
