"""runoff: which CPU or I/O scheduler serves this work better, and is the difference real?

As a library: settings are checked, a campaign is conducted, its results are loaded, analysed and rendered.

    import runoff

    settings = runoff.make_settings(arms=["default", "bfs"], workloads=["hackbench"], clock="virtual", blocks=10)
    conducted = runoff.conduct(settings, "results/mine")
    report = runoff.analyse(conducted.results)
    print(runoff.render(report, "text"))

``runoff.load`` returns the results of an earlier campaign, ``runoff.import_files`` makes one of other programs' files,
``runoff.merge`` one of several machines'.
The returned values are described where they are defined:
``runoff.plan.settings.Settings``, ``runoff.campaign.conduct.CampaignResult``, ``runoff.results.Results`` and
``runoff.analysis.values.Report``. Every error is a ``runoff.errors.RunoffError``: one sentence, and in ``hint`` the
words of a command of runoff's where one is the way out.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from runoff.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runoff.analysis.values import Report
    from runoff.campaign.conduct import CampaignResult
    from runoff.campaign.loop.execution import Execution
    from runoff.campaign.loop.observer import Observer
    from runoff.decide.gate.values import Gate
    from runoff.history.subjects import Wanted
    from runoff.history.values import History, Order
    from runoff.imports.identity import Wishes
    from runoff.matrix.sizes.values import SizeSweep
    from runoff.matrix.values import KernelMatrix
    from runoff.plan.settings import Settings
    from runoff.results import Results

__all__ = [
    "__version__",
    "analyse",
    "conduct",
    "conduct_matrix",
    "conduct_sizes",
    "draw_history",
    "import_files",
    "judge",
    "load",
    "make_frame",
    "make_settings",
    "make_sweep",
    "merge",
    "render",
    "resume",
]

Form = Literal["text", "mail", "markdown", "html", "json", "csv"]


def _make_execution(
    jobs: int, cluster: str | None, trusts_directory: bool, *, keep_going: bool = False, takes_over: bool = False
) -> "Execution":
    """Return how samples are taken, imported when it is needed."""
    from runoff.campaign.loop.execution import Execution

    return Execution(jobs, keep_going, trusts_directory=trusts_directory, takes_over=takes_over, cluster=cluster)


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
    take_over: bool = False,
    cluster: str | None = None,
    trust_directory: bool = False,
) -> "CampaignResult":
    """Take the samples of a campaign in a new ``directory``; see ``runoff.campaign.conduct.conduct``.

    Root begins nothing where others may write, unless ``trust_directory``; so do ``resume`` and ``import_files``. With
    ``take_over`` the host engine stops a service that has a scheduler in charge, and starts it again at the end.
    """
    from runoff.campaign import conduct as campaigns

    execution = _make_execution(jobs, cluster, trust_directory, keep_going=keep_going, takes_over=take_over)
    return campaigns.conduct(settings, Path(directory), observer, execution)


def make_sweep(arm: str, *, large: bool = False, **keys: Any) -> "Settings":
    """Return settings whose arms are those of a sweep, such as ``bfs:rr_interval_ms=1..20``.

    ``keys`` are those of a plan file. Raises UsageError, also for more than 64 arms unless it is to be ``large``.
    """
    from runoff.campaign import sweep

    return sweep.make_sweep(arm, keys, "the settings", large=large)


def conduct_sizes(
    arms: "Sequence[str]",
    cpus: "Sequence[int]",
    directory: str | Path,
    observer: "Observer | None" = None,
    *,
    large: bool = False,
    jobs: int = 1,
    cluster: str | None = None,
    trust_directory: bool = False,
    **keys: Any,
) -> "SizeSweep":
    """Compare arms with each number of ``cpus``, or take what is missing of that in ``directory``.

    ``keys`` are those of a plan file; see ``runoff.matrix.sizes.conduct.conduct_sizes``.
    """
    from runoff.campaign.loop.observer import SilentObserver
    from runoff.matrix.sizes import conduct as sizes

    execution = _make_execution(jobs, cluster, trust_directory)
    return sizes.conduct_sizes(arms, cpus, keys, Path(directory), observer or SilentObserver(), execution, large=large)


def conduct_matrix(
    kernels: "Sequence[str]",
    arms: "Sequence[str]",
    directory: str | Path,
    observer: "Observer | None" = None,
    *,
    seconds: int = 120,
    work: str = "hackbench",
    jobs: int = 1,
    cluster: str | None = None,
    trust_directory: bool = False,
    **keys: Any,
) -> "KernelMatrix":
    """Try every arm on every kernel of the lab, or what is missing of that in ``directory``.

    Each has to survive ``seconds`` of stress, and its speed is measured with ``work``; ``keys`` are those of a plan
    file. See ``runoff.matrix.conduct.conduct_matrix``.
    """
    from runoff.campaign.loop.observer import SilentObserver
    from runoff.matrix import conduct as matrix

    execution = _make_execution(jobs, cluster, trust_directory)
    watching = observer or SilentObserver()
    return matrix.conduct_matrix(
        kernels, arms, keys, Path(directory), watching, seconds=seconds, work=work, execution=execution
    )


def resume(
    directory: str | Path,
    observer: "Observer | None" = None,
    *,
    blocks: int | None = None,
    jobs: int = 1,
    keep_going: bool = False,
    take_over: bool = False,
    cluster: str | None = None,
    trust_directory: bool = False,
) -> "CampaignResult":
    """Go on with a campaign that was stopped, to ``blocks`` in all; see ``runoff.campaign.conduct.resume``."""
    from runoff.campaign import conduct as campaigns

    execution = _make_execution(jobs, cluster, trust_directory, keep_going=keep_going, takes_over=take_over)
    return campaigns.resume(Path(directory), observer, execution, blocks=blocks)


def import_files(
    files: "Sequence[str]",
    directory: str | Path,
    wishes: "Wishes | None" = None,
    *,
    format: str = "",
    machines: "Mapping[str, str] | None" = None,
    trust_directory: bool = False,
) -> "Results":
    """Make a campaign of numbers that were measured elsewhere; see ``runoff.campaign.imported.import_files``."""
    from runoff.campaign import imported
    from runoff.imports.identity import Wishes

    return imported.import_files(
        files,
        Path(directory),
        wishes or Wishes(),
        format=format,
        machines=machines,
        trusted=trust_directory,
    )


def merge(campaigns: "Mapping[str, str | Path]", directory: str | Path, *, trust_directory: bool = False) -> "Results":
    """Make one campaign of those of several machines, by name; see ``runoff.campaign.merge.merge``."""
    from runoff.campaign import merge as merging

    places = {name: Path(place) for name, place in campaigns.items()}
    return merging.merge(places, Path(directory), trusted=trust_directory)


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


def judge(report: "Report", limit: float | None = None) -> "Gate":
    """Hold every arm against ``limit``, the largest change for the worse that passes, as a share of the baseline.

    None means the margin of the report. ``Gate.outcome`` says how it ended; see ``runoff.decide.gate``.
    """
    from runoff.decide.gate import judge as gates

    return gates.judge(report, report.question.margin if limit is None else limit)


def draw_history(
    campaigns: "Mapping[str, Results]",
    wanted: "Wanted | None" = None,
    *,
    order: "Order | None" = None,
    repository: str | Path | None = None,
) -> "History":
    """Lay campaigns, by name, beside each other and find where their level changes.

    ``order`` is that of their dates, of the commits of ``repository`` that they are named by, or as given; ``wanted``
    chooses what is drawn. Raises UsageError where nothing is comparable, and MissingError without the library that
    finds changes.
    """
    from runoff.history import draw
    from runoff.history.subjects import Wanted

    place = None if repository is None else Path(repository)
    return draw.draw_history(campaigns, wanted or Wanted(), order=order, repository=place)


def render(report: "Report", form: Form = "text") -> str:
    """Return the report as text of 80 columns, as a mail, Markdown, one self-contained page, JSON or CSV."""
    from runoff.report.forms import render_form

    return render_form(report, form)
