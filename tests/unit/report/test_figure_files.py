"""Figures as files: all that the page has, each whole without the page."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import report_examples as examples
from cli_runner import ask

from runoff.analysis import build
from runoff.cli.main import cli
from runoff.errors import MissingError
from runoff.report.figures.gallery import draw_figures
from runoff.report.html import page
from runoff.results import Results

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("results", [examples.three_arms(), examples.loaded()], ids=["three", "loaded"])
def test_each_figure_of_the_page_is_a_file(results: Results) -> None:
    report = build.build_report(results)
    figures = draw_figures(report)
    wide = re.sub(r'<div class="narrow .*?</div>', "", page.render(report), flags=re.DOTALL)
    shown = re.findall(r"<svg viewBox.*?</svg>", wide, re.DOTALL)
    assert len(figures) == len(shown) > 2
    for name, text in figures.items():
        assert re.fullmatch(r"[a-z0-9-]+\.svg", name)
        root = ElementTree.fromstring(text)
        assert root.tag == f"{SVG}svg"
        assert float(root.attrib["width"]) > 100
        ids = {each.attrib["id"] for each in root.iter() if "id" in each.attrib}
        assert set(re.findall(r"url\(#(\w+)\)", text)) <= ids
        content = re.sub(r"<svg class=\"markers.*?</svg>", "", text, flags=re.DOTALL)
        drawn = content[content.index('height="100%"/>') :]
        assert any(drawn.count(picture[picture.index(">") + 1 : -len("</svg>")]) for picture in shown), name


def test_names_say_what_they_show() -> None:
    names = list(draw_figures(build.build_report(examples.three_arms())))
    assert names[0] == "forest.svg"
    assert any(name.endswith("-values.svg") for name in names)
    assert len(set(names)) == len(names)


def test_they_are_written_beside_another_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples.stand_in(monkeypatch, lambda _: examples.three_arms())
    figures = draw_figures(build.build_report(examples.three_arms()))
    told = ask(cli, "report", "c", "--figures", tmp_path / "a/b").stdout
    assert told == f"{len(figures)} figures in {tmp_path / 'a/b'}\n"
    assert {path.name: path.read_text() for path in (tmp_path / "a/b").iterdir()} == figures
    assert ask(cli, "report", "c", "--figures", tmp_path / "a/b", "--json").stdout.startswith('{\n "schema"')
    (tmp_path / "file").touch()
    with pytest.raises(MissingError, match="choose another --figures"):
        ask(cli, "report", "c", "--figures", tmp_path / "file/x")
