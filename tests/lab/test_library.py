"""runoff as a library: the example of its docstring, and the calls of an observer of a campaign."""

import contextlib
import io
import textwrap
from pathlib import Path

import pytest
from checkout import ROOT

import runoff
from runoff.campaign.loop.execution import Ending
from runoff.campaign.loop.observer import SilentObserver

pytestmark = [pytest.mark.lab, pytest.mark.core]


def example() -> str:
    """The indented lines of the package's docstring."""
    lines = [line for line in (runoff.__doc__ or "").splitlines() if line.startswith("    ")]
    return textwrap.dedent("\n".join(lines)).replace("blocks=10", "blocks=1")


class Recorder(SilentObserver):
    def __init__(self) -> None:
        self.calls: list[str] = []

    def began(self, plan: object, done: int) -> None:
        self.calls.append(f"began {done}")

    def started(self, cell: object) -> None:
        self.calls.append("started")

    def finished(self, cell: object, outcome: object) -> None:
        self.calls.append("finished")

    def ended(self) -> None:
        self.calls.append("ended")


def test_the_page_has_the_same_example() -> None:
    page = (ROOT / "docs/library.md").read_text()
    assert page.split("```python\n")[1].split("```")[0].split() == example().replace("blocks=1", "blocks=10").split()


def test_the_example_of_the_docstring_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example(), {})
    assert "VERDICT" in printed.getvalue()
    results = runoff.load("results/mine")
    assert [sample.valid for sample in results.samples] == [True, True]
    # The caller of a campaign decides what is written of its report.
    assert not (tmp_path / "results/mine/report.html").exists()


def test_an_observer_hears_of_each_sample(tmp_path: Path) -> None:
    settings = runoff.make_settings(
        arms=["default"], workloads=["command:true"], clock="virtual", cpus=1, memory_mb=512, blocks=2, seed=1
    )
    recorder = Recorder()
    conducted = runoff.conduct(settings, tmp_path / "campaign", recorder)
    assert conducted.ending is Ending.COMPLETE
    assert recorder.calls == ["began 0", "started", "finished", "started", "finished", "ended"]
    assert conducted.results == runoff.load(tmp_path / "campaign")
