"""One session of a campaign: from what it lacks to how far it came."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runoff.campaign import directory as campaigns
from runoff.campaign import repeats
from runoff.campaign.given_up import give_up, require_waiting
from runoff.campaign.journal.journal import Journal
from runoff.campaign.journal.stored_files import use_copies
from runoff.campaign.loop.execution import Ending, Execution
from runoff.campaign.loop.observer import Observer
from runoff.campaign.loop.run import run
from runoff.campaign.origin.parts import find_machines, was_taken_on_cluster
from runoff.decide.looks import Rule
from runoff.engines import boots
from runoff.engines.base import Engine
from runoff.engines.choose import choose
from runoff.errors import UsageError
from runoff.plan import stopping
from runoff.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Session:
    """A campaign, and how samples of it are taken now."""

    plan: Plan
    journal: Journal
    observer: Observer
    execution: Execution

    def take_all(self, given_up: Sequence[int] = ()) -> Ending:
        """Take what the campaign lacks, but for what blocks lack that are ``given_up``, and then its repeats.

        Raises RunoffError if it cannot begin, or an engine fails.
        """
        ending = self._take(given_up)
        return self._repeat() if ending is Ending.COMPLETE else ending

    def find_next_kernel(self) -> str:
        """Return the release of the kernel of the next sample."""
        done = self.journal.done()
        cell = next(cell for cell in self.plan.cells if cell.id not in done)
        return boots.find_planned(self.plan, self.plan.boots[cell.arm])

    def _take(self, given_up: Sequence[int] = ()) -> Ending:
        stored = use_copies(self.plan, self.journal.directory)
        require_waiting(self.plan, self.journal, given_up)
        if self.execution.cluster is None:
            self._refuse_machines_of_cluster(given_up)
        engine = self._choose_engine(stored)
        for note in give_up(stored, self.journal, given_up):
            self.observer.say(note)
        self.observer.began(stored, len(self.journal.done()))
        try:
            return run(stored, self.journal, engine, self.observer, self.execution, self._make_rule())
        finally:
            self.observer.ended()

    def _refuse_machines_of_cluster(self, given_up: Sequence[int]) -> None:
        """Raise UsageError if samples are missing that machines of a cluster take, but for blocks that are given up."""
        if (
            self.plan.clock != "real"
            or self.journal.fact("ended") is not None
            or not was_taken_on_cluster(self.journal)
        ):
            return
        done = self.journal.done()
        if any(cell.id not in done and cell.block + 1 not in given_up for cell in self.plan.cells):
            raise UsageError(
                f"{self.journal.directory} was taken on machines of a cluster, and under the real clock each is told "
                "apart: go on with a cluster's ADDRESS (local:1 is this machine)",
                hint=("resume", self.journal.directory, "--cluster", "ADDRESS"),
            )

    def _choose_engine(self, stored: Plan) -> Engine:
        if self.execution.cluster is None:
            engine = choose(stored, self.journal.directory, takes_over=self.execution.takes_over)
            if self.execution.jobs > 1 and engine.slots == 1:
                raise UsageError("samples side by side would disturb each other: -j needs --on lab --clock virtual")
            return engine
        # It needs a library that not everybody has.
        from runoff.cluster.engine import ClusterEngine

        warm_ups = [cell for cell in stored.cells if cell.block < 0]
        machines = find_machines(self.journal)
        return ClusterEngine(stored, self.journal.directory, self.execution.cluster, machines, warm_ups)

    def _make_rule(self) -> Rule | None:
        if self.plan.settings.until is None:
            return None
        # Numerics take half a second to import, and few campaigns need them before their end.
        from runoff.decide.stopping import UntilRule

        most = stopping.find_most_blocks(self.plan.settings)
        return UntilRule(lambda: campaigns.read_results(self.journal.directory), most)

    def _repeat(self) -> Ending:
        """Take the same again with what the plan is to be sensitive to."""
        where = self.journal.directory
        for name, settings in repeats.derive_settings(self.plan.settings).items():
            place = repeats.repeat_directory(where, name)
            if repeats.exists(where, name):
                again, journal = campaigns.reopen(place, trusted=True)
            else:
                again = use_copies(replace(self.plan, settings=settings), where)
                # The directory that it is in has been looked at.
                journal = campaigns.create(place, again, trusted=True)
            with journal:
                self.observer.say(f"once more with {name}, in {place}")
                ending = replace(self, plan=again, journal=journal)._take()
                if ending is not Ending.COMPLETE:
                    return ending
        return Ending.COMPLETE
