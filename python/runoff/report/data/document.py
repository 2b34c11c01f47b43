"""The report as one JSON document; docs/reports.md describes its keys."""

from dataclasses import asdict, fields
from math import isfinite
from typing import Any

from runoff.analysis import why
from runoff.analysis.table import Table
from runoff.analysis.values import Overall, Report
from runoff.report.data.json_text import dump, make_head, round_significant
from runoff.report.words import sensitivity
from runoff.report.words.campaign_warnings import describe_campaign
from runoff.report.words.sentences import render_verdict
from runoff.report.words.warnings import describe_warning
from runoff.results import Sample
from runoff.statistics import Comparison, Interval, Quantiles, Summary, Verdict
from runoff.text import escape_lines

SCHEMA = "runoff.report/3"
"""Raised whenever a reader of the last version would misread this one."""


def render(report: Report, *, indent: int | None = 1) -> str:
    """Return all of the report and every sample, keys in a fixed order, no dates; samples keep full precision."""
    return dump(make_document(report), indent=indent)


_OF_MACHINES = ("between", "joint_interval")
"""Keys that a campaign of one machine has not."""
_NOT_TOLD = ("arm", "verdict", "log_interval", "error", "df", "dependent", "runs_per_one")
"""Attributes of a comparison that its place, its percent or its interval tells."""


def make_document(report: Report) -> dict[str, Any]:
    """Return then and now as plain values."""
    results = report.results
    return {
        **make_head(SCHEMA, results),
        "blocks": results.blocks,
        **({"machines": list(results.machines)} if results.machines else {}),
        "arms": list(results.arms),
        "baseline": report.baseline,
        "workloads": list(results.workloads),
        "loads": list(results.loads),
        "planned": results.planned,
        **_plain(asdict(results.stopping)),
        **({"members": _plain({k: asdict(v) for k, v in results.members.items()})} if results.members else {}),
        "verdict": list(render_verdict(report)),
        **({"account": list(results.account)} if results.account else {}),
        "warnings": describe_campaign(report),
        "sensitivity": [_survey(survey) for survey in sensitivity.collect_surveys(report.headline, report.repeats)],
        "overall": _overall(report.overall) if report.overall else None,
        "tables": [_table(table) for table in report.tables],
        "why": [_panel(panel) for panel in why.build(report)],
        "samples": [_sample(sample) for sample in results.samples],
        "fingerprint": _plain(results.fingerprint),
        "rerun": escape_lines(results.rerun),
        "plan": escape_lines(results.plan_text),
    }


def _survey(survey: sensitivity.Survey) -> dict[str, Any]:
    where = {"workload": survey.table.workload, "load": survey.table.load, "metric": survey.table.metric.name}
    repeated = {name: verdict.word if verdict else None for name, verdict in survey.repeated.items()}
    return {**where, "arm": survey.arm, "verdict": survey.here.word, **repeated, "survives": survey.has_survived}


def _overall(found: Overall) -> dict[str, Any]:
    of = [{"workload": t.workload, "load": t.load, "metric": t.metric.name} for t in found.tables]
    comparisons = found.analysis.comparisons if found.analysis else {}
    arms = {arm: _rounded(_comparison(comparison)) for arm, comparison in comparisons.items() if comparison.n}
    return {"of": of, "refused": found.refused, "arms": arms}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    ratio = {"percent": comparison.percent, "percent_interval": _interval(comparison.percent_interval)}
    found: dict[str, Any] = {}
    for key, value in asdict(comparison).items():
        if key == "log_mean":
            found |= ratio
        elif key == "beyond":
            found["within"] = comparison.is_within
        elif key == "is_sequential":
            found["sequential"] = value
        elif key not in _NOT_TOLD and not (key in _OF_MACHINES and value is None):
            found[key] = value
    return found


def _interval(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else asdict(interval)


def _table(table: Table) -> dict[str, Any]:
    analysis = table.analysis
    return {
        "workload": table.workload,
        "load": table.load,
        "metric": asdict(table.metric),
        "alpha": analysis.question.alpha,
        "margin": analysis.question.margin,
        "rare": analysis.question.rare,
        "judged_with": analysis.question.tables,
        "relative": analysis.is_relative,
        "arms": [_arm(table, arm) for arm in table.arms],
        "warnings": [{"kind": w.kind, "text": describe_warning(w, analysis)} for w in analysis.warnings],
        **({"machines": _machines(table)} if analysis.machines else {}),
    }


def _machines(table: Table) -> dict[str, Any]:
    """Return by machine what is known of each arm there."""
    return {name: [_arm(table.select_machine(name), arm) for arm in table.arms] for name in table.analysis.machines}


def _arm(table: Table, arm: str) -> dict[str, Any]:
    analysis = table.analysis
    summary = analysis.summaries.get(arm)
    comparison = _comparison(analysis.comparisons[arm])
    verdict = analysis.comparisons[arm].verdict
    return {
        "arm": arm,
        "void": table.count_lost(arm).void,
        "summary": _rounded(_summary(summary)) if summary else None,
        "against_baseline": _rounded(comparison),
        "verdict": verdict.word if isinstance(verdict, Verdict) else None,
    }


def _summary(summary: Summary) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in asdict(summary).items():
        if key == "quantiles":
            found |= value or dict.fromkeys(field.name for field in fields(Quantiles))
        elif key != "arm":
            found[key] = value
    return found


def _panel(panel: why.Explanation) -> dict[str, Any]:
    counters = [
        {"metric": reason.table.metric.name, "standardised": _rounded(reason.size) if isfinite(reason.size) else None}
        for reason in panel.reasons
    ]
    where = {"workload": panel.workload, "load": panel.load, "arm": panel.arm}
    return {**where, "separated": panel.separated, "compared": panel.compared, "counters": counters}


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "id": sample.id,
        "block": sample.block,
        "position": sample.position,
        "warmup": sample.is_warmup,
        "part": sample.part,
        **({"machine": sample.machine} if sample.machine else {}),
        **({"worker": sample.worker} if sample.worker else {}),
        "arm": sample.arm,
        "workload": sample.workload,
        "load": sample.load,
        "valid": sample.valid,
        "reason": sample.reason,
        "detail": sample.detail,
        "metrics": dict(sample.metrics),
        **({"cpu_limits": list(sample.cpu_limits.found)} if sample.cpu_limits.found else {}),
        **({"threads": asdict(sample.threads)} if sample.threads.realtime else {}),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, Interval):
        return {"low": _rounded(value.low), "high": _rounded(value.high)}
    if isinstance(value, (list, tuple)):
        return [_rounded(inner) for inner in value]
    if isinstance(value, float):
        return round_significant(value) if isfinite(value) else None
    return value


def _plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
