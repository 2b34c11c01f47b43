"""What a campaign's directory has of its report: the page, and every sample as rows."""

from pathlib import Path

from runoff.analysis.values import Report
from runoff.errors import MissingError
from runoff.files import HeldDirectory, make_directories, write_whole
from runoff.report.data import csv_table
from runoff.report.forms import PAGE
from runoff.report.html import page

SAMPLES = "runs.csv"
"""Name of the table in a campaign's directory; ``--csv`` writes the same."""


def write_figures(report: Report, directory: Path) -> list[Path]:
    """Write each figure into ``directory``, which is made, and return their paths. Raises MissingError, UsageError."""
    from runoff.report.figures.gallery import draw_figures

    figures = draw_figures(report)
    try:
        make_directories(directory)
        for name, text in figures.items():
            write_whole(directory / name, text.encode())
    except OSError as error:
        raise MissingError(f"cannot write in {directory}: {error.strerror}; choose another --figures") from None
    return [directory / name for name in figures]


def write_files(report: Report, directory: HeldDirectory) -> Path:
    """Write them, each whole or not at all, and return the page's path. Raises MissingError."""
    for name, text in {PAGE: page.render(report), SAMPLES: csv_table.render(report)}.items():
        try:
            directory.write_whole(name, text.encode())
        except OSError as error:
            raise MissingError(
                f"cannot write {directory.path / name}: {error.strerror}; every sample is kept",
                hint=("report", directory.path),
            ) from None
    return directory.path / PAGE
