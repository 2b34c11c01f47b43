"""The matrix of kernels for a terminal, for Markdown and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from runoff.matrix.values import Entry, KernelMatrix
from runoff.report.data import junit
from runoff.report.data.json_text import dump, round_significant
from runoff.report.markdown import escape
from runoff.report.words.layout import cut_middle, wrap
from runoff.report.words.numbers import format_change, format_change_range
from runoff.text import escape_line, escape_lines
from runoff.version import __version__

SCHEMA = "runoff.matrix/1"
"""Raised whenever a reader of the last version would misread this one."""

SHORTEST = 12
MOST_LOGGED = 6
"""Lines of the kernel's log that are shown of each failure."""


def render_text(matrix: KernelMatrix, width: int) -> str:
    """Return a table with a line for each arm under its kernel, then what went wrong; no line is over ``width``."""
    return "\n".join(_list_lines(matrix, width)) + "\n"


def _list_lines(matrix: KernelMatrix, width: int) -> Iterator[str]:
    rows = [list_cells(entry) for entry in matrix.entries]
    titles = list_titles(matrix)
    widths = [max(len(row[column]) for row in [titles, *rows]) for column in range(len(titles))]
    widths[0] = max(SHORTEST, min(widths[0], width - sum(widths[1:]) - 2 * len(widths)))
    yield _join(titles, widths, width)
    kernel = None
    for entry, row in zip(matrix.entries, rows, strict=True):
        if entry.kernel != kernel:
            kernel = entry.kernel
            yield cut_middle(kernel, width)
        yield _join(row, widths, width)
    yield ""
    for entry in matrix.entries:
        yield from _explain(entry, width)
    yield from wrap(describe_outcome(matrix), width)


def _join(row: tuple[str, ...], widths: list[int], width: int) -> str:
    name = cut_middle(row[0], widths[0]).ljust(widths[0])
    cells = [cell.ljust(size) for cell, size in zip(row[1:], widths[1:], strict=True)]
    return "  ".join(["  " + name, *cells]).rstrip()[:width]


def _explain(entry: Entry, width: int) -> Iterator[str]:
    if not entry.has_failed and not entry.missing:
        return
    yield from wrap(f"{describe_failure(entry)}: {find_reason(entry)}", width)
    for line in [line for line in escape_lines(entry.detail).splitlines() if line.strip()][-MOST_LOGGED:]:
        yield cut_middle(f"    {line}", width)
    yield ""


def list_titles(matrix: KernelMatrix) -> tuple[str, ...]:
    """Return the titles of the columns of `list_cells`."""
    return ("arm", "loads", f"survives {matrix.seconds} s", "longest wait", "speed against default")


def list_cells(entry: Entry) -> tuple[str, ...]:
    """Return an arm, whether it loads and attaches, whether it survives stress, its longest wait and its speed."""
    if entry.refused or entry.missing:
        return (entry.arm, "not tried" if entry.missing else "no", "", "", "")
    survives = "no" if entry.stress else "" if entry.stressed_s is None else "yes"
    wait = "" if entry.longest_wait_ms is None else f"{entry.longest_wait_ms:.4g} ms"
    return (entry.arm, "yes", survives, wait, describe_speed(entry))


def describe_speed(entry: Entry) -> str:
    """Return the change against the kernel's own scheduler with interval and verdict; empty if it was not taken."""
    speed = entry.speed
    if speed is None:
        return ""
    percent, found = speed.percent, speed.percent_interval
    change = "-" if percent is None else format_change(percent, 1)
    interval = f" {format_change_range(found, percent or 0.0, 1)}" if found else ""
    return f"{change}{interval} {speed.verdict or ''}".rstrip()


def describe_failure(entry: Entry) -> str:
    """Return what failed, or was not tried, where."""
    what = "does not load or attach" if entry.refused else "was not tried" if entry.missing else "failed under stress"
    return escape_line(f"{entry.arm} {what} on {entry.kernel}")


def find_reason(entry: Entry) -> str:
    """Return why it failed or was not tried; empty where neither is so."""
    return escape_line(entry.refused or entry.missing or entry.stress)


def describe_outcome(matrix: KernelMatrix) -> str:
    """Return the answer in a sentence."""
    planned = len(matrix.kernels) * len(matrix.arms)
    failed = [entry for entry in matrix.entries if entry.has_failed]
    done = sum(entry.is_complete for entry in matrix.entries)
    untried = f"{len(matrix.untried)} of {planned} not tried, as something is missing: {_name(matrix.untried)}."
    if failed:
        text = f"{len(failed)} of {planned} fail: {_name(failed)}."
        return f"{text} {untried}" if matrix.untried else text
    if matrix.untried:
        return untried
    if done < planned:
        return f"Provisional, {done} of {planned}: none fails so far."
    slower = matrix.slower
    stress = f"{matrix.seconds} virtual second{'' if matrix.seconds == 1 else 's'} of stress"
    if planned == 1:
        speed = " It is slower than the kernel's own scheduler." if slower else ""
        return f"{matrix.arms[0]} loads and attaches on {matrix.kernels[0]} and survives {stress}.{speed}"
    speed = f" {len(slower)} of them slower than the kernel's own scheduler." if slower else ""
    return f"All {planned} load, attach and survive {stress}.{speed}"


def _name(entries: Sequence[Entry]) -> str:
    named = ", ".join(f"{entry.arm} on {entry.kernel}" for entry in entries[:4])
    return f"{named} and {len(entries) - 4} more" if len(entries) > 4 else named


def render_junit(matrix: KernelMatrix) -> str:
    """Return JUnit's XML: a test for each arm on each kernel, an error where it was not tried."""
    entries = {(entry.kernel, entry.arm): entry for entry in matrix.entries}
    cases = [
        _make_case(entries.get((kernel, arm), Entry(kernel, arm))) for kernel in matrix.kernels for arm in matrix.arms
    ]
    return junit.render("runoff matrix", cases, describe_outcome(matrix))


def _make_case(entry: Entry) -> junit.Case:
    if entry.has_failed:
        outcome = "refused" if entry.refused else "failed under stress"
        return junit.Case(
            entry.kernel, entry.arm, "failure", outcome, f"{describe_failure(entry)}: {find_reason(entry)}"
        )
    if entry.missing:
        return junit.Case(
            entry.kernel, entry.arm, "error", "missing", f"{describe_failure(entry)}: {find_reason(entry)}"
        )
    if not entry.is_complete:
        text = escape_line(f"{entry.arm} on {entry.kernel} is not complete: give the same command again")
        return junit.Case(entry.kernel, entry.arm, "error", "not complete", text)
    return junit.Case(entry.kernel, entry.arm)


def render_markdown(matrix: KernelMatrix) -> str:
    """Return a table for an issue or a job's summary."""
    titles = ("kernel", *list_titles(matrix))
    lines = [f"**{escape(describe_outcome(matrix))}**", "", f"| {' | '.join(map(escape, titles))} |"]
    lines.append("|" + "---|" * len(titles))
    for entry in matrix.entries:
        lines.append("| " + " | ".join(escape(cell) for cell in (entry.kernel, *list_cells(entry))) + " |")
    lines.append("")
    lines += [
        f"- {escape(entry.arm)} on {escape(entry.kernel)}: {escape(find_reason(entry))}"
        for entry in matrix.entries
        if entry.has_failed or entry.missing
    ]
    return "\n".join(lines).rstrip() + "\n"


def render_json(matrix: KernelMatrix) -> str:
    """Return one document, keys in a fixed order."""
    return dump(
        {
            "schema": SCHEMA,
            "version": __version__,
            "clock": matrix.clock,
            "kernels": list(matrix.kernels),
            "arms": list(matrix.arms),
            "stress_seconds": matrix.seconds,
            "work": matrix.work,
            "outcome": describe_outcome(matrix),
            "exit_code": matrix.exit_code,
            "entries": [_make_entry(entry) for entry in matrix.entries],
        }
    )


def _make_entry(entry: Entry) -> dict[str, Any]:
    speed = entry.speed
    interval = None if speed is None else speed.percent_interval
    return {
        "kernel": entry.kernel,
        "arm": entry.arm,
        "loads": None if entry.missing else not entry.refused,
        "survives": None if entry.refused or (not entry.stress and entry.stressed_s is None) else not entry.stress,
        "tried": not entry.missing,
        "reason": find_reason(entry) or None,
        "longest_wait_ms": entry.longest_wait_ms,
        "change_percent": None if speed is None or speed.percent is None else round_significant(speed.percent),
        "interval_percent": None
        if interval is None
        else [round_significant(interval.low), round_significant(interval.high)],
        "verdict": None if speed is None or speed.verdict is None else speed.verdict.word,
    }
