"""`runoff report` and its options: which exclude each other, and what they make of a campaign."""

import io
from pathlib import Path

import pytest
import report_examples as examples
from click.testing import CliRunner, Result
from rich.cells import cell_len

from runoff.analysis import build
from runoff.cli.main import cli
from runoff.errors import UsageError
from runoff.report.terminal import mail, screen


@pytest.fixture
def campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the directory is called."""
    examples.stand_in(monkeypatch, lambda _: examples.three_arms())


def report(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["report", "directory", *map(str, words)])


@pytest.mark.usefixtures("campaign")
@pytest.mark.parametrize(
    ("words", "both"),
    [
        (("--json", "--markdown"), "--markdown and --json"),
        (("--mail", "--table", "classic"), "--mail and --table"),
        (("--requests", "1", "--table", "relative"), "--table and --requests"),
        (("--requests", "1", "--html", "x.html"), "--requests and --html"),
        (("--requests", "1", "--csv", "x.csv"), "--requests and --csv"),
        (("--requests", "1", "--figures", "x"), "--requests and --figures"),
    ],
)
def test_options_that_exclude_each_other_are_refused(words: tuple[str, ...], both: str) -> None:
    result = report(*words)
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == f"{both} exclude each other: give one of them"


@pytest.mark.usefixtures("campaign")
def test_files_and_one_form_go_together(tmp_path: Path) -> None:
    result = report("--html", tmp_path / "a.html", "--csv", tmp_path / "a.csv", "--json")
    assert result.stdout.startswith('{\n "schema"')
    assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "a.csv").read_text().startswith("id,engine")
    assert report("--csv", tmp_path / "again").stdout == ""


@pytest.mark.usefixtures("campaign")
@pytest.mark.parametrize(
    ("words", "has"),
    [
        (("--mail",), "Each arm is compared with the baseline within blocks"),
        (("--markdown",), "| arm | n |"),
        (("--table", "classic"), "Tukey-Kramer"),
        (("--table", "relative"), "(100.0%"),
        ((), "VERDICT"),
    ],
)
def test_forms(words: tuple[str, ...], has: str) -> None:
    result = report(*words)
    assert result.exit_code == 0
    assert has in result.stdout
    assert "\x1b" not in result.stdout


def test_an_arm_without_any_valid_sample_exits_with_2(monkeypatch: pytest.MonkeyPatch) -> None:
    every = {("w", "bfs", block): "exited" for block in range(3)}
    cells = {"w": {arm: {"elapsed_s": (1.0, 0.1)} for arm in ("default", "bfs")}}
    for voids, code in ((every, 2), ({}, 0)):
        results = examples.campaign(cells, {"w": (examples.WALL,)}, blocks=3, voids=voids)
        examples.stand_in(monkeypatch, lambda _, results=results: results)
        for form in ((), ("--json",), ("--mail",)):
            assert CliRunner().invoke(cli, ["report", "d", *form], standalone_mode=False).return_value == code


@pytest.mark.usefixtures("campaign")
def test_margin_and_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "within +-2 %, and what happens in 5 %" in report().stdout
    wide = report("--margin", "7.5%", "--rare", "0.2").stdout
    assert "within +-7.5 %, and what happens in 20 %" in " ".join(wide.split())
    for option in ("--margin", "--rare"):
        for wrong in ("0", "100%", "2", "-1%", "many"):
            assert report(option, wrong).exit_code == 2


@pytest.mark.usefixtures("campaign")
@pytest.mark.parametrize(
    ("sort", "arms"),
    [
        ("mean", ["bfs", "default", "zaphod:mode=eb"]),
        ("name", ["bfs", "default", "zaphod:mode=eb"]),
        ("plan", ["default", "bfs", "zaphod:mode=eb"]),
    ],
)
def test_sort(sort: str, arms: list[str]) -> None:
    table = report("--sort", sort).stdout.split("kernel-build: elapsed time (s")[1].splitlines()[2:5]
    assert [line.split()[0] for line in table] == arms


def test_sort_by_mean_is_not_by_name() -> None:
    cells = {
        "w": {"default": {"elapsed_s": (3.0, 0.1)}, "a": {"elapsed_s": (9.0, 0.1)}, "b": {"elapsed_s": (1.0, 0.1)}}
    }
    results = examples.campaign(cells, {"w": (examples.WALL,)}, blocks=5)
    orders = {sort: build.build_report(results, sort=sort).tables[0].arms for sort in ("mean", "name", "plan")}
    assert orders == {"mean": ("b", "default", "a"), "name": ("a", "b", "default"), "plan": ("default", "a", "b")}


@pytest.mark.usefixtures("campaign")
def test_eighty_columns_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.__stdout__", io.StringIO())
    assert max(map(len, report().stdout.splitlines())) == 80
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, report().stdout.splitlines())) <= 60


@pytest.mark.parametrize("arms", [2, 4, 6])
@pytest.mark.parametrize("metrics", [1, 20])
def test_a_mail_has_80_columns(arms: int, metrics: int) -> None:
    out = mail.render(build.build_report(examples.wide(arms, metrics, blocks=3)))
    assert max(map(len, out.splitlines())) <= 80
    assert out.isascii()


def test_names_of_wide_letters_do_not_overflow() -> None:
    """Chinese letters take two columns each."""
    name = "调度程序" * 6
    cells = {name * 2: {arm: {"elapsed_s": (10.0, 0.1)} for arm in ("default", name, f"{name}:x=1")}}
    built = build.build_report(examples.campaign(cells, {name * 2: (examples.WALL,)}, blocks=3))
    for out, width in ((mail.render(built), 80), (screen.render(built, 60), 60)):
        assert max(map(cell_len, out.splitlines())) <= width
