"""graysky's tables: differences and percentages of means, names of machines, their clocks and CPUs."""

import re
from collections.abc import Iterator
from fractions import Fraction

from runoff.published.audit import feasible
from runoff.published.audit.findings import Finding, Status, derived
from runoff.published.catalogue import Report, Table
from runoff.published.numbers import Fit, Known, Number, fit, plain
from runoff.published.rows import CoresRow, HardwareRow, MeansRow, QuantileRow

DIFFERENCE = "Difference is the mean of CK-Patched less that of Vanilla"
PERCENT = "Result is that difference in percent of Vanilla"
DIRECTION = "faster where the difference is negative"
BASIS = "faster by so many percent is so much less time, not so much more speed"
HEADING = "a heading names a machine of the tables, and the benchmark that the table is of"
CLOCK = "a clock is the one its machine was sold with, or the comment says otherwise"
PRODUCT = "an overclocked clock is multiplier times bus"
CORES = "the number of cores is what the machine has"

CAPTION = re.compile(r"CPU=(.+), benchmark=(\w+)")
OVERCLOCKED = re.compile(r"Overclocked ([\d.]+)x(\d+)")

CLOCK_WORTH_MENTIONING = Fraction(1, 50)


def means(report: Report) -> Iterator[Finding]:
    """The derived cells of every table of means."""
    for table in report.of_kind("means"):
        for row in table.rows:
            assert isinstance(row, MeansRow)
            yield from _means_row(report, table, row)
        yield _basis(table)


def _basis(table: Table) -> Finding:
    """Which of two meanings of the word gives more of the printed percentages."""
    rows = [row for row in table.rows if isinstance(row, MeansRow)]
    one = Known.exactly(1)
    time = sum(_is(row, one - row.ck_s.known / row.vanilla_s.known) for row in rows)
    speed = sum(_is(row, row.vanilla_s.known / row.ck_s.known - one) for row in rows)
    text = f"of {len(rows)} percentages {time} are time saved and {speed} speed gained"
    return Finding(BASIS, table.name, Status.FOLLOWS if time >= speed else Status.FAILS, text)


def _is(row: MeansRow, part: Known) -> bool:
    signed = part if row.result == "faster" else Known.exactly(0) - part
    return fit(row.result_pct, Known.exactly(100) * signed) in (Fit.ROUNDED, Fit.HIDDEN)


def _means_row(report: Report, table: Table, row: MeansRow) -> Iterator[Finding]:
    place = f"{table.name}, {row.cpu}"
    found = derived(DIFFERENCE, place, row.difference_s, row.difference, f"{row.ck_s} - {row.vanilla_s}")
    note = _reconciled(report, table, row) if found.status is Status.FAILS else ""
    yield Finding(found.rule, place, found.status, found.text + note)
    gain = row.gain if row.gain.value >= 0 else Known.exactly(0) - row.gain
    yield _percent(place, row, gain)
    faster = row.ck_s.value < row.vanilla_s.value
    right = faster == (row.result == "faster") == (row.difference_s.value < 0)
    text = f"printed {row.difference_s} and {row.result}; {row.vanilla_s} became {row.ck_s}"
    yield Finding(DIRECTION, place, Status.FOLLOWS if right else Status.FAILS, text)


def _percent(place: str, row: MeansRow, gain: Known) -> Finding:
    way = f"100 x |{row.ck_s} - {row.vanilla_s}| / {row.vanilla_s}"
    found = derived(PERCENT, place, row.result_pct, gain, way)
    if found.status is Status.FOLLOWS:
        return found
    printed = Known.exactly(100) * row.difference_s.known / row.vanilla_s.known
    if printed.value < 0:
        printed = Known.exactly(0) - printed
    agrees = fit(row.result_pct, printed) in (Fit.ROUNDED, Fit.HIDDEN)
    others = f"the printed difference of {row.difference_s} gives {plain(printed.value, 3)}"
    note = f"; {others}, {'which agrees with it' if agrees else 'which does not agree with it either'}"
    return Finding(PERCENT, place, found.status, found.text + note)


def _reconciled(report: Report, table: Table, row: MeansRow) -> str:
    """Which single wrong cell would explain a wrong difference: said of each whether percent and quantiles agree."""
    difference = row.difference_s.known
    notes = [
        _if_wrong(report, table, row, "Difference", row.vanilla_s.known, row.ck_s.known),
        _if_wrong(report, table, row, "CK-Patched", row.vanilla_s.known, row.vanilla_s.known + difference),
        _if_wrong(report, table, row, "Vanilla", row.ck_s.known - difference, row.ck_s.known),
    ]
    ends = [cell.text.partition(".")[2] for cell in (row.vanilla_s, row.ck_s)]
    alike = f". Both means end in .{ends[0]}" if ends[0] == ends[1] else ""
    return f"{alike}. If only one cell is wrong: " + "; ".join(notes)


def _if_wrong(report: Report, table: Table, row: MeansRow, cell: str, vanilla: Known, ck: Known) -> str:
    decimals = row.difference_s.decimals
    value = {"Difference": ck - vanilla, "CK-Patched": ck, "Vanilla": vanilla}[cell].value
    gain = Known.exactly(100) * (vanilla - ck) / vanilla
    signed = gain if row.result == "faster" else Known.exactly(0) - gain
    against = (
        [] if fit(row.result_pct, signed) in (Fit.ROUNDED, Fit.HIDDEN) else [f"{row.result_pct} % speaks against it"]
    )
    quantiles = _quantiles(report, table, row)
    for level, mean in (("ck", ck), ("vanilla", vanilla)):
        rows = [q for q in quantiles if q.level.endswith(level)]
        if rows and not feasible.some_runs(rows[0], mean, *feasible.possible_runs(rows[0], report.about.least_runs)):
            against.append(f"the quantiles of {level} speak against it")
    agree = " and ".join(against) or "all else agrees"
    return f"{cell} would be {plain(value, decimals)}, {agree}"


def _quantiles(report: Report, table: Table, row: MeansRow) -> list[QuantileRow]:
    tables = [t for t in report.of_kind("quantiles") if (t.about.cpu, t.about.benchmark) == (row.cpu, table.name)]
    return [quantiles for t in tables for quantiles in t.rows if isinstance(quantiles, QuantileRow)]


def headings(report: Report) -> Iterator[Finding]:
    """Machines by the names in headings of quantiles: each word of them must be in one machine's name."""
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


def hardware(report: Report) -> Iterator[Finding]:
    """Clocks against multiplier and bus, and against what was sold."""
    for table in report.of_kind("hardware"):
        for row in table.rows:
            assert isinstance(row, HardwareRow)
            overclocked = OVERCLOCKED.search(row.comment)
            if overclocked is not None:
                yield _product(table, row, overclocked[1], overclocked[2])
            elif row.cpu in report.about.sold_as:
                yield _sold(report, table, row)


def _product(table: Table, row: HardwareRow, multiplier: str, bus: str) -> Finding:
    # 266 and 400 stand for 266.67 and 400.00 MHz: the bus is known to one in its last digit.
    clock = Number.parse(multiplier).known.value * Number.parse(bus).value / 1000
    low, high = (Fraction(multiplier) * (int(bus) + step) / 1000 for step in (Fraction(-1, 2), Fraction(1)))
    how = f"{multiplier} x {bus} MHz, of which the last digit may be cut"
    return derived(PRODUCT, f"{table.name}, {row.cpu}", row.clock_ghz, Known(clock, low, high), how)


def _sold(report: Report, table: Table, row: HardwareRow) -> Finding:
    sold = {cpu: Fraction(known.ghz) for cpu, known in report.about.sold_as.items()}
    place, own = f"{table.name}, {row.cpu}", sold[row.cpu]
    text = f"printed {row.clock_ghz} GHz; sold with {float(own):.2f}"
    if abs(row.clock_ghz.value - own) <= own * CLOCK_WORTH_MENTIONING:
        return Finding(CLOCK, place, Status.FOLLOWS, text)
    others = [cpu for cpu, ghz in sold.items() if ghz == row.clock_ghz.value]
    elsewhere = f"; {row.clock_ghz} is what {' and '.join(others)} was sold with" if others else ""
    return Finding(CLOCK, place, Status.ONLY_IF, f"it was overclocked, which is not said: {text}{elsewhere}")


def cores(report: Report) -> Iterator[Finding]:
    """Numbers of CPUs against what was sold."""
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
