"use strict";
// Everything is on the page without this script; it folds what is long, and sorts, filters and copies.
document.documentElement.classList.add("js");

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function later(work) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, 120);
  };
}

class NodeTable {
  constructor(section) {
    this.section = section;
    this.table = section.querySelector("table.nodes");
    this.body = this.table.tBodies[0];
    this.headings = [...this.table.tHead.lastElementChild.cells];
    this.numbers = JSON.parse(section.querySelector("script.numbers").textContent).scores;
    this.firstScore = this.headings.findIndex((heading) => heading.classList.contains("score"));
    this.rows = [];
    for (const line of this.body.rows) {
      if (line.classList.contains("details")) this.rows.at(-1).details = line;
      else this.rows.push({ line, details: null, place: this.rows.length, text: null });
    }
    this.page = Number(this.table.dataset.page);
    this.limit = this.page;
    this.controls = section.querySelector(".controls");
    this.words = this.controls.querySelector(".words");
    this.verdicts = this.controls.querySelector(".verdicts");
    this.cells = this.controls.querySelector(".cells");
    this.unfoldAll = this.controls.querySelector(".all");
    this.found = section.querySelector(".found");
    this.more = section.querySelector(".more");
    this.controls.hidden = false;
    this.listen();
    this.show();
  }

  listen() {
    for (const [index, heading] of this.headings.entries()) {
      const button = element("button", { type: "button" }, ...heading.childNodes);
      heading.append(button);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => this.sort(index));
    }
    for (const row of this.rows) if (row.details) this.makeFoldable(row);
    const filter = () => {
      this.limit = this.page;
      this.show();
    };
    this.words.addEventListener("input", later(filter));
    this.verdicts.addEventListener("change", filter);
    this.cells?.addEventListener("change", () => this.writeCells());
    this.unfoldAll.hidden = !this.rows.some((row) => row.details);
    this.unfoldAll.addEventListener("click", () => this.foldAll());
    const [some, all] = this.more.querySelectorAll("button");
    some.addEventListener("click", () => this.show((this.limit += this.page)));
    all.addEventListener("click", () => this.show((this.limit = Infinity)));
  }

  makeFoldable(row) {
    const heading = row.line.cells[0];
    const button = element("button", { type: "button" }, ...heading.childNodes);
    button.setAttribute("aria-expanded", String(row.details.classList.contains("open")));
    button.setAttribute("aria-controls", row.details.id);
    button.addEventListener("click", () => this.fold(row, row.details.classList.contains("open")));
    heading.append(button);
  }

  fold(row, closed) {
    row.details.classList.toggle("open", !closed);
    row.line.cells[0].querySelector("button").setAttribute("aria-expanded", String(!closed));
  }

  foldAll() {
    const closed = this.unfoldAll.getAttribute("aria-expanded") === "true";
    for (const row of this.rows) if (row.details) this.fold(row, closed);
    this.unfoldAll.setAttribute("aria-expanded", String(!closed));
    this.unfoldAll.textContent = closed ? "Unfold all" : "Fold all";
  }

  // Once per row, and only when somebody filters: five thousand rows take a moment.
  textOf(row) {
    row.text ??= `${row.line.textContent} ${row.details?.textContent ?? ""}`.toLowerCase();
    return row.text;
  }

  show() {
    const wanted = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = this.verdicts.value;
    let matching = 0;
    for (const row of this.rows) {
      const fits =
        (!verdict || row.line.dataset.verdict === verdict) &&
        (!wanted.length || wanted.every((word) => this.textOf(row).includes(word)));
      matching += fits;
      for (const line of [row.line, row.details]) {
        if (!line) continue;
        line.hidden = !fits;
        line.classList.toggle("far", matching > this.limit);
      }
    }
    const shown = Math.min(matching, this.limit);
    const all = Number(this.table.dataset.nodes);
    this.found.textContent =
      matching < all
        ? `${matching.toLocaleString("en")} of ${all.toLocaleString("en")} nodes match`
        : `${all.toLocaleString("en")} ${all === 1 ? "node" : "nodes"}`;
    if (shown < matching) this.found.textContent += `, the first ${shown.toLocaleString("en")} shown`;
    this.more.hidden = shown === matching;
  }

  sort(index) {
    const heading = this.headings[index];
    const before = heading.getAttribute("aria-sort");
    // Numbers are looked at from the highest down first, words from the first on.
    const first = heading.classList.contains("number") ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const direction = before === first ? second : before === second ? "none" : first;
    for (const each of this.headings) each.setAttribute("aria-sort", each === heading ? direction : "none");
    const sign = direction === "descending" ? -1 : 1;
    const keys = new Map(this.rows.map((row) => [row, row.line.cells[index].textContent]));
    const isNumber = heading.classList.contains("number");
    const order = new Intl.Collator("en", { numeric: true });
    this.rows.sort((a, b) => {
      if (direction === "none") return a.place - b.place;
      const [one, other] = [keys.get(a), keys.get(b)];
      if (one === other) return a.place - b.place;
      if (isNumber && (!one || !other)) return one ? -1 : 1; // a rejected node has no points: it comes last
      return sign * (isNumber ? Number(one) - Number(other) : order.compare(one, other));
    });
    this.body.append(...this.rows.flatMap((row) => (row.details ? [row.line, row.details] : [row.line])));
    this.show();
  }

  writeCells() {
    const kind = this.cells.value;
    for (const row of this.rows) {
      for (const [index, score] of this.numbers.entries()) {
        const normalized = score.normalized[row.place];
        if (normalized === undefined) continue; // a rejected node: those that are feasible come first
        const number = kind === "points" ? normalized * score.weight : score[kind][row.place];
        row.line.cells[this.firstScore + index].textContent = number;
      }
      row.text = null;
    }
  }
}

function offerCopying(command) {
  const code = command.querySelector("pre");
  const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
  const told = element("span", { className: "unseen" });
  told.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      told.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
      told.textContent = "Selected: copy it with the keyboard";
    }
    setTimeout(() => {
      button.textContent = "Copy";
      told.textContent = "";
    }, 2000);
  });
  command.append(button, told);
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".all-nodes").forEach((section) => new NodeTable(section));
  document.querySelectorAll(".command").forEach(offerCopying);
});
