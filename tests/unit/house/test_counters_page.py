"""The table of docs/workloads/counters.md is what the kept campaign says."""

import re
from pathlib import Path

import zstandard
from checkout import ROOT

from runoff.analysis.build import build_report
from runoff.campaign.directory import read_results
from runoff.report.words.numbers import choose_percent_decimals, format_change, format_change_range

KEPT = ROOT / "docs/campaigns/counters-2009.journal.zst"
ROW = re.compile(r"^\| `(.+?)` \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)


def test_changes_against_2_6_31(tmp_path: Path):
    (tmp_path / "journal.sqlite").write_bytes(zstandard.ZstdDecompressor().decompress(KEPT.read_bytes()))
    tables = [table for table in build_report(read_results(tmp_path)).tables if table.metric.name == "time_s"]
    page = (ROOT / "docs/workloads/counters.md").read_text().partition("| against 2.6.31 |")[2]
    shown = {name: cells for name, *cells in ROW.findall(page.partition("| BFS in 2009 |")[0])}
    expected = {}
    for arm in ("cfs:era=2.6.32", "bfs", "default"):
        expected[arm] = []
        for table in tables:
            found, digits = table.analysis.comparisons[arm], choose_percent_decimals(table)
            assert found.percent is not None
            assert found.percent_interval is not None
            interval = format_change_range(found.percent_interval, found.percent, digits)
            expected[arm].append(f"{format_change(found.percent, digits)} {interval}")
    assert shown == expected
