"""Warnings about a campaign as a whole in sentences, each with what to do about it."""

from runoff.analysis.cpu_limits import ExceededQuota, IgnoredLimits, LimitedWork, UnwatchedGroups
from runoff.analysis.first_run import UnlikeFirstRun
from runoff.analysis.real_time import RealTimeThreads
from runoff.analysis.table import Lost
from runoff.analysis.values import Report
from runoff.analysis.warnings import (
    ActiveProbes,
    CampaignWarning,
    EarlierLooks,
    ManyVoids,
    MissingValues,
    RecordedWarning,
    UnfinishedCampaign,
    VoidArm,
)
from runoff.report.words.cpu_limits import describe_limit
from runoff.report.words.noise import describe_noise
from runoff.report.words.numbers import Scale
from runoff.results import IMPORTED, Results, Stopping


def describe_campaign(report: Report) -> list[str]:
    """Return a sentence for each warning about the campaign, then what is known of this machine's noise."""
    sentences = [describe_warning(warning, report.results) for warning in report.warnings]
    return sentences + describe_noise(report)


def describe_warning(warning: CampaignWarning, results: Results) -> str:
    """Return the sentence for one warning about the campaign of ``results``."""
    match warning:
        case RecordedWarning(text):
            return text
        case LimitedWork() | UnwatchedGroups() | IgnoredLimits() | ExceededQuota():
            return describe_limit(warning)
        case RealTimeThreads(place, arms, threads):
            return (
                f"{place}: up to {threads.realtime} of {threads.seen} threads that were looked at were real-time ones, "
                f"which were never the scheduler's under {', '.join(arms)}: no sched_ext scheduler decides about them"
            )
        case EarlierLooks(stopping, members):
            return _describe_looks(stopping, members)
        case UnfinishedCampaign():
            return _describe_unfinished(results)
        case VoidArm(arm, void):
            return f"{arm} has no valid sample, all {void} are void: remove the cause and take them again"
        case ManyVoids():
            return _describe_voids(warning, results)
        case MissingValues(place, title, samples):
            cause = "" if results.engine == IMPORTED else "; check the workload's log"
            return f"{place}: {samples} valid samples lack {title}{cause}"
        case UnlikeFirstRun():
            return _describe_first_run(warning)
        case ActiveProbes(percent, arm, place):
            return (
                f"probes observed these samples and took up to {percent:.2g} % of one CPU ({arm} on {place}), beside "
                "what entering and timing them takes: judge arms by a campaign without --probe"
            )


def _describe_first_run(found: UnlikeFirstRun) -> str:
    table, scale = found.table, Scale.from_table(found.table)
    on = f" on {found.machine}" if found.machine else ""
    low, high = map(scale.short, found.others)
    return (
        f"the first run of {table.place}{on} is unlike all others ({table.metric.title} {scale.short(found.value)} "
        f"against {low} to {high} {scale.unit}".rstrip()
        + "): it may have done what later runs found done, as make does without make clean; let each run begin alike "
        'by a workload with prepare = [["make", "-C", "DIR", "clean"]] (a TOML file, docs/workloads/README.md), or, if '
        "later runs are what counts, by --warmup 1"
    )


def describe_lost(lost: Lost) -> str:
    """Return how many of how many samples say nothing, and why."""
    parts = [f"{lost.void} of {lost.taken} samples as void"] if lost.void or not lost.unmeasured else []
    parts += [f"{lost.unmeasured} of {lost.taken} without a value"] if lost.unmeasured else []
    return " and ".join(parts)


def _describe_looks(stopping: Stopping, members: tuple[str, ...]) -> str:
    of = f"{', '.join(members)}: " if members else ""
    if stopping.ended is not None:
        ended = f"{'each' if len(members) > 1 else 'this'} ended after {stopping.ended.blocks}: {stopping.ended.why}"
        return f"{of}blocks are taken until all is decided; {ended}"
    if stopping.until is not None:
        return f"{of}blocks are taken until all is decided"
    return (
        f"{of}more blocks were taken after {', '.join(map(str, stopping.looks))} had been seen: intervals and p hold "
        "over any looking, and are wider than those of a number of blocks that was chosen beforehand"
    )


def _describe_unfinished(results: Results) -> str:
    taken, planned = len(results.samples), results.planned
    if results.stopping.until is not None:
        return (
            f"{taken} samples of at most {planned} are taken, and it is not known yet whether more are needed: "
            "runoff resume"
        )
    return f"only {taken} of {planned} planned samples are taken, verdicts are provisional: runoff resume"


def _describe_voids(warning: ManyVoids, results: Results) -> str:
    """Return which verdicts are in doubt; this depends on whether the arm is the baseline."""
    lost = ", ".join(f"{describe_lost(lost)} on {place}" for place, lost in warning.lost.items())
    if len(results.arms) < 2:
        doubt = "what is left may be the lucky part"
    else:
        luck = "a - or = against it" if warning.arm == results.arms[0] else "its + or ="
        doubt = f"if these were its worst runs it looks better than it is, and {luck} may be luck"
    return f"{warning.arm} lost {lost}: {doubt}; remove the cause and take them again"
