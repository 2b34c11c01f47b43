"""The report as one self-contained page: no script runs, nothing is loaded."""

from collections.abc import Sequence
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from runoff.report import json as document
from runoff.report import matrix, why, whytable, wording
from runoff.report import timeline as timelines
from runoff.report.figures import distribution, forest, heat, order, timeline
from runoff.report.htmltable import pair_rows, quantile_rows, result_rows, summary_rows, unpooled
from runoff.report.model import Report, Table
from runoff.report.numbers import Scale


def render(report: Report) -> str:
    """The page; same report, same bytes."""
    panels = why.build(report)
    return _template().render(
        report=report,
        results=report.results,
        title=wording.title(report).replace("  ", ", "),
        compared=" / ".join(report.results.arms),
        order=wording.order(report),
        legend=wording.legend(report),
        voids=tuple(wording.voids(report)),
        summary=summary_rows(report),
        heat=[(wording.matrix_heading(each), Markup(heat.draw(each))) for each in matrix.build(report)],
        why=_panels(report, panels),
        why_note=wording.why_note(panels),
        forest=Markup(forest.draw(report)),
        disk=_disk(report),
        sections=[_section(report, table, f"t{number}") for number, table in enumerate(report.tables, 1)],
        method=wording.method(report),
        data=Markup(_embedded(report)),
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("runoff.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["typeset"] = _typeset
    return environment.get_template("page.html.j2")


def _typeset(text: str) -> str:
    """What ASCII spells in the terminal."""
    return text.replace("+-", "±")


def _panels(report: Report, panels: Sequence[why.Why]) -> dict[str, list[dict[str, object]]]:
    """By place, so that all arms share a table."""
    anchors = {id(table): f"t{number}" for number, table in enumerate(report.tables, 1)}
    places: dict[str, list[dict[str, object]]] = {}
    for panel in panels:
        found = whytable.rows(panel, report.baseline)
        rows = [(anchors[id(reason.table)], row) for reason, row in zip(panel.reasons, found, strict=True)]
        shown: dict[str, object] = {"arm": panel.arm, "share": wording.why_share(panel), "rows": rows}
        places.setdefault(panel.place, []).append(shown)
    return places


def _disk(report: Report) -> dict[str, list[tuple[str, Markup]]]:
    """By place: caption and picture of each arm's timeline."""
    places: dict[str, list[tuple[str, Markup]]] = {}
    for each in timelines.build(report):
        places.setdefault(each.place, []).append((each.caption, Markup(timeline.draw(each))))
    return places


def _section(report: Report, table: Table, anchor: str) -> dict[str, object]:
    return {
        "anchor": anchor,
        "table": table,
        "heading": wording.heading(table),
        "unit": Scale.of(table).unit,
        "about": wording.unit_and_direction(table),
        "f_test": wording.f_test(table),
        "distribution": Markup(distribution.draw(table, report.baseline)),
        "order": Markup(order.draw(report, table)) if table.metric.headline else "",
        "change": "change" if table.analysis.relative else "diff",
        "rows": result_rows(table, report.baseline),
        "quantiles": quantile_rows(table),
        "pairs": pair_rows(table),
        "unpooled": unpooled(table),
        "warnings": [warning.text for warning in table.analysis.warnings],
    }


def _embedded(report: Report) -> str:
    """JSON that no HTML parser can mistake for the end of the script or a comment."""
    return document.render(report, indent=None).replace("<", "\\u003c").replace("&", "\\u0026")
