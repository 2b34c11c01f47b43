"""Words that people bring along from other programs are answered with what they are here."""

from pathlib import Path

import pytest
from cli_runner import run

COMPARE = ("compare", "default", "bfs", "--plan-only")
WORK = ("--work", "hackbench")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("compare", "default,bfs", *WORK), "each arm is a word of its own: default bfs"),
        ((*COMPARE, "--work", "hackbench,schbench"), "option of its own: --work hackbench --work schbench"),
        ((*COMPARE, *WORK, "--load", "io,mem"), "option of its own: --load io --load mem"),
        ((*COMPARE, *WORK, "schbench"), "schbench is a workload, not a scheduler: --work schbench"),
        (("compare", "default", "default", *WORK), "-n a=default -n b=default (or measure it: runoff noise)"),
        (("compare", "default", "scx_lavd:fast", *WORK), "scx_lavd has no mode 'fast'"),
        (("compare", "default", "bore", *WORK), "another kernel's own as default@KERNEL"),
        (("compare", "default", "CFS", *WORK), "did you mean 'cfs'?"),
        (("compare", "default", "default:base_slice_ns=1", *WORK), "a setting is written with a plus"),
        ((*COMPARE, *WORK, "--margin", "2"), "2 percent is written as 2%"),
        ((*COMPARE, *WORK, "--runs", "20"), "Did you mean '--blocks'?"),
        (("compare", "--arms", "default,bfs", *WORK), "Did you mean 'ARM ARM, without an option'?"),
        ((*COMPARE, "--work", "hackbench:-g 24 -q 100"), "its parameters are written as hackbench:groups=2,fds=20,"),
        ((*COMPARE, "--work", "command:cd /tmp && ls"), "command:sh -c 'cd /tmp && ls'; or quote it"),
        ((*COMPARE, "--work", "command:cd /tmp; ls"), "/tmp; is for a shell"),
        ((*COMPARE, "--work", "command:sleep 0.1 | cat"), "| is for a shell, and there is none"),
        (("noise", "default", *WORK), "noise has no command 'default'; there are: keep, list, show"),
    ],
)
def test_the_answer_has_the_way_to_say_it(words: tuple[str, ...], hint: str) -> None:
    done = run(*words, expect=64)
    assert done.stdout == ""
    assert hint in done.stderr


def test_a_sign_of_the_shell_may_be_an_argument_if_it_is_quoted() -> None:
    for line in (
        "command:grep '|' /etc/passwd",
        "command:sh -c 'cd /tmp && ls'",
        r"command:find . -exec ls {} \;",
        'command:expr 1 "<" 2',
    ):
        run(*COMPARE, "--work", line)


def test_a_workload_is_not_a_plan(tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text('title = "w"\ndescription = "w"\ncommand = ["true"]\n')
    said = run("run", tmp_path / "w.toml", expect=64).stderr
    assert "is a workload, not a plan: runoff compare ARM ARM --work" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("compare", "default", "bfs", "--work", "sleep 1"),
            "a command line of yours is a workload as 'command:sleep 1'",
        ),
        (("compare", "default", "bfs", "--work", "sh"), "a command line of yours is a workload as 'command:sh'"),
        (("compare", "default", "scx", "--work", "hackbench"), "a program of the scx project is named as in scx_lavd"),
        (("compare", "default", "lavd", "--work", "hackbench"), "one of the scx project is an arm as scx_lavd"),
        (("compare", "default", "bfs", "hackbench"), "for example: --work hackbench"),
        (("list", "scheduler"), "did you mean 'schedulers'?"),
        (("published", "nope"), "published has no command 'nope'; there are: check, list, replicate, show"),
        (("kernel", "lst"), "did you mean 'list'?"),
        (("report", "-o", "x"), "Did you mean '--out'?"),
        (("report", "--wide"), "Did you mean '--csv'?"),
        (("report", "--log"), "Did you mean '--csv'?"),
        (("help", "nope"), "there is no command 'nope'"),
        (("report", "nothere"), "there is no campaign nothere: no such directory"),
    ],
)
def test_what_people_guess_leads_to_what_there_is(words, sentence):
    assert sentence in run(*words, expect=64).stderr


@pytest.mark.parametrize(("words", "begin"), [(("help",), "Usage: runoff ["), (("help", "gate"), "Usage: runoff gate")])
def test_help_is_a_word_too(words, begin):
    assert run(*words).stdout.startswith(begin)


def test_an_only_arm_is_named_before_anything_is_run(tmp_path):
    """Without an image or a kernel the campaign cannot begin; the sentence comes first."""
    done = run("compare", "bfs", "--work", "nope.toml", "--out", tmp_path / "c", expect=64)
    assert done.stderr.startswith("bfs is the only arm, and nothing is compared; two arms are: default bfs\n")
