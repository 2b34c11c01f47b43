"""runoff: which CPU or I/O scheduler serves this work better, and is the difference real?

As a library: settings are checked, a campaign is conducted, its results are loaded, analysed and rendered.

    import runoff

    settings = runoff.make_settings(arms=["default", "bfs"], workloads=["hackbench"], clock="virtual", blocks=10)
    conducted = runoff.conduct(settings, "results/mine")
    report = runoff.analyse(conducted.results)
    print(runoff.render(report, "text"))

``runoff.load`` returns the results of an earlier campaign. The returned values are described where they are defined:
``runoff.plan.settings.Settings``, ``runoff.campaign.conduct.CampaignResult``, ``runoff.results.Results`` and
``runoff.analysis.values.Report``. Every error is a ``runoff.errors.RunoffError`` with one sentence.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from runoff.version import __version__

if TYPE_CHECKING:
    from runoff.analysis.values import Report
    from runoff.campaign.conduct import CampaignResult
    from runoff.campaign.observer import Observer
    from runoff.plan.settings import Settings
    from runoff.results import Results

__all__ = ["__version__", "analyse", "conduct", "load", "make_frame", "make_settings", "render"]

Form = Literal["text", "mail", "markdown", "html", "json", "csv"]


def make_settings(**keys: Any) -> "Settings":
    """Check the keys of a plan file (docs/plans.md) and return them with all defaults. Raises UsageError."""
    from runoff.plan.settings import parse_settings

    return parse_settings(keys, "the settings")


def conduct(
    settings: "Settings",
    directory: str | Path,
    observer: "Observer | None" = None,
    *,
    jobs: int = 1,
    keep_going: bool = False,
    cluster: str | None = None,
) -> "CampaignResult":
    """Take the samples of a campaign in a new ``directory``; see ``runoff.campaign.conduct.conduct``."""
    from runoff.campaign import conduct as campaigns
    from runoff.campaign.manner import Manner

    return campaigns.conduct(settings, Path(directory), observer, Manner(jobs, keep_going, cluster=cluster))


def load(directory: str | Path) -> "Results":
    """Return all that a campaign has produced so far, from its directory alone. Raises RunoffError."""
    from runoff.campaign.directory import read_results

    return read_results(Path(directory))


def make_frame(results: "Results") -> Any:
    """Return the samples as a ``pandas.DataFrame``, where pandas is installed; see ``runoff.results.frame``."""
    from runoff.results import frame

    return frame.make_frame(results)


def analyse(results: "Results", *, margin: float | None = None, rare: float | None = None) -> "Report":
    """Compute the tables and verdicts of ``results``.

    ``margin`` is the share of the baseline within which arms count as the same; ``rare`` is the share of runs that an
    event must hit to be seen before they count as the same. None means the plan's value, or the default.
    """
    from runoff.analysis.build import build_report

    return build_report(results, margin=margin, rare=rare)


def render(report: "Report", form: Form = "text") -> str:
    """Return the report as text of 80 columns, as a mail, Markdown, one self-contained page, JSON or CSV."""
    from runoff.report.forms import render_form

    return render_form(report, form)
