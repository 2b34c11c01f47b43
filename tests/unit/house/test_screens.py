"""The tool that prints the screens of the pages; `make check` compares all of them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest
import zstandard
from checkout import ROOT

import runoff

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


def test_a_table_of_values_has_the_means_of_valid_samples(tmp_path: Path) -> None:
    results = runoff.load(lay_out("limits-quota", tmp_path))
    page = tmp_path / "page.md"
    page.write_text("<!-- table: limits-quota quota_used_pct wakeup_p99_us -->\n\n| x |\n", encoding="utf-8")
    assert run(page).returncode == 0
    _, _, head, rule, *rows = page.read_text(encoding="utf-8").splitlines()
    # counters has no wake-ups of its own.
    counters, schbench = "counters: `quota_used_pct`, %", "schbench: `quota_used_pct`, %"
    assert head == f"| arm | {counters} | {schbench} | schbench: `wakeup_p99_us`, us |"
    assert rule == "| --- | --: | --: | --: |"
    assert [row.split("`")[1] for row in rows] == list(results.arms)
    values = [
        sample.metrics["quota_used_pct"]
        for sample in results.samples
        if sample.valid and sample.arm == results.arms[0] and sample.workload.startswith("counters")
    ]
    assert len(values) == results.blocks
    assert float(rows[0].split(" | ")[1]) == pytest.approx(mean(values), rel=1e-3)


def lay_out(name: str, place: Path) -> Path:
    packed = (ROOT / f"docs/campaigns/{name}.journal.zst").read_bytes()
    (place / "journal.sqlite").write_bytes(zstandard.ZstdDecompressor().decompress(packed))
    return place
