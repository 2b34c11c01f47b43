"""What is printed of a campaign that is not complete, and how pages show it."""

from pathlib import Path

import pytest
import report_examples
from checkout import ROOT

from runoff.campaign.conduct import CampaignResult, Ending
from runoff.cli.campaign import print_way_on
from runoff.files import Identity

HOST = (ROOT / "docs/host.md").read_text()


def test_the_page_shows_which_kernel_to_boot(capsys: pytest.CaptureFixture[str]) -> None:
    results = report_examples.three_arms()
    stopped = CampaignResult(Path("kernels"), Ending.OTHER_KERNEL, results, Identity(0, 0), "6.18.5+deb13-amd64")
    print_way_on(stopped, Path("kernels/report.html"), err=False)
    said, page = capsys.readouterr().out.splitlines()
    assert f"\n{said}\n```" in HOST
    assert page == "page: kernels/report.html"
