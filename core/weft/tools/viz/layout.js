"use strict";
// From a graph to a drawing: what is shown, in which layer, at which place.

const MOST_DRAWN = 1200;

// The nodes to draw and the edges between them. `state`: node -> kept, added, ... (also says which
// nodes there are); `becomes`: removed node -> the node drawn in its stead.
function visibleGraph(rec, roots, order, state, becomes, options) {
  const top = new Set(roots);
  const hidden = n =>
    !top.has(n) &&
    ((options.inline && SMALL.has(rec.op(n))) ||
      (options.collapse && MOVEMENT.has(rec.op(n)) && rec.src(n).length === 1));
  const nodes = new Map(),
    edges = [];
  for (const n of order)
    if (!hidden(n)) nodes.set(n, {id: n, state: state.get(n), inline: [], ins: [], outs: []});
  for (const [n, node] of nodes) {
    for (let s of rec.src(n)) {
      const moved = [];
      let changed = false;
      if (node.state === "removed") s = becomes.get(s) ?? s;
      while (hidden(s) && !SMALL.has(rec.op(s))) {
        moved.push(rec.op(s).toLowerCase());
        changed ||= state.get(s) === "added" || state.get(s) === "removed";
        s = rec.src(s)[0];
        if (node.state === "removed") s = becomes.get(s) ?? s;
      }
      if (hidden(s)) {
        if (rec.op(s) !== "UNIQUE") node.inline.push(rec.arg(s) || rec.op(s));
      } else if (nodes.has(s)) {
        const kind =
          node.state === "removed" ? "removed" : node.state === "added" || changed ? "added" : "";
        edges.push({from: s, to: n, moved, kind});
        node.ins.push(s);
        nodes.get(s).outs.push(n);
      }
    }
  }
  return {nodes, edges};
}

// At most `most` nodes: those nearest to what changed, or to the node that is asked for.
function nearest(graph, starts, most) {
  const found = new Set(starts.filter(n => graph.nodes.has(n)).slice(0, most));
  let edge = [...found];
  while (edge.length && found.size < most) {
    const next = [];
    for (const n of edge)
      for (const m of [...graph.nodes.get(n).ins, ...graph.nodes.get(n).outs])
        if (!found.has(m) && found.size < most) {
          found.add(m);
          next.push(m);
        }
    edge = next;
  }
  const nodes = new Map();
  for (const [n, node] of graph.nodes)
    if (found.has(n))
      nodes.set(n, {
        ...node,
        ins: node.ins.filter(m => found.has(m)),
        outs: node.outs.filter(m => found.has(m)),
        cut: node.ins.some(m => !found.has(m)) || node.outs.some(m => !found.has(m)),
      });
  return {nodes, edges: graph.edges.filter(e => found.has(e.from) && found.has(e.to))};
}

const ROW = 62,
  GAP = 18,
  HIGH = 34;

// Layers by the longest way to a user that nobody uses; order within by the middle of neighbours.
function place(graph) {
  const {nodes} = graph,
    layers = [];
  for (const node of nodes.values()) node.waiting = node.outs.length;
  const ready = [...nodes.values()].filter(node => !node.waiting);
  for (const node of ready) node.layer = 0;
  for (let i = 0; i < ready.length; i++)
    for (const s of ready[i].ins) {
      const source = nodes.get(s);
      source.layer = Math.max(source.layer ?? 0, ready[i].layer + 1);
      if (!--source.waiting) ready.push(source);
    }
  // What is used no more stands below what it was made of, and not beside the end of the graph.
  for (const node of ready)
    if (!node.outs.length && node.ins.length)
      node.layer = Math.max(0, Math.min(...node.ins.map(s => nodes.get(s).layer)) - 1);
  for (const node of ready) (layers[node.layer] ||= []).push(node);
  const spread = layer =>
    layer.forEach((node, i) => {
      node.order = i;
    });
  layers.forEach(spread);
  const middle = list =>
    list.length ? list.reduce((sum, n) => sum + nodes.get(n).order, 0) / list.length : null;
  for (let sweep = 0; sweep < 6; sweep++) {
    const down = sweep % 2 === 0;
    const walk = down ? layers : [...layers].reverse();
    for (const layer of walk) {
      for (const node of layer) node.middle = middle(down ? node.outs : node.ins) ?? node.order;
      layer.sort((a, b) => a.middle - b.middle);
      spread(layer);
    }
  }
  for (const layer of layers) {
    let x = 0;
    for (const node of layer) {
      node.x = x + node.width / 2;
      x += node.width + GAP;
    }
    const shift = x / 2;
    for (const node of layer) node.x -= shift;
  }
  for (let sweep = 0; sweep < 8; sweep++) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) settle(layer, nodes, down);
  }
  const last = layers.length - 1;
  for (const node of nodes.values()) node.y = (last - node.layer) * ROW;
}

// Each node towards the middle of its neighbours, as far as those beside it leave room.
function settle(layer, nodes, down) {
  for (const node of layer) {
    const near = down ? node.outs : node.ins;
    node.wish = near.length
      ? near.reduce((sum, n) => sum + nodes.get(n).x, 0) / near.length
      : node.x;
  }
  const right = [],
    left = [];
  let edge = -Infinity;
  for (const node of layer) {
    const x = Math.max(node.wish, edge + node.width / 2);
    right.push(x);
    edge = x + node.width / 2 + GAP;
  }
  edge = Infinity;
  for (let i = layer.length - 1; i >= 0; i--) {
    const x = Math.min(layer[i].wish, edge - layer[i].width / 2);
    left[i] = x;
    edge = x - layer[i].width / 2 - GAP;
  }
  layer.forEach((node, i) => {
    node.x = (right[i] + left[i]) / 2;
  });
}
