"""The report as one JSON document; docs/reports.md describes its keys."""

import json
from dataclasses import asdict
from math import isfinite
from typing import Any

from runoff.report import why
from runoff.report.model import Report, Table
from runoff.results import Sample
from runoff.statistics import Interval, Verdict

SCHEMA = "runoff.report/1"
"""Raised whenever a reader of the last version would misread this one."""

DIGITS = 7
"""Significant digits of computed numbers; fewer than numerical libraries agree on, more than data supports."""


def render(report: Report, *, indent: int | None = 1) -> str:
    """All of the report and every sample, keys in a fixed order, no dates; samples keep full precision."""
    return json.dumps(document(report), indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The same as plain values."""
    results = report.results
    return {
        "schema": SCHEMA,
        "version": results.version,
        "engine": results.engine,
        "clock": results.clock,
        "seed": results.seed,
        "blocks": results.blocks,
        "arms": list(results.arms),
        "baseline": report.baseline,
        "workloads": list(results.workloads),
        "loads": list(results.loads),
        "planned": results.planned,
        "verdict": list(report.sentences),
        "warnings": list(report.warnings),
        "tables": [_table(table) for table in report.tables],
        "why": [_panel(panel) for panel in why.build(report)],
        "samples": [_sample(sample) for sample in results.samples],
        "fingerprint": _plain(results.fingerprint),
        "rerun": results.rerun,
        "plan": results.plan_text,
    }


def _table(table: Table) -> dict[str, Any]:
    analysis = table.analysis
    return {
        "workload": table.workload,
        "load": table.load,
        "metric": asdict(table.metric),
        "alpha": analysis.question.alpha,
        "margin": analysis.question.margin,
        "relative": analysis.relative,
        "anova": _rounded(asdict(analysis.anova)) if analysis.anova else None,
        "arms": [_arm(table, arm) for arm in table.arms],
        "pairs": [_rounded(asdict(pair)) for pair in analysis.pairs],
        "warnings": [asdict(warning) for warning in analysis.warnings],
    }


def _arm(table: Table, arm: str) -> dict[str, Any]:
    analysis = table.analysis
    summary = analysis.summaries.get(arm)
    comparison = asdict(analysis.comparisons[arm])
    verdict = analysis.comparisons[arm].verdict
    del comparison["arm"], comparison["verdict"]
    return {
        "arm": arm,
        "void": table.voids_of(arm),
        "summary": _rounded({k: v for k, v in asdict(summary).items() if k != "arm"}) if summary else None,
        "against_baseline": _rounded(comparison),
        "verdict": verdict.word if isinstance(verdict, Verdict) else None,
        "letters": analysis.letters.get(arm, ""),
    }


def _panel(panel: why.Why) -> dict[str, Any]:
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
        "warmup": sample.warmup,
        "arm": sample.arm,
        "workload": sample.workload,
        "load": sample.load,
        "valid": sample.valid,
        "reason": sample.reason,
        "detail": sample.detail,
        "metrics": dict(sample.metrics),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, Interval):
        return {"low": _rounded(value.low), "high": _rounded(value.high)}
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
