"""The numbers that come out of an import are those that went in, each under everything that tells it from others.

In IMPORT_FILES files of each format, in `make test-all` a hundred times as many.
"""

import os
import re
import zlib
from random import Random

import pytest
from import_shapes import SHAPES, Made, Origin, cut

from runoff.errors import UsageError
from runoff.imports import formats
from runoff.imports.assemble import Imported, assemble
from runoff.imports.files import Source
from runoff.imports.identity import Wishes
from runoff.imports.values import File
from runoff.results import Metric
from runoff.units import find_factor

FILES = int(os.environ.get("IMPORT_FILES") or 80)
LEAST_ACCEPTED = 0.5
"""Share of files that are not refused: a test of refusals alone would say nothing."""


def import_files(made: Made) -> Imported:
    sources = []
    for name, text in made.files.items():
        arm = name.partition("=")[0]
        content = text.encode()
        has_name = "=" in name or len(made.files) > 1
        sources.append(Source(name, name, arm, has_name, File(name, text), content, name, 0o644))
    readings = [formats.read(source.file, made.roles) for source in sources]
    has_arms = {origin.arm for origin in made.origins} - set(made.files)
    cases = None if has_arms else "workloads"
    return assemble(sources, readings, Wishes(better=made.better, roles=made.roles, cases=cases))


def _normalise(value: float, metric: Metric) -> float:
    """Return the value with times in seconds, and rates in a second."""
    for base in ("s", "s/op", "ops/s"):
        factor = find_factor(metric.unit, base)
        if factor is not None:
            return value * float(factor)
    return value


def list_values(imported: Imported) -> list[tuple[str, tuple[str, str, str]]]:
    """Return each number, and where it has gone: arm, workload, metric."""
    found = []
    for sample in imported.samples:
        metrics = {metric.name: metric for metric in imported.metrics[sample.workload]}
        for name, value in sample.metrics.items():
            found.append((key(_normalise(value, metrics[name])), (sample.arm, sample.workload, name)))
    return found


def key(value: float) -> str:
    return f"{value:.8g}"


def read_account(imported: Imported) -> tuple[int, int]:
    """Return how many numbers are said to be kept, and to be there."""
    told = imported.account[-1]
    kept = re.match(r"(?:all )?([\d,]+)(?: of ([\d,]+))? numbers are kept", told)
    assert kept is not None, told
    total = int((kept[2] or kept[1]).replace(",", ""))
    others = [int(each.replace(",", "")) for each in re.findall(r"; ([\d,]+) (?:do not count|are left out)", told)]
    assert int(kept[1].replace(",", "")) + sum(others) == total
    return int(kept[1].replace(",", "")), total


@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_keep_what_tells_them_apart(shape: str) -> None:
    accepted = 0
    for number in range(FILES):
        made = SHAPES[shape](Random(zlib.crc32(shape.encode()) + number))
        try:
            imported = import_files(made)
        except UsageError:
            continue
        accepted += 1
        check(made, imported)
    assert accepted >= LEAST_ACCEPTED * FILES


def check(made: Made, imported: Imported) -> None:
    origins = {key(origin.value): origin for origin in made.origins if origin.counts}
    found = [(origins.get(value), place) for value, place in list_values(imported) if value in origins or is_ours(made)]
    assert sorted(key(origin.value) for origin, _ in found if origin) == sorted(origins)
    assert all(origin is not None for origin, _ in found)
    places: dict[tuple[str, str, str], Origin] = {}
    for origin, place in found:
        assert origin is not None
        assert place[0] == origin.arm
        first = places.setdefault(place, origin)
        assert first.identity == origin.identity, f"{place} has numbers of {first.identity} and of {origin.identity}"
    identities: dict[tuple[str, object], tuple[str, str, str]] = {}
    for place, origin in places.items():
        assert identities.setdefault((origin.arm, origin.identity), place) == place
    assert read_account(imported)[0] == len(list_values(imported))


def is_ours(made: Made) -> bool:
    """Return whether every number of the file is known; of fio's only the sums of requests per second are."""
    return not any("fio version" in text for text in made.files.values())


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_that_breaks_off_has_no_other_numbers(shape: str) -> None:
    for number in range(FILES // 4):
        draw = Random(zlib.crc32(shape.encode()) - number - 1)
        made = SHAPES[shape](draw)
        name = draw.choice(list(made.files))
        text = made.files[name]
        made.files[name] = cut(text, draw)
        try:
            imported = import_files(made)
        except UsageError:
            continue
        origins = {key(origin.value): origin for origin in made.origins}
        strange = [place for value, place in list_values(imported) if value not in origins and is_ours(made)]
        # Only the last digits of the last number can be gone without a trace.
        assert len(strange) <= (not made.files[name].endswith("\n")), f"{number}: {strange}"


def test_a_seed_makes_the_same_file() -> None:
    for make in SHAPES.values():
        assert make(Random(7)) == make(Random(7))
