"""Imports in the working directory, and what their documents say."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_runner import ask

from runoff.cli.main import cli
from runoff.errors import UsageError

Document = dict[str, Any]


def write(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def take(*words: str) -> Document:
    document: Document = json.loads(ask(cli, "import", *words, "--out", "c", "--json").stdout)
    return document


def refuse(*words: str) -> str:
    with pytest.raises(UsageError) as caught:
        ask(cli, "import", *words, "--out", "c")
    assert not Path("c").exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def verdicts(document: Document) -> dict[tuple[str, str, str], str | None]:
    """Return the verdict of every arm but the baseline, by workload and metric."""
    return {
        (table["workload"], table["metric"]["name"], arm["arm"]): arm["verdict"]
        for table in document["tables"]
        for arm in table["arms"]
        if arm["arm"] != document["baseline"]
    }


def values(document: Document, metric: str = "value") -> dict[tuple[str, str], list[float]]:
    """Return the values of a metric by arm and workload."""
    found: dict[tuple[str, str], list[float]] = {}
    for sample in document["samples"]:
        if sample["valid"] and metric in sample["metrics"]:
            found.setdefault((sample["arm"], sample["workload"]), []).append(sample["metrics"][metric])
    return found


def rows(header: str, *lines: Iterable[object]) -> str:
    return "\n".join([header, *(",".join(map(str, line)) for line in lines)]) + "\n"


def take_counts(document: Document) -> dict[str, int]:
    (table,) = document["tables"]
    return {arm["arm"]: arm["summary"]["n"] for arm in table["arms"]}
