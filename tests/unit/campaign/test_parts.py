"""Messages and refusals when a campaign goes on with something else than it began with."""

from pathlib import Path
from typing import Any

import pytest

from runoff.campaign.journal.journal import Journal
from runoff.campaign.journal.records import Part, Row
from runoff.campaign.origin.mixing import describe_changes, refuse_to_mix
from runoff.engines.outcome import VoidSample
from runoff.errors import UsageError
from runoff.plan.order import draw

OLD, NEW = "a1" * 32, "b2" * 32
BFS = {"scheduler": "bfs", "object_sha256": OLD, "kernel": ""}


def part(arms: dict[str, dict[str, str]] | None = None, **tables: Any) -> Part:
    taker = {"version": "0.1.0", "engine": "lab", "clock": "virtual"}
    return Part.model_validate({"runoff": taker, "arms": arms or {}, **tables})


def rows(folder: Path, *parts: int, warmup: int = 0) -> list[Row]:
    """One sample a block, each of a part."""
    cells = draw(1, 1, [len(parts) - warmup], seed=1, warmup=warmup)
    with Journal.create(folder / "c", {}) as journal:
        for cell, number in zip(cells, parts, strict=True):
            journal.add(cell, "a", "w", "", VoidSample("x"), part=number)
        return journal.rows()


def test_where_nothing_changed_nothing_is_said(tmp_path: Path) -> None:
    same = part(agent={"sha256": OLD}, machine={"cpus": {"online": 2}})
    assert describe_changes([same, same], rows(tmp_path, 0, 0, 1)) == ()
    assert describe_changes([], []) == ()


@pytest.mark.parametrize(
    ("taken", "warmup", "before", "after"),
    [
        ([0, 0, 0, 1], 0, "blocks 1-3", "block 4"),
        ([0, 1, 0, 1, 1], 0, "blocks 1, 3", "blocks 2, 4-5"),
        ([0, 0, 1], 2, "warm-up", "block 1"),
        ([0, 0, 1], 1, "warm-up and block 1", "block 2"),
    ],
)
def test_blocks_are_named_with_what_they_were_taken_with(
    tmp_path: Path, taken: list[int], warmup: int, before: str, after: str
) -> None:
    told = describe_changes(
        [part(agent={"sha256": OLD}), part(agent={"sha256": NEW})], rows(tmp_path, *taken, warmup=warmup)
    )
    assert told == (
        f"not all samples were taken with the same agent: sha256 a1a1a1a1a1a1 in {before}; "
        f"sha256 b2b2b2b2b2b2 in {after}",
    )


def test_each_table_has_its_sentence_and_three_keys_at_most(tmp_path: Path) -> None:
    packages = dict.fromkeys("abcde", "1")
    old = part(image={"sha256": OLD, "packages": packages}, qemu={"version": "10"}, kernels={"debian": OLD})
    new = part(
        image={"sha256": NEW, "packages": dict.fromkeys("abcde", "2")}, qemu={"version": "11"}, kernels={"debian": OLD}
    )
    image, qemu = describe_changes([old, new], rows(tmp_path, 0, 1))
    assert image.startswith("not all samples were taken with the same image: ")
    assert "sha256 b2b2b2b2b2b2, packages.a 2, packages.b 2 and 3 more in block 2" in image
    assert qemu == "not all samples were taken with the same qemu: version 10 in block 1; version 11 in block 2"


def test_what_is_gone_or_new_is_a_change_and_a_table_that_a_part_did_not_come_to_is_none(tmp_path: Path) -> None:
    first = part(tools={"make": OLD}, **{"guest with debian:6.18": {"kernel": {"release": "6.18"}}})
    told = describe_changes([first, part(tools={"gcc": NEW})], rows(tmp_path, 0, 1))
    assert told == (
        "not all samples were taken with the same tools: make a1a1a1a1a1a1, gcc none in block 1; "
        "make none, gcc b2b2b2b2b2b2 in block 2",
    )


def test_parts_without_a_sample_do_not_count(tmp_path: Path) -> None:
    parts = [part(agent={"sha256": OLD}), part(agent={"sha256": NEW}), part(agent={"sha256": OLD})]
    assert describe_changes(parts, rows(tmp_path, 0, 2)) == ()


def refused(*parts: Part, unmixable: tuple[str, ...] = ()) -> str:
    with pytest.raises(UsageError) as caught:
        refuse_to_mix(parts[:-1], parts[-1], unmixable)
    return str(caught.value)


@pytest.mark.parametrize(("key", "noun"), [("object_sha256", "object"), ("program_sha256", "program")])
def test_another_object_or_program_is_refused_with_both_digests(key: str, noun: str) -> None:
    was, is_now = ({"default": {"scheduler": "x"}, "bfs": {**BFS, key: digest}} for digest in (OLD, NEW))
    assert refused(part(was), part(is_now)) == (
        f"this campaign began with another {noun} of the arm 'bfs' (it was a1a1a1a1a1a1, is b2b2b2b2b2b2), and figures "
        "of the two do not mix: bring that back, or begin a new campaign"
    )
    refuse_to_mix([part(was)], part(was), [])


def test_every_earlier_part_counts() -> None:
    for digests in ((OLD, NEW, OLD), (NEW, OLD, OLD)):
        tables = [part(kernels={"debian": digest}) for digest in digests]
        assert refused(*tables, unmixable=("kernels",)).startswith(
            "this campaign began with another kernel (debian was b2b2b2b2b2b2, is a1a1a1a1a1a1)"
        )


def test_a_kernel_that_is_another_is_refused_by_its_name() -> None:
    was, is_now = part(kernels={"debian:7.2": OLD}), part(kernels={"debian:7.3": NEW})
    assert "debian:7.2 was a1a1a1a1a1a1, is none; debian:7.3 was none, is b2b2b2b2b2b2" in refused(
        was, is_now, unmixable=("kernels",)
    )


def test_what_may_change_may_change() -> None:
    was, is_now = (
        part({"bfs": BFS}, agent={"sha256": OLD}),
        part({"bfs": {**BFS, "elevator": "x"}}, agent={"sha256": NEW}),
    )
    refuse_to_mix([was], is_now, ("kernels", "qemu"))
