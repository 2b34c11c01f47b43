"""No text of others is computed by a spreadsheet, and all of it is read back as it was."""

import csv
import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from runoff import load
from runoff.cli.main import cli
from runoff.separated import render_rows, restore_text

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", '=cmd|"/C calc"!A0', "'=1", "''=1", "\t=1", "＝1", "-5%"]
HARMLESS = ["bfs", "-5", "+1e9", "-inf", "a=b", "'", "it's", "", "'bfs"]


def read(table: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table, newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text(text: str) -> None:
    ((written,),) = read(render_rows([[text]]))
    assert written == f"'{text}"
    assert restore_text(written) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_and_numbers_are_as_they_are(text: str) -> None:
    assert read(render_rows([[text, "x"]])) == [[text, "x"]]
    assert restore_text(text) == text


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0")), min_size=2, max_size=4))
def test_any_text_is_read_back(row: list[str]) -> None:
    (written,) = read(render_rows([row]))
    assert [restore_text(field) for field in written] == row


def test_numbers_keep_every_digit_and_nothing_is_empty() -> None:
    assert render_rows([[0.1 + 0.2, -1.0, 3, None, True]]) == "0.30000000000000004,-1.0,3,,True\n"


def test_arms_that_are_formulas_survive_import_report_and_import(tmp_path: Path) -> None:
    """The first file is of somebody who knows nothing of apostrophes."""
    arms = ["=1+1", '=cmd|"/C calc"!A0']
    quoted = ['"' + arm.replace('"', '""') + '"' for arm in arms]
    runs = [f"{run},{run}.5,{run + 1}.25" for run in range(1, 9)]
    (tmp_path / "n.csv").write_text("\n".join([f"run,{','.join(quoted)}", *runs]) + "\n")
    words = ("--unit", "s", "--better", "lower")
    first, again, table = (tmp_path / name for name in ("first", "again", "t.csv"))

    def run(*words: str | Path) -> None:
        result = CliRunner().invoke(cli, [*map(str, words)], standalone_mode=False)
        assert result.exception is None, result.exception

    run("import", tmp_path / "n.csv", *words, "--out", first)
    run("report", first, "--csv", table)
    fields = {field for row in csv.reader(io.StringIO(table.read_text())) for field in row}
    assert {f"'{arm}" for arm in arms} <= fields
    assert [field for field in fields if field.startswith(("=", "@"))] == []
    run("import", table, "--out", again)
    assert list(load(first).arms) == list(load(again).arms) == arms
