"""The unit that goes on after a boot: what systemd reads of it."""

import multiprocessing
import shutil
import subprocess
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from boot_programs import make_programs
from waiting import LIMIT_S

from runoff.errors import UsageError
from runoff.reboot import unit


def test_words_and_values_arrive_as_they_are():
    command = ["/opt/my python", "-m", "runoff", "resume", '/data/50% "best" $HOME\\x', "--reboot"]
    text = unit.render(Path("/data/50%"), command, {"PATH": "/bin:/s bin", "RUNOFF_CACHE": "/c$c", "HOME": "/root"}, 1)
    lines = text.splitlines()
    assert 'ExecStart="/opt/my python" "-m" "runoff" "resume" "/data/50%% \\"best\\" $$HOME\\\\x" "--reboot"' in lines
    assert 'Environment="PATH=/bin:/s bin"' in lines
    assert 'Environment="RUNOFF_CACHE=/c$c"' in lines
    assert "ConditionPathExists=/data/50%%" in lines
    assert not [line for line in lines if "HOME=" in line]


def test_what_stops_the_unit_is_for_runoff_alone_and_waits_for_its_sample():
    lines = unit.render(Path("/data/c"), ["true"], {}, 720.5).splitlines()
    assert "KillMode=mixed" in lines
    assert "TimeoutStopSec=721" in lines
    assert 'RequiresMountsFor="/data/c"' in lines


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_systemd_reads_all_of_it(tmp_path: Path):
    text = unit.render(Path("/data/50% of it"), ["/bin/true", "a b"], {"PATH": "/bin"}, 720)
    (tmp_path / unit.NAME).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / unit.NAME], capture_output=True, text=True, check=False
    )
    assert unit.NAME not in done.stderr


def test_the_campaign_of_a_unit_is_found_again_and_another_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unit, "PLACE", tmp_path)
    assert unit.find_installed() is None
    assert unit.refuse_other(Path("/data/mine")) is None
    (tmp_path / unit.NAME).write_text(unit.render(Path("/data/50%"), ["true"], {}, 1))
    assert unit.refuse_other(Path("/data/50%")) == unit.InstalledUnit(Path("/data/50%"))
    told = r"another campaign goes on after each boot, in /data/50%: .* or end it"
    with pytest.raises(UsageError, match=told) as refused:
        unit.refuse_other(Path("/data/mine"))
    assert refused.value.hint == ("restore",)


@pytest.mark.parametrize("kind", ["another version", "not text", "link", "link in the target"])
def test_a_unit_that_names_no_campaign_is_another_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str):
    monkeypatch.setattr(unit, "PLACE", tmp_path)
    path = tmp_path / unit.NAME
    match kind:
        case "another version":
            path.write_text("[Service]\nExecStart=/usr/bin/runoff resume /c\n")
        case "not text":
            path.write_bytes(b"\xff\xfe")
        case "link":
            path.symlink_to("/dev/null")
        case _:
            (tmp_path / "multi-user.target.wants").mkdir()
            (tmp_path / "multi-user.target.wants" / unit.NAME).symlink_to(path)
    with pytest.raises(UsageError, match=r"another campaign goes on after each boot, of which .* does not tell where"):
        unit.refuse_other(Path("/data/mine"))


def install(number: int, start: Barrier, told: "Queue[tuple[int, str]]") -> None:
    start.wait()
    try:
        unit.install(Path(f"/campaign{number}"), [], 1)
        told.put((number, ""))
    except UsageError as error:
        told.put((number, str(error)))


def test_of_campaigns_that_install_at_the_same_time_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    machine = make_programs(tmp_path, monkeypatch, "")
    context = multiprocessing.get_context("fork")
    for _ in range(10):
        start, told = context.Barrier(8), context.Queue()
        running = [context.Process(target=install, args=(number, start, told)) for number in range(8)]
        for each in running:
            each.start()
        answers = dict(told.get(timeout=LIMIT_S) for _ in running)
        for each in running:
            each.join()
        (first,) = (number for number, refusal in answers.items() if not refusal)
        assert unit.find_installed() == unit.InstalledUnit(Path(f"/campaign{first}"))
        assert all(f"in /campaign{first}:" in refusal for refusal in answers.values() if refusal)
        assert sorted(path.name for path in machine.units.iterdir()) == ["multi-user.target.wants", unit.NAME]
        unit.remove()
        assert not machine.has_unit


@pytest.mark.parametrize("where", ["directory", "command", "environment", "working directory"])
def test_nothing_becomes_another_line_of_the_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str):
    evil = "a b\n[Service]\nExecStartPre=/bin/touch pwned"
    (tmp_path / "x\ny").mkdir()
    if where == "working directory":
        monkeypatch.chdir(tmp_path / "x\ny")
    words = {"directory": Path("/c"), "command": ["true"], "environment": {"PATH": "/bin"}, "stop_limit_s": 1}
    words |= {"directory": {"directory": Path("/", evil)}, "command": {"command": [evil]},
              "environment": {"environment": {"PATH": evil}}}.get(where, {})  # fmt: skip
    with pytest.raises(UsageError, match="has a character that a unit of systemd cannot"):
        unit.render(**words)  # type: ignore[arg-type]
