"""The matrix of kernels as a page: arms by kernels, and why an arm failed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from runoff.errors import MissingError
from runoff.files import write_whole
from runoff.matrix.values import Entry, KernelMatrix
from runoff.matrix.views import describe_failure, describe_outcome, describe_speed, find_reason, render_json
from runoff.report.html.templating import embed_json, load_template
from runoff.text import escape_lines

FILE = "matrix.html"
"""Name of the page in the matrix' directory."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One arm on one kernel."""

    text: str
    lines: tuple[str, ...] = ()
    style: str = ""
    """CSS class."""
    page: str = ""
    """Relative address of the page of its campaign."""
    anchor: str = ""
    """Where its failure is explained."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an arm does not work on a kernel, or was not tried there."""

    anchor: str
    heading: str
    reason: str
    detail: str


def write_page(matrix: KernelMatrix, directory: Path) -> None:
    """Write the page, whole or not at all. Raises MissingError."""
    path = directory / FILE
    try:
        write_whole(path, render_page(matrix).encode())
    except OSError as error:
        raise MissingError(
            f"cannot write {path}: {error.strerror}; every sample is kept: give the same command again"
        ) from None


def render_page(matrix: KernelMatrix) -> str:
    """Return the page; same matrix, same bytes."""
    cells = {(kernel, arm): Cell("not tried yet") for kernel in matrix.kernels for arm in matrix.arms}
    for number, entry in enumerate(matrix.entries):
        cells[entry.kernel, entry.arm] = _make_cell(entry, f"f{number}")
    return load_template("matrix.html.j2").render(
        matrix=matrix,
        outcome=describe_outcome(matrix),
        cells=cells,
        failures=list(_list_failures(matrix)),
        data=embed_json(render_json(matrix)),
    )


def _make_cell(entry: Entry, anchor: str) -> Cell:
    if entry.has_failed:
        text = "does not load" if entry.refused else "fails under stress"
        return Cell(text, style="worse", anchor=anchor)
    if entry.missing:
        return Cell("not tried", ("something is missing",), anchor=anchor)
    if entry.stressed_s is None:
        return Cell("loads", ("not complete",))
    wait = () if entry.longest_wait_ms is None else (f"longest wait {entry.longest_wait_ms:.4g} ms",)
    if entry.speed is None:
        return Cell("survives", wait)
    speed = describe_speed(entry)
    if entry.speed.verdict is not None:
        speed += f" {entry.speed.verdict.word}"
    return Cell("works", (speed, *wait), "better", f"{quote(entry.folder)}/speed/report.html")


def _list_failures(matrix: KernelMatrix) -> Iterator[Failure]:
    for number, entry in enumerate(matrix.entries):
        if entry.has_failed or entry.missing:
            yield Failure(f"f{number}", describe_failure(entry), find_reason(entry), escape_lines(entry.detail).strip())
