"""The host engine and the command line around it, on this machine's own scheduler: no sched_ext needed."""

import json
import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest
from campaign_rows import remains, rows
from command import run, start
from disk_fixtures import engine, plan
from held import Held, workload
from processes import is_running
from waiting import LIMIT_S

from runoff.engines.outcome import ValidSample

pytestmark = [
    pytest.mark.host,
    pytest.mark.core,
    pytest.mark.skipif(os.geteuid() != 0, reason="the host engine needs root: run the tests with sudo"),
]

QUICK = ("--on", "host", "--work", "counters:n=1,count=100000,passes=1")


def only_void(tmp_path: Path, script: str, timeout_s: float = 60) -> str:
    """Takes one sample, which has to be void; its reason."""
    work = workload(tmp_path / "bad.toml", script, timeout_s)
    done = run(
        "compare", "default", "--on", "host", "--work", work, "--blocks", "1", "--out", tmp_path / "out", expect=2
    )
    (row,) = rows(tmp_path / "out")
    assert not row["valid"]
    assert f"void: {row['reason']}" in done.stderr
    return str(row["reason"])


def test_default_is_measured_here(tmp_path):
    done = run("compare", "default", *QUICK, "--blocks", "3", "--out", tmp_path / "out")
    taken = rows(tmp_path / "out")
    assert [row["valid"] for row in taken] == [1, 1, 1]
    assert all(row["metrics"]["elapsed_s"] > 0 for row in taken)
    assert all(row["metrics"]["time_s"] < row["metrics"]["elapsed_s"] for row in taken)
    assert "default" in done.stdout


@pytest.mark.skipif(Path("/sys/kernel/sched_ext").exists(), reason="this kernel has sched_ext")
def test_a_scheduler_without_sched_ext_is_refused_before_anything_is_left(tmp_path):
    done = run("compare", "default", "bfs", *QUICK, "--out", tmp_path / "out", expect=69)
    assert "sched_ext" in done.stderr
    assert "--on lab" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(Path("/sys/kernel/sched_ext").exists(), reason="this kernel has sched_ext")
@pytest.mark.parametrize("command", ["attach", "set", "stats"])
def test_no_scheduler_can_be_reached_without_sched_ext(command):
    assert "CONFIG_SCHED_CLASS_EXT" in run(command, "bfs", expect=69).stderr


def test_a_missing_program_is_named_with_its_package(tmp_path):
    work = tmp_path / "absent.toml"
    work.write_text(
        'title = "t"\ndescription = "d"\nprograms = ["no-such-program"]\npackages = ["no-such-package"]\n'
        'command = ["no-such-program"]\nelapsed_headline = true\n'
    )
    done = run("compare", "default", "--on", "host", "--work", work, "--out", tmp_path / "out", expect=69)
    assert "no-such-program" in done.stderr
    assert "apt-get install no-such-package" in done.stderr


def test_a_workload_that_fails_is_void_with_its_last_words(tmp_path):
    reason = only_void(tmp_path, "echo the disk is full >&2; exit 3")
    assert "exit status 3" in reason
    assert rows(tmp_path / "out")[0]["detail"] == "the disk is full"


def test_a_workload_that_hangs_is_killed(tmp_path):
    assert "did not end within 1 s" in only_void(tmp_path, "sleep 3600", timeout_s=1)
    assert remains() == []


def test_a_workload_killed_by_a_signal_says_which(tmp_path):
    assert "ended by signal 9" in only_void(tmp_path, "kill -9 $$")


def test_what_a_workload_leaves_running_is_found_and_killed(tmp_path):
    pid_file = tmp_path / "pid"
    reason = only_void(tmp_path, f"setsid sleep 3600 & echo $! >{pid_file}")
    assert "left 1 threads running" in reason
    assert not is_running(int(pid_file.read_text()))


def test_a_workload_without_its_number_is_void(tmp_path):
    work = workload(tmp_path / "dumb.toml", "echo nothing to see")
    with work.open("a") as file:
        file.write("[metrics.time_s]\npattern = 'Time: ([0-9.]+)'\n")
        file.write('unit = "s"\ndirection = "lower"\ntitle = "t"\n')
    done = run(
        "compare", "default", "--on", "host", "--work", work, "--blocks", "1", "--out", tmp_path / "out", expect=2
    )
    assert "no number for metric time_s" in done.stderr


def test_ctrl_c_once_finishes_the_sample(tmp_path):
    campaign = Held(tmp_path)
    campaign.await_run(2)
    campaign.interrupt("finishing this sample")
    campaign.let_end(2)
    assert f"runoff resume {campaign.out}" in campaign.end()
    assert [row["valid"] for row in rows(campaign.out)] == [1, 1]
    assert campaign.process.returncode == 130


def test_ctrl_c_twice_stops_now_and_keeps_finished_samples(tmp_path):
    campaign = Held(tmp_path)
    campaign.await_run(2)
    campaign.interrupt("finishing this sample")
    campaign.interrupt("stopping now")
    assert "runoff resume" in campaign.end()
    assert campaign.process.returncode == 130
    assert [row["valid"] for row in rows(campaign.out)] == [1]
    assert remains() == []


def test_ctrl_c_before_the_first_sample_has_ended_says_how_to_go_on(tmp_path):
    campaign = Held(tmp_path)
    campaign.await_run(1)
    campaign.interrupt("finishing this sample")
    campaign.interrupt("stopping now")
    assert f"stopped before the first sample; go on: runoff resume {campaign.out}" in campaign.end()
    assert campaign.process.returncode == 130


def test_kill_and_resume_repeats_nothing_that_was_finished(tmp_path):
    campaign = Held(tmp_path)
    campaign.await_run(3)
    campaign.process.kill()
    campaign.end()
    finished = rows(campaign.out)
    assert len(finished) == 2
    campaign.let_end(3, 4, 5)
    run("resume", campaign.out)
    assert rows(campaign.out)[:2] == finished
    assert len(rows(campaign.out)) == 4
    assert campaign.runs == 3 + 2
    run("restore")
    assert remains() == []


def test_restore_reports_what_it_put_back_though_something_stays(tmp_path):
    """Process 1 was not started at tick 7; names of other PID namespaces than the first have its number."""
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    agent = "runoff-1.7" if namespace == 0xEFFFFFFC else f"runoff-1.7.{namespace}"
    gone, stays = (Path(f"/tmp/{agent}-work-{number}") for number in (0, 1))
    gone.mkdir()
    (stays / "inside").mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "left", stays / "inside"], check=True)
    try:
        (stays / "inside/file").write_text("precious")
        told = run("restore", expect=1)
        assert told.stdout == f"removed {gone}\n"
        assert told.stderr.startswith(f"runoff: {stays} stays: inside stays: something is mounted there")
        assert (stays / "inside/file").read_text() == "precious"
    finally:
        subprocess.run(["umount", stays / "inside"], check=True)
    assert run("restore").stdout == f"removed {stays}\n"
    assert remains() == []


def test_two_runs_in_one_directory_are_refused(tmp_path):
    campaign = Held(tmp_path)
    campaign.await_run(1)
    run("compare", "default", *QUICK, "--out", campaign.out, expect=64)
    resumed = run("resume", campaign.out, expect=64)
    campaign.process.kill()
    campaign.end()
    assert "another runoff is working" in resumed.stderr


def test_an_unwritable_directory_is_named():
    # Root may write anywhere but where the kernel itself says no.
    done = run("compare", "default", *QUICK, "--out", "/proc/runoff-results", expect=69)
    assert "/proc/runoff-results" in done.stderr


def test_json_is_one_document_and_all_else_goes_to_standard_error(tmp_path):
    done = run("compare", "default", *QUICK, "--blocks", "2", "--json", "--out", tmp_path / "out")
    assert json.loads(done.stdout)["schema"].startswith("runoff.report/")
    assert "report.html" in done.stderr


def test_a_reader_that_leaves_is_not_an_error(tmp_path):
    run("compare", "default", *QUICK, "--blocks", "2", "--out", tmp_path / "out")
    report = start("report", tmp_path / "out", "--json")
    report.stdout.close()
    assert report.stderr.read() == ""
    assert report.wait(LIMIT_S) == 0


def on_terminal(*words: str | Path, **variables: str) -> str:
    """The output of ``runoff WORDS`` when its standard output is a terminal."""
    master, slave = os.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = start(*words, stdout=slave, env={**environment, "TERM": "xterm", **variables})
    os.close(slave)
    written = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            # A terminal whose last writer has gone answers EIO.
            break
        if not part:
            break
        written += part
    os.close(master)
    assert process.wait(LIMIT_S) == 0
    return written.decode()


def test_colour_goes_to_terminals_only_and_not_where_it_is_unwanted(tmp_path):
    run("compare", "default", *QUICK, "--blocks", "2", "--out", tmp_path / "out")
    assert "\x1b[" in on_terminal("report", tmp_path / "out")
    assert "\x1b[" not in on_terminal("report", tmp_path / "out", NO_COLOR="1")
    assert "\x1b[" not in run("report", tmp_path / "out").stdout


def test_a_load_runs_during_the_workload_and_leaves_nothing(tmp_path: Path) -> None:
    work = workload(tmp_path / "nap.toml", "sleep 1")
    done = run("compare", "default", "--on", "host", "--work", work, "--load", "none", "--load", "process:processes=4",
               "--blocks", "1", "--out", tmp_path / "out", "--json")  # fmt: skip
    metrics = {sample["load"]: sample["metrics"] for sample in json.loads(done.stdout)["samples"]}
    assert metrics["process:processes=4"]["load_passes"] > 0
    assert metrics["process:processes=4"]["load_elapsed_s"] >= 1
    assert "load_passes" not in metrics["none"]
    assert remains() == []


def test_a_load_without_its_requirements_names_them(tmp_path: Path) -> None:
    work = workload(tmp_path / "nap.toml", "sleep 1")
    done = run("compare", "default", "--on", "host", "--work", work, "--load", "io_other:directory=/tmp,size_mb=1",
               "--blocks", "1", "--out", tmp_path / "out", expect=2)  # fmt: skip
    assert "is on the same device as the working directory" in done.stderr


def test_a_signal_between_two_samples_voids_none(tmp_path: Path) -> None:
    made = plan("default", work=workload(tmp_path / "quick.toml", "true"))
    with engine(tmp_path, made) as started:
        for _ in range(5):
            assert isinstance(started.take(made.cells[0], lambda _phase: None), ValidSample)
            (agent,) = psutil.Process().children()
            agent.send_signal(signal.SIGTERM)
