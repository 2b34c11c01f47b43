"""Reading published tables: what is broken is named with file and line."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from runoff.errors import UsageError
from runoff.published import catalogue, documents
from runoff.published.cells import find_cell, find_cells
from runoff.published.numbers import Fit, Number, Quantity, can_be_cut, find_fit
from runoff.published.rows import KINDS, jmp_step

NAMES = catalogue.list_names()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A report of one's own: counters-2009 in a directory."""
    return Path(shutil.copytree(catalogue.DATA / "counters-2009", tmp_path / "mine"))


def broken(directory: Path, table: str, line: int, text: str) -> str:
    """The message about a table in which one line is replaced."""
    path = directory / f"{table}.csv"
    lines = path.read_text().splitlines()
    lines[line - 1] = text
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UsageError) as caught:
        catalogue.find(str(directory))
    return str(caught.value)


def test_all_five_are_there_oldest_first() -> None:
    assert NAMES == ["contest-iosched-2003", "zaphod-2004", "counters-2009", "render-2012", "graysky-2012"]


def test_every_file_is_named_in_a_description_and_read() -> None:
    for name in NAMES:
        report = catalogue.find(name)[0]
        assert {path.stem for path in (catalogue.DATA / name).glob("*.csv")} == set(report.tables)
        for table in report.tables.values():
            with table.path.open(newline="") as file:
                assert [list(row.cells.values()) for row in table.rows] == list(csv.reader(file))[1:]


def test_how_many_rows_there_are() -> None:
    rows = {name: [len(t.rows) for t in catalogue.find(name)[0].tables.values()] for name in NAMES}
    assert rows["contest-iosched-2003"] == [4] * 11
    assert rows["zaphod-2004"] == [9]
    assert rows["counters-2009"] == [32, 5, 2]
    assert rows["render-2012"] == [8]
    assert rows["graysky-2012"] == [7, 7, 7, 7, 5, 7] + [2] * 21


def test_a_directory_of_ones_own_is_read(copy: Path) -> None:
    report, table = catalogue.find(str(copy))
    assert (report.name, table) == ("mine", None)
    assert len(report.tables) == 3


@pytest.mark.parametrize(
    ("line", "text", "sentence"),
    [
        (3, "2,0.22,0.11,0.15,0.076,0.15,0.077", r"counters\.csv:3: 7 cells, but there are 8 columns"),
        (4, "3,x,0.11,0.15,0.076,0.15,0.077,1", r"counters\.csv:4: k2631_s: 'x' is not a number"),
        (5, "4,0,0.11,0.15,0.076,0.15,0.077,1", r"counters\.csv:5: k2631_s: 0 must be above zero"),
        (6, "5,nan,0.11,0.15,0.076,0.15,0.077,1", r"counters\.csv:6: k2631_s: 'nan' is not a number"),
        (7, "6.5,1,0.11,0.15,0.076,0.15,0.077,1", r"counters\.csv:7: processes: 6\.5 must be a whole number"),
        (8, "1,1,0.11,0.15,0.076,0.15,0.077,1", r"counters\.csv:8: there is a row '1' already"),
        (9, "8,1e3,0.11,0.15,0.076,0.15,0.077,1", r"counters\.csv:9: k2631_s: '1e3' is not a number"),
        (1, "n,time", r"counters\.csv:1: the heading must be processes,k2631_s"),
        (10, '9,"', r"counters\.csv is not CSV"),
        (33, "", r"counters\.csv:33: 0 cells, but there are 8 columns"),
    ],
)
def test_a_broken_row_is_named_with_file_and_line(copy: Path, line: int, text: str, sentence: str) -> None:
    found = broken(copy, "counters", line, text)
    assert re.search(sentence, found), found
    assert "\n" not in found


def test_a_word_that_is_none_of_those_allowed(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(catalogue.DATA / "graysky-2012", tmp_path / "mine"))
    found = broken(copy, "video", 2, "AMD Athlon XP,380.8340,386.4206,+5.5866,1.5,better")
    assert re.search(r"video\.csv:2: result: .*'faster' or 'slower'", found)


def test_a_missing_table(copy: Path) -> None:
    (copy / "sizes.csv").unlink()
    with pytest.raises(UsageError, match=r"cannot read .*sizes\.csv: No such file"):
        catalogue.find(str(copy))


def test_an_empty_table(copy: Path) -> None:
    (copy / "sizes.csv").write_text("size_bytes,kernel\n")
    with pytest.raises(UsageError, match=r"sizes\.csv: it has no rows"):
        catalogue.find(str(copy))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('kind = "sizes"', 'kind = "size"', "no kind of table 'size'; did you mean 'sizes'"),
        ('author = "not named"', "author = 1", "author: it must be a text, not"),
        ('author = "not named"', "", "author: it is missing"),
        ('relation = "falling"', 'relation = "falls"', "relation"),
        ("title =", "title", "is not TOML"),
    ],
)
def test_a_broken_description(copy: Path, old: str, new: str, sentence: str) -> None:
    path = copy / "report.toml"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UsageError, match=rf"report\.toml.*{sentence}"):
        catalogue.find(str(copy))


def test_a_directory_that_is_not_a_report(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*report\.toml: No such file or directory; a published report"):
        catalogue.find(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("greysky-2012", "no published report 'greysky-2012'; did you mean 'graysky-2012'"),
        ("zaphod-2004/hackbanch", "zaphod-2004 has no table 'hackbanch'; did you mean 'hackbench'"),
        ("zaphod-2004/", "zaphod-2004 has no table ''; there are: hackbench"),
        ("", "no published report ''; there are: contest"),
    ],
)
def test_unknown_names_get_the_closest(name: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        catalogue.find(name)


def test_numbers_are_as_printed() -> None:
    number = Number.parse("1,120.6486")
    assert (str(number), float(number.value), number.decimals) == ("1,120.6486", 1120.6486, 4)
    assert Number.parse("+0.4797").value > 0 > Number.parse("-10.5753").value
    for wrong in ("", "1,12", "1 000", "0x1", "inf", "1.", ".5", "1,0000", "12,345,67.8", "١"):
        with pytest.raises(ValueError, match="is not a number"):
            Number.parse(wrong)


@pytest.mark.parametrize(
    ("printed", "value", "doubt", "expected"),
    [
        ("95.7", "95.663", "0", Fit.ROUNDED),
        ("95.6", "95.663", "0", Fit.CUT),
        ("95.6", "95.663", "0.02", Fit.HIDDEN),
        ("95.5", "95.663", "0", Fit.NEITHER),
        ("95.8", "95.663", "0", Fit.NEITHER),
        ("-1.6", "-1.663", "0", Fit.CUT),
        ("-1.7", "-1.663", "0", Fit.ROUNDED),
        ("-1.8", "-1.663", "0", Fit.NEITHER),
        ("0.1", "0.15", "0", Fit.ROUNDED),
        ("0.2", "0.15", "0", Fit.ROUNDED),
    ],
)
def test_how_a_printed_number_comes_from_a_quantity(printed: str, value: str, doubt: str, expected: Fit) -> None:
    middle, half = Number.parse(value).value, Number.parse(doubt).value
    assert find_fit(Number.parse(printed), Quantity(middle, middle - half, middle + half)) is expected


def test_what_starts_a_digit_is_cut_to_it() -> None:
    assert can_be_cut(Number.parse("95.6"), Quantity.exactly(Number.parse("95.6").value))
    assert not can_be_cut(Number.parse("95.6"), Quantity.exactly(Number.parse("95.7").value))


def test_bounds_are_carried_along() -> None:
    ten, three = Number.parse("10").quantity, Number.parse("3.0").quantity
    assert (float((ten - three).low), float((ten - three).high)) == (6.45, 7.55)
    quotient = ten / three
    assert float(quotient.low) == pytest.approx(9.5 / 3.05)
    assert float(quotient.high) == pytest.approx(10.5 / 2.95)
    with pytest.raises(ZeroDivisionError):
        ten / Number.parse("0").quantity


def test_quantiles_have_seven_digits() -> None:
    quantiles = [row for table in catalogue.find("graysky-2012")[0].of_kind("quantiles") for row in table.rows]
    digits = [len(text.replace(".", "")) for row in quantiles for text in list(row.cells.values())[1:]]
    assert max(digits) == 7
    assert [float(jmp_step(Number.parse(text))) for text in ("27.8763", "385.307", "1124.57")] == [1e-5, 1e-4, 1e-3]


def test_addresses_of_cells() -> None:
    tables = {name: table.rows for name, table in catalogue.find("counters-2009")[0].tables.items()}
    assert [one.row for one in find_cells(tables, "counters[2..4].bfs_s")] == ["2", "3", "4"]
    assert [one.row for one in find_cells(tables, "compile[!1|5].bfs_s")] == ["2", "3", "4"]
    assert [(one.table, one.row) for one in find_cells(tables, "compile|counters[1].gain")] == [
        ("compile", "1"),
        ("counters", "1"),
    ]
    assert find_cell(tables, "compile[2].bfs_s").text == "20.168000"
    for wrong, sentence in [
        ("compile[9].bfs_s", "no row '9'"),
        ("compil[1].bfs_s", "no table 'compil'; did you mean 'compile'"),
        ("compile[1].bfs", "no number 'bfs'; did you mean 'bfs_s'"),
        ("compile.bfs_s", "is not of the form table"),
        ("sizes[kernel-x86_64-2.6.31-gentoo-r4].kernel", "no number 'kernel'"),
    ]:
        with pytest.raises(UsageError, match=re.escape(sentence)):
            find_cells(tables, wrong)
    with pytest.raises(UsageError, match="must be one cell, not 5"):
        find_cell(tables, "compile[*].bfs_s")


def test_documents_have_cells_as_printed() -> None:
    report = catalogue.find("graysky-2012")[0]
    (make,) = documents.make_document(report, "make")["tables"]
    assert make["rows"][0]["vanilla_s"] == "1,120.6486"
    assert make["columns"] == list(KINDS["means"].model_fields)
    assert len(documents.make_document(report, None)["tables"]) == 27
    assert [entry["name"] for entry in documents.list_reports()] == NAMES


def test_csv_is_of_one_table() -> None:
    report = catalogue.find("graysky-2012")[0]
    assert documents.render_csv(report, "cores").startswith("cpu,cores\nAthlon XP 3200+,1\n")
    assert documents.render_csv(catalogue.find("zaphod-2004")[0], None).count("\n") == 10
    with pytest.raises(UsageError, match="graysky-2012 has 27: name one, as graysky-2012/cores"):
        documents.render_csv(report, None)
