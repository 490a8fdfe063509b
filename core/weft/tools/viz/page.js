"use strict";
// The page: what is chosen on one side shows on the others.

class Page {
  constructor(rec) {
    this.rec = rec;
    this.step = null;
    this.tab = "Facts";
    this.graph = new GraphView(rec, n => this.showNode(n));
    this.tree = new Tree(rec, step => this.showStep(step));
    this.timeline = new Timeline(rec, step => this.tree.select(step, false));
    this.listen();
    const notes = rec.data.notes.join(" ");
    const steps = [...rec.steps.values()];
    const first =
      steps.find(s => s.name === "kernelize") || steps.find(s => s.name === "pass") || rec.roots[0];
    if (first) this.tree.select(first, false);
    else this.graph.clear("Nothing was recorded.");
    if (notes) this.graph.note.textContent = `${notes} ${this.graph.note.textContent}`;
  }

  options() {
    return {
      collapse: document.getElementById("collapse").checked,
      inline: document.getElementById("inline").checked,
    };
  }

  showStep(step) {
    this.step = step;
    this.node = null;
    const graphs = this.rec.graphsOf(step);
    this.views = {};
    if (graphs.before && graphs.after)
      this.views.change = {before: graphs.before, after: graphs.after};
    for (const name in graphs) this.views[name] = {only: graphs[name]};
    const wide = Object.keys(this.views);
    this.view = wide.includes(this.asked) ? this.asked : this.telling(graphs) || wide[0];
    this.showViews();
    this.showTabs();
  }

  // Where hardly anything is left of the graph before, the two side by side say nothing.
  telling({before, after}) {
    if (!before || !after) return null;
    const old = this.rec.reach(before.graph);
    const {state} = difference(this.rec, old, this.rec.reach(after.graph));
    const lost = old.filter(n => state.get(n) === "removed").length;
    return lost * 2 > old.length ? "after" : "change";
  }

  showViews() {
    const bar = document.getElementById("views");
    bar.replaceChildren(
      ...Object.keys(this.views).map(name =>
        make(
          "button",
          {
            role: "tab",
            "aria-selected": name === this.view,
            onclick: () => {
              this.asked = this.view = name;
              this.showViews();
            },
          },
          name,
        ),
      ),
    );
    this.graph.show(this.views[this.view], this.options());
    this.graph.highlight(this.words);
  }

  showExample(before, after) {
    this.views = {...this.views, example: {before: {graph: before}, after: {graph: after}}};
    this.view = "example";
    this.showViews();
  }

  showNode(n) {
    this.node = n;
    this.tab = "Node";
    this.showTabs();
  }

  tabs() {
    const {rec, step} = this,
      tabs = {};
    if (!step) return tabs;
    if (this.node !== null)
      tabs.Node = () =>
        nodeTab(rec, this.node, m => {
          this.graph.drawn.has(m) ? this.graph.pick(m) : this.showNode(m);
        });
    tabs.Facts = () => factsTab(rec, step);
    if (step.fired.length || step.name === "pass")
      tabs.Rules = () => rulesTab(step.fired, (a, b) => this.showExample(a, b));
    const source = rec.sourceOf(step);
    if (source) tabs.Source = () => make("pre", {}, source.facts.source);
    const graphs = rec.graphsOf(step),
      lines = rec.linesOf(step);
    for (const name in graphs)
      tabs[`IR ${name}`] = () => make("pre", {}, rec.irText(rec.reach(graphs[name].graph)));
    if (lines) tabs["IR linear"] = () => make("pre", {}, rec.irText(lines));
    const runs = this.runsOf(step);
    if (runs.length) tabs.Runs = () => runsTab(rec, runs, to => this.tree.select(to));
    return tabs;
  }

  runsOf(step) {
    const source = step.name === "realize" ? null : this.rec.sourceOf(step);
    if (source) return this.rec.runs.filter(run => run.source === source);
    return step.runs.concat(...step.children.map(child => child.runs));
  }

  showTabs() {
    const tabs = this.tabs(),
      names = Object.keys(tabs);
    if (!names.includes(this.tab))
      this.tab =
        names.includes("Source") && this.step?.name === "source"
          ? "Source"
          : names.includes("Node")
            ? "Node"
            : "Facts";
    document.getElementById("tabs").replaceChildren(
      ...names.map(name =>
        make(
          "button",
          {
            role: "tab",
            "aria-selected": name === this.tab,
            onclick: () => {
              this.tab = name;
              this.showTabs();
            },
          },
          name,
        ),
      ),
    );
    const detail = document.getElementById("detail");
    detail.replaceChildren(...(names.length ? [tabs[this.tab]()] : []));
    detail.setAttribute("aria-label", this.tab);
  }

  find(words) {
    this.words = words.trim().toLowerCase();
    this.hits = this.tree.find(this.words);
    this.graph.highlight(this.words);
    const drawn = document.querySelectorAll("#graph .hit").length;
    document.getElementById("found").textContent = this.words
      ? `${this.hits.length} steps, ${drawn} nodes here`
      : "";
  }

  findNext() {
    if (!this.hits?.length) return;
    const next = this.hits[(this.hits.indexOf(this.step) + 1) % this.hits.length];
    this.tree.select(next, false);
    this.find(this.words);
  }

  async copy() {
    const detail = document.getElementById("detail"),
      button = document.getElementById("copy");
    const text = (detail.querySelector("pre") || detail).textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", {}); // pages from a file may not have the clipboard
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1200);
  }

  listen() {
    const search = document.getElementById("search"),
      dialog = document.getElementById("keys");
    search.addEventListener("input", () => this.find(search.value));
    search.addEventListener("keydown", e => {
      e.stopPropagation();
      if (e.key === "Enter") this.findNext();
      if (e.key === "Escape") {
        search.value = "";
        this.find("");
        document.getElementById("tree").querySelector("[tabindex='0']")?.focus();
      }
    });
    for (const id of ["collapse", "inline"])
      document.getElementById(id).addEventListener("change", () => this.showViews());
    document.getElementById("fit").addEventListener("click", () => this.graph.fit());
    document.getElementById("help").addEventListener("click", () => dialog.showModal());
    document.getElementById("copy").addEventListener("click", () => this.copy());
    for (const id of ["views", "tabs"])
      document.getElementById(id).addEventListener("keydown", e => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
        if (!step) return;
        const buttons = [...document.getElementById(id).children],
          at = buttons.indexOf(document.activeElement);
        buttons[(at + step + buttons.length) % buttons.length].click();
        document.getElementById(id).children[(at + step + buttons.length) % buttons.length].focus();
        e.preventDefault();
        e.stopPropagation();
      });
    document.addEventListener("keydown", e => {
      if (e.ctrlKey || e.metaKey || e.altKey || dialog.open || e.target === search) return;
      const places = {
        "/": "#search",
        g: "#graph",
        t: "#tree [tabindex='0']",
        d: "#detail",
        l: "#timeline",
      };
      if (e.key === "?") dialog.showModal();
      else if (e.key === "f") this.graph.fit();
      else if (places[e.key]) document.querySelector(places[e.key])?.focus();
      else return;
      e.preventDefault();
    });
  }
}

readData()
  .then(data => {
    window.page = new Page(new Recording(data));
    document.documentElement.dataset.ready = "yes";
  })
  .catch(error => {
    document.documentElement.dataset.ready = "failed";
    document.getElementById("note").textContent = `This recording cannot be read: ${error.message}`;
    console.error(error);
  });
