"""What ``runoff demo`` needs, says and takes."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from runoff.cli import demo
from runoff.cli.options import RunOptions
from runoff.engines import doctor


def test_all_that_this_machine_lacks_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    packages = {package for finding in doctor.examine() if finding.area == "lab" for package in finding.packages}
    assert len(packages) > 3
    with pytest.raises(demo.MissingError) as refused:
        demo.command.main([], standalone_mode=False)
    assert packages <= set(str(refused.value).split())
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(("words", "jobs"), [([], os.cpu_count()), (["-j", "1"], 1)])
def test_it_takes_all_cpus_unless_told(words: list[str], jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[RunOptions] = []

    def begin(_settings: object, run: RunOptions) -> int:
        taken.append(run)
        return 0

    monkeypatch.setattr(demo, "_prepare_lab", lambda: None)
    monkeypatch.setattr(demo, "begin", begin)
    assert CliRunner().invoke(demo.command, words).exit_code == 0
    assert [run.execution.jobs for run in taken] == [jobs]
