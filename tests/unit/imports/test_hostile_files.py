"""Files that no program meant to be read: each is refused in one sentence, and no campaign is left."""

import json
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from cli_runner import ask

from runoff.cli.main import cli
from runoff.errors import RunoffError, UsageError

WIDE = 131_073
"""One more character than the field of a table may have."""


def write_hyperfine(path: Path, *times: float, command: str = "a") -> None:
    result = {"command": command, "mean": 1.0, "times": [*times]}
    path.write_text(json.dumps({"results": [result, {**result, "command": "b", "times": [1.0, 2.0]}]}))


def make_half_pair(path: Path) -> None:
    write_hyperfine(path, 1.0, 2.0, command="X")
    path.write_text(path.read_text().replace('"X"', '"\\ud800"'))


def make_deep_fio(path: Path) -> None:
    path.write_text('{"fio version":"fio-3","jobs":' + "[" * 100_000)


def make_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 << 40)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a field that is too long": (
        lambda p: p.write_text(f"a,b\n1,{'2' * WIDE}\n"),
        "line 2 of it is not one of a table",
    ),
    "one long line": (lambda p: p.write_text("x" * WIDE), "line 1 of it is not one of a table"),
    "deep JSON": (make_deep_fio, "too deep to be read"),
    "huge times": (lambda p: write_hyperfine(p, 1e308, 1.7e308), "has 1e+308, which no measurement gives"),
    "tiny times": (lambda p: write_hyperfine(p, 5e-324, 1.0), "has 5e-324, which no measurement gives"),
    "a whole number of 400 digits": (lambda p: p.write_text(f"a,b\n1{'0' * 400},2\n3,4\n"), "is not a number"),
    "half a surrogate pair": (make_half_pair, "half a surrogate pair"),
    "10 TiB of nothing": (make_sparse, "it has more than 256 MiB"),
    "a pipe": (os.mkfifo, "it is not a file"),
    "a device": (lambda p: p.symlink_to("/dev/zero"), "it is not a file"),
    "UTF-16": (lambda p: p.write_bytes("a,b\n1,2\n".encode("utf-16")), "it is not text in UTF-8"),
    "a document of 65 MiB": (
        lambda p: p.write_text('{"results": [{"command": "a", "mean": 1, "times": [' + "1," * (33 << 20) + "1]}]}"),
        "it has more than 64 MiB, and no program's document is as long",
    ),
    "two million numbers": (
        lambda p: p.write_text('{"results": [{"command": "a", "mean": 1, "times": [' + "1," * 2_000_000 + "1]}]}"),
        "it has more than 1,000,000 values",
    ),
    "a table of two million numbers": (lambda p: p.write_text("a,b,c\n" + "1,2,3\n" * 700_000), "more than 1,000,000"),
    "a line of 200 MB": (lambda p: p.write_text("a," * 100_000_000), "line 1 has 200,000,000 characters"),
    "entities of entities": (
        lambda p: p.write_text(
            "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>"
            + "".join(f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in pairwise("abcdefghij"))
            + "]><PhoronixTestSuite><Result>&j;</Result></PhoronixTestSuite>"
        ),
        "it defines entities of XML",
    ),
    "blanks": (lambda p: p.write_text("a" + " " * 1_000_000 + "b\n1" + " " * 1_000_000 + "2\n"), "1,000,000 values"),
    "20,000 arms": (
        lambda p: p.write_text("\n".join(",".join(f"{c}{i}" for i in range(20_000)) for c in ("c", "1", "2"))),
        "these would be 20000 arms, and a report has at most 500",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence(tmp_path: Path, what: str) -> None:
    make, sentence = HOSTILE[what]
    make(tmp_path / "file.txt")
    with pytest.raises(UsageError) as caught:
        ask(cli, "import", tmp_path / "file.txt", "--unit", "s", "--better", "lower", "--out", tmp_path / "c")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("words", [["import", "NAME"], ["report", "NAME", "NAME2"], ["run", "NAME"], ["merge", "NAME"]])
def test_a_name_that_no_file_can_have_is_told(tmp_path: Path, words: list[str]) -> None:
    names = [word.replace("NAME", "n" * 300) for word in words]
    with pytest.raises((RunoffError, OSError)) as caught:
        ask(cli, *names, *(["--out", tmp_path / "c"] if words[0] in ("import", "merge") else []))
    assert not (tmp_path / "c").exists()
    if isinstance(caught.value, OSError):
        # Told in a sentence by main.
        assert caught.value.filename is not None
