"""graysky's tables: differences and percentages of means, names of machines, their clocks and CPUs."""

import re
from collections.abc import Iterator
from fractions import Fraction

from runoff.published.audit import feasible
from runoff.published.audit.findings import Finding, Status, check_derived
from runoff.published.catalogue import Report, Table
from runoff.published.numbers import Fit, Number, Quantity, find_fit, format_number
from runoff.published.rows import CoresRow, HardwareRow, MeansRow, QuantileRow

DIFFERENCE = "Difference is the mean of CK-Patched less that of Vanilla"
PERCENT = "Result is that difference in percent of Vanilla"
DIRECTION = "faster where the difference is negative"
BASIS = "faster by 10 % means 10 % less time, not 10 % more speed"
HEADING = "a heading names a machine of the tables, and the benchmark that the table is of"
CLOCK = "a clock is the one its machine was sold with, or the comment says otherwise"
PRODUCT = "an overclocked clock is multiplier times bus"
CORES = "the number of cores is what the machine has"

CAPTION = re.compile(r"CPU=(.+), benchmark=(\w+)")
OVERCLOCKED = re.compile(r"Overclocked ([\d.]+)x(\d+)")

CLOCK_WORTH_MENTIONING = Fraction(1, 50)


def check_means(report: Report) -> Iterator[Finding]:
    """Yield the derived cells of every table of means."""
    for table in report.of_kind("means"):
        for row in table.rows:
            assert isinstance(row, MeansRow)
            yield from _check_means_row(report, table, row)
        yield _check_basis(table)


def _check_basis(table: Table) -> Finding:
    """Return which of two meanings of the word explains more of the printed percentages."""
    rows = [row for row in table.rows if isinstance(row, MeansRow)]
    one = Quantity.exactly(1)
    time = sum(_is(row, one - row.ck_s.quantity / row.vanilla_s.quantity) for row in rows)
    speed = sum(_is(row, row.vanilla_s.quantity / row.ck_s.quantity - one) for row in rows)
    text = f"of {len(rows)} percentages {time} are time saved and {speed} speed gained"
    return Finding(BASIS, table.name, Status.FOLLOWS if time >= speed else Status.FAILS, text)


def _is(row: MeansRow, part: Quantity) -> bool:
    signed = part if row.result == "faster" else Quantity.exactly(0) - part
    return find_fit(row.result_pct, Quantity.exactly(100) * signed) in (Fit.ROUNDED, Fit.HIDDEN)


def _check_means_row(report: Report, table: Table, row: MeansRow) -> Iterator[Finding]:
    place = f"{table.name}, {row.cpu}"
    found = check_derived(DIFFERENCE, place, row.difference_s, row.difference, f"{row.ck_s} - {row.vanilla_s}")
    note = _reconcile(report, table, row) if found.status is Status.FAILS else ""
    yield Finding(found.rule, place, found.status, found.text + note)
    gain = row.gain if row.gain.value >= 0 else Quantity.exactly(0) - row.gain
    yield _check_percent(place, row, gain)
    faster = row.ck_s.value < row.vanilla_s.value
    right = faster == (row.result == "faster") == (row.difference_s.value < 0)
    text = f"printed {row.difference_s} and {row.result}; {row.vanilla_s} became {row.ck_s}"
    yield Finding(DIRECTION, place, Status.FOLLOWS if right else Status.FAILS, text)


def _check_percent(place: str, row: MeansRow, gain: Quantity) -> Finding:
    way = f"100 x |{row.ck_s} - {row.vanilla_s}| / {row.vanilla_s}"
    found = check_derived(PERCENT, place, row.result_pct, gain, way)
    if found.status is Status.FOLLOWS:
        return found
    printed = Quantity.exactly(100) * row.difference_s.quantity / row.vanilla_s.quantity
    if printed.value < 0:
        printed = Quantity.exactly(0) - printed
    agrees = find_fit(row.result_pct, printed) in (Fit.ROUNDED, Fit.HIDDEN)
    others = f"the printed difference of {row.difference_s} gives {format_number(printed.value, 3)}"
    note = f"; {others}, {'which agrees with it' if agrees else 'which does not agree with it either'}"
    return Finding(PERCENT, place, found.status, found.text + note)


def _reconcile(report: Report, table: Table, row: MeansRow) -> str:
    """Say which single wrong cell would explain a wrong difference, and whether percent and quantiles agree."""
    difference = row.difference_s.quantity
    notes = [
        _describe_if_wrong(report, table, row, "Difference", row.vanilla_s.quantity, row.ck_s.quantity),
        _describe_if_wrong(
            report, table, row, "CK-Patched", row.vanilla_s.quantity, row.vanilla_s.quantity + difference
        ),
        _describe_if_wrong(report, table, row, "Vanilla", row.ck_s.quantity - difference, row.ck_s.quantity),
    ]
    ends = [cell.text.partition(".")[2] for cell in (row.vanilla_s, row.ck_s)]
    alike = f". Both means end in .{ends[0]}" if ends[0] == ends[1] else ""
    return f"{alike}. If only one cell is wrong: " + "; ".join(notes)


def _describe_if_wrong(report: Report, table: Table, row: MeansRow, cell: str, vanilla: Quantity, ck: Quantity) -> str:
    decimals = row.difference_s.decimals
    value = {"Difference": ck - vanilla, "CK-Patched": ck, "Vanilla": vanilla}[cell].value
    gain = Quantity.exactly(100) * (vanilla - ck) / vanilla
    signed = gain if row.result == "faster" else Quantity.exactly(0) - gain
    against = (
        []
        if find_fit(row.result_pct, signed) in (Fit.ROUNDED, Fit.HIDDEN)
        else [f"{row.result_pct} % speaks against it"]
    )
    quantiles = _quantiles(report, table, row)
    for level, mean in (("ck", ck), ("vanilla", vanilla)):
        rows = [q for q in quantiles if q.level.endswith(level)]
        if rows and not feasible.find_run_count(
            rows[0], mean, *feasible.find_possible_runs(rows[0], report.about.least_runs)
        ):
            against.append(f"the quantiles of {level} speak against it")
    agree = " and ".join(against) or "all else agrees"
    return f"{cell} would be {format_number(value, decimals)}, {agree}"


def _quantiles(report: Report, table: Table, row: MeansRow) -> list[QuantileRow]:
    tables = [t for t in report.of_kind("quantiles") if (t.about.cpu, t.about.benchmark) == (row.cpu, table.name)]
    return [quantiles for t in tables for quantiles in t.rows if isinstance(quantiles, QuantileRow)]


def check_headings(report: Report) -> Iterator[Finding]:
    """Check that each heading of quantiles names a machine: all its words are in the machine's name."""
    machines = [row.key for table in report.of_kind("hardware") for row in table.rows]
    for table in report.of_kind("quantiles"):
        about = table.about
        named, _, benchmark = about.title.partition("/")
        known = any(set(named.split()) <= set(machine.split()) for machine in machines)
        text = f"{about.where} is headed {about.title}"
        caption = CAPTION.search(about.caption)
        if caption is not None:
            known = known and caption[1] in machines
            text += f", with CPU={caption[1]}, benchmark={caption[2]}"
            benchmark = benchmark if about.benchmark.startswith(caption[2]) else caption[2]
        right = known and benchmark.lower() == about.benchmark
        if not known:
            text += f", and no machine is called {named}; it stands where {about.cpu} would"
        yield Finding(HEADING, table.name, Status.FOLLOWS if right else Status.FAILS, text)


def check_hardware(report: Report) -> Iterator[Finding]:
    """Check clocks against multiplier and bus, and against what was sold."""
    for table in report.of_kind("hardware"):
        for row in table.rows:
            assert isinstance(row, HardwareRow)
            overclocked = OVERCLOCKED.search(row.comment)
            if overclocked is not None:
                yield _check_product(table, row, overclocked[1], overclocked[2])
            elif row.cpu in report.about.sold_as:
                yield _check_sold(report, table, row)


def _check_product(table: Table, row: HardwareRow, multiplier: str, bus: str) -> Finding:
    # 266 and 400 stand for 266.67 and 400.00 MHz: the bus is known to one unit of its last digit.
    clock = Number.parse(multiplier).quantity.value * Number.parse(bus).value / 1000
    low, high = (Fraction(multiplier) * (int(bus) + step) / 1000 for step in (Fraction(-1, 2), Fraction(1)))
    how = f"{multiplier} x {bus} MHz, of which the last digit may be cut"
    return check_derived(PRODUCT, f"{table.name}, {row.cpu}", row.clock_ghz, Quantity(clock, low, high), how)


def _check_sold(report: Report, table: Table, row: HardwareRow) -> Finding:
    sold = {cpu: Fraction(known.ghz) for cpu, known in report.about.sold_as.items()}
    place, own = f"{table.name}, {row.cpu}", sold[row.cpu]
    text = f"printed {row.clock_ghz} GHz; sold with {float(own):.2f}"
    if abs(row.clock_ghz.value - own) <= own * CLOCK_WORTH_MENTIONING:
        return Finding(CLOCK, place, Status.FOLLOWS, text)
    others = [cpu for cpu, ghz in sold.items() if ghz == row.clock_ghz.value]
    elsewhere = f"; {row.clock_ghz} is what {' and '.join(others)} was sold with" if others else ""
    return Finding(CLOCK, place, Status.ONLY_IF, f"it was overclocked, which is not said: {text}{elsewhere}")


def check_cores(report: Report) -> Iterator[Finding]:
    """Check numbers of CPUs against what was sold."""
    for table in report.of_kind("cores"):
        for row in table.rows:
            assert isinstance(row, CoresRow)
            sold = [known for cpu, known in report.about.sold_as.items() if set(row.cpu.split()) <= set(cpu.split())]
            if not sold:
                continue
            place, printed = f"{table.name}, {row.cpu}", int(row.cores.value)
            text = f"printed {printed} cores; it has {sold[0].cores} cores and {sold[0].threads} threads"
            if printed == sold[0].cores:
                yield Finding(CORES, place, Status.FOLLOWS, text)
            elif printed == sold[0].threads:
                yield Finding(CORES, place, Status.ONLY_IF, f"threads count as cores: {text}")
            else:
                yield Finding(CORES, place, Status.FAILS, text)
