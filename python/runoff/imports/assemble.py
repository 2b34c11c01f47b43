"""What was read from files, put together as arms, workloads and samples."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runoff.errors import UsageError
from runoff.imports.files import Source
from runoff.imports.reading import Cases, FoundMetric, Measured, Reading, guess_direction
from runoff.results import Direction, Metric
from runoff.units import TIME_EXPONENTS, scale_time

MOST_ARMS = 500
MOST_WORKLOADS = 2000
DEFAULT_WORKLOAD = "imported"
"""Name of a workload that has none."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user says about the numbers."""

    units: Mapping[str, str] = field(default_factory=dict)
    """By metric; the empty name stands for all."""
    better: Mapping[str, Direction] = field(default_factory=dict)
    """By metric; the empty name stands for all."""
    cases: Cases | None = None
    """What the cases of a file are; None means what they are in its format."""
    baseline: str = ""


@dataclass(frozen=True, slots=True)
class ImportedSample:
    """One run."""

    arm: str
    workload: str
    block: int
    """Number of the block, or of the arm's run."""
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Imported:
    """All that was imported."""

    arms: tuple[str, ...]
    """The first is the baseline."""
    metrics: Mapping[str, tuple[Metric, ...]]
    """By workload, headline metrics first."""
    samples: tuple[ImportedSample, ...]
    is_paired: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    """One number in its place."""

    arm: str
    workload: str
    block: str
    """Key of the block or run: those of one arm and workload that are equal are of one sample."""
    metric: str
    value: float


def assemble(sources: Sequence[Source], readings: Sequence[Reading], wishes: Wishes) -> Imported:
    """Put together what was read. Raises UsageError where that cannot be one comparison."""
    metrics = _join_metrics(sources, readings, wishes)
    placed = list(_place(sources, readings, wishes, metrics))
    if not placed:
        raise UsageError(f"{sources[0].file.name}: it has no run")
    blocks = {each.block is not None for reading in readings for each in reading.numbers}
    if len(blocks) > 1:
        raise UsageError("some of the files have blocks and others not, so nothing says which runs belong together")
    arms = _order_arms(list(dict.fromkeys(each.arm for each in placed)), wishes.baseline)
    _refuse_too_many(arms, "arms", MOST_ARMS)
    _refuse_too_many({each.workload for each in placed}, "workloads", MOST_WORKLOADS)
    samples = _make_samples(placed, is_paired=True in blocks)
    notes = tuple(dict.fromkeys(note for reading in readings for note in reading.notes))
    if max(Counter((sample.arm, sample.workload) for sample in samples).values()) < 2:
        raise UsageError(
            "; ".join(("there is one run of each arm, and nothing says how much such runs vary: give ten", *notes))
        )
    return Imported(
        arms=arms,
        metrics=_list_metrics(samples, metrics),
        samples=tuple(samples),
        is_paired=True in blocks,
        notes=notes,
    )


def _refuse_too_many(names: Collection[str], noun: str, most: int) -> None:
    if len(names) > most:
        raise UsageError(f"these would be {len(names)} {noun}, and a report has at most {most}: give a part of them")


def _join_metrics(sources: Sequence[Source], readings: Sequence[Reading], wishes: Wishes) -> dict[str, FoundMetric]:
    """Return the metrics of all files with what the user says of them. Raises UsageError for units that do not fit."""
    found: dict[str, FoundMetric] = {}
    for source, reading in zip(sources, readings, strict=True):
        for metric in reading.metrics:
            known = found.setdefault(metric.name, _ask(metric, wishes))
            unit = _ask(metric, wishes).unit
            if known.unit != unit and not (known.unit in TIME_EXPONENTS and unit in TIME_EXPONENTS):
                raise source.file.refuse(
                    f"{metric.name} is in {unit or 'no unit'} and before in {known.unit or 'no unit'}: "
                    f"say --unit {metric.name}=UNIT if they are the same"
                )
    for name in (*wishes.units, *wishes.better):
        if name and name not in found:
            raise UsageError(f"there is no metric {name!r}; there are: {', '.join(found)}")
    return _decide_directions(found)


def _ask(metric: FoundMetric, wishes: Wishes) -> FoundMetric:
    unit = wishes.units.get(metric.name, wishes.units.get("", metric.unit))
    direction = wishes.better.get(metric.name, wishes.better.get("", metric.direction))
    return replace(metric, unit=unit, direction=direction or guess_direction(unit))


def _decide_directions(found: Mapping[str, FoundMetric]) -> dict[str, FoundMetric]:
    """Return metrics without a direction as ones that only explain. Raises UsageError if none is left to judge."""
    if all(metric.direction in (None, "none") for metric in found.values()):
        open_ones = [name for name, metric in found.items() if metric.direction is None]
        if open_ones:
            raise UsageError(
                f"nothing says whether more or less of {open_ones[0]} is better: add --better lower or --better higher"
            )
    return {name: replace(metric, direction=metric.direction or "none") for name, metric in found.items()}


def _place(
    sources: Sequence[Source], readings: Sequence[Reading], wishes: Wishes, metrics: Mapping[str, FoundMetric]
) -> Iterator[_Placed]:
    """Yield all numbers with arm and workload."""
    cases_are_arms = _find_role(sources, readings, wishes) == "arms"
    if not cases_are_arms:
        _refuse_same_names(sources, readings)
    names_a_case = any(len({each.case for each in reading.numbers}) > 1 for reading in readings)
    for number, (source, reading) in enumerate(zip(sources, readings, strict=True)):
        units = {metric.name: _ask(metric, wishes).unit for metric in reading.metrics}
        for each in reading.numbers:
            case = each.case if names_a_case or not each.workload else ""
            arm, work = (each.case, each.workload) if cases_are_arms else (source.arm, each.workload or case)
            yield _Placed(
                arm=arm or source.arm,
                workload=work or (source.arm if cases_are_arms and len(sources) == 1 else DEFAULT_WORKLOAD),
                block=_find_key(each, number, reading),
                metric=each.metric,
                value=_convert(each.value, units[each.metric], metrics[each.metric].unit),
            )


def _find_role(sources: Sequence[Source], readings: Sequence[Reading], wishes: Wishes) -> Cases:
    """Return what cases are: what is compared in one file, or else the same workload in each of them."""
    if wishes.cases is not None:
        return wishes.cases
    has_arms = any(each.workload for reading in readings for each in reading.numbers)
    tables = all(reading.cases == "arms" for reading in readings)
    several = len({source.arm for source in sources}) > 1
    named = any(source.has_name for source in sources)
    return "arms" if tables and (has_arms or not (several or named) or not _share_cases(readings)) else "workloads"


def _share_cases(readings: Sequence[Reading]) -> bool:
    """Return whether some case is in all of several files."""
    cases = [{each.case for each in reading.numbers} for reading in readings]
    return len(cases) > 1 and bool(set.intersection(*cases))


def _refuse_same_names(sources: Sequence[Source], readings: Sequence[Reading]) -> None:
    """Raise UsageError where two files would be one arm though nobody said so."""
    seen: dict[str, Source] = {}
    for source, reading in zip(sources, readings, strict=True):
        other = seen.setdefault(source.arm, source)
        if other.word != source.word and not source.has_name and not reading.is_one_run:
            raise UsageError(
                f"{other.file.name} and {source.file.name} would both be the arm {source.arm}: give them names, as in "
                f"base={other.file.name}"
            )


def _find_key(number: Measured, source: int, reading: Reading) -> str:
    if number.block is not None:
        return number.block
    return f"{source}" if reading.is_one_run else f"{source}.{number.run}"


def _convert(value: float, unit: str, wanted: str) -> float:
    if unit == wanted:
        return value
    return scale_time(value, unit) / 10.0 ** TIME_EXPONENTS[wanted]


def _order_arms(arms: list[str], baseline: str) -> tuple[str, ...]:
    if baseline and baseline not in arms:
        raise UsageError(f"--baseline {baseline}: there is no such arm; there are: {', '.join(arms)}")
    return (*([baseline] if baseline else []), *(arm for arm in arms if arm != baseline))


def _make_samples(placed: Sequence[_Placed], *, is_paired: bool) -> list[ImportedSample]:
    """Return the samples, those of a block or run one after the other."""
    keys = list(dict.fromkeys(each.block for each in placed))
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for each in placed:
        found.setdefault((each.block, each.workload, each.arm), {})[each.metric] = each.value
    if is_paired:
        blocks = {key: number for number, key in enumerate(keys)}
        return [
            ImportedSample(arm, work, blocks[key], metrics)
            for (key, work, arm), metrics in sorted(found.items(), key=lambda item: blocks[item[0][0]])
        ]
    runs: dict[tuple[str, str], int] = {}
    samples = []
    for (_, work, arm), metrics in found.items():
        run = runs.setdefault((arm, work), 0)
        runs[arm, work] += 1
        samples.append(ImportedSample(arm, work, run, metrics))
    return samples


def _list_metrics(
    samples: Sequence[ImportedSample], metrics: Mapping[str, FoundMetric]
) -> dict[str, tuple[Metric, ...]]:
    """Return the metrics of each workload; what has a direction is judged."""
    names: dict[str, set[str]] = {}
    for sample in samples:
        names.setdefault(sample.workload, set()).update(sample.metrics)
    table = {}
    for work, measured in names.items():
        own = [_finish(metrics[name]) for name in metrics if name in measured]
        table[work] = tuple(sorted(own, key=lambda metric: not metric.headline))
    return table


def _finish(metric: FoundMetric) -> Metric:
    direction = metric.direction or "none"
    return Metric(metric.name, metric.unit, direction, metric.title or metric.name, direction != "none")
