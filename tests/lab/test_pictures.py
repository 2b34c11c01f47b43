"""The pictures of heads that the pages show are what their tool draws; those of schedules change with the agent."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.lab, pytest.mark.timeout(0)]


def test_heads_move_as_they_are_shown(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools/head_pictures", "--out", tmp_path], check=True)
    drawn = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.svg")}
    assert len(drawn) == 5
    assert [str(path) for path, text in drawn.items() if (ROOT / "docs" / path).read_text() != text] == []
