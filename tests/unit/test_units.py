"""Units: one table in two languages, and digits that survive."""

import re
from fractions import Fraction

import pytest
from checkout import ROOT

from runoff.units import KINDS, convert, find_factor, name_canonical

UNIT = re.compile(r'\("([^"]+)", ([\d_.e]+)\)')


def test_the_agent_has_the_same_table() -> None:
    source = (ROOT / "crates/numbers/src/units.rs").read_text()
    table = source[source.index("const KINDS") : source.index("/// Prefixes")]
    table = re.sub(r"\\u\{(\w+)\}", lambda found: chr(int(found[1], 16)), table)
    kinds = [dict(UNIT.findall(kind)) for kind in table.split("&[")[2:]]
    assert [{name: float(size.replace("_", "")) for name, size in kind.items()} for kind in kinds] == list(KINDS)


@pytest.mark.parametrize(
    ("unit", "wanted", "factor"),
    [
        ("ms", "us", Fraction(1000)), ("\u00b5s", "s", Fraction(1, 10**6)), ("sec", "s", Fraction(1)),
        ("ms/op", "ns/op", Fraction(10**6)), ("ms/op", "ns/frame", None), ("MiB/s", "kB/s", Fraction(1 << 20, 1000)),
        ("errors/s", "errors/s", Fraction(1)), ("s", "B", None), ("ops/ms", "ops/us", Fraction(1, 1000)),
        ("", "s", None), ("errors/s", "faults/s", None),
    ],
)  # fmt: skip
def test_units_of_one_kind_are_converted(unit: str, wanted: str, factor: Fraction | None) -> None:
    assert find_factor(unit, wanted) == factor


def test_digits_are_kept() -> None:
    assert convert(1.1, Fraction(1, 1000)) == 0.0011
    assert convert(0.3, Fraction(1, 60)) == 0.005
    assert [name_canonical(unit) for unit in ("usec", "min", "\u03bcs", "fps", "")] == ["us", "s", "us", "fps", ""]
