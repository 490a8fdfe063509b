"use strict";
// The left: the tree of what happened, walked through by keys and searched.

class Tree {
  constructor(rec, choose) {
    this.rec = rec;
    this.choose = choose;
    this.list = document.getElementById("tree");
    this.items = new Map(); // step -> element
    for (const step of rec.roots) this.list.append(this.item(step, 1, rec.roots.length <= 40));
    const first = this.list.querySelector("[role=treeitem]");
    if (first) first.tabIndex = 0;
    this.list.addEventListener("keydown", e => this.key(e));
  }

  countOf(step) {
    const fired = step.fired.reduce((sum, row) => sum + row.count, 0);
    const {before, after} = step.facts,
      marked = Object.keys(after?.marks || {}).length - Object.keys(before?.marks || {}).length;
    const same =
      step.name === "pass" &&
      before?.graph !== undefined &&
      before?.graph === after?.graph &&
      !marked;
    const said = [];
    if (step.runs.length) said.push(`${step.runs.length} runs`);
    if (fired) said.push(`${fired} rules`);
    if (before?.graph === after?.graph && marked)
      said.push(`${marked > 0 ? "+" : ""}${marked} marked`);
    if (same && !fired) said.push("same");
    if (step.end > step.start) said.push(duration(step.end - step.start));
    return said.join(" ");
  }

  item(step, level, open) {
    const item = make("li", {
      role: "treeitem",
      "aria-level": level,
      "aria-selected": "false",
      tabindex: -1,
    });
    const below = step.children.length > 0;
    const row = make(
      "div",
      {class: "row", style: `padding-left:${(level - 1) * 14 + 4}px`},
      make("span", {class: "twist"}, below ? (open ? "\u25be" : "\u25b8") : ""),
      make(
        "span",
        step.facts.error ? {class: "failed", title: step.facts.error} : {},
        titleOf(step),
      ),
      make("span", {class: "count"}, this.countOf(step)),
    );
    row.addEventListener("click", e => {
      if (below && e.target.classList.contains("twist")) this.toggle(step);
      else this.select(step);
    });
    row.addEventListener("dblclick", () => below && this.toggle(step));
    item.append(row);
    item.step = step;
    this.items.set(step, item);
    if (below) {
      item.setAttribute("aria-expanded", open);
      item.append(make("ul", {role: "group"}));
      if (open) this.fill(step);
    }
    return item;
  }

  fill(step) {
    const group = this.items.get(step).querySelector("ul");
    const level = Number(this.items.get(step).getAttribute("aria-level")) + 1;
    if (!group.childElementCount)
      for (const child of step.children)
        group.append(this.item(child, level, child.name === "kernelize"));
    group.hidden = false;
  }

  toggle(step, open) {
    const item = this.items.get(step);
    if (!item.hasAttribute("aria-expanded")) return;
    open ??= item.getAttribute("aria-expanded") !== "true";
    item.setAttribute("aria-expanded", open);
    item.querySelector(".twist").textContent = open ? "\u25be" : "\u25b8";
    if (open) this.fill(step);
    else item.querySelector("ul").hidden = true;
  }

  select(step, focus = true) {
    const path = [];
    for (
      let above = this.rec.steps.get(step.parent);
      above;
      above = this.rec.steps.get(above.parent)
    )
      path.push(above);
    for (const above of path.reverse()) this.toggle(above, true);
    this.chosen?.setAttribute("aria-selected", "false");
    if (this.chosen) this.chosen.tabIndex = -1;
    else this.list.querySelector("[tabindex='0']")?.setAttribute("tabindex", -1);
    this.chosen = this.items.get(step);
    this.chosen.setAttribute("aria-selected", "true");
    this.chosen.tabIndex = 0;
    if (focus) this.chosen.focus();
    this.chosen.firstChild.scrollIntoView({block: "nearest"});
    this.choose(step);
  }

  key(e) {
    const shown = [...this.list.querySelectorAll("[role=treeitem]")].filter(
      i => !i.parentElement.closest("[hidden]"),
    );
    const at = shown.indexOf(e.target.closest("[role=treeitem]"));
    const step = shown[at]?.step;
    if (!step) return;
    const open = shown[at].getAttribute("aria-expanded");
    if (e.key === "ArrowDown" && shown[at + 1]) this.select(shown[at + 1].step);
    else if (e.key === "ArrowUp" && shown[at - 1]) this.select(shown[at - 1].step);
    else if (e.key === "Home") this.select(shown[0].step);
    else if (e.key === "End") this.select(shown.at(-1).step);
    else if (e.key === "ArrowRight" && open === "false") this.toggle(step, true);
    else if (e.key === "ArrowRight" && open === "true" && step.children[0])
      this.select(step.children[0]);
    else if (e.key === "ArrowLeft" && open === "true") this.toggle(step, false);
    else if (e.key === "ArrowLeft" && this.rec.steps.get(step.parent))
      this.select(this.rec.steps.get(step.parent));
    else if (e.key === "Enter" || e.key === " ") this.select(step);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  // Steps in which the words stand, in the order of the tree.
  find(words) {
    for (const item of this.items.values()) item.classList.remove("hit");
    if (!words) return [];
    const found = [];
    const visit = step => {
      const rules = step.fired.map(row => `${row.name} ${row.law}`).join(" ");
      const facts = Object.values(step.facts)
        .filter(v => typeof v === "string")
        .join(" ");
      if (`${titleOf(step)} ${facts} ${rules}`.toLowerCase().includes(words)) found.push(step);
      step.children.forEach(visit);
    };
    this.rec.roots.forEach(visit);
    for (const step of found) this.items.get(step)?.classList.add("hit");
    return found;
  }
}
