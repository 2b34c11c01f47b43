"""A service that has a scheduler in charge of a real machine, by systemd: told, taken over, and started again."""

import json
import re
from typing import Any

import pytest
import reboot_machine
import service_machine

pytestmark = [pytest.mark.lab, pytest.mark.timeout(3600)]

HOUR_S = 3600.0


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What service_checks.py found in the machine."""
    disk = tmp_path_factory.mktemp("machine") / "disk"
    machine = service_machine.build(disk)
    machine.wait_until_off(HOUR_S)
    with reboot_machine.mount(disk) as root:
        said = "\n".join(line for line in machine.read_console().splitlines() if "python3[" in line)
        assert (root / "found.json").exists(), said
        document: dict[str, Any] = json.loads((root / "found.json").read_text())
    expected = {"refuse", "take_over", "kill_runoff", "kill_both", "kill_program", "refuse_what_is_no_service"}
    assert set(document) == expected | ({"take_over_loader"} if service_machine.has_loader() else set()), said
    return document


def test_whose_scheduler_is_in_charge_is_said_with_the_way_out(found: dict[str, Any]) -> None:
    told = found["refuse"]
    assert (told["code"], told["active"]) == (69, True)
    assert "scx.service has the scheduler bfs in charge: add --take-over, which stops it" in told["said"]
    assert re.search(r"in charge +bfs, by scx\.service", told["doctor"]), told["doctor"]


def test_it_is_stopped_for_the_campaign_and_started_again(found: dict[str, Any]) -> None:
    told = found["take_over"]
    assert told["code"] == 0, told
    assert [(each["arm"], each["valid"]) for each in told["samples"]] != []
    assert {each["reason"] for each in told["samples"]} == {None}
    assert "scx.service has the scheduler bfs in charge, and was stopped for the campaign" in told["warnings"]
    assert (told["ops"], told["active"], told["left"]) == ("bfs", True, 0)


def test_a_killed_runoff_leaves_it_to_its_agent(found: dict[str, Any]) -> None:
    assert found["kill_runoff"] == {"ops": "bfs", "active": True, "left": 0}


def test_a_killed_agent_leaves_it_to_restore(found: dict[str, Any]) -> None:
    told = found["kill_both"]
    assert told["before"] == {"ops": "", "active": False, "left": 1}
    assert told["code"] == 0
    assert "put back the service scx.service" in told["restored"]
    assert (told["ops"], told["active"], told["left"]) == ("bfs", True, 0)


def test_a_program_that_has_a_scheduler_in_charge_goes_with_its_campaign(found: dict[str, Any]) -> None:
    assert found["kill_program"] == {"programs": [], "ops": "bfs", "active": True, "left": 0}


def test_what_is_no_service_stays(found: dict[str, Any]) -> None:
    told = found["refuse_what_is_no_service"]
    assert told["codes"] == [69, 69]
    assert "the scheduler o1 is in charge of this machine, by process " in told["said"][0]
    assert "(runoff-agent) has the scheduler o1 in charge, and is not a service's: end it" in told["said"][1]
    assert told["ops"] == "o1"


@pytest.mark.skipif(not service_machine.has_loader(), reason="needs scx_loader and scx_flash")
def test_scx_loader_has_the_scheduler_again_that_it_had(found: dict[str, Any]) -> None:
    told = found["take_over_loader"]
    assert {name: each["code"] for name, each in told.items()} == {"mode": 0, "arguments": 0}, told
    assert told["mode"]["before"] == ['s "scx_flash"', "u 4", "as 0"]
    assert told["arguments"]["before"][2] == 'as 2 "-s" "5000"'
    for each in told.values():
        assert each["after"] == each["before"]
