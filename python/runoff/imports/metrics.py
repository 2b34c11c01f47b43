"""The metrics of all files: their units, made one, and which way is better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from runoff.errors import UsageError
from runoff.imports.directions import find_direction
from runoff.imports.identity import Entry, RoledFile, Wishes
from runoff.imports.values import File, FoundMetric
from runoff.units import convert, find_factor, name_canonical


@dataclass(frozen=True, slots=True)
class JoinedMetrics:
    """The metrics of all files, by name, and how each file writes them."""

    metrics: Mapping[str, FoundMetric]
    files: Sequence[File]
    units: Sequence[Mapping[str, str]]
    """By file, the units of its metrics."""
    wishes: Wishes

    def scale(self, entry: Entry, value: float) -> float:
        """Return the value of a number in the unit of its metric. Raises UsageError if it is of another kind."""
        number = entry.number
        unit = self.units[entry.source][number.metric] if number.unit is None else number.unit
        asked = _ask_unit(number.metric, unit, self.wishes)
        return convert(value, _find_factor(asked, self.metrics[number.metric], self.files[entry.source], number.where))


def join_metrics(files: Sequence[RoledFile], wishes: Wishes) -> JoinedMetrics:
    """Return the metrics of all files with what the user says of them.

    Raises UsageError for units that do not fit, and if nothing says which way is better of any of them.
    """
    found: dict[str, FoundMetric] = {}
    for file in files:
        for metric in file.reading.metrics:
            asked = _ask(metric, wishes)
            known = found.setdefault(metric.name, asked)
            _find_factor(asked.unit, known, file.source.file)
            if known.direction and asked.direction and known.direction != asked.direction:
                raise file.source.file.refuse(
                    f"of {metric.name} {asked.direction} is better, and before {known.direction}: "
                    f"say --better {metric.name}=SIDE"
                )
            found[metric.name] = replace(known, direction=known.direction or asked.direction)
    for name in (*wishes.units, *wishes.better):
        if name and name not in found:
            raise UsageError(f"there is no metric {name!r}; there are: {', '.join(found)}")
    return JoinedMetrics(
        {name: replace(metric, direction=find_direction(metric)) for name, metric in found.items()},
        [file.source.file for file in files],
        [{metric.name: metric.unit for metric in file.reading.metrics} for file in files],
        wishes,
    )


def decide_directions(metrics: Mapping[str, FoundMetric]) -> tuple[dict[str, FoundMetric], tuple[str, ...]]:
    """Return metrics without a direction as ones that only explain, and a sentence about them.

    Raises UsageError if none is left to judge.
    """
    unknown = [name for name, metric in metrics.items() if metric.direction is None]
    if unknown and all(metric.direction in (None, "none") for metric in metrics.values()):
        raise UsageError(
            f"nothing says whether more or less of {unknown[0]} is better: add --better lower or --better higher"
            + (f", or for one of them --better {unknown[0]}=lower" if len(metrics) > 1 else "")
        )
    decided = {name: replace(metric, direction=metric.direction or "none") for name, metric in metrics.items()}
    if decided and all(metric.direction == "none" for metric in decided.values()):
        return decided, (f"no metric is judged; --better {next(iter(decided))}=lower judges one, for example",)
    if not unknown:
        return decided, ()
    names = f"{', '.join(unknown)}; --better {unknown[0]}=lower says it"
    return decided, (f"not judged, as nothing says which way is better: {names}",)


def _ask(metric: FoundMetric, wishes: Wishes) -> FoundMetric:
    """Return a metric with what the user says of it, and of all where nothing else is known. Raises UsageError."""
    unit = _ask_unit(metric.name, metric.unit, wishes)
    asked = replace(metric, unit=name_canonical(unit), direction=wishes.better.get(metric.name, metric.direction))
    for_all, known = wishes.better.get(""), find_direction(asked)
    if for_all is None or metric.name in wishes.better:
        return asked
    if known not in (None, "none", for_all) and for_all != "none":
        raise UsageError(
            f"--better {for_all}: of {metric.name} {known} is better, as far as is known; if it is not, say --better "
            f"{metric.name}={for_all}"
        )
    return replace(asked, direction=known or for_all)


def _ask_unit(name: str, unit: str, wishes: Wishes) -> str:
    """Return the unit of a metric: what the user says of it, or else the file, or else the user of all."""
    return wishes.units.get(name, unit or wishes.units.get("", ""))


def _find_factor(unit: str, metric: FoundMetric, file: File, where: str = "") -> Fraction:
    factor = find_factor(unit, metric.unit)
    if factor is None:
        raise file.refuse(
            f"{where + ': ' if where else ''}{metric.name} is in {unit or 'no unit'} and before in "
            f"{metric.unit or 'no unit'}: say --unit {metric.name}=UNIT if they are the same"
        )
    return factor
