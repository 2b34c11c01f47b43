"""The machines of a cluster in one campaign: named, told apart, and read like machines that were merged."""

from typing import Any

from runoff.campaign.journal.records import Outline, Part, Row
from runoff.campaign.machines import takers

OUTLINE = Outline(clock="real", arms=["default"], workloads=["w"], loads=[""], metrics={"w": []}, parameters={"w": {}})


def part(hostname: str, machine: str, memory: str = "1 GiB") -> Part:
    origin = {"version": "0.1.0", "engine": "lab", "clock": "real", "machine": machine, "hostname": hostname}
    tables = {"machine": {"memory": memory}, "kernels": {"k": "1"}}
    return Part.model_validate({**tables, "runoff": origin, "arms": {"default": {"scheduler": "own"}}})


def row(number: int, block: int) -> Row:
    values: dict[str, Any] = dict.fromkeys(Row.model_fields)
    own = {"cell": f"b{block}", "block": block, "position": block, "arm": "default", "workload": "w", "load": "l"}
    return Row.model_validate(
        {**values, **own, "valid": True, "detail": "", "metrics": {}, "part": number, "worker": ""}
    )


def test_a_campaign_without_a_cluster_or_of_one_machine_names_none():
    rows = [row(0, 0), row(1, 1)]
    assert takers.name_takers([part("", "a"), part("", "b")], rows) == {}
    assert takers.name_takers([part("north", "a"), part("north", "a")], rows) == {}
    assert takers.name_takers([part("north", "a"), part("south", "b")], rows[:1]) == {}


def test_machines_are_named_by_hostname_and_by_id_where_two_have_the_same():
    rows = [row(0, 0), row(1, 1), row(2, 2), row(3, 3)]
    parts = [
        part("north", "0123456789abcdef"),
        part("south", "b"),
        part("north", "fedcba9876543210"),
        part("south", "b"),
    ]
    assert takers.name_takers(parts, rows) == {0: "north 01234567", 1: "south", 2: "north fedcba98", 3: "south"}


def test_what_differs_between_machines_is_no_change_and_what_differs_on_one_is_told_with_its_name():
    rows = [row(0, 0), row(1, 1), row(2, 2)]
    parts = [part("north", "a"), part("south", "b", "2 GiB"), part("south", "b", "3 GiB")]
    names = takers.name_takers(parts, rows)
    (told,) = takers.describe_changes(OUTLINE, parts, rows, names)
    assert told.startswith("south: not all samples were taken with the same machine: memory 2 GiB in block 2; ")
    joined = takers.join_tables(OUTLINE, parts, names)
    assert joined["machines"] == {"north": {"memory": "1 GiB"}, "south": {"memory": "3 GiB"}}
    assert joined["kernels"] == {"k": "1"}
