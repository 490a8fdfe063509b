"use strict";
// The middle: the drawing, panned, zoomed, and walked through by keys.

const SVG = "http://www.w3.org/2000/svg";
const shorten = (text, most) => (text.length > most ? text.slice(0, most - 1) + "\u2026" : text);

function svg(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text; // never markup
  if (parent) parent.append(element);
  return element;
}

class GraphView {
  constructor(rec, choose) {
    this.rec = rec;
    this.choose = choose;
    this.root = document.getElementById("graph");
    this.note = document.getElementById("note");
    this.scene = svg("g", {}, this.root);
    this.edges = svg("g", {}, this.scene);
    this.boxes = svg("g", {}, this.scene);
    this.at = {x: 0, y: 0, k: 1};
    this.chosen = null;
    this.listen();
  }

  // view: {before, after} or {only}, each {graph, marks}; focus: the node to draw around.
  show(view, options, focus = null) {
    this.view = view;
    this.options = options;
    this.oldMarks = null;
    const {rec} = this;
    let order,
      state,
      becomes = new Map(),
      roots,
      marks;
    if (view?.only) {
      order = rec.reach(view.only.graph);
      state = new Map(order.map(n => [n, "kept"]));
      roots = [view.only.graph];
      marks = view.only.marks || {};
    } else if (view) {
      const before = rec.reach(view.before.graph),
        after = rec.reach(view.after.graph);
      ({state, becomes} = difference(rec, before, after));
      order = [...new Set([...before, ...after])].filter(n => state.has(n));
      roots = [view.before.graph, view.after.graph];
      marks = view.after.marks || {};
      this.oldMarks = view.before.marks || {};
    } else {
      this.clear("There is no graph here: choose a pass, a rewrite, or a kernel.");
      return;
    }
    const whole = visibleGraph(rec, roots, order, state, becomes, options);
    let graph = whole,
      note = "";
    if (whole.nodes.size > MOST_DRAWN) {
      const changed = [...whole.nodes.values()].filter(n => n.state !== "kept" || n.id in marks);
      const first = changed.filter(n => n.state !== "rebuilt");
      const starts = focus !== null ? [focus] : (first.length ? first : changed).map(n => n.id);
      graph = nearest(whole, starts.length ? starts : [roots.at(-1)], MOST_DRAWN);
      note =
        `Large graph: drawn are ${graph.nodes.size.toLocaleString()} of ` +
        `${whole.nodes.size.toLocaleString()} nodes, ` +
        (focus !== null
          ? "those nearest to the chosen one. "
          : changed.length
            ? "those nearest to what changed. "
            : "those nearest to the end. ") +
        "Choose a node and press Enter to draw what is near it. All of it: " +
        this.census(whole);
    }
    const counts = {};
    for (const s of state.values()) counts[s] = (counts[s] || 0) + 1;
    const changes = ["added", "removed", "rebuilt"]
      .filter(s => counts[s])
      .map(s => `${counts[s].toLocaleString()} ${s}`);
    this.clear(
      `${order.length.toLocaleString()} nodes` +
        (view.only ? "" : changes.length ? `: ${changes.join(", ")}` : ": nothing changed") +
        (Object.keys(marks).length ? `, ${Object.keys(marks).length} marked` : "") +
        (note ? ". " + note : ""),
    );
    this.graph = graph;
    this.draw(marks);
    if (focus !== null && graph.nodes.has(focus)) {
      this.pick(focus);
      this.centre(focus);
    } else this.begin();
  }

  // All of it where it can be read then; else the first of what changed, at a size that can.
  begin() {
    this.fit();
    if (this.at.k >= 0.45) return;
    const nodes = [...this.graph.nodes.values()].sort((a, b) => b.y - a.y);
    const first =
      nodes.find(n => n.state === "added") ||
      nodes.find(n => n.state === "removed") ||
      nodes.find(n => n.news) ||
      nodes.find(n => this.drawn.get(n.id).classList.contains("marked")) ||
      nodes[0];
    if (first) this.centre(first.id);
  }

  census(graph) {
    const counts = new Map();
    for (const n of graph.nodes.keys())
      counts.set(this.rec.op(n), (counts.get(this.rec.op(n)) || 0) + 1);
    return [...counts]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 12)
      .map(([op, c]) => `${op} ${c}`)
      .join(", ");
  }

  clear(note) {
    this.edges.replaceChildren();
    this.boxes.replaceChildren();
    this.drawn = new Map();
    this.graph = {nodes: new Map(), edges: []};
    this.chosen = null;
    this.note.textContent = note;
  }

  draw(marks) {
    const {rec, graph} = this;
    for (const [n, node] of graph.nodes) {
      node.first = `${rec.op(n)} ${rec.dtype(n)}`.trim() + (node.cut ? " \u22ef" : "");
      node.second = shorten([...node.inline, rec.arg(n)].filter(Boolean).join(" \u00b7 "), 34);
      node.width = Math.max(54, Math.max(node.first.length * 6.8, node.second.length * 6.1) + 14);
    }
    place(graph);
    for (const [n, node] of graph.nodes) {
      const mark = marks[n];
      node.news = mark && this.oldMarks && !(n in this.oldMarks);
      const box = svg(
        "g",
        {
          class: node.state + (mark ? " marked" : "") + (node.news ? " news" : ""),
          transform: `translate(${node.x},${node.y})`,
          "data-node": n,
          role: "button",
          "aria-label": node.first,
        },
        this.boxes,
      );
      svg("rect", {x: -node.width / 2, y: -HIGH / 2, width: node.width, height: HIGH, rx: 5}, box);
      svg("text", {x: 0, y: node.second ? -2 : 4, "text-anchor": "middle"}, box, node.first);
      if (node.second)
        svg("text", {x: 0, y: 11, "text-anchor": "middle", class: "second"}, box, node.second);
      svg(
        "title",
        {},
        box,
        [node.first, mark, rec.arg(n), rec.origin(n)].filter(Boolean).join("\n"),
      );
      this.drawn.set(n, box);
    }
    for (const edge of graph.edges) {
      const a = graph.nodes.get(edge.from),
        b = graph.nodes.get(edge.to);
      const y1 = a.y + HIGH / 2,
        y2 = b.y - HIGH / 2,
        bend = Math.min(60, (y2 - y1) / 2);
      edge.line = svg(
        "path",
        {d: `M${a.x},${y1}C${a.x},${y1 + bend} ${b.x},${y2 - bend} ${b.x},${y2}`, class: edge.kind},
        this.edges,
      );
      if (edge.moved.length)
        svg(
          "text",
          {x: (a.x + b.x) / 2, y: (y1 + y2) / 2 + 3, class: "moved"},
          this.edges,
          shorten(edge.moved.reverse().join(" "), 28),
        );
    }
  }

  // ---- choosing ----
  pick(n, tell = true) {
    this.drawn.get(this.chosen)?.classList.remove("chosen");
    for (const edge of this.graph.edges)
      edge.line?.classList.toggle("near", edge.from === n || edge.to === n);
    this.chosen = n;
    this.drawn.get(n)?.classList.add("chosen");
    if (tell) this.choose(n);
  }

  highlight(words) {
    for (const [n, box] of this.drawn) {
      const {rec} = this;
      const text = `${rec.op(n)} ${rec.dtype(n)} ${rec.arg(n)} ${rec.origin(n)}`.toLowerCase();
      box.classList.toggle("hit", !!words && text.includes(words));
    }
  }

  walk(key) {
    const node = this.graph.nodes.get(this.chosen);
    if (!node) {
      const last = [...this.graph.nodes.values()].sort((a, b) => b.y - a.y)[0];
      if (last) {
        this.pick(last.id);
        this.reveal(last.id);
      }
      return;
    }
    const near = {ArrowUp: node.ins, ArrowDown: node.outs}[key];
    const row = [...this.graph.nodes.values()]
      .filter(other => other.layer === node.layer)
      .sort((a, b) => a.x - b.x);
    const step = key === "ArrowRight" ? 1 : -1;
    const next = near ? near[0] : row[row.indexOf(node) + step]?.id;
    if (next !== undefined) {
      this.pick(next);
      this.reveal(next);
    }
  }

  // ---- moving ----
  size() {
    const box = this.root.getBoundingClientRect();
    return {w: box.width || 800, h: box.height || 500};
  }

  move() {
    this.scene.setAttribute(
      "transform",
      `translate(${this.at.x},${this.at.y}) scale(${this.at.k})`,
    );
  }

  fit() {
    const nodes = [...this.graph.nodes.values()];
    if (!nodes.length) return;
    const x0 = Math.min(...nodes.map(n => n.x - n.width / 2)),
      x1 = Math.max(...nodes.map(n => n.x + n.width / 2));
    const y0 = Math.min(...nodes.map(n => n.y)) - HIGH,
      y1 = Math.max(...nodes.map(n => n.y)) + HIGH;
    const {w, h} = this.size();
    const k = Math.max(0.02, Math.min(1.2, (w - 20) / (x1 - x0), (h - 20) / (y1 - y0)));
    this.at = {k, x: w / 2 - (k * (x0 + x1)) / 2, y: h / 2 - (k * (y0 + y1)) / 2};
    this.move();
  }

  centre(n) {
    const node = this.graph.nodes.get(n),
      {w, h} = this.size();
    this.at.k = Math.max(this.at.k, 0.8);
    this.at.x = w / 2 - this.at.k * node.x;
    this.at.y = h / 2 - this.at.k * node.y;
    this.move();
  }

  reveal(n) {
    const node = this.graph.nodes.get(n),
      {w, h} = this.size();
    const x = this.at.x + this.at.k * node.x,
      y = this.at.y + this.at.k * node.y;
    if (x < 60 || x > w - 60 || y < 30 || y > h - 30 || this.at.k < 0.3) this.centre(n);
  }

  zoom(factor, x, y) {
    const {w, h} = this.size();
    x ??= w / 2;
    y ??= h / 2;
    const k = Math.min(4, Math.max(0.01, this.at.k * factor));
    this.at.x = x - ((x - this.at.x) * k) / this.at.k;
    this.at.y = y - ((y - this.at.y) * k) / this.at.k;
    this.at.k = k;
    this.move();
  }

  listen() {
    const {root} = this;
    let drag = null;
    root.addEventListener("pointerdown", e => {
      drag = {x: e.clientX, y: e.clientY, far: false};
    });
    root.addEventListener("pointermove", e => {
      if (!drag) return;
      const dx = e.clientX - drag.x,
        dy = e.clientY - drag.y;
      if (!drag.far && Math.hypot(dx, dy) < 4) return;
      if (!drag.far) root.setPointerCapture(e.pointerId);
      drag = {x: e.clientX, y: e.clientY, far: true};
      this.at.x += dx;
      this.at.y += dy;
      this.move();
    });
    root.addEventListener("pointerup", e => {
      const box = e.target.closest?.("[data-node]");
      if (drag && !drag.far && box) this.pick(Number(box.dataset.node));
      drag = null;
    });
    root.addEventListener("pointercancel", () => {
      drag = null;
    });
    root.addEventListener("dblclick", e => {
      const box = e.target.closest?.("[data-node]");
      if (box) this.show(this.view, this.options, Number(box.dataset.node));
    });
    root.addEventListener(
      "wheel",
      e => {
        e.preventDefault();
        const box = root.getBoundingClientRect();
        this.zoom(Math.exp(-e.deltaY * 0.0015), e.clientX - box.left, e.clientY - box.top);
      },
      {passive: false},
    );
    root.addEventListener("keydown", e => {
      if (e.key.startsWith("Arrow")) this.walk(e.key);
      else if (e.key === "Enter" && this.chosen !== null)
        this.show(this.view, this.options, this.chosen);
      else if (e.key === "+" || e.key === "=") this.zoom(1.3);
      else if (e.key === "-") this.zoom(1 / 1.3);
      else if (e.key === "f") this.fit();
      else return;
      e.preventDefault();
      e.stopPropagation();
    });
  }
}
