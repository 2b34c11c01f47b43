"""Commands to a real QEMU are answered, and one that is silent, refuses or ends is reported."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from runoff.engines.lab import qemu
from runoff.engines.lab.qmp import Qmp, QmpError

LIMIT_S = 60.0


@pytest.fixture
def started() -> Iterator[tuple[Qmp, "subprocess.Popen[bytes]"]]:
    qmp = Qmp()
    monitor = qmp.theirs.fileno()
    process = subprocess.Popen(
        [
            *(qemu.PROGRAM, "-machine", "none", "-nodefaults", "-display", "none", "-S"),
            *("-chardev", f"socket,id=monitor,fd={monitor}", "-mon", "chardev=monitor,mode=control"),
        ],
        pass_fds=[monitor],
    )
    yield qmp, process
    process.kill()
    process.wait()
    qmp.close()


def test_it_answers(started) -> None:
    qmp, _ = started
    qmp.begin(LIMIT_S)
    assert qmp.ask("query-status")["running"] is False
    assert qmp.ask("cont") == {}
    qmp.wait_for("RESUME", LIMIT_S)
    assert qmp.ask("query-status")["running"] is True


def test_an_event_that_came_before_it_was_waited_for_is_not_lost(started) -> None:
    qmp, _ = started
    qmp.begin(LIMIT_S)
    qmp.ask("cont")
    # The event is behind this answer, or before it.
    assert qmp.ask("query-status")["running"] is True
    qmp.wait_for("RESUME", LIMIT_S)
    with pytest.raises(QmpError, match="silent"):
        qmp.wait_for("RESUME", 0.2)


def test_a_refusal_names_the_command(started) -> None:
    qmp, _ = started
    qmp.begin(LIMIT_S)
    with pytest.raises(QmpError, match="QEMU refused migrate-incoming: "):
        qmp.ask("migrate-incoming", uri="file:/none")
    assert qmp.ask("query-status")["running"] is False


def test_silence_has_an_end(started) -> None:
    qmp, process = started
    qmp.begin(LIMIT_S)
    os.kill(process.pid, signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(QmpError, match="silent for too long"):
        qmp.ask("query-status", timeout_s=0.3)
    assert time.monotonic() - start < LIMIT_S


def test_a_qemu_that_ends_is_missed_at_once(started) -> None:
    qmp, process = started
    qmp.begin(LIMIT_S)
    process.kill()
    process.wait()
    with pytest.raises(QmpError, match="QEMU has"):
        qmp.wait_for("STOP", LIMIT_S)
    with pytest.raises(QmpError, match="QEMU has"):
        qmp.ask("query-status")


def test_a_qemu_that_does_not_start_is_an_error() -> None:
    qmp = Qmp()
    process = subprocess.Popen(["sleep", "0.1"], pass_fds=[qmp.theirs.fileno()])
    with pytest.raises(QmpError, match="QEMU has ended"):
        qmp.begin(LIMIT_S)
    process.wait()
    qmp.close()
