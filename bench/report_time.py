"""What a large report takes: 10 arms, 20 metrics, 30 blocks; all of them headlines, and three of them."""

import sys
import time
from pathlib import Path

import figures

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import report_examples as examples

from runoff.analysis import build
from runoff.report.html import page as html

TIMES = 3


def main() -> None:
    """Time to build and to write the page, and its size."""
    print(figures.machine())
    for headlines in (3, 20):
        results = examples.wide(10, 20, blocks=30, headlines=headlines)
        seconds, page = [], ""
        for _ in range(TIMES):
            start = time.perf_counter()
            page = html.render(build.build_report(results))
            seconds.append(time.perf_counter() - start)
        figures.show(f"page with {headlines} headline metrics", seconds, "s", 5.0)
        figures.show(f"page with {headlines} headline metrics", [len(page.encode()) / 1e6], "MB", 1.0)


if __name__ == "__main__":
    main()
