"""What a worker has to know of a campaign, and where the files of its guests are."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from runoff.cluster.parcels import Parcel, pack
from runoff.engines.lab.guest import Cargo
from runoff.engines.lab.supplies import Supplies
from runoff.plan.plan import Plan

_MADE_AGAIN = ("ko",)
"""Folders of a kernel's directory that are made from its other files: unpacked modules."""


@dataclass(frozen=True, slots=True)
class Job:
    """The campaign of one session."""

    name: str
    """A word that no other session has."""
    plan: Plan
    supplies: Supplies
    """With the places of the sender."""
    parcels: tuple[Parcel, ...]
    """Content of all these places."""


def make_job(name: str, plan: Plan, supplies: Supplies, snapshots: Iterable[Path]) -> Job:
    """Describe everything that travels. Raises MissingError."""
    kernels = [pack(kernel.directory, leave_out=_MADE_AGAIN) for kernel in supplies.kernels.values()]
    others = [pack(place) for place in dict.fromkeys(_list_places(supplies))]
    kept = [pack(directory, "snapshot") for directory in snapshots]
    return Job(name, plan, supplies, tuple(dict.fromkeys([*kernels, *others, *kept])))


def _list_places(supplies: Supplies) -> Iterator[Path]:
    if supplies.image is not None:
        yield supplies.image.path
    if supplies.emulator is not None:
        yield supplies.emulator.directory
    cargo = supplies.cargo
    yield cargo.agent
    yield from (content for content in cargo.files.values() if isinstance(content, Path))
    yield from cargo.programs.values()


def relocate(supplies: Supplies, places: Mapping[Path, Path]) -> Supplies:
    """Return the same with this machine's places, which are by those of the sender."""
    image, emulator, cargo = supplies.image, supplies.emulator, supplies.cargo
    return Supplies(
        kernels={
            asked: replace(kernel, directory=places[kernel.directory]) for asked, kernel in supplies.kernels.items()
        },
        image=None if image is None else replace(image, path=places[image.path]),
        cargo=Cargo(
            agent=places[cargo.agent],
            files={
                path: places[content] if isinstance(content, Path) else content for path, content in cargo.files.items()
            },
            programs={path: places[program] for path, program in cargo.programs.items()},
            modules=cargo.modules,
        ),
        emulator=None if emulator is None else replace(emulator, directory=places[emulator.directory]),
    )
