"""A validated plan: what every later stage reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runoff.plan.arm_settings import CONTROLLERS
from runoff.plan.arms import Arm
from runoff.plan.cells import count_load_blocks, draw_cells
from runoff.plan.order import Cell
from runoff.plan.settings import Settings
from runoff.plan.topology import Topology, parse_topology
from runoff.results import NO_LOAD, Clock
from runoff.workloads import Definition, OwnFile, Work

HOST_DISK_MB = 1024
"""Default size of disks that are made on the host, in its memory."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A validated plan; every later stage reads this and nothing else."""

    settings: Settings
    arms: tuple[Arm, ...]
    """The first is the baseline."""
    works: tuple[Work, ...]
    loads: tuple[Work | None, ...] = (None,)
    """The loads that run during the works; None stands for no load."""
    probes: tuple[str, ...] = ()
    twins: Mapping[str, int] = field(default_factory=dict)
    """For each arm that repeats an earlier one, by label, how many equal ones come before it; only under the virtual
    clock, where each of them has perturbations of its own (``runoff.plan.order``)."""
    kernels: Mapping[str, str] = field(default_factory=dict)
    """Full names of the kernels with which the campaign began, by their names in the plan."""

    @property
    def planned(self) -> int:
        """Number of samples."""
        beside = sum(self.load_blocks) + self.settings.warmup * len(self.loads)
        return len(self.arms) * len(self.works) * beside

    @property
    def cells(self) -> Sequence[Cell]:
        """The samples to take, in run order."""
        labels = [arm.label for arm in self.arms]
        kernels = dict(zip(labels, self.boots, strict=True)) if self.boots else {}
        return draw_cells(self.settings, labels, len(self.works), self.load_labels, twins=self.twins, kernels=kernels)

    def find_labels(self, cell: Cell) -> tuple[str, str, str]:
        """Return the labels of a cell's arm, workload and load."""
        return self.arms[cell.arm].label, self.works[cell.work].label, self.load_labels[cell.load]

    @property
    def boots(self) -> tuple[str, ...]:
        """The kernel of this machine that each arm runs on; empty unless arms name kernels of it, which must be booted
        for them."""
        is_named = self.settings.engine.boots_kernels and any(arm.kernel for arm in self.arms)
        return tuple(arm.kernel or "" for arm in self.arms) if is_named else ()

    @property
    def load_blocks(self) -> tuple[int, ...]:
        """The number of blocks that each load takes part in."""
        return count_load_blocks(self.settings, self.load_labels)

    @property
    def load_labels(self) -> tuple[str, ...]:
        """The names of loads in reports; empty if the plan has no loads at all."""
        nothing = NO_LOAD if self.settings.loads else ""
        return tuple(nothing if load is None else load.label for load in self.loads)

    @property
    def clock(self) -> Clock:
        return self.settings.clock or "real"

    @property
    def seed(self) -> int:
        """The seed from which the order is drawn."""
        assert self.settings.seed is not None, "make_plan has drawn one"
        return self.settings.seed

    @property
    def topology(self) -> Topology | None:
        return parse_topology(self.settings.topology) if self.settings.topology else None

    @property
    def definitions(self) -> list[Definition]:
        """The definitions of everything that will run."""
        return [work.definition for work in (*self.works, *self.loads) if work is not None]

    @property
    def controllers(self) -> tuple[str, ...]:
        """The controllers of control groups that settings of some arm or load need. All samples have them on, as the
        kernel's own scheduler shares CPUs in another way where groups count."""
        return tuple(sorted({CONTROLLERS[name] for name in self._work_settings if name in CONTROLLERS}))

    @property
    def has_limits(self) -> bool:
        """Whether a work or load is in a control group with a quota or a weight."""
        return not {"quota", "weight"}.isdisjoint(self._work_settings)

    @property
    def _work_settings(self) -> list[str]:
        """The names of all settings that works and loads have."""
        of_loads = [name for load in self.loads if load is not None for name, _ in load.settings]
        return [each.name for arm in self.arms for each in arm.of_work] + of_loads

    def list_work_settings(self, arm: Arm) -> list[list[tuple[str, str]]]:
        """Return the settings of the workload under ``arm``, and of each load."""
        own = [(each.name, each.value) for each in arm.of_work]
        return [own, *(list(load.settings) for load in self.loads if load is not None)]

    def has_settings(self, arm: Arm) -> bool:
        """Return whether something is set for the arm or for a load beside it."""
        return bool(arm.settings) or any(self.list_work_settings(arm))

    @property
    def own_files(self) -> tuple[OwnFile, ...]:
        """The files of the user's that works and loads have in their working directories, each once."""
        files = {file.key: file for work in (*self.works, *self.loads) if work is not None for file in work.files}
        return tuple(files.values())

    @property
    def disk_mb(self) -> int:
        """Size of the guest's disk, or of one that is made on the host; 0 means none."""
        wanted = any(definition.disk for definition in self.definitions) or self.makes_disks
        usual = HOST_DISK_MB if self.settings.engine.is_this_machine else 4 * self.settings.memory_mb
        return self.settings.disk_mb or (usual if wanted else 0)

    @property
    def has_elevators(self) -> bool:
        """Whether some arm has a disk behind an elevator."""
        return any(arm.elevator is not None for arm in self.arms)

    @property
    def makes_disks(self) -> bool:
        """Whether some arm has a disk of runoff's own, made for each sample."""
        return self.has_elevators and self.settings.place is None

    @property
    def swap_mb(self) -> int:
        """Size of the guest's swap space; 0 means none."""
        wanted = any(definition.swap for definition in self.definitions)
        return self.settings.swap_mb or (2 * self.settings.memory_mb if wanted else 0)
