"""Published reports and tables as plain values, for JSON, and as CSV."""

from typing import Any

from runoff.errors import UsageError
from runoff.published.catalogue import Report, Table, find, list_names


def list_reports() -> list[dict[str, Any]]:
    """Return all reports in brief, oldest first."""
    found = [find(name)[0] for name in list_names()]
    return [
        {
            "name": one.name,
            "title": one.about.title,
            "author": one.about.author,
            "date": one.about.date,
            "where": one.about.where,
            "about": one.about.about,
            "tables": [f"{one.name}/{table}" for table in one.tables],
            "plans": [part.plan for part in one.about.parts],
        }
        for one in found
    ]


def make_document(found: Report, table: str | None) -> dict[str, Any]:
    """Return a report with its tables, or with one of them; cells are texts as printed."""
    about = found.about
    tables = found.tables.values() if table is None else [found.tables[table]]
    return {
        "name": found.name,
        "title": about.title,
        "author": about.author,
        "date": about.date,
        "where": about.where,
        "tables": [_table(one) for one in tables],
    }


def _table(table: Table) -> dict[str, Any]:
    about = table.about
    return {
        "name": table.name,
        "title": about.title,
        "where": about.where,
        "caption": about.caption,
        "columns": list(table.columns),
        "rows": [dict(row.cells) for row in table.rows],
    }


def render_csv(found: Report, table: str | None) -> str:
    """Return one table as CSV, as it is stored. Raises UsageError for a report with several."""
    if table is None and len(found.tables) > 1:
        several = ", ".join(f"{found.name}/{name}" for name in list(found.tables)[:3])
        raise UsageError(f"--csv prints one table, and {found.name} has {len(found.tables)}: name one, as {several}")
    chosen = next(iter(found.tables.values())) if table is None else found.tables[table]
    return chosen.path.read_text(encoding="utf-8")
