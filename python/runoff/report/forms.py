"""The forms of a report, by name. Each view is imported only when it is wanted."""

from importlib import import_module

from runoff.analysis.values import Report

PAGE = "report.html"
"""Name of the page in a campaign's directory."""

FORMS = {
    "text": ("terminal.screen", "render"),
    "html": ("html.page", "render"),
    "mail": ("terminal.mail", "render"),
    "markdown": ("markdown", "render"),
    "json": ("data.document", "render"),
    "csv": ("data.csv_table", "render"),
    "classic": ("historic.classic", "render"),
    "relative": ("historic.relative", "render"),
    "graysky": ("historic.graysky", "render"),
    "machines": ("historic.machines", "render"),
    "counters": ("historic.counters", "render"),
    "contest": ("historic.contest", "render", "reaped"),
    "contest-cgroup": ("historic.contest", "render", "cgroup"),
}
"""Module of this room, function, and what it takes beside the report."""

HISTORIC = tuple(name for name, (module, *_) in FORMS.items() if module.startswith("historic."))


_OF_MACHINES = ("machines",)
"""Historic tables that tell machines apart."""


def render_form(report: Report, name: str) -> str:
    """Return the report in the form ``name``. Raises KeyError.

    Historic tables have no machines, and a time on one is never pooled with a time on another: of a campaign on several
    there is one for each.
    """
    module, function, *extra = FORMS[name]
    render = getattr(import_module(f"runoff.report.{module}"), function)
    machines = report.results.machines
    if name in HISTORIC and name not in _OF_MACHINES and len(machines) > 1:
        tables = (f"On {machine}:\n\n{render(report.select_machine(machine), *extra)}" for machine in machines)
        return "\n".join(tables)
    text: str = render(report, *extra)
    return text
