"""The tool that prints the screens of the pages; `make check` compares all of them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from checkout import ROOT

TOOL = ROOT / "tools/screens"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWING = [page for page in PAGES if "<!-- screen:" in page.read_text(encoding="utf-8")]


def run(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False)


def test_every_marked_block_is_found() -> None:
    for page in SHOWING:
        text = page.read_text(encoding="utf-8")
        marked = re.findall(r"^<!-- screen: (.*?) -->\n```\n", text, re.MULTILINE)
        assert len(marked) == text.count("<!-- screen:"), f"{page}: a comment without a block right below it"


def test_a_screen_that_differs_is_named_and_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    shutil.copy(ROOT / "README.md", page)
    page.write_text(page.read_text().replace("60/60 samples", "61/60 samples"), encoding="utf-8")
    done = run("--check", page)
    assert done.returncode == 1
    assert "page.md shows what is not printed: make screens" in done.stdout
    assert "61/60" in done.stdout
    assert run(page).returncode == 0
    assert page.read_text() == (ROOT / "README.md").read_text()
