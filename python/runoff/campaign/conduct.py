"""A campaign from its settings to its results: what commands call, and programs that use runoff as a library."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from runoff.campaign import directory as campaigns
from runoff.campaign.journal.journal import Journal
from runoff.campaign.loop.execution import Ending, Execution
from runoff.campaign.loop.observer import Observer, SilentObserver
from runoff.campaign.loop.reboots import Reboots, put_back_on_failure
from runoff.campaign.manifest import find_changes
from runoff.campaign.session import Session
from runoff.engines import boots
from runoff.engines.choose import choose_clock, find_catalogue
from runoff.engines.lab.libraries import bring_libraries
from runoff.engines.requirements import require_findable
from runoff.errors import MissingError, RunoffError, StoppedError, UsageError
from runoff.files import Identity
from runoff.plan import rerun
from runoff.plan.make import ChooseClock, make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import Settings
from runoff.reading import does_exist
from runoff.results import Results

USUAL = Execution()


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """How far a campaign has come."""

    directory: Path
    ending: Ending
    results: Results
    identity: Identity
    """The directory itself, whatever its path leads to later."""
    next_kernel: str = ""
    """Release of the kernel that has to be booted for the next samples; empty if none has."""


def check(settings: Settings, choose_clock: ChooseClock | None = None) -> Plan:
    """Return the plan of ``settings``, or raise UsageError for what cannot be. No sample is taken.

    ``choose_clock`` chooses the clock if the settings leave it open, which may boot a guest; without it the clock is
    the engine's first one.
    """
    plan = bring_libraries(make_plan(settings, find_catalogue(settings.on), choose_clock=choose_clock))
    require_findable(plan)
    return plan


def complete_plan_text(settings: Settings) -> str:
    """Return the plan file of ``settings`` with all defaults, but for those that depend on the machine."""
    left_open = {"clock"} if settings.clock is None else set()
    if settings.engine.is_this_machine and "cpus" not in settings.model_fields_set:
        left_open.add("cpus")
    return rerun.render_plan(check(settings).settings, left_open)


def conduct(
    settings: Settings,
    directory: Path,
    observer: Observer | None = None,
    execution: Execution = USUAL,
) -> CampaignResult:
    """Begin a campaign in ``directory`` and take its samples, and those of its repeats.

    In the main thread the first SIGINT or SIGTERM lets running samples finish, and the second ends them; whatever was
    finished is in the directory either way, and ``resume`` goes on.

    Raises:
        UsageError: the settings cannot be carried out, or the directory has a campaign already.
        MissingError: this machine lacks something that they need.
        StoppedError: the user stopped it before its first sample.
        RunoffError: an engine failed, or another kernel has to be booted before the first sample.
    """
    watching = observer or SilentObserver()
    plan = check(settings, lambda plan: choose_clock(plan, watching.say))
    boots.require_kernels(plan)
    reboots = _find_reboots(plan, directory, execution)
    was_there = does_exist(directory)
    with (
        campaigns.create(directory, plan, trusted=execution.trusts_directory) as journal,
        _discard_if_empty(journal, was_there),
        _guard(journal, execution),
    ):
        return _carry_out(Session(plan, journal, watching, execution), reboots)


def resume(
    directory: Path,
    observer: Observer | None = None,
    execution: Execution = USUAL,
    *,
    blocks: int | None = None,
    given_up: Sequence[int] = (),
) -> CampaignResult:
    """Take the samples that the campaign in ``directory`` still lacks; with ``blocks`` it has that many in all.

    What blocks that are ``given_up``, counted from one, still lack is void: each waits for a machine of a cluster that
    never comes back.

    Root goes on with what others may have written only if ``execution`` trusts it. See ``conduct``.
    """
    watching = observer or SilentObserver()
    if given_up and blocks is not None:
        raise UsageError("--give-up and --blocks: give one at a time, --give-up first")
    plan, journal = campaigns.reopen(directory, blocks=blocks, trusted=execution.trusts_directory)
    # Nothing is put back before the directory is this process's own: another may go on with it.
    with journal, _guard(journal, execution):
        for note in find_changes(plan):
            watching.say(note)
        session = Session(plan, journal, watching, execution)
        return _carry_out(session, _find_reboots(plan, directory, execution), given_up)


def _find_reboots(plan: Plan, directory: Path, execution: Execution) -> Reboots | None:
    return None if execution.reboot is None else Reboots(plan, directory, execution.reboot)


def _guard(journal: Journal, execution: Execution) -> AbstractContextManager[None]:
    return nullcontext() if execution.reboot is None else put_back_on_failure(journal.directory)


@contextmanager
def _discard_if_empty(journal: Journal, was_there: bool) -> Iterator[None]:
    """Remove the directory afterwards if runoff made it and no sample was begun."""
    try:
        yield
    except (UsageError, MissingError, OSError):
        if not was_there and not journal.done():
            journal.discard()
        raise


def _carry_out(session: Session, reboots: Reboots | None, given_up: Sequence[int] = ()) -> CampaignResult:
    journal = session.journal
    for note in reboots.judge_boot(journal) if reboots is not None else ():
        session.observer.say(note)
    ending = session.take_all(given_up)
    journal.require_in_place()
    kernel = session.find_next_kernel() if ending is Ending.OTHER_KERNEL else ""
    if reboots is not None:
        reboots.prepare_boot(journal, kernel)
    if not journal.done() and reboots is None:
        way_on = f"boot the kernel {kernel}, then go on" if kernel else "go on"
        kind = StoppedError if ending is Ending.STOPPED else RunoffError
        raise kind(f"stopped before the first sample; {way_on}", hint=("resume", journal.directory))
    return CampaignResult(
        journal.directory, ending, campaigns.read_results(journal.directory), journal.folder.identity, kernel
    )
