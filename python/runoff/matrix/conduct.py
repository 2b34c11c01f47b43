"""Try every arm on every kernel: one stress, and a campaign against the kernel's own scheduler."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from runoff.analysis.build import build_report
from runoff.campaign import directory as campaigns
from runoff.campaign.conduct import check
from runoff.campaign.journal.database import FILE
from runoff.campaign.loop.execution import Ending, Execution
from runoff.campaign.loop.observer import Observer
from runoff.engines.base import Engine
from runoff.engines.choose import choose
from runoff.engines.outcome import RefusedArm
from runoff.errors import MissingError, UsageError
from runoff.matrix.directory import remember, take_campaign
from runoff.matrix.page import write_page
from runoff.matrix.values import Entry, KernelMatrix, name_folder
from runoff.plan.checks import refuse_twice
from runoff.plan.plan import Plan
from runoff.plan.settings import Settings, parse_settings
from runoff.results import Results

DEFAULT = "default"
"""The kernel's own scheduler, with which each arm is compared."""

FILE_OF_QUESTION = "matrix.json"
"""Says what was asked, so that nothing else goes on in the same directory."""


def conduct_matrix(
    kernels: Sequence[str],
    arms: Sequence[str],
    values: Mapping[str, Any],
    directory: Path,
    observer: Observer,
    *,
    seconds: int,
    work: str,
    execution: Execution,
) -> KernelMatrix:
    """Try all ``arms`` on all ``kernels``, and return what became of them so far.

    ``values`` are keys of a plan that hold for all. What is there already in ``directory`` is not taken again. Raises
    UsageError for a plan that cannot be, and RunoffError if an engine fails.
    """
    refuse_twice("kernel", list(kernels))
    plans = {kernel: _make_settings(kernel, arms, values, work) for kernel in kernels}
    for settings in plans.values():
        _require_no_kernels(check(settings))
    asked = {"kernels": list(kernels), "arms": list(arms), "seconds": seconds, "work": work, "values": dict(values)}
    remember(directory / FILE_OF_QUESTION, asked, "matrix", trusted=execution.trusts_directory)
    entries: list[Entry] = []
    clock = str(values.get("clock", "virtual"))
    for kernel, settings in plans.items():
        found, is_whole = _try_kernel(kernel, settings, directory / name_folder(kernel), observer, seconds, execution)
        entries += found
        matrix = KernelMatrix(kernels, arms, tuple(entries), seconds, work, clock, is_stopped=not is_whole)
        write_page(matrix, directory)
        if not is_whole:
            break
    return matrix


def _make_settings(kernel: str, arms: Sequence[str], values: Mapping[str, Any], work: str) -> Settings:
    keys = {"clock": "virtual", **values, "arms": [DEFAULT, *arms], "workloads": [work], "kernel": kernel, "on": "lab"}
    return parse_settings(keys, "the command line")


def _require_no_kernels(plan: Plan) -> None:
    """Raise UsageError for an arm that names a kernel of its own."""
    for arm in plan.arms:
        if arm.kernel is not None:
            raise UsageError(f"arm {arm.label!r} names a kernel: every arm is tried on every --kernel, so leave it out")


def _try_kernel(
    kernel: str, settings: Settings, folder: Path, observer: Observer, seconds: int, execution: Execution
) -> tuple[list[Entry], bool]:
    """Return the entries of one kernel, and whether all was taken."""
    execution = replace(execution, keep_going=True)
    entries = {arm: Entry(kernel, arm) for arm in settings.arms if arm != DEFAULT}
    entries |= _refuse_arms(kernel, settings, folder, observer)
    usable = [arm for arm, entry in entries.items() if not entry.refused and not entry.missing]
    if not usable:
        return list(entries.values()), True
    stress = settings.model_copy(
        update={"arms": tuple(usable), "workloads": (f"stress:seconds={seconds}",), "blocks": 1, "until": None}
    )
    stressed = take_campaign(stress, folder / "stress", observer, execution)
    entries |= {arm: read_stress(entries[arm], stressed.results, seconds) for arm in usable}
    alive = [arm for arm in usable if not entries[arm].stress]
    if stressed.ending is not Ending.COMPLETE or not alive:
        return list(entries.values()), stressed.ending is Ending.COMPLETE
    speed = settings.model_copy(update={"arms": (DEFAULT, *alive)})
    taken = take_campaign(speed, folder / "speed", observer, execution)
    report = build_report(taken.results)
    comparisons = next(table for table in report.headline).analysis.comparisons
    # A report may call an arm by its only setting.
    shown = dict(zip(speed.arms, report.results.arms, strict=True))
    entries |= {arm: replace(entries[arm], speed=comparisons[shown[arm]]) for arm in alive}
    return list(entries.values()), taken.ending is Ending.COMPLETE


def _refuse_arms(kernel: str, settings: Settings, folder: Path, observer: Observer) -> dict[str, Entry]:
    """Return the entries of the arms that do not load or attach on a kernel, or cannot be tried there."""
    if (folder / "speed" / FILE).exists():
        kept = campaigns.read_results(folder / "speed").arms
        return {} if len(kept) == len(settings.arms) else _ask(kernel, settings, folder, observer)
    return _ask(kernel, settings, folder, observer)


def _ask(kernel: str, settings: Settings, folder: Path, observer: Observer) -> dict[str, Entry]:
    refused = {}
    for arm in settings.arms:
        if arm == DEFAULT:
            continue
        # One plan for each arm: an arm that cannot be prepared must not keep the others from being tried.
        plan = check(settings.model_copy(update={"arms": (arm,)}))
        try:
            with _prepare(plan, folder, observer) as engine:
                answer = engine.check(plan.arms[0])
        except MissingError as error:
            refused[arm] = Entry(kernel, arm, missing=error.describe())
            continue
        if isinstance(answer, RefusedArm):
            refused[arm] = Entry(kernel, arm, refused=answer.reason, detail=answer.detail)
    return refused


@contextmanager
def _prepare(plan: Plan, folder: Path, observer: Observer) -> Iterator[Engine]:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="check-", dir=folder) as place:
        engine = choose(plan, Path(place))
        try:
            engine.prepare(observer.say)
            yield engine
        finally:
            engine.close()


def read_stress(entry: Entry, results: Results, seconds: int) -> Entry:
    """Return ``entry`` with what ``results``, a campaign of stress, say of its arm."""
    sample = next((sample for sample in results.judged_samples if sample.arm == entry.arm), None)
    if sample is None:
        return entry
    if not sample.valid:
        return replace(entry, stress=sample.reason or "void", detail=sample.detail)
    lost = {key: sample.metrics.get(key, 0.0) for key in ("lost", "unfinished")}
    wait_ms = sample.metrics.get("longest_normal_wait_ms")
    if any(lost.values()):
        text = f"{lost['lost']:g} tasks were lost and {lost['unfinished']:g} did not end in time"
        return replace(entry, stress=text, longest_wait_ms=wait_ms)
    return replace(entry, stressed_s=float(seconds), longest_wait_ms=wait_ms)
