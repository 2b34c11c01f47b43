"""Then and now side by side, as text and as plain values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runoff.analysis.environment import describe_kernels, summarise_facts
from runoff.published.catalogue import Report
from runoff.published.replicate import ComparedPair, Outcome, PresentCampaign, PresentResult, count_outcomes
from runoff.published.replication import Part
from runoff.report.words.layout import cut_middle, wrap
from runoff.report.words.numbers import format_percent_range
from runoff.results import NO_LOAD

Found = Sequence[tuple[Part, PresentCampaign | None, Sequence[ComparedPair]]]
"""Each part of a report with its campaign, if it was run, and its comparisons."""

WORKLOAD = 26
"""Most characters of a workload's label that are shown."""

LEGEND = (
    "Changes are of the time; the direction is what is compared. Reproduced: decided now, and the same as then. Not "
    "reproduced: decided now, and another one, or no more than 2 % now where it was more. Size too: the change of then "
    "lies in the interval of now. Nothing printed then tells how sure its changes were."
)


def render(report: Report, found: Found, width: int) -> str:
    """Return the differences first, then the comparisons, then the outcome."""
    about = report.about
    lines = wrap(f"{report.name}: {about.title}, {about.author}, {about.date}", width)
    for part, today, besides in found:
        lines += ["", f"plan {part.plan}", *_differences(report, part, today, width)]
        for title, pair in dict.fromkeys((one.title, one.pair) for one in besides):
            mine = [one for one in besides if (one.title, one.pair) == (title, pair)]
            lines += ["", *wrap(f"{title}: {pair}", width), *_table(mine)]
    lines += ["", summarise([one for _, _, besides in found for one in besides]), *wrap(LEGEND, width)]
    return "\n".join(lines) + "\n"


def summarise(besides: Sequence[ComparedPair]) -> str:
    """Return the number of comparisons with each outcome, in words."""
    return ", ".join(f"{number} {outcome.value}" for outcome, number in count_outcomes(besides).items())


def _differences(report: Report, part: Part, today: PresentCampaign | None, width: int) -> Iterator[str]:
    for name, text in report.about.then.items():
        yield from wrap(text, width, f"  then  {name:<11}", " " * 19)
    for name, text in _facts(today).items():
        yield from wrap(text, width, f"  now   {name:<11}", " " * 19)
    for text in part.differs:
        yield from wrap(text, width, "  differs: ", "           ")


def _facts(today: PresentCampaign | None) -> Mapping[str, str]:
    if today is None:
        return {"": "not run"}
    results = today.results
    known = {
        "machine": summarise_facts(results.fingerprint, "machine") or summarise_facts(results.fingerprint, "hardware"),
        "kernel": describe_kernels(results.fingerprint),
        "schedulers": ", ".join(results.arms),
        "measured": f"{results.engine}, {results.clock} clock, {results.blocks} blocks, runoff {results.version}",
    }
    return {name: text for name, text in known.items() if text}


def _table(besides: Sequence[ComparedPair]) -> Iterator[str]:
    ran = [one for one in besides if one.now is not None]
    rows = [["", "then", "now", "interval", "n", "", ""]]
    rows += [[one.row, describe_change(float(one.then.value)), *_render_now(one.now), _outcome(one)] for one in ran]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    workloads = dict.fromkeys(one.now.workload for one in ran if one.now is not None)
    for number, row in enumerate(rows if ran else []):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:5], widths[1:5], strict=True))]
        yield "  " + "  ".join([*cells, row[5].ljust(widths[5]), row[6]]).rstrip()
        assert number >= 0
    left = [one.row for one in besides if one.now is None]
    if ran:
        yield (
            "  now: "
            + ", ".join(cut_middle(text, WORKLOAD) for text in list(workloads)[:3])
            + (f" and {len(workloads) - 3} more" if len(workloads) > 3 else "")
        )
    if left:
        yield "  not run: " + (", ".join(left) if len(left) <= 8 else f"{', '.join(left[:8])} and {len(left) - 8} more")


def _render_now(now: PresentResult | None) -> list[str]:
    if now is None:
        return ["", "", "", ""]
    interval = format_percent_range(now.interval, 1) if now.interval is not None else "-"
    changed = describe_change(now.percent) if now.percent is not None else "-"
    return [changed, interval, str(now.n), str(now.verdict or "?")]


def _outcome(one: ComparedPair) -> str:
    size = one.outcome is Outcome.REPRODUCED and one.same_size
    return f"{one.outcome.value}, size too" if size else one.outcome.value


def describe_change(percent: float) -> str:
    """Return a change of the time in words."""
    shown = f"{abs(percent):.1f} %"
    if float(shown.removesuffix(" %")) == 0:
        return "same" if percent == 0 else "0.0 %"
    return f"{shown} {'faster' if percent < 0 else 'slower'}"


def make_document(report: Report, found: Found) -> dict[str, Any]:
    """Return then and now as plain values."""
    besides = [one for _, _, part in found for one in part]
    return {
        "name": report.name,
        "then": dict(report.about.then),
        "totals": {outcome.value: number for outcome, number in count_outcomes(besides).items()},
        "parts": [
            {
                "plan": part.plan,
                "differs": list(part.differs),
                "now": dict(_facts(today)),
                "comparisons": [_document(one) for one in mine],
            }
            for part, today, mine in found
        ],
    }


def _document(one: ComparedPair) -> dict[str, Any]:
    now = one.now
    values = None
    if now is not None:
        interval = [now.interval.low, now.interval.high] if now.interval is not None else None
        values = {
            "workload": now.workload,
            "load": now.load or NO_LOAD,
            "n": now.n,
            "change_pct": now.percent,
            "interval_pct": interval,
            "verdict": now.verdict.word if now.verdict is not None else None,
        }
    then = {"change_pct": float(one.then.value), "bounds_pct": [float(one.then.low), float(one.then.high)]}
    return {
        "title": one.title,
        "pair": one.pair,
        "row": one.row,
        "then": then,
        "now": values,
        "outcome": one.outcome.value,
    }
