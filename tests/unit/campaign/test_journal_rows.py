"""The content of a journal is not trusted: a user, another program or a bad disk may have written it."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import journals
import pytest
from click.testing import CliRunner

from runoff.campaign import directory
from runoff.campaign.journal.database import FILE
from runoff.campaign.journal.journal import Journal
from runoff.cli.main import cli
from runoff.engines.outcome import ValidSample, VoidSample
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.order import draw
from runoff.plan.settings import parse_settings
from runoff.results import Conditions

CELLS = draw(2, 1, [2], seed=1)
OTHER_SEED = next(seed for seed in range(2, 99) if draw(2, 1, [2], seed=seed)[0].arm != CELLS[0].arm)
CONDITIONS = Conditions("2026-01-02T03:04:05.006+00:00", 0.25, frequency_khz=2400000)
PARTS = [
    {
        "runoff": {"version": "0.1.0", "engine": "lab", "clock": "virtual"},
        "arms": {"default": {"scheduler": "EEVDF"}},
        "kernel": {"release": "7.2"},
    }
]


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    values = {"arms": ["default", "bfs"], "workloads": ["hackbench"], "blocks": 2, "seed": 1, "clock": "virtual"}
    with directory.create(tmp_path / "c", make_plan(parse_settings(values, "test"))) as journal:
        journal.set_fact("parts", PARTS)
        journal.set_fact("warnings", ["slow"])
        first, second = CELLS[:2]
        arms = ["default", "bfs"]
        taken = ValidSample({"elapsed_s": 1.5}, {"object": ""})
        journal.add(first, arms[first.arm], "hackbench", "", taken, CONDITIONS, seconds=2.0)
        journal.add(second, arms[second.arm], "hackbench", "", VoidSample("ejected", "log"), CONDITIONS, seconds=3.0)
    return tmp_path / "c"


def edit_sample(campaign: Path, column: str, value: Any) -> None:
    """Put ``value`` in the valid sample, with a chain that is right again."""

    def change(sample: dict[str, Any]) -> dict[str, Any]:
        return {**sample, column: value} if sample["valid"] else sample

    journals.forge_samples(campaign, change)


def refused(campaign: Path) -> str:
    with pytest.raises(UsageError) as caught:
        directory.read_results(campaign)
    text = str(caught.value)
    assert str(campaign) in text
    assert "\n" not in text
    return text


def test_what_runoff_wrote_is_read(campaign: Path) -> None:
    first, second = directory.read_results(campaign).samples
    assert (first.metrics, first.conditions, first.valid) == ({"elapsed_s": 1.5}, CONDITIONS, True)
    assert (second.metrics, second.reason, second.detail, second.valid) == ({}, "ejected", "log", False)


def test_a_whole_number_is_a_metric_too(campaign: Path) -> None:
    edit_sample(campaign, "metrics", {"elapsed_s": 2})
    assert directory.read_results(campaign).samples[0].metrics == {"elapsed_s": 2}


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("metrics", [1.5], "metrics: it must be a table, not"),
        ("metrics", None, "metrics: it must be a table, not"),
        ("metrics", {"elapsed_s": "1.5"}, "metrics.elapsed_s: it must be a number, not"),
        ("metrics", {"elapsed_s": True}, "metrics.elapsed_s: it must be a number, not"),
        ("metrics", {"elapsed_s": None}, "metrics.elapsed_s: it must be a number, not"),
        (
            "metrics",
            {"elapsed_s": float("nan")},
            "metrics.elapsed_s: it must be a number that is neither infinite nor nan",
        ),
        (
            "metrics",
            {"elapsed_s": float("-inf")},
            "metrics.elapsed_s: it must be a number that is neither infinite nor nan",
        ),
        ("proof", [], "proof: it must be a table, not"),
        ("conditions", {"load1": 1}, "conditions.started: it is missing"),
        ("conditions", {"started": "x", "load1": "1"}, "conditions.load1: it must be a number, not"),
        (
            "conditions",
            {"started": "x", "load1": float("nan")},
            "conditions.load1: it must be a number that is neither infinite nor nan",
        ),
        ("conditions", {"started": 5, "load1": 1}, "conditions.started: it must be a text, not"),
        ("conditions", {"started": "x", "load1": 1, "more": 1}, "conditions.more: Unexpected keyword argument"),
        ("conditions", {"started": "x", "load1": 1}, "Invalid isoformat string: 'x'"),
        ("conditions", {"started": "2026-01-02", "load1": 1}, "it began at 2026-01-02, of no time zone"),
        ("valid", 2, "valid: it must be true or false, not"),
        ("valid", False, "a valid sample has no reason, a void one has one"),
        ("reason", "ejected", "a valid sample has no reason, a void one has one"),
        ("block", 1, "block: the plan has 0, not 1"),
        ("position", 7, "position: the plan has 0, not 7"),
        ("arm", "o1", "arm: the plan has "),
        ("workload", "counters", "workload: the plan has 'hackbench', not 'counters'"),
        ("load", "io", "load: the plan has '', not 'io'"),
        ("part", 1, "part: nothing is known of part 1"),
        ("part", -1, "part: -1 is not at least 0"),
        ("seconds", -1.0, "seconds: -1.0 is not at least 0"),
    ],
)
def test_a_sample_of_another_kind_is_named(campaign: Path, column: str, value: Any, sentence: str) -> None:
    edit_sample(campaign, column, value)
    text = refused(campaign)
    assert f"is damaged (sample {CELLS[0].id}: {sentence}" in text
    assert text.endswith("copy the campaign back from a backup")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("parts", "{}", "parts: it must be a list, not"),
        ("parts", "[1]", "parts: 0: it must be a table, not"),
        ("parts", "not JSON", "parts: it is not JSON"),
        ("parts", json.dumps([{**PARTS[0], "arms": []}]), "parts: 0.arms: it must be a table, not"),
        (
            "parts",
            json.dumps([{**PARTS[0], "arms": {"default": {"scheduler": 5}}}]),
            "parts: 0.arms.default.scheduler: ",
        ),
        ("parts", json.dumps([{**PARTS[0], "kernel": 7}]), "parts: 0.kernel: it must be a table, not"),
        ("parts", json.dumps([{**PARTS[0], "runoff": {}}]), "parts: 0.runoff.version: it is missing"),
        ("warnings", '"slow"', "warnings: it must be a list, not"),
        ("warnings", "[5]", "warnings: 0: it must be a text, not"),
        ("outline", "{}", "outline: clock: it is missing"),
        ("definitions", "[]", "definitions: it must be a table, not"),
        ("objects", '{"./my.bpf.o": 5}', "objects: ./my.bpf.o: it must be a text, not"),
        ("version", "1", "version: it must be a text, not"),
        ("settings", "not JSON", "settings: it is not JSON"),
    ],
)
def test_a_fact_of_another_kind_is_named(campaign: Path, key: str, value: str, sentence: str) -> None:
    journals.forge_fact(campaign, key, value)
    assert f"is damaged (fact {sentence}" in refused(campaign)


def changed(campaign: Path, key: str, *path: str | int, to: Any) -> None:
    """Put ``to`` at a place inside the fact ``key``."""
    whole = inner = journals.read_fact(campaign, key)
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    journals.forge_fact(campaign, key, json.dumps(whole))


@pytest.mark.parametrize(
    ("key", "path", "to", "sentence"),
    [
        ("outline", ["arms"], ["default", "default"], "outline: arms has a label twice"),
        ("outline", ["arms"], [], "outline: arms: it is empty"),
        ("outline", ["metrics"], {}, "outline: metrics is not of these workloads"),
        ("outline", ["parameters", "x"], {}, "outline: parameters is not of these workloads"),
        ("outline", ["metrics", "hackbench", 0, "direction"], "up", "hackbench.0.direction: it must be 'lower', "),
        (
            "definitions",
            ["workloads", "hackbench", "toml"],
            "x",
            "the text of the definition is not that of its digest",
        ),
        (
            "parts",
            [0, "runoff", "clock"],
            "real",
            "its samples are of lab, real clock, the plan's of lab, virtual clock",
        ),
        ("parts", [0, "runoff", "engine"], "host", "its samples are of host, virtual clock, the plan's of lab"),
        ("settings", ["seed"], OTHER_SEED, "the plan has"),
        ("settings", ["seed"], None, "settings: seed: there is none"),
        ("settings", ["blocks"], 0, "is not at least 1"),
        ("settings", ["load_blocks"], {"": 0}, "is not at least 1"),
    ],
)
def test_facts_that_do_not_belong_together_are_named(
    campaign: Path, key: str, path: list[str | int], to: Any, sentence: str
) -> None:
    changed(campaign, key, *path, to=to)
    assert sentence in refused(campaign)


@pytest.mark.parametrize("key", ["settings", "outline", "definitions", "objects", "version"])
def test_a_fact_that_is_gone_is_named(campaign: Path, key: str) -> None:
    journals.forge_fact(campaign, key, None)
    assert f"has no {key}: copy the campaign back from a backup" in refused(campaign)


def test_a_sample_of_another_block_than_there_are_is_named(campaign: Path) -> None:
    edit_sample(campaign, "cell", "b9.w0.a0")
    assert f"sample {CELLS[0].id}: it says that it is of b9.w0.a0" in refused(campaign)
    journals.forge(campaign, lambda rows: [(k, "b9.w0.a0" if "b9.w0" in b else s, b) for k, s, b in rows])
    assert "sample b9.w0.a0: the plan has none of that name" in refused(campaign)


def test_an_arm_that_is_two_objects_is_named(campaign: Path) -> None:
    """A sample of bfs and one of another object are not two samples of one arm, whatever led to it."""
    arms = ["default", "bfs"]
    with Journal.open(campaign, write=True) as journal:
        for cell in CELLS[2:]:
            digest = "b" * 64
            journal.add(cell, arms[cell.arm], "hackbench", "", ValidSample({"elapsed_s": 1.0}, {"object": digest}))
    arm = arms[CELLS[0].arm]
    again = next(cell for cell in CELLS[2:] if cell.arm == CELLS[0].arm)
    assert f"the arm '{arm}' had the object none in sample {CELLS[0].id} and bbbbbbbbbbbb in {again.id}" in refused(
        campaign
    )


@pytest.mark.parametrize("form", [(), ("--json", "--html", "page.html")])
@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("samples", "metrics", "text"), ("samples", "metrics", None), ("samples", "metrics", [1]),
        ("samples", "metrics", {"elapsed_s": float("nan")}), ("samples", "metrics", {"elapsed_s": "fast"}),
        ("samples", "proof", 5), ("samples", "conditions", {"colour": 1}), ("samples", "arm", "nobody"),
        ("samples", "block", -7), ("samples", "cell", "nonsense"), ("samples", "workload", "\N{OWL}"),
        ("samples", "colour", "red"),
        ("facts", "settings", "not JSON"), ("facts", "settings", '{"arms": []}'), ("facts", "parts", "7"),
        ("facts", "warnings", "{}"), ("facts", "outline", "[]"), ("facts", "version", "null"),
    ],
)  # fmt: skip
def test_a_report_of_what_a_hand_has_edited_is_one_sentence(
    campaign: Path, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...], table: str, column: str, value: Any
) -> None:
    monkeypatch.chdir(campaign)
    if table == "facts":
        journals.forge_fact(campaign, column, value)
    else:
        edit_sample(campaign, column, value)
    result = CliRunner().invoke(cli, ["report", str(campaign), *form])
    assert isinstance(result.exception, UsageError), result.output
    assert (result.stdout, str(result.exception).count("\n")) == ("", 0)
    assert str(campaign) in str(result.exception)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"blocks": "2"}, "blocks: it must be a whole number, not"),
        ({"seed": True}, "seed: it must be a whole number, not"),
        ({"colour": 1}, "colour: there is no such key"),
    ],
)
def test_a_plan_of_another_kind_is_named(campaign: Path, change: dict[str, Any], sentence: str) -> None:
    with Journal.open(campaign, write=False) as journal:
        settings = journal.fact("settings")
    journals.forge_fact(campaign, "settings", json.dumps({**settings, **change}))
    assert sentence in refused(campaign)


@pytest.mark.parametrize("settings", ["[]", "5"])
def test_a_plan_that_is_not_a_table_is_named(campaign: Path, settings: str) -> None:
    journals.forge_fact(campaign, "settings", settings)
    assert "fact settings: it must be a table, not" in refused(campaign)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE entries",
        "DROP TABLE head",
        "ALTER TABLE entries ADD COLUMN colour TEXT",
        "CREATE TABLE more (colour TEXT)",
        "CREATE TRIGGER more AFTER INSERT ON entries BEGIN DELETE FROM head; END",
        "DROP INDEX one_sample_a_cell",
    ],
)
def test_a_journal_of_other_tables_is_damaged(campaign: Path, statement: str) -> None:
    with closing(sqlite3.connect(campaign / FILE)) as connection:
        connection.execute(statement)
    assert refused(campaign).endswith(f"{FILE} is damaged: copy the campaign back from a backup")


@pytest.mark.parametrize("toml", ["x = [", "metrics = 3", "[metrics]\nm = 5"])
def test_a_definition_that_is_not_one_is_named(campaign: Path, toml: str) -> None:
    """The digest is right, so that only its content tells."""
    stored = {"sha256": hashlib.sha256(toml.encode()).hexdigest(), "toml": toml}
    changed(campaign, "definitions", "workloads", "hackbench", to=stored)
    assert "journal.sqlite is damaged (" in refused(campaign)
