"""The page in a real browser: it renders, fits, and needs no script."""

import itertools
import json
from dataclasses import replace

import pytest
import report_examples as examples
from history_examples import draw, nights
from matrix_examples import MATRIX
from request_logs import FEW

from runoff.analysis import build, why
from runoff.campaign.journal import requests
from runoff.files import HeldDirectory
from runoff.history import page as history_page
from runoff.matrix.page import render_page
from runoff.report.figures import disk_times
from runoff.report.html import page as html
from runoff.report.words.question import describe_question
from runoff.report.words.sentences import render_verdict
from runoff.results import StoredLog

PAGES = {
    "three": examples.three_arms,
    "two": examples.two_arms,
    "wide": lambda: examples.wide(6, 3),
    "disk": examples.three_arms,
}


UNFOLD = "document.querySelectorAll('details').forEach(each => each.open = true)"
PLACES = """selector => [...document.querySelectorAll(selector)].filter(each => each.checkVisibility())
    .map(each => each.getBoundingClientRect()).filter(box => box.width).map(box => [box.left, box.right])"""
"""The left and right edge of each that is shown."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    digest = requests.store_log(HeldDirectory(folder), "log", FEW)
    results = {name: make() for name, make in PAGES.items()}
    kept = StoredLog(folder / "requests/log.tsv.gz", digest)
    logs = {sample.id: kept for sample in results["disk"].samples}
    results["disk"] = replace(results["disk"], requests=logs)
    reports = {name: build.build_report(found) for name, found in results.items()}
    for name, report in reports.items():
        (folder / f"{name}.html").write_text(html.render(report), encoding="utf-8")
    return {name: (f"file://{folder}/{name}.html", report) for name, report in reports.items()}


@pytest.fixture(params=[True, False], ids=["with-javascript", "without-javascript"])
def open_page(request, browser):
    contexts = []

    def opened(url, width, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=request.param, color_scheme=scheme
        )
        contexts.append(context)
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: request.url == url or page.complaints.append(f"loads {request.url}"))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [1200, 400])
def test_a_matrix_of_kernels_fits(width, tmp_path, open_page):
    place = tmp_path / "matrix.html"
    place.write_text(render_page(MATRIX), encoding="utf-8")
    page = open_page(f"file://{place}", width)
    assert page.title() == "runoff matrix: bfs / ./mine.bpf.o"
    assert page.locator("#matrix td").all_inner_texts()[0].startswith("works\n+2.0 % [+1.0, +3.0] - worse")
    body = page.locator("body").bounding_box()
    assert body["width"] <= width
    page.locator("#matrix a", has_text="why").first.click()
    assert page.locator("article").first.is_visible()
    assert page.complaints == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1200, 400])
def test_page(name, width, pages, open_page):
    url, report = pages[name]
    page = open_page(url, width)
    assert page.title() == f"{describe_question(report)} - runoff"
    assert page.locator("h1").inner_text() == describe_question(report)
    assert page.locator(".verdict p").all_inner_texts() == list(render_verdict(report))
    headline = len(report.headline)
    timelines = disk_times.count(report)
    assert (timelines > 0) == (name == "disk")
    assert page.locator("#disk svg").count() == timelines
    tails = sum(table.is_percentile for table in report.headline)
    pictures = 2 + 2 * headline + tails + (len(report.tables) - headline) + timelines
    assert page.locator("figure svg").count() == pictures
    shown = [page.locator(f".forest .{form} svg").is_visible() for form in ("wide", "narrow")]
    assert shown == [width != 400, width == 400]
    panels = why.build(report)
    assert page.locator("#why tbody").count() == len(panels)
    assert page.locator("#why a").count() == sum(len(panel.reasons) for panel in panels)
    body = page.locator("body").bounding_box()
    assert body["width"] <= width
    places = page.evaluate(PLACES, "header, main, figure, article > p, pre")
    assert len(places) >= 3
    assert all(left >= 0 and right <= width for left, right in places)
    assert page.complaints == []


def test_the_first_screen_has_verdict_forest_and_table(pages, browser):
    """Nothing else is unfolded; a link to a metric unfolds it."""
    for name in ("three", "two"):
        url, report = pages[name]
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(url)
        tops = [page.locator(each).first.bounding_box() for each in (".verdict", ".forest svg", ".grid")]
        assert [box["y"] for box in tops] == sorted(box["y"] for box in tops)
        assert tops[-1]["y"] + tops[-1]["height"] <= 900
        assert page.locator("details[open]").count() == 0
        assert page.locator("#summary .grid tbody tr").count() == len(report.headline)
        page.locator(".grid a").first.click()
        assert page.locator("article").first.is_visible()
        page.close()


def test_a_narrow_screen_shows_the_whole_forest_and_a_printer_whole_tables(pages, browser):
    url, _ = pages["three"]
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto(url)
    assert not page.locator(".forest .wide").is_visible()
    assert page.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.forest .narrow'))")
    boxes = page.locator(".forest .narrow text").evaluate_all(
        "texts => texts.map(t => { const b = t.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom] })"
    )
    assert len(boxes) > 10
    assert all(bottom - top > 12 for _, top, _, bottom in boxes)
    assert all(left >= 0 and right <= 400 for left, _, right, _ in boxes)
    assert not [
        (one, other)
        for one, other in itertools.combinations(boxes, 2)
        if max(one[0], other[0]) < min(one[2], other[2]) and max(one[1], other[1]) + 2 < min(one[3], other[3])
    ]
    page.close()
    paper = browser.new_page(viewport={"width": 718, "height": 1000})
    paper.goto(url)
    paper.emulate_media(media="print")
    tables = paper.locator("table")
    shown = [tables.nth(i).bounding_box() for i in range(tables.count()) if tables.nth(i).is_visible()]
    assert len(shown) >= 6
    assert all(box["x"] + box["width"] <= 718 for box in shown)
    assert paper.locator("#method p").first.is_visible()
    assert not paper.locator(".numbers table").first.is_visible()
    paper.close()


def test_runs_are_drawn_by_markers(pages, browser):
    """As many vertices as valid samples, each arm with a mark of its own that is there."""
    url, report = pages["three"]
    page = browser.new_page()
    page.goto(url)
    for index in range(len(report.results.arms)):
        used = page.evaluate("i => getComputedStyle(document.querySelector(`path.m${i}`)).markerMid", index)
        assert f"#m{index}" in used
        assert page.locator(f"marker#m{index} path").count() == 1
    vertices = page.evaluate(
        "[...document.querySelectorAll('path.marks')].map(p => p.getAttribute('d').split(/l/i).length)"
    )
    assert sum(vertices) == sum(len(table.points) for table in report.headline)
    page.close()


def test_every_run_of_a_figure_is_in_a_table(pages, browser):
    url, report = pages["three"]
    page = browser.new_page()
    page.goto(url)
    last = "[...article.querySelectorAll('.numbers table')].at(-1).rows.length"
    rows = page.evaluate(f"[...document.querySelectorAll('#metrics article')].map(article => {last})")
    assert rows == [1 + report.results.blocks] * len(report.headline)
    page.close()


def test_nothing_scrolls_sideways_but_tables_and_figures(pages, browser):
    for url, _ in pages.values():
        for width in (1200, 400):
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(url)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.close()


def test_text_in_figures_stays_in_the_frame(pages, browser):
    outside = """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
        const frame = svg.viewBox.baseVal
        return [...svg.querySelectorAll('text')].filter(text => {
            const box = text.getBBox()
            const inside = box.x >= -1 && box.x + box.width <= frame.width + 1 && box.y + box.height <= frame.height + 1
            return box.width && !inside
        }).map(text => text.textContent)
    })"""
    for url, _ in pages.values():
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(url)
        page.evaluate(UNFOLD)
        assert page.evaluate(outside) == []
        page.close()


def test_dark_and_light_both_contrast(pages, browser):
    """WCAG AA asks for 4.5 between text and ground."""
    url, _ = pages["three"]
    contrast = """selector => {
        const light = colour => {
            const [r, g, b] = colour.match(/[0-9.]+/g).map(v => v / 255)
                .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            return 0.2126 * r + 0.7152 * g + 0.0722 * b
        }
        const style = getComputedStyle(document.querySelector(selector))
        let ground = document.querySelector(selector)
        while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement
        const pair = [light(style.color), light(getComputedStyle(ground).backgroundColor)].sort((a, b) => b - a)
        return (pair[0] + 0.05) / (pair[1] + 0.05)
    }"""
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(url)
        for selector in ("body", ".soft", ".verdict p", "td.better", "td.worse", "td.better small", "th"):
            assert page.evaluate(contrast, selector) >= 4.5, (scheme, selector)
        page.close()


def test_the_embedded_document_can_be_analysed_again(pages, browser):
    url, report = pages["three"]
    page = browser.new_page()
    page.goto(url)
    document = json.loads(page.locator("#runoff-report").text_content())
    assert len(document["samples"]) == len(report.results.samples)
    page.close()


LONG = "exec:/opt/schedulers/scx_with_a_name/that_goes_on --for-{}-letters"
OVERLAPS = """() => {
  const boxes = [];
  for (const svg of document.querySelectorAll('figure svg')) {
    const texts = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
    texts.forEach(([first, a], i) => texts.slice(i + 1).forEach(([second, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 2 && down > 4) boxes.push([first, second]);
    }));
  }
  for (const cell of document.querySelectorAll('table th, table td')) {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const text = range.getBoundingClientRect(), box = cell.getBoundingClientRect();
    if (text.width && (text.left < box.left - 1 || text.right > box.right + 1)) boxes.push(['cell', cell.textContent]);
  }
  return boxes;
}"""


HIDDEN = """() => [...document.querySelectorAll('table, figure svg:not(.markers)')].flatMap(each => {
  const box = each.closest('.scroll');
  const name = each.innerText || each.textContent;
  if (!box) return each.getBoundingClientRect().right > innerWidth ? [['has no box', name]] : [];
  if (box.scrollWidth <= box.clientWidth) return [];
  const bar = box.offsetHeight - box.clientHeight;
  return bar >= 6 && box.tabIndex === 0 && box.getBoundingClientRect().right <= innerWidth ? [] : [['is cut', name]];
})"""
"""Tables and figures wider than their box of which nothing says so: no bar to scroll by, or only with a mouse."""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """Pages of 2, 3, 5 and 8 arms with names of 60 characters, and how many headline tables each has."""
    folder = tmp_path_factory.mktemp("crowded")
    urls = {}
    for arms in (2, 3, 5, 8):
        results = examples.wide(arms, 3)
        names = {arm: arm if arm == "default" else LONG.format(number) for number, arm in enumerate(results.arms)}
        assert all(len(name) >= 60 for name in names.values() if name != "default")
        renamed = replace(
            results,
            arms=tuple(names.values()),
            samples=tuple(replace(sample, arm=names[sample.arm]) for sample in results.samples),
        )
        (folder / f"{arms}.html").write_text(html.render(build.build_report(renamed)), encoding="utf-8")
        urls[arms] = f"file://{folder}/{arms}.html"
    return urls


@pytest.mark.parametrize("arms", [2, 3, 5, 8])
@pytest.mark.parametrize("width", [400, 768, 1200, 1600])
def test_no_text_covers_another_and_tables_fit_or_scroll(arms, width, crowded, open_page):
    page = open_page(crowded[arms], width)
    page.evaluate(UNFOLD)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(HIDDEN) == []
    summary = page.locator("#summary .scroll", has=page.locator("table")).first
    if width >= 1200:
        assert summary.evaluate("each => each.scrollWidth <= each.clientWidth")
    headings = page.locator("h1, h2, h3, h4").all_inner_texts()
    assert len(set(headings)) == len(headings)


def test_a_page_is_as_wide_while_it_is_short(crowded, open_page):
    """Boxes that the window's own bar makes narrower after they were drawn may stay without theirs."""
    page = open_page(crowded[5], 768)
    whole = page.evaluate("document.body.clientWidth")
    page.evaluate("document.body.replaceChildren()")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert page.evaluate("document.body.clientWidth") == whole


@pytest.mark.parametrize("arms", [2, 8])
def test_on_paper_no_text_covers_another(arms, crowded, open_page):
    page = open_page(crowded[arms], 794)
    page.emulate_media(media="print")
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("width", [400, 768, 1200, 1600])
def test_no_text_of_a_history_covers_another_and_it_fits_or_scrolls(width, tmp_path, open_page):
    names = {
        f"a-campaign-with-a-name-of-sixty-letters-that-goes-on-and-on-{n:02}": c
        for n, c in enumerate(nights(40, 20).values())
    }
    place = tmp_path / "history.html"
    place.write_text(history_page.render_page(draw(names)), encoding="utf-8")
    page = open_page(f"file://{place}", width)
    page.locator("summary").click()
    assert page.locator("tbody tr").count() == 40
    assert page.locator("tr.differs th").all_inner_texts() == [list(names)[20]]
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(HIDDEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    newest = page.locator(".history svg").first.bounding_box()
    assert newest["x"] + newest["width"] <= width
    assert page.complaints == []
