"""tests/alone: a command in it sees no other processes and leaves nothing, however it ends."""

import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import waiting

ALONE = Path(__file__).parents[1] / "alone"

TOP = "$(findmnt -n -t cgroup2 -o TARGET | head -n 1)"
"""Where control groups are, for a shell."""

pytestmark = [
    pytest.mark.host,
    pytest.mark.core,
    pytest.mark.skipif(os.getuid() != 0, reason="only root makes a world of its own"),
]


@pytest.fixture
def places(tmp_path):
    made = tmp_path / "places"
    made.mkdir()
    return made


def start(places, script, **options):
    """``script`` in a world that is made in ``places``."""
    environment = {name: value for name, value in os.environ.items() if name != "RUNOFF_ALONE"} | {
        "TMPDIR": str(places)
    }
    return subprocess.Popen(
        [ALONE, "sh", "-c", script], cwd=places.parent, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def run(places, script):
    """Exit code, standard output and standard error."""
    process = start(places, script)
    out, err = process.communicate(timeout=waiting.LIMIT_S)
    return process.returncode, out, err


def has_begun(places, process):
    """Waits for it, and for nothing if it has ended."""
    waiting.wait_until(lambda: (places.parent / "begun").exists() or process.poll() is not None)
    assert process.poll() is None, process.communicate()


def groups():
    """Control groups of worlds."""
    top = subprocess.run(["sh", "-c", f"echo {TOP}"], capture_output=True, check=True, text=True).stdout.strip()
    return {path.name for path in Path(top).glob("tests-alone.*")}


def test_it_sees_no_other_processes(places):
    before = groups()
    code, out, err = run(places, 'echo $$; pwd; ls -A /tmp /run; ls -d /proc/[0-9]*; test -z "${TMPDIR:-}"; exit 7')
    assert (code, err) == (7, "")
    assert str(places.parent) in out
    # Itself, its shell, ls and no other process.
    assert len([line for line in out.splitlines() if line.startswith("/proc/")]) <= 3
    assert not list(places.iterdir())
    assert groups() == before


@pytest.mark.parametrize("nested", ["", "env -u RUNOFF_ALONE"])
def test_ctrl_c_is_heard_though_it_was_started_in_the_background(places, nested):
    # Visible inside, wherever this checkout lies.
    alone = shutil.copy(ALONE, places.parent)
    told = f"sh -c \"trap '' INT QUIT; exec {nested} {alone} sed -n s/^SigIgn://p /proc/self/status\""
    code, out, err = run(places, told)
    assert (code, err) == (0, "")
    assert int(out, 16) & (1 << signal.SIGINT - 1 | 1 << signal.SIGQUIT - 1) == 0


def test_what_others_left_mounted_is_not_seen_and_stays(places):
    left = Path("/tmp/runoff-1.7-work-0/a place")
    (left / "inner").mkdir(parents=True)
    (left / "file").write_text("")
    subprocess.run(["mount", "-t", "tmpfs", "left", left], check=True)
    try:
        (left / "inner").mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "left", left / "inner"], check=True)
        assert run(places, "grep runoff-1.7 /proc/self/mountinfo") == (1, "", "")
        assert left.is_mount()
        assert (left / "inner").is_mount()
    finally:
        subprocess.run(["umount", "--recursive", left], check=True)
        shutil.rmtree(left.parent)


def test_what_it_leaves_behind_is_gone(places):
    before = groups()
    script = f"mkdir -p {TOP}/left/inner && mount -t tmpfs left /tmp && touch /tmp/file /run/file && (sleep 600 &)"
    assert run(places, script) == (0, "", "")
    assert not list(places.iterdir())
    assert groups() == before


@pytest.mark.parametrize(("told", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_it_ends_when_it_is_told_to(places, told, code):
    process = start(places, f"touch '{places.parent}/begun'; exec sleep 600", process_group=0)
    has_begun(places, process)
    os.killpg(process.pid, told)
    assert process.wait(waiting.LIMIT_S) == code
    assert not list(places.iterdir())


def test_what_a_killed_one_left_the_next_removes(places):
    script = f"mkdir {TOP}/left; sleep 600 & echo $! >/tmp/file; touch '{places.parent}/begun'; wait"
    before = groups()
    process = start(places, script)
    has_begun(places, process)
    process.kill()
    process.wait()
    (world,) = places.iterdir()
    # Its processes end with it, though they are not waited for.
    waiting.wait_until(lambda: subprocess.run(["flock", "-n", world, "true"], check=False).returncode == 0)
    assert groups() > before
    assert run(places, "true")[0] == 0
    assert not list(places.iterdir())
    assert groups() == before


def test_many_that_begin_at_once_leave_each_other_alone(places):
    """Between the making of a world and its lock it looks like one that was left behind."""
    script = f"touch /tmp/mine && mkdir {TOP}/mine && sleep 0.05 && test -f /tmp/mine && test -d {TOP}/mine"
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: run(places, script), range(48))) == {(0, "", "")}
    assert not list(places.iterdir())
