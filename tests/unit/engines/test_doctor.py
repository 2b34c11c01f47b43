"""The doctor says what is so on this machine, and one command for each lack."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from runoff.cli.doctor import command
from runoff.engines import doctor
from runoff.engines.lab import accelerator, kernel


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path))


def found(name: str) -> doctor.Finding:
    return next(finding for finding in doctor.examine() if finding.name == name)


def test_every_lack_has_a_way_out():
    for finding in doctor.examine():
        assert finding.state != "no" or finding.fix, finding


def test_kernel_is_missing_until_one_with_sched_ext_is_added():
    assert (found("kernel").state, found("kernel").fix) == ("no", "runoff kernel add debian")
    add_kernel("6.12.1", sched_ext=False)
    assert found("kernel").state == "no"
    add_kernel("7.2.12", sched_ext=True)
    assert found("kernel").state == "yes"


def test_a_qemu_that_crashes_guests_is_told(tmp_path, monkeypatch):
    for version, state, told in (("7.2.22", "note", "QEMU 7.2 crashes guests"), ("8.1.0", "yes", "")):
        program = tmp_path / version / "qemu-system-x86_64"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho 'QEMU emulator version {version} (Debian)'\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        accelerator.qemu_version.cache_clear()
        assert found("qemu-system-x86_64").state == state
        assert told in found("qemu-system-x86_64").detail
    accelerator.qemu_version.cache_clear()


def test_a_root_directory_without_proc_is_named_with_the_way_out():
    runoff = f"{shlex.quote(sys.executable)} -m runoff doctor"
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f"mount -t tmpfs none /proc && {runoff}"]
    answer = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert answer.returncode == 69
    assert answer.stderr.startswith("runoff: cannot use /proc/")
    assert answer.stderr.endswith("; first: mount -t proc proc /proc\n")


def add_kernel(release: str, sched_ext: bool) -> None:
    directory = kernel.directory_of(f"debian:{release}")
    directory.mkdir(parents=True)
    meta = kernel.Meta(f"debian:{release}", release, "1", sched_ext, True, 250, True, "00", "00", None, {})
    kernel.write_meta(directory, meta)


def test_program_that_is_not_installed_names_its_package(monkeypatch):
    monkeypatch.setattr("runoff.engines.tools._ADMIN_DIRECTORIES", ())
    monkeypatch.setenv("PATH", "/nonexistent")
    assert found("mmdebstrap").fix == "sudo apt-get install mmdebstrap"


def test_root_and_sched_ext_are_reported_as_they_are():
    assert (found("root").state == "yes") == (os.geteuid() == 0)
    assert (found("sched_ext").state == "yes") == Path("/sys/kernel/sched_ext").exists()


def test_agent_is_found_where_the_user_says(tmp_path, monkeypatch):
    agent = tmp_path / "agent"
    agent.touch(mode=0o755)
    monkeypatch.setenv("RUNOFF_AGENT", str(agent))
    assert found("agent").detail == str(agent)


def test_the_limit_of_a_container_is_reported(tmp_path, monkeypatch):
    (tmp_path / "mounts").write_text(f"none {tmp_path} cgroup2 rw 0 0\n")
    monkeypatch.setattr("runoff.engines.cpu_limit.MOUNTS", tmp_path / "mounts")
    assert (found("CPU limit").state, found("CPU limit").detail) == ("yes", "none")
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert found("CPU limit").detail == "none"
    (tmp_path / "cpu.max").write_text("250000 100000\n")
    assert found("CPU limit").state == "note"
    assert "may use 2.5 CPUs (cpu.max)" in found("CPU limit").detail


def test_json_is_one_document_and_agrees_with_the_exit_code():
    result = CliRunner().invoke(command, ["--json"])
    document = json.loads(result.stdout)
    assert document["ready"]["lab"] is False
    assert result.exit_code == (0 if document["ready"]["host"] else 69)


def test_text_shows_each_fix():
    text = CliRunner().invoke(command).stdout
    assert "→ runoff kernel add debian" in text
    assert "--on lab: not ready" in text
