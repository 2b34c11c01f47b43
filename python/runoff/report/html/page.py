"""The report as one self-contained page: whole without its script, and nothing is loaded."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from runoff.analysis import why
from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.decide.next_blocks import list_next_blocks
from runoff.report.data import document
from runoff.report.figures import disk_times, forest, heat, timeline
from runoff.report.figures.svg import markers
from runoff.report.figures.tables import draw_responses, draw_table
from runoff.report.html.templating import embed_json, load_template
from runoff.report.words import load_rows, why_rows, wording
from runoff.report.words.about import list_descriptions
from runoff.report.words.campaign_warnings import describe_campaign
from runoff.report.words.counterparts import describe_undrawn
from runoff.report.words.machine_rows import TITLES, describe_agreement, describe_disagreement, list_machine_rows
from runoff.report.words.next_steps import list_next_steps
from runoff.report.words.numbers import Scale
from runoff.report.words.question import describe_question, list_facts
from runoff.report.words.rows import (
    list_comparison_rows,
    list_heat_rows,
    list_overall_rows,
    list_result_rows,
    list_run_rows,
    list_spread_rows,
    list_summary_rows,
    split_constants,
)
from runoff.report.words.sentences import render_verdict
from runoff.report.words.warnings import describe_warnings


def render(report: Report) -> str:
    """Return the page; same report, same bytes."""
    panels = why.build(report)
    opened, constants = split_constants(report)
    picture, machines = forest.draw(report), report.split_machines()
    return load_template("page.html.j2").render(
        report=report,
        results=report.results,
        title=wording.describe_title(report).replace("  ", ", "),
        question=describe_question(report),
        facts=list(list_facts(report)),
        descriptions=list_descriptions(report),
        arms=list(report.results.arms),
        order=wording.describe_order(report),
        seed=wording.describe_seed(report).removeprefix(", "),
        units=wording.name_unit(report),
        legend=wording.list_legend(report),
        verdict=render_verdict(report),
        voids=tuple(wording.list_voids(report)),
        warnings=[*describe_campaign(report), *describe_disagreement(report.headline)],
        summary=list_summary_rows(report, opened),
        heat=[
            (wording.render_matrix_heading(m), Markup(heat.draw(m)), list_heat_rows(m)) for m in load_rows.build(report)
        ],
        overall=wording.render_overall_heading(report.overall) if report.overall else "",
        overall_rows=list_overall_rows(report.overall) if report.overall else [],
        markers=Markup(markers(len(report.results.arms))),
        why=_panels(report, panels),
        why_note=wording.describe_why_note(panels),
        forest=Markup(picture),
        narrow_forest=Markup(forest.draw(report, forest.NARROW)),
        forest_band=forest.has_band(picture),
        undrawn=describe_undrawn(report),
        next_steps=list(list_next_steps(list(list_next_blocks(report)), Path("DIR"))),
        responses=[Markup(picture) for _, picture in draw_responses(report)],
        disk=_disk(report),
        machine_titles=TITLES,
        sections=[_section(report, machines, table, anchor) for anchor, table in opened],
        constants=constants,
        method=wording.describe_method(report),
        data=embed_json(document.render(report, indent=None)),
    )


def _panels(report: Report, panels: Sequence[why.Explanation]) -> dict[str, list[dict[str, object]]]:
    """Return the panels by workload and load, so that all arms share a table."""
    anchors = {id(table): f"t{number}" for number, table in enumerate(report.tables, 1)}
    places: dict[str, list[dict[str, object]]] = {}
    for panel in panels:
        found = why_rows.list_rows(panel, report.baseline)
        rows = [(anchors[id(reason.table)], row) for reason, row in zip(panel.reasons, found, strict=True)]
        shown: dict[str, object] = {"arm": panel.arm, "share": wording.describe_why_share(panel), "rows": rows}
        places.setdefault(panel.place, []).append(shown)
    return places


def _disk(report: Report) -> dict[str, list[tuple[str, Markup]]]:
    """Return by workload and load the caption and picture of each arm's timeline."""
    places: dict[str, list[tuple[str, Markup]]] = {}
    for each in disk_times.build(report):
        places.setdefault(each.place, []).append((each.caption, Markup(timeline.draw(each))))
    return places


def _section(report: Report, machines: Mapping[str, Report], table: Table, anchor: str) -> dict[str, object]:
    return {
        "anchor": anchor,
        "table": table,
        "heading": wording.render_short_heading(table),
        "full": table.place if table.place != table.short_place else "",
        "has_values": bool(table.points),
        "block": "block" if report.results.is_paired else "run",
        "about": wording.describe_unit_and_direction(table),
        "parts": [_part(name, own, table.select_machine(name) if name else table) for name, own in machines.items()],
        "change": "change" if table.analysis.is_relative else "diff",
        "rows": list_result_rows(table, report.baseline),
        "comparisons": list_comparison_rows(table),
        "mean": wording.name_mean(table),
        "notes": [
            *describe_agreement(table),
            *wording.describe_unseen(table),
            *wording.describe_means(table),
            *wording.describe_heaps(table),
        ],
        "machines": [row.cells for row in list_machine_rows(table)],
        "warnings": describe_warnings(table.analysis),
    }


def _part(machine: str, report: Report, table: Table) -> dict[str, object]:
    """Return what is of one machine alone: pictures, quantiles and every run."""
    pictures = draw_table(report, table)
    return {
        "machine": machine,
        "unit": Scale.from_table(table).unit,
        "distribution": Markup(pictures.distribution),
        "order": Markup(pictures.order),
        "tail": Markup(pictures.tail),
        "quantiles": list_spread_rows(table),
        "runs": list_run_rows(report, table),
    }
