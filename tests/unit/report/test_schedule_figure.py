"""The picture of a schedule shows what ran when, and nothing else."""

import re
from xml.etree import ElementTree

from runoff.report.figures import schedule
from runoff.report.figures.schedule import LEFT, RIGHT, WIDTH, Row

SVG = "{http://www.w3.org/2000/svg}"
WINDOW = (1000.0, 1600.0)
PIXELS_PER_MS = (WIDTH - LEFT - RIGHT) / 600


def drawn(*rows: Row) -> ElementTree.Element:
    return ElementTree.fromstring(schedule.draw("a <name>", "three & one", rows, WINDOW))


def paths(picture: ElementTree.Element, style: str) -> list[str]:
    return [path.attrib["d"] for path in picture.iter(f"{SVG}path") if path.attrib["class"] == style]


def texts(picture: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text")]


def ends(d: str) -> list[tuple[float, float]]:
    """From and until of each bar in ms since the start of the window."""
    found = re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", d)
    return [((float(x) - LEFT) / PIXELS_PER_MS, (float(x) + float(w) - LEFT) / PIXELS_PER_MS) for x, w in found]


def test_a_bar_stands_where_the_task_ran() -> None:
    (bars,) = paths(drawn(Row("hog", [(1100, 1150, 0), (1300, 1310, 0)])), "a1")
    for (start, end), (low, high) in zip(ends(bars), [(100, 150), (300, 310)], strict=True):
        assert abs(start - low) < 0.2
        assert abs(end - high) < 0.2


def test_a_bar_has_the_colour_of_its_cpu() -> None:
    picture = drawn(Row("hog", [(1100, 1150, 1)]), Row("other", [(1200, 1210, 0), (1300, 1310, 1)]))
    assert [len(ends(bars)) for bars in paths(picture, "a1")] == [1]
    assert [len(ends(bars)) for bars in paths(picture, "a2")] == [1, 1]
    assert {"on CPU 0", "on CPU 1"} <= set(texts(picture))


def test_bars_across_the_window_are_cut_and_those_outside_are_left_out() -> None:
    (bars,) = paths(drawn(Row("hog", [(0, 900, 0), (990, 1010, 0), (1590, 1700, 0), (1700, 1800, 0)])), "a1")
    for (start, end), (low, high) in zip(ends(bars), [(0, 10), (590, 600)], strict=True):
        assert abs(start - low) < 0.2
        assert abs(end - high) < 0.2


def test_the_share_is_of_the_window() -> None:
    assert "25.0 %" in texts(drawn(Row("hog", [(900, 1100, 0), (1200, 1250, 1)])))


def test_a_wait_is_a_line_of_its_own() -> None:
    runs = [(1040, 1042, 0)]
    waiting, content = drawn(Row("sleeper", runs, [(1020, 1040)])), drawn(Row("sleeper", runs))
    assert len(paths(waiting, "wait")) == len(paths(content, "wait")) + 1


def test_a_task_that_never_ran_has_a_row_without_bars() -> None:
    picture = drawn(Row("hog", [(1000, 1600, 0)]), Row("starved", []))
    assert paths(picture, "a2") == []
    assert {"starved", "100.0 %", "0.0 %"} <= set(texts(picture))


def test_every_text_is_escaped_and_the_file_stands_alone() -> None:
    picture = drawn(Row("<&>", []))
    assert {"a <name>", "three & one", "<&>"} <= set(texts(picture))
    style = picture.findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme: dark" in style
    assert "{%" not in style
    (paper,) = [rect for rect in picture.iter(f"{SVG}rect") if rect.attrib["class"] == "paper"]
    assert paper.attrib["width"] == "100%"


def test_a_row_is_parsed_from_the_output_of_the_agent() -> None:
    entry = {"runs": [[1.5, 2.5, 3]], "waits": [[1.0, 1.5]], "lost": 0}
    assert Row.from_timeline("sleeper", entry) == Row("sleeper", [(1.5, 2.5, 3)], [(1.0, 1.5)])
