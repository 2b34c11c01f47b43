"""The picture of a disk over time: its content, the tasks that it names, and that it stays small."""

import re
from xml.etree import ElementTree

from request_logs import FEW, MS, held, log, request

from runoff.report.figures import disk_times
from runoff.report.figures import timeline as figure
from runoff.report.figures.disk_times import MOST_MOVES, OTHERS, Timeline
from runoff.results import Sample
from runoff.results.request_log import parse


def of(text: str, elapsed_ms: float = 20) -> Timeline:
    sample = Sample("b0.w0.a1", 0, 0, "default+io=x", "read", "", True, None, {"elapsed_s": elapsed_ms / 1000})
    return disk_times.make_timeline("read", sample, parse(text))


def paths(drawn: Timeline, style: str) -> list[str]:
    picture = ElementTree.fromstring(figure.draw(drawn))
    return [path.attrib["d"] for path in picture.iter("path") if path.attrib["class"] == style]


def test_it_shows_the_workloads_time_and_nothing_before_it():
    drawn = of(FEW)
    assert [(move.process, move.at, move.from_cylinder, move.cylinder) for move in drawn.moves] == [
        ("task 7 7", 1, 0, 10), ("task 9 9", 11, 10, 400),
    ]  # fmt: skip
    assert drawn.held == ((5, 11),)
    assert drawn.processes == ("task 7 7", "task 9 9")
    assert "20 ms, 2 requests served, held idle for 6.0 ms (shaded)" in drawn.caption
    assert "2 requests were too many for the log" in drawn.caption


def test_requests_wait_from_arrival_until_dispatch_each_for_itself():
    # At 1 one comes and goes at once, at 11 the two that were merged go together.
    assert of(FEW).waiting == ((0, 0), (1, 0), (2, 1), (3, 2), (11, 0), (12, 1))


def test_held_times_are_shaded_where_they_were():
    (shade,) = paths(of(FEW), "held")
    x, width = map(float, re.match(r"M([\d.]+) [\d.]+h([\d.]+)v", shade).groups())
    pixels_per_ms = (figure.WIDTH - figure.LEFT - figure.RIGHT) / 20
    assert abs((x - figure.LEFT) / pixels_per_ms - 5) < 0.01
    assert abs(width / pixels_per_ms - 6) < 0.01
    assert paths(of(log(request(1, 100, (0, 1, 4, 5, 0, 10)))), "held") == []


def many(count: int) -> str:
    rows = [
        request(at, at * 10 % 9000, (at, at, at, at + 1, at % 900, at * 7 % 900), pid=at % 9) for at in range(count)
    ]
    return log(*rows, *(held(at, at + 1) for at in range(count)))


def test_only_the_beginning_of_a_long_sample_is_shown_and_it_says_so():
    drawn = of(many(3 * MOST_MOVES), elapsed_ms=3 * MOST_MOVES)
    assert len(drawn.moves) == MOST_MOVES
    assert drawn.shown_ms == MOST_MOVES
    assert f"the first {MOST_MOVES} of {3 * MOST_MOVES:,} ms" in drawn.caption
    assert all(until <= MOST_MOVES for _, until in drawn.held)


def test_it_stays_small_whatever_the_sample_is():
    assert len(figure.draw(of(many(20_000), elapsed_ms=20_000))) < 100_000


def test_the_busiest_have_names_and_the_others_are_one():
    drawn = of(many(MOST_MOVES), elapsed_ms=MOST_MOVES)
    assert len(drawn.processes) == disk_times.MOST_NAMED + 1
    assert drawn.processes[-1] == OTHERS
    assert {move.process for move in drawn.moves} == set(drawn.processes)


def test_without_moving_parts_positions_are_sectors():
    drawn = of(log(request(1, 100, (0, 1, 1, 1, 0, 0)), request(2, 900, (1, 2, 2, 2, 0, 0))))
    assert drawn.unit == "sector"
    assert [(move.from_cylinder, move.cylinder) for move in drawn.moves] == [(100, 100), (108, 900)]
    assert MS == disk_times.NS_PER_MS


def test_a_sample_without_requests_has_a_picture():
    assert "0 requests served" in of(log()).caption
    assert figure.draw(of(log())).startswith("<svg")
