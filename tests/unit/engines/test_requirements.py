"""Patterns that catch no number and programs that are not there are found before anything runs."""

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from runoff.cli.main import cli
from runoff.engines import ext4, tools
from runoff.engines.requirements import require_findable, require_programs_here, require_programs_in
from runoff.errors import MissingError, RunoffError, UsageError
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings

METRIC = '[metrics.m]\npattern = {}\nunit = "s"\ndirection = "lower"\ntitle = "m"\n'


def plan_of(*works: str, loads: tuple[str, ...] = (), on: str = "host") -> Plan:
    values = {"arms": ["default", "bfs"], "workloads": works, "loads": loads, "on": on, "blocks": 20}
    return make_plan(parse_settings(values, "test"))


def write_work(place: Path, pattern: str = "'([0-9.]+)'", *, prepare: str = "[]", command: str = '["true"]') -> str:
    path = place / "w.toml"
    path.write_text(
        f'title = "w"\ndescription = "w"\nprepare = {prepare}\ncommand = {command}\n' + METRIC.format(pattern)
    )
    return str(path)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("'^([0-9]+'", "is not a regular expression"),
        ("'(?<=99.0th: )([0-9]+)'", "is not a regular expression of the regex crate"),
        ("'time [0-9]+'", "has no group for the number, such as ([0-9.]+)"),
        ("'time (?:[0-9]+)'", "has no group"),
        ("'5(?<unit>ms)'", "has no group"),
    ],
)
def test_a_pattern_that_catches_no_number_is_named(tmp_path: Path, pattern: str, why: str) -> None:
    work = write_work(tmp_path, pattern)
    with pytest.raises(UsageError) as caught:
        require_findable(plan_of(work))
    assert str(caught.value).startswith(f"{work}: metrics.m.pattern ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_query_that_is_none_is_named(tmp_path: Path) -> None:
    work = tmp_path / "w.toml"
    work.write_text(Path(write_work(tmp_path)).read_text().replace("pattern = '([0-9.]+)'", "json = 'jobs['"))
    with pytest.raises(UsageError, match=r"metrics\.m\.json 'jobs\[' is not a JMESPath query"):
        require_findable(plan_of(str(work)))


@pytest.mark.parametrize("ways", ["", "json = 'a'\ncsv = 'b'"])
def test_a_number_is_found_in_one_way(tmp_path: Path, ways: str) -> None:
    work = tmp_path / "w.toml"
    work.write_text(Path(write_work(tmp_path)).read_text().replace("pattern = '([0-9.]+)'", ways))
    with pytest.raises(UsageError, match=r"metrics\.m: .*there must be one of pattern, json and csv"):
        plan_of(str(work))


def test_patterns_of_all_that_comes_with_runoff_catch_numbers() -> None:
    from runoff.workloads import LOADS, WORKLOADS

    works = [name if name != "command" else "command:true" for name in WORKLOADS.names()]
    require_findable(plan_of(*works, loads=tuple(LOADS.names()), on="lab"))


@pytest.mark.parametrize("plan_only", [True, False])
def test_a_command_ends_before_it_makes_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan_only: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["compare", "default", "--work", write_work(tmp_path, "'x'"), "--on", "lab", "--clock", "virtual"]
    result = CliRunner().invoke(cli, [*words, *(["--plan-only"] if plan_only else [])], standalone_mode=False)
    assert isinstance(result.exception, UsageError)
    assert [path.name for path in tmp_path.iterdir()] == ["w.toml"]


@pytest.mark.parametrize(
    ("work", "way_out"),
    [
        ("command:nosuchprogram -x", "was not found: install it"),
        ("command:/nowhere/program", "was not found: install it"),
    ],
)
def test_a_program_that_is_not_here_is_named_with_the_way_out(work: str, way_out: str) -> None:
    with pytest.raises(MissingError) as caught:
        require_programs_here(plan_of("command:true", work))
    program = work.removeprefix("command:").split()[0]
    assert str(caught.value).startswith(f"workload {work!r}: the program {program} was not found: ")
    assert way_out in str(caught.value)


def test_a_line_of_a_shell_is_named_as_that(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="the program cd was not found: a shell is needed for such a line"):
        require_programs_here(plan_of(write_work(tmp_path, command='["cd", "/tmp", "&&", "ls"]')))


def test_a_way_from_an_empty_directory_leads_nowhere(tmp_path: Path) -> None:
    with pytest.raises(MissingError) as caught:
        require_programs_here(plan_of(write_work(tmp_path, command='["./mybench.sh"]')))
    assert str(caught.value).endswith(
        "the program ./mybench.sh was not found: each sample begins in an empty directory, so name it in files = [...]"
    )


def test_what_a_preparation_may_make_is_not_looked_for(tmp_path: Path) -> None:
    require_programs_here(plan_of(write_work(tmp_path, prepare='[["cp", "/bin/true", "x"]]', command='["./x"]')))
    with pytest.raises(MissingError, match="nosuch"):
        require_programs_here(plan_of(write_work(tmp_path, prepare='[["nosuch"]]', command='["./x"]')))


@pytest.mark.skipif(tools.locate("debugfs") is None, reason="needs e2fsprogs")
def test_a_program_that_is_not_in_an_image_is_named_under_any_arm(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "bin").symlink_to("usr/bin")
    (tree / "usr/bin/there").touch()
    (tree / "usr/bin/linked").symlink_to("there")
    ext4.make(tree, tmp_path / "image.ext4")
    found = ("command:there", "command:linked 1", "command:/bin/there", "counters:n=1")
    require_programs_in(tmp_path / "image.ext4", plan_of(*found, on="lab"))
    with pytest.raises(MissingError) as caught:
        require_programs_in(tmp_path / "image.ext4", plan_of("command:nosuch -x", on="lab"))
    assert str(caught.value).endswith("nosuch was not found: name the Debian package that has it with --package")


@pytest.mark.parametrize(
    ("text", "values"),
    [("level=-5", ["-5"]), ("level=-2..1", ["-2", "-1", "0", "1"]), ("level=-3..-2", ["-3", "-2"]), ("level=7", ["7"])],
)
def test_a_whole_number_may_be_negative(tmp_path: Path, text: str, values: list[str]) -> None:
    path = tmp_path / "nice.toml"
    path.write_text(
        'title = "w"\ndescription = "w"\ncommand = ["nice", "-n", "{level}", "true"]\n'
        '[parameters.level]\nabout = "nice value"\ndefault = "-5"\nminimum = -20\nmaximum = 19\n'
    )
    assert [work.values["level"] for work in plan_of(f"{path}:{text}").works] == values
    assert plan_of(str(path)).works[0].values == {"level": "-5"}
    for wrong in ("level=-21", "level=1..-1", "level=--5", "level=-"):
        with pytest.raises(RunoffError, match="level"):
            plan_of(f"{path}:{wrong}")


def test_controllers_of_control_groups_must_be_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runoff.engines.cpu_limit.MOUNTS", tmp_path / "mounts")
    (tmp_path / "mounts").write_text("")
    plan = plan_of("stress:groups=on")
    with pytest.raises(MissingError, match="needs control groups: sudo mount -t cgroup2"):
        require_programs_here(plan)
    (tmp_path / "mounts").write_text(f"none {tmp_path} cgroup2 rw 0 0\n")
    switch = tmp_path / "cgroup.subtree_control"
    switch.write_text("cpuset memory\n")
    with pytest.raises(MissingError, match=r"needs the controller cpu of control groups, which is off: echo \+cpu"):
        require_programs_here(plan)
    require_programs_here(plan_of("stress"))
    switch.write_text("cpuset cpu memory\n")
    require_programs_here(plan)


def test_a_port_that_something_has_is_named(tmp_path: Path) -> None:
    work = Path(write_work(tmp_path))
    written = work.read_text()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        work.write_text(f'ports = ["{port}"]\n{written}')
        with pytest.raises(MissingError, match=rf"needs the port {port}, and something here has it: choose another"):
            require_programs_here(plan_of(str(work)))
    require_programs_here(plan_of(str(work)))
    for wrong in ("", "0", "65536", "http", "-1"):
        work.write_text(f'ports = ["{wrong}"]\n{written}')
        with pytest.raises(UsageError, match=rf"'{wrong}' is not the number of a port"):
            require_programs_here(plan_of(str(work)))
