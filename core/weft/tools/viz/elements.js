"use strict";
// What all panes use: making elements, and saying times and amounts.

// Text becomes text nodes, wherever it is from: nothing of a recording is ever markup.
function make(name, attributes = {}, ...inside) {
  const element = document.createElement(name);
  for (const key in attributes) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), attributes[key]);
    else element.setAttribute(key, attributes[key]);
  }
  element.append(
    ...inside
      .filter(x => x !== null && x !== undefined)
      .map(x => (x instanceof Node ? x : String(x))),
  );
  return element;
}

const duration = us =>
  us >= 1e6
    ? `${(us / 1e6).toFixed(2)} s`
    : us >= 1e3
      ? `${(us / 1e3).toFixed(2)} ms`
      : `${us.toFixed(1)} \u00b5s`;
const amount = (n, unit) => {
  const step = ["", "k", "M", "G", "T"];
  let i = 0;
  while (n >= 1000 && i < 4) {
    n /= 1000;
    i++;
  }
  return `${n.toPrecision(3)} ${step[i]}${unit}`;
};

function titleOf(step) {
  const f = step.facts;
  if (step.name === "pass" || step.name === "rewrite") return f.name || "rewrite";
  if (step.name === "kernel") return `kernel ${f.name || "(failed)"}`;
  if (step.name === "source") return "source";
  if (step.name === "copy") return `copy ${f.source} to ${f.to}`;
  return step.name;
}
