"""Text of others is escaped in every terminal, mail and file; streams that are full or closed end nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import made_campaigns
import pytest
from click.testing import CliRunner

from runoff.cli.main import cli
from runoff.engines.outcome import VoidSample
from runoff.report.data.json_text import dump
from runoff.text import escape_line, escape_lines

NASTY = "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u2066 \x9b2J \x00 a\nb\rc \u200f\u2028"
"""Colours, a window's title, marks of direction, a control sequence of one byte, NUL and breaks of lines."""
ALLOWED = {"\n"}
BAD = {chr(code) for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
BAD |= {"\u200e", "\u200f", "\u2028", "\u2029", "\u061c"}


def found_bad(text: str, *allowed: str) -> list[str]:
    return sorted({repr(letter) for letter in text if letter in BAD - ALLOWED - set(allowed)})


def test_what_has_no_shape_is_written_as_python_writes_it() -> None:
    assert escape_line("plain \u00e9\u4e2d\u00a0 \U0001f600") == "plain \u00e9\u4e2d\u00a0 \U0001f600"
    assert escape_line("a\x1b[1m\u202e\n\x00") == "a\\x1b[1m\\u202e\\n\\x00"
    assert escape_lines("a\r\n\tb\x07\rc") == "a\n        b\\x07\\rc"
    assert found_bad(escape_line(NASTY)) == []
    assert escape_line(escape_line(NASTY)) == escape_line(NASTY)


def test_a_document_means_the_same_when_all_its_letters_are_printable() -> None:
    document = {NASTY: [NASTY, "plain \u00e9\u4e2d \U0001f600 \U000e0041"]}
    assert found_bad(dump(document)) == []
    assert "\U000e0041" not in dump(document)
    assert "\U0001f600" in dump(document)
    assert json.loads(dump(document)) == document


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every name that a user or a program can give is nasty."""
    folder = tmp_path_factory.mktemp("nasty")
    word = NASTY.replace("\x00", "")
    escaped = word.encode("unicode_escape").decode().replace("\\x", "\\u00")
    work = folder / "work.toml"
    work.write_text(
        f'title = "{escaped}"\ndescription = "{escaped}"\ncommand = ["true"]\n'
        f'[metrics.speed]\npattern = "([0-9]+)"\nunit = "{escaped}"\ndirection = "lower"\ntitle = "{escaped}"\n'
    )
    arm = f"b{word}b"
    place = made_campaigns.made(
        folder / "c", lambda cell: {"speed": 10.0 + cell.arm + cell.block, "elapsed_s": 1.0} if cell.block else None,
        arms=("default", arm), names={arm: "bfs"}, workloads=(str(work),), blocks=5, stop_after=6,
    )  # fmt: skip
    from runoff.campaign import directory

    plan, journal = directory.reopen(place)
    with journal:
        journal.set_fact("warnings", [NASTY])
        parts = [part.tables for part in journal.fact("parts")]
        parts[0]["machine"] = {NASTY: NASTY, "cpu_model": NASTY}
        journal.set_fact("parts", parts)
        for cell in plan.cells[6:]:
            label = plan.arms[cell.arm].label
            journal.add(cell, label, plan.works[0].label, "", VoidSample(f"failed: {NASTY}", f"{NASTY}\n{NASTY}"))
    return place


FORMS = [
    [], ["--mail"], ["--markdown"], ["--json"], ["--html", "/dev/stdout"], ["--csv", "/dev/stdout"],
    *(["--table", name] for name in ("classic", "relative", "graysky")),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_a_report_has_nothing_of_it(campaign: Path, form: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    result = CliRunner().invoke(cli, ["report", str(campaign), *form], color=True)
    output = result.output + capfd.readouterr().out + str(result.exception or "")
    assert found_bad(output) == []
    assert "red" in output


@pytest.mark.parametrize("words", [["gate"], ["gate", "--markdown"], ["gate", "--json"], ["blocks"], ["resume"]])
def test_other_commands_have_nothing_of_it(campaign: Path, words: list[str]) -> None:
    result = CliRunner().invoke(cli, [*words, str(campaign)], color=True)
    assert found_bad(result.output + str(result.exception or "").replace("\x00", "")) == []


MAIN = (sys.executable, "-c", "from runoff.cli.main import main; main()")


def shell(line: str, *words: str | Path) -> "subprocess.CompletedProcess[str]":
    """A shell's ``line``, in which ``"$@"`` is runoff with these words."""
    command = ["sh", "-c", line, "sh", *MAIN, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words",
    [["compare", NASTY.replace("\x00", "")], ["report", "/nowhere/" + NASTY.replace("\x00", "")], ["--x\x1b[1m"]],
)
def test_an_error_has_nothing_of_it(words: list[str]) -> None:
    done = shell('exec "$@"', *words)
    assert done.returncode == 64
    assert found_bad(done.stdout + done.stderr) == []


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return made_campaigns.made(tmp_path / "c", made_campaigns.noisy(0.0, 0.02), blocks=3)


@pytest.mark.parametrize("words", [["report"], ["report", "--json"], ["gate"], ["list"], ["--help"]])
@pytest.mark.parametrize(("line", "why"), [('"$@" >/dev/full', "No space left"), ('"$@" >&-', "it is closed")])
def test_a_full_or_closed_standard_output_is_a_sentence(plain: Path, words: list[str], line: str, why: str) -> None:
    more = {"list": ["schedulers"], "--help": []}.get(words[0], [str(plain)])
    done = shell(line, *words, *more)
    assert done.returncode == 1
    assert done.stderr == f"runoff: cannot write to standard output: {done.stderr.rpartition(': ')[2]}"
    assert why in done.stderr


@pytest.mark.parametrize("line", ['"$@" 2>/dev/full', '"$@" 2>&-', '"$@" 2>&- <&-'])
def test_a_full_or_closed_standard_error_changes_nothing(plain: Path, line: str) -> None:
    done = shell(line, "report", plain)
    assert (done.returncode, "VERDICT" in done.stdout) == (0, True)
    assert shell(line, "report", "/nowhere").returncode == 64


def test_all_streams_closed_end_it_with_the_code_alone(plain: Path) -> None:
    assert shell('"$@" >&- 2>&- <&-', "report", plain).returncode == 1
    assert shell('"$@" >&- 2>&- <&-', "resume", "/nowhere").returncode == 64


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a campaign on the host")
@pytest.mark.host
@pytest.mark.core
@pytest.mark.parametrize(("line", "code"), [("2>/dev/full", 0), ("2>&-", 0), (">/dev/full", 1), (">&- 2>&-", 1)])
def test_a_campaign_goes_on_without_a_reader_of_its_output(tmp_path: Path, line: str, code: int) -> None:
    work = ("compare", "default", "--work", "command:true", "--on", "host", "--blocks", "2", "--out", tmp_path / "c")
    done = shell(f'"$@" {line}', *work)
    assert done.returncode == code
    assert (tmp_path / "c/report.html").exists()
    assert shell('"$@"', "report", tmp_path / "c", "--json").stdout.count('"valid": true') == 2
