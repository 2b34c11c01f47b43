"""What the page can do with its script: filter, sort, copy, save."""

import csv
import io
import json
from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.report.html import page as html
from runoff.report.words.sentences import render_verdict
from runoff.separated import render_rows


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A page with two headlines and 18 other metrics, of which two have one value in every run."""
    results = examples.wide(3, 20, headlines=2)
    constants = {"m6": 0.0, "m7": 42.0}
    samples = tuple(replace(sample, metrics={**sample.metrics, **constants}) for sample in results.samples)
    report = build.build_report(replace(results, samples=samples))
    place = tmp_path_factory.mktemp("tools") / "page.html"
    place.write_text(html.render(report), encoding="utf-8")
    return f"file://{place}", report


@pytest.fixture
def page(many, browser):
    opened = browser.new_context(viewport={"width": 1200, "height": 900}, accept_downloads=True).new_page()
    opened.goto(many[0])
    opened.locator("#others > summary").click()
    yield opened
    opened.context.close()


def list_shown(page):
    titles = (row.locator("a").inner_text() for row in page.locator("#others .grid tbody tr").all() if row.is_visible())
    return [int(title.rpartition(" ")[2]) for title in titles]


def save(page, button):
    with page.expect_download() as found:
        button.click()
    return found.value.suggested_filename, found.value.path().read_text(encoding="utf-8")


def test_metrics_are_found_by_name_verdict_and_size(page):
    plain = [number for number in range(2, 20) if number not in (6, 7)]
    assert list_shown(page) == plain
    bar = page.locator("#others .tools")
    bar.get_by_role("searchbox").fill("TITLE 1")
    assert list_shown(page) == list(range(10, 20))
    assert bar.inner_text().endswith("10 of 16")
    bar.get_by_role("searchbox").fill("")
    bar.get_by_label("verdict").select_option("worse")
    worse = list_shown(page)
    assert 0 < len(worse) < len(plain)
    shown = [each for each in page.locator("#others details:not(.numbers)").all() if each.is_visible()]
    assert len(shown) == len(worse)
    bar.get_by_label("verdict").select_option("any")
    bar.get_by_label("order").select_option("largest change")
    sizes = page.locator("#others .grid tbody tr").evaluate_all("rows => rows.map(row => +row.dataset.size)")
    assert sizes == sorted(sizes, reverse=True) != [sizes[0]] * len(sizes)
    bar.get_by_label("order").select_option("as planned")
    assert list_shown(page) == plain


def test_a_table_of_few_rows_has_no_tools(page):
    assert page.locator("#summary .tools").count() == 0


def test_metrics_with_one_value_are_folded(many, page):
    page.locator("#constants > summary").click()
    rows = page.locator("#constants tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["a-workload-with-a-long-name: a rather long metric title 6", "0 ops/s"],
        ["a-workload-with-a-long-name: a rather long metric title 7", "42"],
    ]
    assert len(json.loads(page.locator("#runoff-report").text_content())["tables"]) == len(many[1].tables) == 20


def test_verdict_and_command_are_copied(many, page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#again > summary").click()
    buttons = page.get_by_role("button", name="copy")
    told = []
    for _ in range(buttons.count()):
        buttons.first.click()
        page.get_by_role("button", name="copied").nth(len(told)).wait_for()
        told.append(page.evaluate("navigator.clipboard.readText()"))
    verdict, command = told
    assert [line for line in verdict.splitlines() if line] == list(render_verdict(many[1]))
    assert command == many[1].results.rerun


def test_samples_and_document_are_saved(many, page):
    name, text = save(page, page.get_by_role("button", name="save all as JSON"))
    assert (name, json.loads(text)) == ("report.json", json.loads(page.locator("#runoff-report").text_content()))
    name, text = save(page, page.get_by_role("button", name="save samples as CSV"))
    rows = list(csv.DictReader(io.StringIO(text)))
    samples = many[1].results.samples
    assert (name, len(rows)) == ("samples.csv", len(samples))
    for row, sample in zip(rows, samples, strict=True):
        assert (row["arm"], int(row["block"]), row["valid"]) == (sample.arm, sample.block + 1, "1")
        assert {key: float(row[key]) for key in sample.metrics} == dict(sample.metrics)


def test_text_in_saved_samples_is_text_as_in_the_files_of_the_report(page):
    texts = ["bfs", "=1+1", "+a", "-5", "-5%", "@b", "'=c", "'d", "1e3", "＝e", ""]
    assert page.evaluate("texts => texts.map(asText)", texts) == next(csv.reader(io.StringIO(render_rows([texts]))))


def test_a_saved_picture_looks_as_it_does_in_the_page(page, tmp_path, browser):
    figure = page.locator("figure.forest")
    name, text = save(page, figure.get_by_role("button", name="save SVG"))
    assert name == "runoff-1.svg"
    (tmp_path / name).write_text(text, encoding="utf-8")
    alone = browser.new_page()
    alone.goto(f"file://{tmp_path / name}")
    look = """svg => [...svg.querySelectorAll('text, path, rect, circle')].filter(each => !each.closest('marker'))
        .map(each => { const s = getComputedStyle(each); return [each.textContent, s.fill, s.stroke, s.fontSize] })"""
    found, expected = alone.locator("svg").evaluate(look), figure.locator(".wide svg").evaluate(look)
    assert found == expected
    assert len({fill for _, fill, _, _ in found}) > 2
    alone.close()
