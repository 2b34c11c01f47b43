"""A campaign from its settings to its results: what every command, and whoever uses runoff as a library, calls."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from runoff.campaign import directory as campaigns
from runoff.campaign import repeats
from runoff.campaign.copies import use_copies
from runoff.campaign.ending import Ending
from runoff.campaign.given_up import give_up, require_waiting
from runoff.campaign.journal import Journal
from runoff.campaign.manifest import find_changes
from runoff.campaign.manner import Manner
from runoff.campaign.observer import Observer, SilentObserver
from runoff.campaign.parts import find_machines, was_taken_on_cluster
from runoff.campaign.reboots import Reboots, put_back_on_failure
from runoff.campaign.run import list_cells, run
from runoff.decide.looks import Rule
from runoff.engines import boots
from runoff.engines.agent import AGENT_CATALOGUE
from runoff.engines.base import Engine
from runoff.engines.choose import choose, choose_lab_clock
from runoff.engines.lab.libraries import bring_libraries
from runoff.engines.requirements import require_findable
from runoff.errors import MissingError, RunoffError, StoppedError, UsageError
from runoff.files import Identity
from runoff.plan import rerun, stopping
from runoff.plan.make import ChooseClock, make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import Settings
from runoff.reading import does_exist
from runoff.results import Results

USUAL = Manner()


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

    ``choose_clock`` chooses the lab's clock if the settings leave it open, which may boot a guest; without it the clock
    is the real one.
    """
    plan = bring_libraries(make_plan(settings, AGENT_CATALOGUE, choose_clock=choose_clock))
    require_findable(plan)
    return plan


def complete_plan_text(settings: Settings) -> str:
    """Return the plan file of ``settings`` with all defaults, but for those that depend on the machine."""
    left_open = {"clock"} if settings.clock is None else set()
    if settings.on == "host" and "cpus" not in settings.model_fields_set:
        left_open.add("cpus")
    return rerun.render_plan(check(settings).settings, left_open)


def conduct(
    settings: Settings,
    directory: Path,
    observer: Observer | None = None,
    manner: Manner = USUAL,
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
    plan = check(settings, lambda plan: choose_lab_clock(plan, watching.say))
    boots.require_kernels(plan)
    reboots = _find_reboots(plan, directory, manner)
    was_there = does_exist(directory)
    with (
        campaigns.create(directory, plan, trusted=manner.trusts_directory) as journal,
        _discard_if_empty(journal, was_there),
        _guard(journal, manner),
    ):
        return _carry_out(plan, journal, watching, manner, reboots)


def resume(
    directory: Path,
    observer: Observer | None = None,
    manner: Manner = USUAL,
    *,
    blocks: int | None = None,
    given_up: Sequence[int] = (),
) -> CampaignResult:
    """Take the samples that the campaign in ``directory`` still lacks; with ``blocks`` it has that many in all.

    What blocks that are ``given_up``, counted from one, still lack is void: each waits for a machine of a cluster that
    never comes back.

    Root goes on with what others may have written only if ``manner`` trusts it. See ``conduct``.
    """
    watching = observer or SilentObserver()
    if given_up and blocks is not None:
        raise UsageError("--give-up and --blocks: give one at a time, --give-up first")
    plan, journal = campaigns.reopen(directory, blocks=blocks, trusted=manner.trusts_directory)
    # Nothing is put back before the directory is this process's own: another may go on with it.
    with journal, _guard(journal, manner):
        for note in find_changes(plan):
            watching.say(note)
        return _carry_out(plan, journal, watching, manner, _find_reboots(plan, directory, manner), given_up)


def _find_reboots(plan: Plan, directory: Path, manner: Manner) -> Reboots | None:
    return None if manner.reboot is None else Reboots(plan, directory, manner.reboot)


def _guard(journal: Journal, manner: Manner) -> AbstractContextManager[None]:
    return nullcontext() if manner.reboot is None else put_back_on_failure(journal.directory)


@contextmanager
def _discard_if_empty(journal: Journal, was_there: bool) -> Iterator[None]:
    """Remove the directory afterwards if runoff made it and no sample was begun."""
    try:
        yield
    except (UsageError, MissingError, OSError):
        if not was_there and not journal.done():
            journal.discard()
        raise


def _carry_out(
    plan: Plan,
    journal: Journal,
    observer: Observer,
    manner: Manner,
    reboots: Reboots | None,
    given_up: Sequence[int] = (),
) -> CampaignResult:
    for note in reboots.judge_boot(journal) if reboots is not None else ():
        observer.say(note)
    ending = _take(plan, journal, observer, manner, given_up)
    if ending is Ending.COMPLETE:
        ending = _repeat(plan, journal.directory, observer, manner)
    journal.require_in_place()
    kernel = _find_next_kernel(plan, journal) if ending is Ending.OTHER_KERNEL else ""
    if reboots is not None:
        reboots.prepare_boot(journal, kernel)
    if not journal.done() and reboots is None:
        way_on = f"boot the kernel {kernel}, then" if kernel else "go on with"
        told = f"stopped before the first sample; {way_on}: runoff resume {journal.directory}"
        raise StoppedError(told) if ending is Ending.STOPPED else RunoffError(told)
    return CampaignResult(
        journal.directory, ending, campaigns.read_results(journal.directory), journal.folder.identity, kernel
    )


def _find_next_kernel(plan: Plan, journal: Journal) -> str:
    """Return the release of the kernel of the next sample."""
    done = journal.done()
    cell = next(cell for cell in list_cells(plan) if cell.id not in done)
    return boots.find_planned(plan, plan.boots[cell.arm])


def _take(plan: Plan, journal: Journal, observer: Observer, manner: Manner, given_up: Sequence[int] = ()) -> Ending:
    """Take what is missing, but for what blocks lack that are given up."""
    stored = use_copies(plan, journal.directory)
    require_waiting(plan, journal, given_up)
    if manner.cluster is None:
        _refuse_machines_of_cluster(plan, journal, given_up)
    engine = _choose_engine(stored, journal, manner)
    for note in give_up(stored, journal, given_up):
        observer.say(note)
    observer.began(stored, len(journal.done()))
    try:
        return run(stored, journal, engine, observer, manner, _make_rule(stored, journal))
    finally:
        observer.ended()


def _refuse_machines_of_cluster(plan: Plan, journal: Journal, given_up: Sequence[int]) -> None:
    """Raise UsageError if samples are missing, but for blocks that are given up, of what machines of a cluster take."""
    if plan.clock != "real" or journal.fact("ended") is not None or not was_taken_on_cluster(journal):
        return
    done = journal.done()
    if any(cell.id not in done and cell.block + 1 not in given_up for cell in list_cells(plan)):
        raise UsageError(
            f"{journal.directory} was taken on machines of a cluster, and under the real clock each is told apart: go "
            f"on with: runoff resume {journal.directory} --cluster ADDRESS (local:1 is this machine)"
        )


def _choose_engine(plan: Plan, journal: Journal, manner: Manner) -> Engine:
    if manner.cluster is None:
        engine = choose(plan, journal.directory)
        if manner.jobs > 1 and engine.slots == 1:
            raise UsageError("samples side by side would disturb each other: -j needs --on lab --clock virtual")
        return engine
    # It needs a library that not everybody has.
    from runoff.cluster.engine import ClusterEngine

    warm_ups = [cell for cell in list_cells(plan) if cell.block < 0]
    return ClusterEngine(plan, journal.directory, manner.cluster, find_machines(journal), warm_ups)


def _make_rule(plan: Plan, journal: Journal) -> Rule | None:
    if plan.settings.until is None:
        return None
    # Numerics take half a second to import, and few campaigns need them before their end.
    from runoff.decide.stopping import UntilRule

    return UntilRule(lambda: campaigns.read_results(journal.directory), stopping.find_most_blocks(plan.settings))


def _repeat(plan: Plan, where: Path, observer: Observer, manner: Manner) -> Ending:
    """Take the same again with what the plan is to be sensitive to."""
    for name, settings in repeats.derive_settings(plan.settings).items():
        place = repeats.repeat_directory(where, name)
        if repeats.exists(where, name):
            again, journal = campaigns.reopen(place, trusted=True)
        else:
            again = use_copies(replace(plan, settings=settings), where)
            # The directory that it is in has been looked at.
            journal = campaigns.create(place, again, trusted=True)
        with journal:
            observer.say(f"once more with {name}, in {place}")
            ending = _take(again, journal, observer, manner)
            if ending is not Ending.COMPLETE:
                return ending
    return Ending.COMPLETE
