"""What the disk of one sample did over time, for each arm on each workload: chosen, cut to a window, named."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from runoff.analysis.values import Report
from runoff.report.figures.movement import Move
from runoff.results import Sample
from runoff.results.request_log import Request, RequestLog, Service, read

MOST_MOVES = 600
"""What a picture can show; more would be one grey area."""

MOST_NAMED = 5
"""Processes that have a colour of their own."""

OTHERS = "others"

NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True)
class Timeline:
    """The first sample of an arm that has a log; times in ms since the start of the workload."""

    place: str
    arm: str
    sample: Sample
    unit: str
    """What positions are: cylinders, or sectors of a disk without moving parts."""
    moves: tuple[Move, ...]
    processes: tuple[str, ...]
    """The busiest, by name so that they look alike under every arm; the others together at last."""
    waiting: tuple[tuple[float, int], ...]
    """How many requests had arrived and not been dispatched from each time on."""
    held: tuple[tuple[float, float], ...]
    """The elevator held the disk idle although requests waited."""
    shown_ms: float
    whole_ms: float
    dropped: int

    @property
    def caption(self) -> str:
        """What is seen."""
        part = "" if self.shown_ms >= self.whole_ms else f"the first {self.shown_ms:,.0f} of "
        held_ms = sum(until - start for start, until in self.held)
        held = f", held idle for {held_ms:,.1f} ms (shaded)" if self.held else ""
        lost = f" {self.dropped} requests were too many for the log." if self.dropped else ""
        return (
            f"{self.arm}, sample {self.sample.id}: {part}{self.whole_ms:,.0f} ms, {len(self.moves)} requests served"
            f"{held}. Below, how many requests waited.{lost}"
        )


def build(report: Report) -> list[Timeline]:
    """Return timelines by workload, load and arm in plan order. Raises UsageError for a damaged log."""
    return list(_timelines(report))


def count(report: Report) -> int:
    """Return how many there would be, without reading one."""
    return sum(1 for _ in _choose_samples(report))


def _timelines(report: Report) -> Iterator[Timeline]:
    for place, sample in _choose_samples(report):
        yield make_timeline(place, sample, read(report.results.requests[sample.id]))


def _choose_samples(report: Report) -> Iterator[tuple[str, Sample]]:
    results = report.results
    first: dict[tuple[str, str, str], Sample] = {}
    for sample in results.judged_samples:
        if sample.id in results.requests:
            first.setdefault((sample.workload, sample.load, sample.arm), sample)
    places = {(table.workload, table.load): table.place for table in report.tables}
    for (workload, load), place in places.items():
        for arm in results.arms:
            if (workload, load, arm) in first:
                yield place, first[workload, load, arm]


def make_timeline(place: str, sample: Sample, log: RequestLog) -> Timeline:
    """Return the timeline of ``log`` until the workload ends, or until there is too much to show."""
    whole = sample.metrics["elapsed_s"] * 1000
    services = [
        (request, request.service)
        for request in log.requests
        if request.service is not None and not request.merged and request.service.sectors
    ]
    services.sort(key=lambda pair: pair[1].number)
    within = [pair for pair in services if 0 <= _ms(pair[1].dispatched_ns) < whole]
    shown = whole if len(within) <= MOST_MOVES else _ms(within[MOST_MOVES][1].dispatched_ns)
    within = within[:MOST_MOVES]
    processes = _find_busiest(within)
    mechanical = any(service.cylinder or service.from_cylinder for _, service in within)
    ends = {service.number + 1: float(service.sector + service.sectors) for _, service in services}
    return Timeline(
        place=place,
        arm=sample.arm,
        sample=sample,
        unit="cylinder" if mechanical else "sector",
        moves=tuple(_move(request, service, processes, shown, mechanical, ends) for request, service in within),
        processes=processes,
        waiting=_count_waiting(log, shown),
        held=tuple((max(0.0, _ms(a)), min(shown, _ms(b))) for a, b in log.held if b > 0 and _ms(a) < shown),
        shown_ms=shown,
        whole_ms=whole,
        dropped=log.dropped,
    )


def _move(
    request: Request,
    service: Service,
    processes: tuple[str, ...],
    shown: float,
    mechanical: bool,
    ends: dict[int, float],
) -> Move:
    name = _name(request)
    done = shown if service.done_ns is None else _ms(service.done_ns)
    start = float(service.from_cylinder) if mechanical else ends.get(service.number, float(service.sector))
    return Move(
        process=name if name in processes else OTHERS,
        kb=service.sectors / 2,
        at=_ms(service.dispatched_ns),
        reached=_ms(service.reached_ns),
        done=done,
        from_cylinder=start,
        cylinder=float(service.cylinder if mechanical else service.sector),
    )


def _find_busiest(services: list[tuple[Request, Service]]) -> tuple[str, ...]:
    sectors: Counter[str] = Counter()
    for request, service in services:
        sectors[_name(request)] += service.sectors
    ranked = sorted(sectors, key=lambda name: (-sectors[name], name))
    named = sorted(ranked[:MOST_NAMED])
    return tuple(named) if len(ranked) <= MOST_NAMED else (*named, OTHERS)


def _name(request: Request) -> str:
    return f"{request.comm} {request.pid}"


def _count_waiting(log: RequestLog, shown: float) -> tuple[tuple[float, int], ...]:
    steps: Counter[int] = Counter()
    for request in log.requests:
        steps[request.arrived_ns] += 1
        if request.service is not None:
            steps[request.service.dispatched_ns] -= 1
    at_start = sum(change for at, change in steps.items() if at <= 0)
    found = [(0.0, at_start)]
    for at, change in sorted(steps.items()):
        if at > 0 and _ms(at) < shown:
            found.append((_ms(at), found[-1][1] + change))
    return tuple(found)


def _ms(ns: int) -> float:
    return ns / NS_PER_MS
