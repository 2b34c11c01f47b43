"""The text of an arm: what is taken apart is put together again."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runoff.arm_text import ArmText, split_arm, split_words
from runoff.errors import UsageError

NAMES = st.from_regex(r"[a-z][a-z0-9_./-]{0,12}", fullmatch=True).filter(lambda name: name != "io")
WORDS = st.from_regex(r"[A-Za-z0-9_%,:=.-]{1,12}( [A-Za-z0-9_=+@-]{1,12})?", fullmatch=True)


@given(
    scheduler=st.from_regex(r"[a-z][a-z0-9_]{0,8}(:[a-z]{1,4}=[+-]?[0-9]{1,4})?", fullmatch=True),
    settings=st.lists(st.tuples(NAMES, WORDS), max_size=4),
    elevator=st.none() | st.from_regex(r"[a-z]{1,6}(:[a-z]{1,4}=[0-9]{1,4})?", fullmatch=True),
    kernel=st.none() | st.from_regex(r"[a-z]{1,6}(:[0-9.]{1,6})?", fullmatch=True),
)
def test_an_arm_is_taken_apart_and_put_together_again(
    scheduler: str, settings: list[tuple[str, str]], elevator: str | None, kernel: str | None
) -> None:
    parts = ArmText(scheduler, tuple(settings), elevator, kernel)
    assert split_arm(parts.render()) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("bfs:rr_interval_ms=+5", ArmText("bfs:rr_interval_ms=+5")),
        ("./my+fork.bpf.o@debian", ArmText("./my+fork.bpf.o", kernel="debian")),
        ("bfs+thp=never+io=cfq:a=1+smt=off@k", ArmText("bfs", (("thp", "never"), ("smt", "off")), "cfq:a=1", "k")),
        ('default+cmdline="a=b c+d=e @f"', ArmText("default", (("cmdline", "a=b c+d=e @f"),))),
        ("default+cmdline=preempt=full", ArmText("default", (("cmdline", "preempt=full"),))),
        ("default+sched.features=NO_A,B", ArmText("default", (("sched.features", "NO_A,B"),))),
        ("default+io=cfq:slice_idle_ms=0..10+5", ArmText("default", elevator="cfq:slice_idle_ms=0..10+5")),
        ("default@", ArmText("default", kernel="")),
        ("default+thp=", ArmText("default", (("thp", ""),))),
    ],
)  # fmt: skip
def test_each_part_ends_where_the_next_begins(text: str, parts: ArmText) -> None:
    assert split_arm(text) == parts


def test_a_program_has_its_parts_as_the_last_words() -> None:
    words = shlex.split('scx_x -k --slice=+5 +nice=5 +cmdline="a b" +io=none @debian')
    parts = ArmText("", (("nice", "5"), ("cmdline", "a b")), "none", "debian")
    assert split_words(words, "x") == (["scx_x", "-k", "--slice=+5"], parts)
    assert split_words(["+nice=5"], "x") == ([], ArmText("", (("nice", "5"),)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [('default+thp="never', "is put in quotes"), ("default+io=a+io=b", "an elevator is given twice")],
)
def test_what_is_not_understood_is_told(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        split_arm(text)
