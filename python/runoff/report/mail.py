"""The report for a mailing list: plain text, never wider than 80 columns, with what a reader cannot ask for."""

from runoff.report import text
from runoff.report.values import Report

WIDTH = 80


def render(report: Report) -> str:
    """As in a terminal without colour, but with all facts of machine and kernel, and with the method."""
    return text.render(report, WIDTH, mail=True)
