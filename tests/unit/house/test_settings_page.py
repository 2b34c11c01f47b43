"""The table of docs/settings.md has the settings of the agent, and its engines those of the scopes."""

import re

from checkout import ROOT

from runoff.engine_kinds import ENGINES
from runoff.engines.questions import describe_settings

ROW = re.compile(r"^\| `([\w.]+)` \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)


def read_table() -> dict[str, tuple[str, str]]:
    """The values and the engines of each setting on the page."""
    text = (ROOT / "docs/settings.md").read_text()
    return {name: (values, engines) for name, _, values, engines in ROW.findall(text)}


def test_every_setting_has_its_row_and_no_other() -> None:
    assert sorted(read_table()) == sorted(each["name"] for each in describe_settings())


def test_the_engines_of_a_row_are_those_that_make_it() -> None:
    table = read_table()
    for each in describe_settings():
        able = {name for name, kind in ENGINES.items() if each["scope"] in kind.settings}
        assert set(re.findall(r"\b(?:lab|host|simulator)\b", table[each["name"]][1])) == able, each["name"]


def test_the_ranges_are_those_that_are_refused() -> None:
    table = read_table()
    ranges = {each["name"]: each["range"] for each in describe_settings() if each["range"]}
    assert ranges == {"nice": [-20, 19], "weight": [1, 10_000]}
    for name, (least, most) in ranges.items():
        assert table[name][0] == f"{least} to {most}"
