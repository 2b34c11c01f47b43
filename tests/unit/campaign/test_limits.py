"""How long an agent may be silent."""

from dataclasses import replace

from runoff.engines.limits import MARGIN_S, silence_limit_s
from runoff.workloads import LOADS, WORKLOADS, Work


def work(timeout_s: float, prepare: int, *, rehearse: bool = False) -> Work:
    definition = WORKLOADS.find("hackbench").model_copy(
        update={"timeout_s": timeout_s, "prepare": [["true"]] * prepare, "rehearse": rehearse}
    )
    return Work("w", definition, {}, WORKLOADS.read("hackbench"), 1)


def test_every_command_of_work_and_load_may_take_its_own_time_out() -> None:
    assert silence_limit_s(work(10, prepare=0)) == 10 + MARGIN_S
    assert silence_limit_s(work(10, prepare=2), work(5, prepare=1)) == 3 * 10 + 2 * 5 + MARGIN_S


def test_work_that_is_rehearsed_may_take_its_time_twice() -> None:
    cached = work(5, prepare=0, rehearse=True)
    assert silence_limit_s(work(10, prepare=2), cached) == 2 * 3 * 10 + 5 + MARGIN_S


def test_the_load_that_rehearses_is_one_of_them() -> None:
    load = replace(work(5, prepare=0), definition=LOADS.find("cacherun"))
    assert silence_limit_s(work(10, prepare=0), load) == 2 * 10 + load.definition.timeout_s + MARGIN_S
