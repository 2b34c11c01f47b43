"""What a gate prints, outcome by outcome, as it was last looked at."""

from collections.abc import Mapping
from pathlib import Path

from approved import assert_approved
from click.testing import CliRunner
from made_campaigns import Values, made, noisy

from runoff.cli.gate import command
from runoff.plan.order import Cell


def lose(arm: int, blocks: range) -> Values:
    """Equal arms, one of which lost these blocks."""

    def values(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.arm == arm and cell.block in blocks else noisy(0.0, 0.0, sd=0.001)(cell)

    return values


CASES: dict[str, tuple[Values, dict[str, object]]] = {
    "fine": (noisy(0.0, 0.0, sd=0.005), {}),
    "regressed": (noisy(0.0, 0.05, sd=0.005), {}),
    "worse, perhaps by more than the limit": (noisy(0.0, 0.03, sd=0.015), {}),
    "cannot tell": (noisy(0.0, 0.02, sd=0.06), {}),
    "not all samples are taken": (noisy(0.0, 0.5), {"stop_after": 16}),
    "the arm is void": (lose(1, range(10)), {}),
    "the baseline is void": (lose(0, range(10)), {}),
    "the arm lost many samples": (lose(1, range(7)), {}),
    "one of three arms regressed, and one cannot be told": (
        noisy(0.0, 0.05, 0.02, sd=0.01),
        {"arms": ("default", "bfs", "o1")},
    ),
}


def test_each_outcome_is_said_as_approved(tmp_path: Path) -> None:
    parts = []
    for number, (case, (values, options)) in enumerate(CASES.items()):
        place = made(tmp_path / f"c{number}", values, **options)
        answer = CliRunner().invoke(command, [str(place)], standalone_mode=False, env={"COLUMNS": "80"})
        assert answer.exception is None
        parts.append(f"# {case}: exit code {answer.return_value}\n\n{answer.output}")
    assert_approved("gate.txt", "\n".join(parts).replace(str(tmp_path), "results"))
