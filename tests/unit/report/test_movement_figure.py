"""The picture of a head's movement shows where it was when, and nothing else."""

import re
from xml.etree import ElementTree

from runoff.report.figures import movement
from runoff.report.figures.movement import HEIGHT, LEFT, RIGHT, TOP, WIDTH, Move

SVG = "{http://www.w3.org/2000/svg}"
SHOWN_MS = 400.0
PIXELS_PER_MS = (WIDTH - LEFT - RIGHT) / SHOWN_MS
PIXELS_PER_CYLINDER = HEIGHT / 60_000


def move(process: str, at: float, cylinder: float, kb: float = 128) -> Move:
    """It takes 5 ms to get there and 3 ms to serve."""
    return Move(process, kb, at, at + 5, at + 8, 0, cylinder)


def drawn(*moves: Move) -> ElementTree.Element:
    return ElementTree.fromstring(movement.draw("a <name>", "two & one", moves, ["reader", "writer"], SHOWN_MS))


def paths(picture: ElementTree.Element, style: str) -> list[str]:
    return [path.attrib["d"] for path in picture.iter(f"{SVG}path") if path.attrib["class"] == style]


def texts(picture: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text")]


def test_a_bar_stands_where_and_when_a_request_was_served() -> None:
    (bars,) = paths(drawn(move("reader", 100, 30_000)), "a1")
    x, y, width = map(float, re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v", bars)[0])
    assert abs((x - LEFT) / PIXELS_PER_MS - 105) < 0.2
    assert abs(width / PIXELS_PER_MS - 3) < 0.2
    assert abs((TOP + HEIGHT - y - 3) / PIXELS_PER_CYLINDER - 30_000) < 100


def test_every_process_has_its_colour_and_a_line_leads_to_every_request() -> None:
    picture = drawn(move("writer", 0, 100), move("reader", 50, 60_000), move("writer", 90, 200))
    assert paths(picture, "a1")[0].count("M") == 1
    assert paths(picture, "a2")[0].count("M") == 2
    (way,) = paths(picture, "axis")
    assert way.count("M") == way.count("L") == 3


def test_rates_are_those_of_the_moves_in_the_picture() -> None:
    picture = drawn(move("reader", 0, 1, kb=1000), move("reader", 395, 1, kb=1000), move("reader", 500, 1, kb=1000))
    assert {"2.6 MB/s", "0.0 MB/s"} <= set(texts(picture))


def test_what_begins_after_the_picture_is_left_out() -> None:
    picture = drawn(move("reader", 0, 1), move("writer", 400, 1))
    assert paths(picture, "a2") == []


def test_a_move_is_parsed_from_the_output_of_the_example() -> None:
    row = {
        "process": "writer", "kb": "32", "at_ms": "1.5", "reached_ms": "2.5", "done_ms": "4", "from_cylinder": "7",
        "cylinder": "9",
    }  # fmt: skip
    assert Move.from_row(row) == Move("writer", 32, 1.5, 2.5, 4, 7, 9)


def test_every_text_is_escaped() -> None:
    assert {"a <name>", "two & one", "reader", "writer"} <= set(texts(drawn()))
