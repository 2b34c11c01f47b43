"""The JSON report against its schema in docs/schema, which says all that is in it."""

import json as stdlib_json
from dataclasses import fields, replace
from typing import Any, get_args, get_type_hints

import jsonschema
import pytest
import report_examples as examples
from checkout import ROOT

from runoff.analysis import build
from runoff.engine_kinds import ENGINES
from runoff.report.data import document as json
from runoff.results import IMPORTED, Results, Sample
from runoff.statistics import Comparison, Quantiles, Summary, Warning

SCHEMA = stdlib_json.loads((ROOT / "docs/schema/runoff.report.3.json").read_text())
GOLDEN = ROOT / "tests/golden/report/three.json"


def empty() -> Results:
    return replace(examples.three_arms(), samples=())


def constant() -> Results:
    cell = {arm: {"elapsed_s": (mean, 0.0), "migrations": (mean, 0.0)} for arm, mean in (("default", 5), ("bfs", 9))}
    return examples.campaign({"w": cell}, {"w": (examples.WALL, examples.MIGRATIONS)}, blocks=6)


def imported() -> Results:
    return replace(examples.two_arms(), engine=IMPORTED, is_paired=False)


def repeated() -> Results:
    once = examples.two_arms()
    return replace(once, repeats={"quantum=500": once, "quantum=2000": replace(once, samples=())})


@pytest.mark.parametrize(
    "results",
    [examples.three_arms, examples.two_arms, examples.loaded, examples.bonuses, empty, constant, imported, repeated,
     lambda: examples.wide(3, 9), lambda: examples.wide(1, 1), lambda: examples.wide(2, 3, blocks=1)],
)  # fmt: skip
def test_reports_are_as_the_schema_says(results: Any) -> None:
    jsonschema.validate(json.make_document(build.build_report(results())), SCHEMA)


def test_the_approved_report_is_as_the_schema_says() -> None:
    jsonschema.validate(stdlib_json.loads(GOLDEN.read_text()), SCHEMA)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"]["const"] == json.SCHEMA
    assert SCHEMA["properties"]["engine"]["enum"] == [*ENGINES, IMPORTED]


@pytest.mark.parametrize(
    ("name", "kind", "left_out", "instead"),
    [
        (
            "comparison",
            Comparison,
            {
                "arm",
                "verdict",
                "log_mean",
                "log_interval",
                "beyond",
                "is_sequential",
                "error",
                "df",
                "dependent",
                "runs_per_one",
            },
            {"percent", "percent_interval", "within", "sequential"},
        ),
        ("summary", Summary, {"arm", "quantiles"}, {field.name for field in fields(Quantiles)}),
    ],
)
def test_the_schema_has_all_fields(name: str, kind: type, left_out: set[str], instead: set[str]) -> None:
    """``left_out``: what is elsewhere in the document, or said as ``instead``."""
    assert {*SCHEMA["$defs"][name]["properties"]} == {field.name for field in fields(kind)} - left_out | instead
    assert {*SCHEMA["$defs"]["sample"]["properties"]} == {f.name for f in fields(Sample)} - {"conditions"} | {"warmup"}


def test_the_schema_knows_every_kind_of_warning() -> None:
    known = SCHEMA["$defs"]["table"]["properties"]["warnings"]["items"]["properties"]["kind"]["enum"]
    assert {*known} == {*get_args(get_type_hints(Warning)["kind"])}


@pytest.mark.parametrize("change", [("verdict", []), ("engine", "moon"), ("schema", "runoff.report/1"), ("more", 1)])
def test_what_is_wrong_is_refused(change: tuple[str, Any]) -> None:
    document = {**json.make_document(build.build_report(examples.two_arms())), change[0]: change[1]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)
