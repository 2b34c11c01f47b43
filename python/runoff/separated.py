"""Tables of separated fields, in which text stays text: a spreadsheet would compute what begins as a formula does."""

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA = tuple("=+-@\t\r＝＋－＠")
"""What formulas begin with; the last four in spreadsheets of East Asia."""
_AS_TEXT = "'"
"""Before a field, by which spreadsheets know text."""


def render_rows(rows: Iterable[Sequence[object]]) -> str:
    """Return a line for each row. None is an empty field; a float has every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_write_field(field) for field in row] for row in rows)
    return out.getvalue()


def restore_text(field: str) -> str:
    """Return the text of a field, which `render_rows` may have written with an apostrophe before a formula."""
    return field[len(_AS_TEXT) :] if field.startswith(_AS_TEXT) and _computes(field) else field


def is_number(text: str) -> bool:
    """Return whether a field is one."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _write_field(field: object) -> object:
    match field:
        case None:
            return ""
        case float():
            return repr(field)
        case str() if _computes(field):
            return _AS_TEXT + field
        case _:
            return field


def _computes(text: str) -> bool:
    """Return whether it begins as a formula does, behind any apostrophes, and is not a number."""
    return text.lstrip(_AS_TEXT).startswith(_FORMULA) and not is_number(text)
