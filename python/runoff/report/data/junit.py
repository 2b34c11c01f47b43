"""The XML that JUnit writes, and continuous integration reads: a test for each thing that was asked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Case:
    """One test."""

    place: str
    """Name of its class: where it was asked."""
    name: str
    kind: Literal["", "failure", "error"] = ""
    """Empty for a test that passed; an error tells nothing about what was tested."""
    outcome: str = ""
    """Name of the outcome, where it did not pass."""
    message: str = ""


def render(suite: str, cases: Sequence[Case], output: str) -> str:
    """Return the XML of one ``suite``, whose ``output`` sums it up."""
    sums = {
        "tests": str(len(cases)),
        "failures": str(sum(case.kind == "failure" for case in cases)),
        "errors": str(sum(case.kind == "error" for case in cases)),
    }
    root = ElementTree.Element("testsuites", {"name": suite, **sums})
    element = ElementTree.SubElement(root, "testsuite", {"name": suite, **sums})
    for case in cases:
        test = ElementTree.SubElement(element, "testcase", {"classname": _xml(case.place), "name": _xml(case.name)})
        if case.kind:
            attributes = {"message": _xml(case.message), "type": case.outcome.replace(" ", "-")}
            ElementTree.SubElement(test, case.kind, attributes)
    ElementTree.SubElement(element, "system-out").text = _xml(output)
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _xml(text: str) -> str:
    """Remove characters that XML cannot contain, not even escaped."""
    return NOT_XML.sub("\ufffd", text)
