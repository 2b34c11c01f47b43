"""The log of a sample's disk requests, from the probe ``requests``: docs/elevators/requests.md."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runoff.errors import UsageError
from runoff.reading import decode, read_own, unpack_gzip
from runoff.results import StoredLog

COLUMNS = (
    "what", "arrived_ns", "dispatched_ns", "reached_ns", "done_ns", "served", "merged", "rwbs", "sector", "sectors",
    "served_sector", "served_sectors", "from_cylinder", "cylinder", "depth", "class", "cpu", "pid", "comm",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Service:
    """A request that the disk served, with all that were merged into it; times in ns since the start of the
    workload."""

    number: int
    """Number in the order of dispatch, from 0."""
    dispatched_ns: int
    reached_ns: int
    """When the head had reached it."""
    done_ns: int | None
    """When it was done; None if that was not within the sample."""
    sector: int
    sectors: int
    from_cylinder: int
    cylinder: int
    depth: int
    """How many requests waited in the disk's server, itself included."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the kernel."""

    arrived_ns: int
    rwbs: str
    """The kind of request as in blktrace: R, W, WS, F."""
    sector: int
    sectors: int
    merged: bool
    """Whether it was served as a part of another."""
    priority: str
    """Class and level of ioprio_set(2), or ``none``."""
    cpu: int
    """The CPU on which it was submitted."""
    pid: int
    comm: str
    service: Service | None
    """How it was served; None if that was not within the sample."""


@dataclass(frozen=True, slots=True)
class RequestLog:
    """The log of one sample."""

    device: str
    """Major and minor number of the device."""
    dropped: int
    """Number of requests that the log had no room for."""
    requests: tuple[Request, ...]
    """The requests in order of arrival."""
    held: tuple[tuple[int, int], ...]
    """Times, from and until in ns, at which the elevator held the disk idle although requests waited."""
    exits: tuple[tuple[int, int], ...]
    """When the elevator learned that a process had ended, in ns, and which; empty in older logs, which lack this."""


def read(kept: StoredLog) -> RequestLog:
    """Return the log of a sample's file (tab-separated, gzip). Raises UsageError if the file has changed."""
    try:
        content = read_own(kept.path)
        if hashlib.sha256(content).hexdigest() != kept.sha256:
            raise ValueError(f"its sha256 was {kept.sha256[:12]}, and is not")
        text = decode(unpack_gzip(content))
    except (OSError, ValueError) as error:
        raise UsageError(f"{kept.path} is damaged ({error}): copy the campaign back from a backup") from None
    return parse(text)


def parse(text: str) -> RequestLog:
    """Return the log of a file's ``text``. Raises UsageError if the text is not a log."""
    head, _, rest = text.partition("\n")
    try:
        facts = dict(word.split("=", 1) for word in head.removeprefix("# ").split())
        rows = list(_rows(rest))
        services: dict[int, Service] = {}
        return RequestLog(
            device=facts["device"],
            dropped=int(facts["dropped"]),
            requests=tuple(_request(row, services) for row in rows if row["what"] == "request"),
            held=tuple((int(row["arrived_ns"]), int(row["done_ns"])) for row in rows if row["what"] == "held"),
            exits=tuple((int(row["arrived_ns"]), int(row["pid"])) for row in rows if row["what"] == "exit"),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"this is not a log of requests: {error}") from None


def _rows(text: str) -> Iterator[Mapping[str, str]]:
    header, *lines = (line.split("\t") for line in text.splitlines())
    if tuple(header) != COLUMNS:
        raise ValueError("its columns are others")
    for line in lines:
        yield dict(zip(COLUMNS, line, strict=True))


def _request(row: Mapping[str, str], services: dict[int, Service]) -> Request:
    service = None
    if row["served"]:
        number = int(row["served"])
        # Parts of one request share it: there may be very many.
        service = services.get(number) or services.setdefault(number, _service(number, row))
    return Request(
        arrived_ns=int(row["arrived_ns"]),
        rwbs=row["rwbs"],
        sector=int(row["sector"]),
        sectors=int(row["sectors"]),
        merged=row["merged"] == "1",
        priority=row["class"],
        cpu=int(row["cpu"]),
        pid=int(row["pid"]),
        comm=row["comm"],
        service=service,
    )


def _service(number: int, row: Mapping[str, str]) -> Service:
    return Service(
        number=number,
        dispatched_ns=int(row["dispatched_ns"]),
        reached_ns=int(row["reached_ns"]),
        done_ns=int(row["done_ns"]) if row["done_ns"] else None,
        sector=int(row["served_sector"]),
        sectors=int(row["served_sectors"]),
        from_cylinder=int(row["from_cylinder"]),
        cylinder=int(row["cylinder"]),
        depth=int(row["depth"]),
    )
