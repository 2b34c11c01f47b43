"""The screens of docs/control.md need a scheduler that runs, which tests/host/test_host_pages.py has; what they say of
it is what it says of itself."""

import re

from checkout import ROOT

from runoff.cli.parameter_lines import render_parameter
from runoff.engines.questions import describe_schedulers
from runoff.plan.parameters import describe_allowed

PAGE = (ROOT / "docs/control.md").read_text()
SET, STATS = (
    re.search(
        rf"^\$ sudo \.venv/bin/runoff {command} bfs(?P<words>.*?)\n(?P<shown>.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL
    )
    for command in ("set", "stats")
)


def test_parameters_are_shown_as_set_shows_them():
    assert SET is not None
    values = dict(word.split("=") for word in SET["words"].split())
    expected = [
        line
        for each in describe_schedulers()["bfs"]["parameters"]
        if each["name"] in values
        for line in render_parameter(
            each["name"],
            values[each["name"]],
            describe_allowed(each),
            each["sentence"],
            80,
            is_fixed=not each["runtime"],
        )
    ]
    assert SET["shown"].splitlines() == expected


def test_counters_are_those_of_the_scheduler():
    assert STATS is not None
    told: dict[str, str] = {}
    for line in STATS["shown"].splitlines()[1:]:
        if line.startswith(" "):
            told[list(told)[-1]] += f" {line.strip()}"
        else:
            name, _, sentence = re.split(r"\s+", line, maxsplit=2)
            told[name] = sentence
    assert told == {each["name"]: each["sentence"] for each in describe_schedulers()["bfs"]["statistics"]}
