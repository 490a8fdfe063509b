"use strict";
// The right: what is known of the thing that is chosen. Each function gives the element of one tab.

function table(heads, rows) {
  return make(
    "table",
    {},
    make("thead", {}, make("tr", {}, ...heads.map(h => make("th", {scope: "col"}, h)))),
    make(
      "tbody",
      {},
      ...rows.map(row =>
        make(
          "tr",
          {},
          ...row.map(cell =>
            cell instanceof Node
              ? make("td", {}, cell)
              : make("td", typeof cell === "number" ? {class: "n"} : {}, cell ?? ""),
          ),
        ),
      ),
    ),
  );
}

function factsTab(rec, step) {
  const rows = [
    ["what", titleOf(step)],
    ["took", duration(step.end - step.start)],
    ["after", duration(step.start)],
  ];
  for (const [name, value] of Object.entries(step.facts)) {
    if (value === null || (name === "source" && step.name === "source")) continue;
    if (typeof value !== "object") rows.push([name, String(value)]);
    else if (value.lines)
      for (const [key, inner] of Object.entries(value))
        if (key !== "lines")
          rows.push([key, Array.isArray(inner) ? inner.join(", ") || "none" : String(inner)]);
  }
  return table(["fact", "value"], rows);
}

function nodeTab(rec, n, go) {
  const link = m =>
    make("button", {class: "link", onclick: () => go(m)}, `%${m} ${rec.op(m)} ${rec.dtype(m)}`);
  const rows = [
    ["op", rec.op(n)],
    ["dtype", rec.dtype(n)],
    ["arg", rec.arg(n)],
    ["made by", rec.origin(n)],
    ...rec.src(n).map((s, i) => [`source ${i}`, link(s)]),
  ];
  if (rec.inside(n) >= 0)
    rows.push(["kernel", make("pre", {}, rec.irText(rec.reach(rec.inside(n))))]);
  return table(
    ["node", `%${n}`],
    rows.filter(row => row[1] !== ""),
  );
}

function rulesTab(fired, showExample) {
  if (!fired.length) return make("p", {}, "No rule fired here.");
  return table(
    ["times", "rule", "law"],
    [...fired]
      .sort((a, b) => b.count - a.count)
      .map(row => [
        row.count,
        make(
          "div",
          {},
          make("b", {}, row.name),
          make("div", {class: "law"}, [row.set, row.place].filter(Boolean).join("\n")),
        ),
        make(
          "div",
          {},
          make("div", {class: "law"}, row.law || "no law was written down"),
          ...row.examples
            .filter(([a, b]) => a >= 0 && b >= 0)
            .map(([a, b], i) =>
              make(
                "button",
                {class: "link", onclick: () => showExample(a, b)},
                `example ${i + 1} `,
              ),
            ),
        ),
      ]),
  );
}

function runsTab(rec, runs, go) {
  const kernels = new Map();
  for (const run of runs) {
    const key = `${run.name}\u0000${run.device}\u0000${run.source?.number}`;
    if (!kernels.has(key)) kernels.set(key, {...run, count: 0, total: 0, ops: 0, bytes: 0});
    const sum = kernels.get(key);
    sum.count++;
    sum.total += run.seconds ?? (run.end - run.start) / 1e6;
    sum.ops += run.ops || 0;
    sum.bytes += run.bytes || 0;
  }
  const rows = [...kernels.values()]
    .sort((a, b) => b.total - a.total)
    .map(k => [
      k.source ? make("button", {class: "link", onclick: () => go(k.source)}, k.name) : k.name,
      k.device,
      k.count,
      duration(k.total * 1e6),
      k.bytes ? amount(k.bytes / k.total, "B/s") : "",
      k.ops ? amount(k.ops / k.total, "op/s") : "",
    ]);
  return rows.length
    ? table(["kernel", "device", "runs", "time", "memory", "arithmetic"], rows)
    : make("p", {}, "Nothing ran here.");
}
