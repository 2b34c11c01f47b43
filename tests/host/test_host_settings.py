"""Settings of this machine as a part of an arm: in force while a sample is taken, and put back whatever happens."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_rows import rows
from command import run, start
from soak.traces import BORROWED, hierarchy, setting_file

pytestmark = [
    pytest.mark.host,
    pytest.mark.core,
    pytest.mark.skipif(os.geteuid() != 0, reason="the host engine needs root: run the tests with sudo"),
]

NAME = "sysctl.kernel.sched_rt_period_us"
OTHER = "999983"
"""A value that nothing else on a machine has."""
FILE = setting_file(NAME)
ARM = f"default+{NAME}={OTHER}"
LIMIT_S = 60


@pytest.fixture(autouse=True)
def usual() -> Iterator[str]:
    """The machine's own value, which it has afterwards too."""
    before = FILE.read_text().strip()
    assert before != OTHER
    yield before
    left = FILE.read_text().strip()
    if left != before:
        FILE.write_text(before)
    assert left == before
    assert list(BORROWED[1].glob("runoff-*")) == []


def workload(folder: Path, script: str) -> Path:
    """Prints the value that it sees."""
    path = folder / "work.toml"
    path.write_text(
        f'title = "t"\ndescription = "t"\ncommand = ["sh", "-c", """{script}"""]\nelapsed_headline = true\n'
        '[metrics.seen]\ntitle = "seen"\npattern = "seen ([0-9]+)"\nunit = "us"\ndirection = "none"\n'
    )
    return path


def compare(folder: Path, script: str, *arms: str, blocks: int = 2) -> tuple[list[dict], str]:
    words = ["--on", "host", "--work", workload(folder, script), "--blocks", str(blocks), "--out", folder / "out"]
    out, err = start("compare", *arms, *words).communicate(timeout=LIMIT_S)
    return rows(folder / "out"), out + err


def test_a_setting_is_in_force_for_its_arm_alone(tmp_path: Path, usual: str) -> None:
    taken, said = compare(tmp_path, f"echo seen $(cat {FILE})", "default", ARM)
    seen = {(row["arm"], row["metrics"]["seen"]) for row in taken if row["valid"]}
    assert seen == {("default", float(usual)), (ARM, float(OTHER))}
    assert len(taken) == 4
    proofs = [row["proof"]["settings"] for row in taken if row["arm"] != "default"]
    assert proofs == [[{"of": "machine", "name": NAME, "wanted": OTHER, "was": usual, "is": OTHER}]] * 2
    assert f"with {NAME}={OTHER}" in (tmp_path / "out/report.html").read_text()
    assert "Traceback" not in said


def test_work_that_changes_it_is_void(tmp_path: Path) -> None:
    taken, _ = compare(tmp_path, f"echo seen 1; echo 999979 > {FILE}", ARM, blocks=1)
    assert [row["reason"] for row in taken] == [
        f"the setting {NAME} was {OTHER} and became 999979 while the sample was taken"
    ]


def test_work_that_fails_and_blocks_the_way_back_is_told_with_both(tmp_path: Path) -> None:
    """The first port for everybody must not be above the first of those that the kernel chooses from."""
    name = "sysctl.net.ipv4.ip_unprivileged_port_start"
    first, chosen = setting_file(name), setting_file("sysctl.net.ipv4.ip_local_port_range")
    before, ports = int(first.read_text()), chosen.read_text().strip()
    try:
        script = f"echo {before - 5} 60999 > {chosen}; exit 3"
        taken, said = compare(tmp_path, script, f"default+{name}={before - 7}", blocks=1)
        assert int(first.read_text()) == before - 7, said
        (row,) = taken
        assert "failed with exit status 3" in row["reason"]
        assert f"{first} could not be put back" in row["detail"]
    finally:
        chosen.write_text(ports)
    assert f"put back the setting {first}" in run("restore").stdout
    assert int(first.read_text()) == before


@pytest.mark.parametrize(
    ("setting", "words", "code"),
    [
        ("sysctl.kernel.sched_rt_period_us=abc", "the kernel does not take", 64),
        ("sysctl.kernel.no_such_thing=1", "this kernel has no /proc/sys/kernel/no_such_thing", 69),
        ("thp=sometimes", "there are always, madvise, never", 64),
        ("sysctl.kernel.sched_rt_period_us=999983+sysctl.kernel/sched_rt_period_us=5", "are one setting", 64),
    ],
)
def test_what_cannot_be_set_is_said_before_the_first_sample(
    tmp_path: Path, setting: str, words: str, code: int
) -> None:
    done = run(
        "compare", "default", f"default+{setting}", "--on", "host", "--work", workload(tmp_path, "true"), "--out",
        tmp_path / "out", expect=code,
    )  # fmt: skip
    assert words in done.stderr


def begun(folder: Path) -> tuple[object, int]:
    """A campaign whose sample runs, with the agent's number."""
    pid = folder / "pid"
    script = f"echo seen 1; echo $PPID > {pid}; sleep 60"
    words = ["--on", "host", "--work", workload(folder, script), "--blocks", "1", "--out", folder / "out"]
    process = start("compare", ARM, *words)
    end = time.monotonic() + LIMIT_S
    while not (pid.exists() and pid.read_text().strip()):
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    assert FILE.read_text().strip() == OTHER
    return process, int(pid.read_text())


def test_another_runoff_neither_changes_it_nor_takes_it_for_the_usual_value(tmp_path: Path) -> None:
    process, agent = begun(tmp_path)
    other = run(
        "compare", f"default+{NAME}=999979", "--on", "host", "--work", "counters:n=1", "--out", tmp_path / "other",
        expect=1,
    )  # fmt: skip
    assert f"another runoff, process {agent}, has borrowed {FILE}: wait until it has ended" in other.stderr
    assert FILE.read_text().strip() == OTHER
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)


@pytest.mark.parametrize("way", ["restore", "next"])
def test_a_killed_agent_leaves_it_to_restore_and_to_the_next_start(tmp_path: Path, usual: str, way: str) -> None:
    process, agent = begun(tmp_path)
    process.kill()
    os.kill(agent, signal.SIGKILL)
    process.communicate(timeout=LIMIT_S)
    assert FILE.read_text().strip() == OTHER
    if way == "restore":
        assert f"put back the setting {FILE}" in run("restore").stdout
    else:
        run("compare", "default", "--on", "host", "--work", "counters:n=1", "--blocks", "1", "--out", tmp_path / "b")
    assert FILE.read_text().strip() == usual


def test_work_begins_with_its_policy_and_nice_value(tmp_path: Path) -> None:
    script = "read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ nice rest < /proc/self/stat; echo seen $nice"
    taken, said = compare(tmp_path, script, "default", "default+nice=7+policy=batch", blocks=1)
    assert {row["arm"]: row["metrics"]["seen"] for row in taken if row["valid"]} == {
        "default": 0, "default+nice=7+policy=batch": 7
    }, said  # fmt: skip
    renicing = tmp_path / "renicing"
    renicing.mkdir()
    taken, _ = compare(renicing, "renice -n 9 $$ > /dev/null; echo seen 1", "default+nice=7", blocks=1)
    assert [row["reason"] for row in taken] == ["the setting nice was 7 and became 9 in the work"]


def test_a_group_without_its_controller_is_refused_with_the_command(tmp_path: Path) -> None:
    if "cpu" in (hierarchy() / "cgroup.subtree_control").read_text().split():
        pytest.skip("it is on here")
    words = ("--on", "host", "--work", "counters:n=1", "--blocks", "1", "--out", tmp_path / "out")
    refused = run("compare", "default", "default+weight=50", *words, expect=69)
    assert "controller" in refused.stderr
    assert "cpu" in refused.stderr
