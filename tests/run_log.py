"""A pytest plug-in that logs each test as it begins and ends, in case the machine is lost."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import pytest

BAD = ("failed", "skipped")


@dataclass
class RunLog:
    """The outcomes of tests, by their ids."""

    failures: dict[str, str] = field(default_factory=dict)
    """Why a test that has ended failed or was skipped, or an empty text."""
    cut: str | None = None
    """The one that had begun when the machine was lost."""


def read(file: Path) -> RunLog:
    """An absent file is one in which nothing began."""
    run_log = RunLog()
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            break  # Half a line is the last.
        if "failure" in entry:
            run_log.failures[entry["test"]] = entry["failure"]
            run_log.cut = None
        else:
            run_log.cut = entry["test"]
    return run_log


class Writer:
    """Writes each line out at once."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._bad: list[str] = []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._bad = []
        self._write({"test": nodeid})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome in BAD:
            self._bad.append(f"{report.when} {report.outcome}: {report.longreprtext or report.longrepr}")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._write({"test": nodeid, "failure": "\n".join(self._bad)})

    def _write(self, line: dict[str, str]) -> None:
        print(json.dumps(line), file=self._out, flush=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-log", type=Path, help="write each test's beginning and end into this file")


def pytest_configure(config: pytest.Config) -> None:
    file: Path | None = config.getoption("--run-log")
    if file is not None:
        config.pluginmanager.register(Writer(file.open("a")))
