"use strict";

// Adds what a page can do only with a script; all it shows is there without one.

function makeButton(text, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.addEventListener("click", () => act(button));
  return button;
}

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copy(text, button) {
  // The clipboard is refused to pages opened as files by some browsers; a selection is not.
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "copied";
}

function addCopyButton(element) {
  const button = makeButton(`copy ${element.dataset.copy}`, () => copy(element.innerText.trim(), button));
  button.className = "copy";
  element.after(button);
}

function readDocument() {
  return document.getElementById("runoff-report").textContent;
}

// As python/runoff/separated.py has it: a spreadsheet would compute what begins as a formula does.
function asText(cell) {
  return /^'*[=+\-@\t\r＝＋－＠]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell;
}

function makeCsv(samples) {
  const head = ["machine", "id", "block", "position", "warmup", "arm", "workload", "load", "valid", "reason"];
  const columns = head.filter(name => samples.some(sample => name in sample));
  const metrics = [...new Set(samples.flatMap(sample => Object.keys(sample.metrics)))];
  const quote = cell => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const write = cells => cells.map(cell => quote(asText(String(cell ?? "")))).join(",") + "\n";
  const number = { block: 1, position: 1 };
  const row = sample => [
    ...columns.map(name => (name in number ? sample[name] + 1 : typeof sample[name] === "boolean" ? +sample[name] : sample[name])),
    ...metrics.map(name => sample.metrics[name]),
  ];
  return write([...columns, ...metrics]) + samples.map(row).map(write).join("");
}

function addDownloads(place) {
  place.append(
    makeButton("save samples as CSV", () => save("samples.csv", "text/csv", makeCsv(JSON.parse(readDocument()).samples))),
    " ",
    makeButton("save all as JSON", () => save("report.json", "application/json", readDocument())),
  );
}

function makeStandalone(svg) {
  const whole = svg.cloneNode(true);
  const { width, height } = svg.viewBox.baseVal;
  whole.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  whole.setAttribute("width", width);
  whole.setAttribute("height", height);
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = document.querySelector("style").textContent;
  whole.prepend(style, ...[...document.querySelectorAll(".markers > *")].map(each => each.cloneNode(true)));
  return new XMLSerializer().serializeToString(whole);
}

function addSaveButton(figure, number) {
  const svg = figure.querySelector("svg");
  const button = makeButton("save SVG", () => save(`runoff-${number + 1}.svg`, "image/svg+xml", makeStandalone(svg)));
  button.className = "save";
  figure.querySelector("figcaption").append(" ", button);
}

const MOST_WITHOUT_TOOLS = 8;

const VERDICTS = ["better", "worse", "same", "small", "mixed", "unclear", "void"];

function makeChoice(label, names) {
  const field = document.createElement("label");
  const select = document.createElement("select");
  select.append(...names.map(name => new Option(name)));
  field.append(`${label} `, select);
  return [field, select];
}

function addTools(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length <= MOST_WITHOUT_TOOLS) return;
  const bar = document.createElement("p");
  bar.className = "tools";
  const field = document.createElement("label");
  const name = document.createElement("input");
  name.type = "search";
  field.append("name ", name);
  const there = VERDICTS.filter(verdict => table.querySelector(`td.${verdict}`));
  const [verdictField, verdict] = makeChoice("verdict", ["any", ...there]);
  const [orderField, order] = makeChoice("order", ["as planned", "name", "largest change"]);
  const count = document.createElement("span");
  bar.append(field, verdictField, orderField, count);
  table.closest(".scroll").before(bar);

  const title = row => row.cells[0].innerText.toLowerCase();
  const orders = {
    "as planned": () => 0,
    name: (a, b) => title(a).localeCompare(title(b)),
    "largest change": (a, b) => (b.dataset.size || -1) - (a.dataset.size || -1),
  };
  const update = () => {
    const shown = rows.filter(row => {
      const isNamed = title(row).includes(name.value.trim().toLowerCase());
      return isNamed && (verdict.value === "any" || row.querySelector(`td.${verdict.value}`));
    });
    for (const row of rows) {
      row.hidden = !shown.includes(row);
      const details = document.getElementById(row.querySelector("a").hash.slice(1)).closest("details");
      details.hidden = row.hidden;
    }
    table.tBodies[0].append(...[...rows].sort(orders[order.value]));
    count.textContent = `${shown.length} of ${rows.length}`;
  };
  for (const control of [name, verdict, order]) control.addEventListener("input", update);
  update();
}

document.querySelectorAll("[data-copy]").forEach(addCopyButton);
document.querySelectorAll("figure").forEach(addSaveButton);
document.querySelectorAll("table.grid").forEach(addTools);
addDownloads(document.getElementById("downloads"));
