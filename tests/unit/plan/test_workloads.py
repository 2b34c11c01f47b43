"""Workload files, parameters, ranges, and the message they become."""

import re
from pathlib import Path

import pytest

from runoff.campaign.manifest import list_metrics
from runoff.engines.questions import describe_metrics
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.settings import parse_settings
from runoff.workloads import LOADS, WORKLOADS, parse_works


def test_every_workload_that_comes_with_runoff_is_valid_and_has_a_judged_metric() -> None:
    assert {"hackbench", "counters", "compile", "command"} <= set(WORKLOADS.names())
    for name in WORKLOADS.names():
        text = "command:true" if name == "command" else name
        for work in parse_works(text, cpus=2):
            assert work.list_metrics(describe_metrics().workload)[0].headline, name
            assert WORKLOADS.find(name).title


def test_a_range_becomes_one_workload_for_each_value() -> None:
    works = parse_works("counters:n=2..4,count=10", cpus=2)
    assert [work.label for work in works] == [f"counters:n={n},count=10" for n in (2, 3, 4)]
    assert works[0].message(None)["command"] == [
        "runoff-agent",
        "counters",
        "--processes=2",
        "--count=10",
        "--passes=5",
    ]


def test_a_default_range_shows_in_the_label_and_other_defaults_do_not() -> None:
    assert [work.label for work in parse_works("counters", cpus=2)] == [f"counters:n={n}" for n in (1, 2, 3, 4)]
    assert [work.label for work in parse_works("hackbench", cpus=2)] == ["hackbench"]


def test_choices_become_words() -> None:
    command = parse_works("hackbench:transport=pipe", cpus=2)[0].message("/image")["command"]
    assert command[-1] == "-p"
    assert "-p" not in parse_works("hackbench", cpus=2)[0].message(None)["command"]


def test_controllers_are_asked_for_where_a_value_needs_them(tmp_path: Path) -> None:
    assert parse_works("stress:groups=on", cpus=2)[0].message(None)["controllers"] == ["cpu"]
    assert parse_works("stress", cpus=2)[0].message(None)["controllers"] == []
    path = tmp_path / "limited.toml"
    path.write_text('title = "l"\ndescription = "l"\ncommand = ["l"]\ncontrollers = ["memory", "cpu"]\n')
    assert parse_works(str(path), cpus=2)[0].controllers == ["memory", "cpu"]
    parameter = '[parameters.n]\nabout = "a"\ndefault = "x"\nchoices = ["x"]\ncontrollers = { y = ["cpu"] }\n'
    path.write_text(path.read_text() + parameter)
    with pytest.raises(UsageError, match="controllers: 'y' is not one of its choices"):
        parse_works(str(path), cpus=2)


def test_a_value_may_be_for_the_lab_only(tmp_path: Path) -> None:
    assert parse_works("stress:hotplug=on", cpus=2)[0].lab_only == "hotplug=on"
    assert parse_works("stress", cpus=2)[0].lab_only is None
    path = tmp_path / "own.toml"
    parameter = '[parameters.n]\nabout = "a"\ndefault = "x"\nchoices = ["x"]\nlab_only = ["y"]\n'
    path.write_text('title = "o"\ndescription = "o"\ncommand = ["o"]\n' + parameter)
    with pytest.raises(UsageError, match="lab_only: 'y' is not one of its choices"):
        parse_works(str(path), cpus=2)


def test_the_number_of_cpus_fills_a_default() -> None:
    assert parse_works("compile", cpus=3)[0].message(None)["command"][-1] == "-j3"


def test_a_command_keeps_colons_commas_and_quotes() -> None:
    work = parse_works("command:sh -c 'echo a=1,b:2'", cpus=2)[0]
    assert work.message(None)["command"] == ["sh", "-c", "echo a=1,b:2"]
    assert work.list_metrics(describe_metrics().workload)[0].name == "elapsed_s"


def test_a_user_adds_a_workload_without_code(tmp_path: Path) -> None:
    path = tmp_path / "spin.toml"
    path.write_text(
        'title = "spin"\ndescription = "d"\ncommand = ["spin", "{n}"]\n'
        '[parameters.n]\nabout = "a"\ndefault = "3"\nminimum = 1\nmaximum = 9\n'
    )
    work = parse_works(f"{path}:n=4", cpus=2)[0]
    assert work.label == "spin:n=4"
    assert work.message(None)["command"] == ["spin", "4"]


def test_a_metric_may_be_for_some_values_of_a_parameter_only() -> None:
    (video,), (gaming,) = (parse_works(f"periodic:task={task}", cpus=1) for task in ("video", "gaming"))
    assert "deadlines_met_pct" in {metric.name for metric in video.list_metrics(describe_metrics().workload)}
    assert "deadlines_met_pct" not in {metric.name for metric in gaming.list_metrics(describe_metrics().workload)}
    assert "deadlines_met_pct" not in {extract["metric"] for extract in gaming.message(None)["extract"]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hackbnch", "unknown workload 'hackbnch'; did you mean 'hackbench'?"),
        ("hackbench:group=3", "no parameter 'group'; did you mean 'groups'?"),
        ("hackbench:groups=0", "groups=0 is out of its range 1..1000"),
        ("hackbench:groups=4..2", "out of its range"),
        ("hackbench:groups=many", "must be a whole number or a range"),
        ("hackbench:groups=nan", "must be a whole number or a range"),
        ("hackbench:groups=\N{ARABIC-INDIC DIGIT SIX}", "must be a whole number or a range"),
        ("hackbench:transport=pigeon", "transport=pigeon"),
        ("command:", "a command line must follow the colon"),
        ("command:'", "No closing quotation"),
        ("/nowhere/x.toml", "cannot read the workload /nowhere/x.toml"),
    ],
)
def test_wrong_workloads_are_named(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_works(text, cpus=2)
    assert sentence in str(caught.value)


PLAIN = 'title = "x"\ndescription = "d"\ncommand = ["a"]\n'
PARAMETER = '[parameters.n]\nabout = "a"\ndefault = "1"\n'
METRIC = '[metrics.m]\npattern = "p"\nunit = ""\ndirection = "none"\ntitle = "t"\n'


@pytest.mark.parametrize(("text", "timeout_s"), [("timeout_s = 5", 5.0), ("timeout_s = 0.5", 0.5), ("", 600.0)])
def test_a_time_may_be_written_without_a_point(tmp_path: Path, text: str, timeout_s: float) -> None:
    path = tmp_path / "w.toml"
    path.write_text(PLAIN + text)
    assert parse_works(str(path), cpus=2)[0].message(None)["timeout_s"] == timeout_s


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('timeout_s = "5"', "timeout_s: it must be a number, not"),
        ("timeout_s = true", "timeout_s: it must be a number, not"),
        ("timeout_s = nan", "timeout_s: it must be a number that is neither infinite nor nan"),
        ("timeout_s = inf", "timeout_s: it must be a number that is neither infinite nor nan"),
        ("timeout_s = -inf", "timeout_s: it must be a number that is neither infinite nor nan"),
        ("disk = 1", "disk: it must be true or false, not"),
        ('swap = "true"', "swap: it must be true or false, not"),
        ("elapsed_headline = 0.0", "elapsed_headline: it must be true or false, not"),
        ("environment = { N = 1 }", "environment.N: it must be a text, not"),
        (PARAMETER + 'minimum = "1"', "parameters.n.minimum: it must be a whole number, not"),
        (PARAMETER + "minimum = 1.0", "parameters.n.minimum: it must be a whole number, not"),
        (PARAMETER + "maximum = true", "parameters.n.maximum: it must be a whole number, not"),
        (PARAMETER + "maximum = inf", "parameters.n.maximum: it must be a whole number, not"),
        (PARAMETER + "words = 1", "parameters.n.words: it must be true or false, not"),
        (METRIC + 'headline = "no"', "metrics.m.headline: it must be true or false, not"),
        (METRIC + "colour = 1", "metrics.m.colour: there is no such key; there are: about, csv, direction, "),
    ],
)
def test_a_value_of_another_kind_is_refused_and_not_made_to_fit(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "w.toml"
    path.write_text(PLAIN + text)
    with pytest.raises(UsageError) as caught:
        parse_works(str(path), cpus=2)
    assert f"workload {path}: {sentence}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title = ", "is not TOML"),
        ('title = "x"\ndescription = "d"\n', "there must be a command"),
        (PLAIN + "comand = 1\n", "comand: there is no such key; did you mean 'command'?"),
        (PLAIN + 'timeout = "5m"\n', "timeout: there is no such key; did you mean 'timeout_s'?"),
        (
            'title = "x"\ndescription = "d"\ncommand = ["a"]\n[metrics.m]\npattern = "p"\nunit = ""\n'
            'direction = "none"\ntitle = "t"\nonly = { n = ["1"] }\n',
            "metrics.m.only: there is no parameter 'n'",
        ),
    ],
)
def test_a_broken_workload_file_names_file_and_key(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "w.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        parse_works(str(path), cpus=2)
    assert str(path) in str(caught.value)
    assert sentence in str(caught.value)


SERVED = """title = "w"
description = "w"
command = ["ask", "{port}"]
parameters.port = { about = "p", default = "80" }
server = { command = ["serve", "{port}"], ready = ["knock", "{port}"] }
"""


def test_a_server_is_part_of_the_work(tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(SERVED)
    (work,) = parse_works(f"{tmp_path / 'w.toml'}:port=81", 2)
    assert work.message(None)["server"] == {"command": ["serve", "81"], "ready": ["knock", "81"]}
    (alone,) = parse_works("counters:n=1", 2)
    assert alone.message(None)["server"] is None


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (
            'command = ["ask", "{port}"]',
            'scene = "task a { run 1ms }"',
            "a server answers a command, and there is none",
        ),
        ('ready = ["knock", "{port}"]', "ready = []", "server.ready"),
        (', ready = ["knock", "{port}"]', "", "server.ready"),
        ('ready = ["knock"', 'answers = ["knock"', "server"),
    ],
)
def test_a_server_without_a_part_is_named(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    assert before in SERVED
    (tmp_path / "w.toml").write_text(SERVED.replace(before, after))
    with pytest.raises(UsageError, match=re.escape(sentence)):
        parse_works(str(tmp_path / "w.toml"), 2)


def test_a_load_has_no_server(tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(SERVED)
    with pytest.raises(UsageError, match="a load has no server: start it in the load's own command"):
        parse_works(str(tmp_path / "w.toml"), 2, LOADS)


def test_samples_of_a_server_have_its_metrics() -> None:
    plan = make_plan(
        parse_settings({"arms": ["default"], "workloads": ["redis", "counters:n=1"], "on": "host"}, "test")
    )
    of_redis, of_counters = ([metric.name for metric in list_metrics(plan, work)] for work in plan.works)
    served = {"server_user_s", "server_system_s", "server_cpu_pct"}
    assert served <= set(of_redis)
    assert not served & set(of_counters)
