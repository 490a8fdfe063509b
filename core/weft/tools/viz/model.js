"use strict";
// The recording, unpacked: nodes by number, steps as a tree, and what differs between two graphs.

const MOVEMENT = new Set(["RESHAPE", "PERMUTE", "EXPAND", "PAD", "SHRINK", "FLIP", "VIEW"]);
const SMALL = new Set(["CONST", "VCONST", "DEVICE", "UNIQUE"]);

async function readData() {
  const element = document.getElementById("data");
  if (element.type === "application/json") return JSON.parse(element.textContent);
  const packed = Uint8Array.from(atob(element.textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

class Recording {
  constructor(data) {
    this.data = data;
    this.nodes = data.nodes;
    this.texts = data.nodes.texts;
    this.steps = new Map();
    this.roots = [];
    for (const [number, parent, name, start, end, facts] of data.steps)
      this.steps.set(number, {
        number,
        parent,
        name,
        start,
        end,
        facts,
        children: [],
        fired: [],
        runs: [],
      });
    for (const step of this.steps.values()) {
      const above = this.steps.get(step.parent);
      if (above) above.children.push(step);
      else this.roots.push(step);
    }
    for (const [number, rule, count, examples] of data.fired) {
      const [name, set, law, place] = data.rules[rule];
      const row = {name, set, law, place, count, examples};
      (this.steps.get(number) || this.elsewhere()).fired.push(row);
    }
    this.runs = data.runs.map(
      ([parent, name, device, start, end, seconds, ops, bytes, kernel], index) => ({
        index,
        parent,
        name: this.texts[name],
        device: this.texts[device],
        start,
        end,
        seconds,
        ops,
        bytes,
        source: this.steps.get(kernel) || null,
      }),
    );
    for (const run of this.runs) this.steps.get(run.parent)?.runs.push(run);
  }

  // Where rules are shown that fired in no step that is kept.
  elsewhere() {
    let step = this.steps.get(0);
    if (!step) {
      step = {number: 0, parent: -1, name: "elsewhere", start: 0, end: 0, facts: {}};
      Object.assign(step, {children: [], fired: [], runs: []});
      this.steps.set(0, step);
      this.roots.push(step);
    }
    return step;
  }

  op(n) {
    return this.texts[this.nodes.op[n]];
  }
  dtype(n) {
    return this.texts[this.nodes.dtype[n]];
  }
  arg(n) {
    return this.nodes.arg[n] < 0 ? "" : this.texts[this.nodes.arg[n]];
  }
  src(n) {
    return this.nodes.src[n];
  }
  inside(n) {
    return this.nodes.inside[n];
  }
  origin(n) {
    return this.nodes.origin[n] < 0 ? "" : this.texts[this.nodes.origin[n]];
  }
  label(n) {
    return (
      this.nodes.op[n] +
      "|" +
      this.nodes.dtype[n] +
      "|" +
      this.nodes.arg[n] +
      "|" +
      this.nodes.inside[n]
    );
  }

  // Every node of a graph, sources before users.
  reach(root) {
    const done = new Set(),
      stack = [root];
    while (stack.length) {
      const n = stack.pop();
      if (done.has(n)) continue;
      done.add(n);
      for (const s of this.src(n)) if (!done.has(s)) stack.push(s);
    }
    return [...done].sort((a, b) => a - b); // a source always has the smaller number
  }

  // The graph as text, as the compiler itself prints it.
  irText(order, most = 20000) {
    const at = new Map(order.map((n, i) => [n, i]));
    const lines = order.slice(0, most).map((n, i) => {
      const sources = this.src(n)
        .map(s => (at.has(s) ? ` %${at.get(s)}` : ` ${this.op(s)}`))
        .join("");
      const arg = this.arg(n);
      const said = `%${i} = ${this.op(n)} ${this.dtype(n) || "void"}${sources}`;
      return arg ? `${said}  arg=${arg}` : said;
    });
    if (order.length > most) lines.push(`... and ${order.length - most} further nodes`);
    return lines.join("\n");
  }

  // What a step shows: its graphs, by name of the view.
  graphsOf(step) {
    const f = step.facts,
      found = {};
    for (const name of ["before", "after", "ast"]) if (f[name]?.graph >= 0) found[name] = f[name];
    if (Object.keys(found).length) return found;
    // What holds passes shows what all of them together did.
    const below = step.children
      .filter(c => c.name !== "source")
      .map(c => this.graphsOf(c))
      .filter(g => g.before);
    if (step.name === "realize") return below[0] || found;
    if (below.length) {
      found.before = below[0].before;
      const after = below.findLast(g => g.after)?.after;
      if (after) found.after = after;
    }
    return found;
  }

  linesOf(step) {
    for (const name of ["after", "program"])
      if (step.facts[name]?.lines?.length) return step.facts[name].lines;
    return null;
  }

  sourceOf(step) {
    if (step.name === "source") return step;
    const own = step.children.find(c => c.name === "source");
    if (own) return own;
    const above = this.steps.get(step.parent);
    return above && above.name !== "realize" && above.name !== "kernelize"
      ? this.sourceOf(above)
      : null;
  }
}

// What became of each node: state by node, and which removed node stands for which new one.
function difference(rec, before, after) {
  const old = new Set(before),
    fresh = new Set(after);
  const state = new Map(),
    becomes = new Map(),
    free = new Map();
  for (const n of after) {
    state.set(n, old.has(n) ? "kept" : "added");
    if (!old.has(n)) {
      const label = rec.label(n);
      if (!free.has(label)) free.set(label, []);
      free.get(label).push(n);
    }
  }
  for (const n of before) {
    if (fresh.has(n)) {
      becomes.set(n, n);
      continue;
    }
    // The same node over changed sources is one node of the picture, and not two.
    const candidates = free.get(rec.label(n)) || [];
    let best = -1,
      bestScore = 0;
    candidates.forEach((c, i) => {
      const sources = rec.src(c);
      let score = rec
        .src(n)
        .reduce((sum, s, k) => sum + (becomes.get(s) === sources[k] ? 1 : 0), 0);
      if (!score && candidates.length === 1 && sources.length === rec.src(n).length) score = 0.5;
      if (score > bestScore) {
        best = i;
        bestScore = score;
      }
    });
    const roots =
      n === before.at(-1) &&
      state.get(after.at(-1)) === "added" &&
      rec.op(n) === rec.op(after.at(-1));
    if (best < 0 && roots) {
      becomes.set(n, after.at(-1));
      state.set(after.at(-1), "rebuilt");
      continue;
    }
    if (best < 0) {
      state.set(n, "removed");
      continue;
    }
    const [match] = candidates.splice(best, 1);
    becomes.set(n, match);
    state.set(match, "rebuilt");
  }
  return {state, becomes};
}
