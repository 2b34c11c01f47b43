"""A log of requests as text in the manner of blkparse(1): docs/elevators/requests.md has the columns."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from runoff.results.request_log import Request, RequestLog, Service


@dataclass(frozen=True, slots=True)
class _Event:
    at_ns: int
    cpu: int
    pid: int
    rest: str


def render(log: RequestLog) -> str:
    """Return a line for each event in order of time; times are in seconds since the start of the workload."""
    events = heapq.merge(_arrivals(log), _disk(log), key=lambda event: event.at_ns)
    lines = [
        f"{log.device:>7} {event.cpu:2} {number:8} {_seconds(event.at_ns):>15} {event.pid:5} {event.rest}\n"
        for number, event in enumerate(events, 1)
    ]
    if log.dropped:
        lines.append(f"# {log.dropped} more requests were too many for the log\n")
    return "".join(lines)


def _arrivals(log: RequestLog) -> Iterator[_Event]:
    for request in sorted(log.requests, key=lambda request: request.arrived_ns):
        yield _event(request, request.arrived_ns, "Q", request)
        if request.merged:
            yield _event(request, request.arrived_ns, "M", request)


def _disk(log: RequestLog) -> Iterator[_Event]:
    """Yield one command after the other; a time held idle ends with the next."""
    served = [
        (service.dispatched_ns, service.number, request, service)
        for request in log.requests
        if (service := request.service) is not None and not request.merged
    ]
    held = iter(log.held)
    start, until = next(held, (None, None))
    for dispatched_ns, _, request, service in sorted(served, key=lambda entry: entry[:2]):
        while start is not None and until is not None and until <= dispatched_ns:
            yield _Event(start, 0, 0, " m   N held idle, requests wait")
            yield _Event(until, 0, 0, " m   N goes on")
            start, until = next(held, (None, None))
        yield _event(request, dispatched_ns, "D", service)
        if service.done_ns is not None:
            yield _event(request, service.done_ns, "C", service)


def _event(request: Request, at_ns: int, action: str, what: Request | Service) -> _Event:
    rest = f"{action:>2} {request.rwbs:>3} {what.sector} + {what.sectors} [{request.comm}]"
    return _Event(at_ns, request.cpu, request.pid, rest)


def _seconds(ns: int) -> str:
    """Return all nine digits, and no rounding."""
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 10**9}.{abs(ns) % 10**9:09}"
