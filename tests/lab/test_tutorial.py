"""The commands of docs/tutorial.md, typed as they stand there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runoff.engines.lab import image

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorial.md"
COMMANDS = re.compile(r"(?:^<!-- screen: [^\n]*\n)?^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OTHERS = ("make ", "sudo ")
"""What begins so needs a clone or this machine's own kernel; other tests and CI do it."""

pytestmark = [pytest.mark.lab, pytest.mark.timeout(0)]


def list_commands() -> list[str]:
    """Return the commands of each block without a screen, in their order."""
    blocks = [found[1] for found in COMMANDS.finditer(PAGE.read_text(encoding="utf-8")) if found[0].startswith("```")]
    return [block for block in blocks if not block.startswith(OTHERS)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a reader is who has the files that the page names."""
    shutil.copy(ROOT / "docs/workloads/gzip.toml", tmp_path)
    objects = sorted((ROOT / "target").rglob("out/schedulers/bfs.bpf.o"), key=lambda path: path.stat().st_mtime)
    shutil.copy(objects[-1], tmp_path / "my.bpf.o")
    return tmp_path


def read_samples(campaign: Path) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-m", "runoff", "report", campaign, "--json"], capture_output=True, text=True, check=False
    )
    return [(each["id"], each["arm"], each["metrics"]) for each in json.loads(done.stdout)["samples"]]


def test_the_tutorial_as_it_is_typed(place: Path) -> None:
    """A program that is not installed here leaves its line out; nothing else is."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    typed = list_commands()
    assert sum(block.count("runoff ") for block in typed) >= 20
    for block in typed:
        lines = [line for line in block.splitlines() if "scx_bpfland" not in line or shutil.which("scx_bpfland")]
        script = "set -e\n" + "\n".join(lines)
        done = subprocess.run(
            ["bash", "-c", script], cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{block}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert read_samples(place / "results/once") == read_samples(place / "results/again")
    assert len(read_samples(place / "results/once")) == 20
    assert len(read_samples(place / "results/long")) == 20
    assert len(read_samples(place / "results/mine")) == 15
    assert image.list_stored()
