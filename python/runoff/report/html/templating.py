"""Templates of self-contained pages, and what all of them need."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from runoff.text import escape_lines


@cache
def load_template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("runoff.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["typeset"] = _typeset
    environment.filters["printable"] = escape_lines
    return environment.get_template(name)


def _typeset(text: str) -> str:
    """Return ``text`` with typographic signs for those that ASCII spells in the terminal."""
    return text.replace("+-", "±")


def embed_json(text: str) -> Markup:
    """Return JSON that an HTML parser cannot mistake for the end of the script or a comment."""
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))
