"""Puts this folder on the import path, so that tests share ``report_examples``, and sets hypothesis and xdist up."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# Machines are shared: how long an example takes says nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A user who starts tests with sudo would not be a stranger to them.
for _name in ("SUDO_UID", "SUDO_GID"):
    os.environ.pop(_name, None)

HOST = "tests/host/"

IN_MEMORY = ("tests/unit/", "tests/golden/", "tests/property/", "tests/promises/")
"""Tests with files in memory: a journal is synced after each sample, which takes a slow disk 16 ms."""


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A new directory; in memory for some, where tests/alone has made room there."""
    if "RUNOFF_ALONE" not in os.environ or not request.node.nodeid.startswith(IN_MEMORY):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="tests-", dir="/run") as folder:
        yield Path(folder)


class ByGuest(LoadScopeScheduling):
    """Tests that share a guest stay in one process: those of a file, and all that need this machine's own files."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, _ = nodeid.partition("::")
        return HOST if path.startswith(HOST) else path


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByGuest:
    """Instead of what --dist names."""
    return ByGuest(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seconds-by-file", action="store_true", help="show how long the tests of each file took")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--seconds-by-file"):
        return
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    terminalreporter.section("seconds by file")
    for path, took in seconds.most_common():
        terminalreporter.write_line(f"{took:8.1f} s  {path}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The group that takes longest comes first."""
    items.sort(key=lambda item: not item.nodeid.startswith(HOST))
