"""A sample belongs to its arm only if the arm's object was attached for it."""

from collections.abc import Mapping
from typing import Any

import pytest

from runoff.campaign.origin.arms import void_if_another
from runoff.engines.outcome import ValidSample, VoidSample

OLD, NEW = "a1" * 32, "b2" * 32


@pytest.mark.parametrize(("found", "expected"), [({"object": OLD}, OLD), ({"object": ""}, ""), ({}, "")])
def test_a_sample_of_the_arms_object_stays(found: Mapping[str, Any], expected: str) -> None:
    taken = ValidSample({"t": 1.0}, found)
    assert void_if_another(taken, {"object_sha256": expected}) is taken


@pytest.mark.parametrize(
    ("found", "expected", "told"),
    [
        ({"object": NEW}, OLD, "(a1a1a1a1a1a1 then, b2b2b2b2b2b2 now)"),
        ({}, OLD, "(a1a1a1a1a1a1 then, none now)"),
        ({"object": NEW}, "", "(none then, b2b2b2b2b2b2 now)"),
    ],
)
def test_a_sample_of_another_object_is_void(found: Mapping[str, Any], expected: str, told: str) -> None:
    void = void_if_another(ValidSample({"t": 1.0}, found), {"object_sha256": expected})
    assert isinstance(void, VoidSample)
    assert void.reason == f"another object was attached than at the start {told}"
    assert void.proof == found


def test_a_void_sample_keeps_its_own_reason() -> None:
    void = VoidSample("ejected", proof={"object": NEW})
    assert void_if_another(void, {"object_sha256": OLD}) is void
