"""A terminal that goes away ends a campaign as a signal does: the sample that runs is finished, and nothing is lost."""

import fcntl
import os
import signal
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from campaign_rows import remains, rows
from command import run
from held import Held
from waiting import LIMIT_S

pytestmark = [
    pytest.mark.host,
    pytest.mark.core,
    pytest.mark.skipif(os.geteuid() != 0, reason="the host engine needs root: run the tests with sudo"),
]


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of one: the window's, which a test closes, and that of the programs in it."""
    window, inside = os.openpty()
    yield window, inside
    os.close(inside)


def take_terminal() -> None:
    """In the new process; who runs the tests under nohup has SIGHUP ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def take_terminal_under_nohup() -> None:
    take_terminal()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def close_window(terminal: tuple[int, int], tmp_path: Path, take: Callable[[], None]) -> Held:
    """Return a campaign of four samples whose window was closed while it took the second."""
    window, inside = terminal
    campaign = Held(tmp_path, stdin=inside, stdout=inside, stderr=inside, preexec_fn=take)
    campaign.await_run(2)
    os.close(window)
    campaign.let_end(2, 3, 4)
    return campaign


def test_a_window_that_is_closed_ends_the_campaign_after_its_sample(terminal: tuple[int, int], tmp_path: Path) -> None:
    campaign = close_window(terminal, tmp_path, take_terminal)
    assert campaign.process.wait(LIMIT_S) == 130
    assert 2 <= len(rows(campaign.out)) < 4
    assert remains() == []
    run("resume", campaign.out)
    assert [row["valid"] for row in rows(campaign.out)] == [1, 1, 1, 1]
    assert campaign.runs == 4


def test_under_nohup_a_campaign_goes_on_without_its_window(terminal: tuple[int, int], tmp_path: Path) -> None:
    campaign = close_window(terminal, tmp_path, take_terminal_under_nohup)
    assert campaign.process.wait(LIMIT_S) == 0
    assert [row["valid"] for row in rows(campaign.out)] == [1, 1, 1, 1]
    assert remains() == []
