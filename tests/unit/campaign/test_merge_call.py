"""What the command merge does can be done by a call."""

import json
import shutil
from pathlib import Path

import made_campaigns
import pytest
from campaign_rows import rows
from cli_runner import run

import runoff
from runoff.campaign.journal.database import FILE
from runoff.errors import UsageError


@pytest.fixture
def machines(tmp_path: Path) -> dict[str, str | Path]:
    """Campaigns of two machines; the first has a void sample."""

    def make(name: str, seed: int) -> Path:
        drawn = made_campaigns.noisy(0, 0.1, sd=0.01, seed=seed)
        return made_campaigns.made(
            tmp_path / name, lambda cell: None if seed == cell.block == 1 else drawn(cell), seed=seed, blocks=4
        )

    return {"one": make("one", 1), "two": str(make("two", 2))}


def test_a_call_merges_what_the_command_does(machines: dict[str, str | Path], tmp_path: Path) -> None:
    results = runoff.merge(machines, tmp_path / "called")
    words = [f"{name}={place}" for name, place in machines.items()]
    told = json.loads(run("merge", *words, "--out", tmp_path / "commanded", "--json").stdout)
    assert json.loads(runoff.render(runoff.analyse(results), "json"))["tables"] == told["tables"]
    assert (results.machines, sum(not sample.valid for sample in results.samples)) == (("one", "two"), 2)
    text = runoff.render(runoff.analyse(results))
    assert "2 machines" in text
    assert "void" in text


def test_a_call_merges_nothing_that_the_command_refuses(machines: dict[str, str | Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give the campaigns of two or more machines"):
        runoff.merge({"one": machines["one"]}, tmp_path / "out")
    edited = tmp_path / "edited"
    shutil.copytree(machines["one"], edited)
    assert rows(edited)
    (edited / FILE).write_bytes((edited / FILE).read_bytes().replace(b"default", b"DEFAULT"))
    with pytest.raises(UsageError) as refused:
        runoff.merge({"one": edited, "two": machines["two"]}, tmp_path / "out")
    assert str(edited) in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_the_way_out_is_data(machines: dict[str, str | Path], tmp_path: Path) -> None:
    short = made_campaigns.made(tmp_path / "short run", made_campaigns.noisy(0, 0.1), stop_after=7)
    with pytest.raises(UsageError) as refused:
        runoff.merge({"one": machines["one"], "short": short}, tmp_path / "out")
    assert refused.value.hint == ("resume", str(short))
    assert refused.value.describe() == f"{refused.value}: runoff resume '{short}'"
