"use strict";
// The bottom: what ran when. Drawn on a canvas, since there may be very many runs.

class Timeline {
  constructor(rec, choose) {
    this.rec = rec;
    this.choose = choose;
    this.canvas = document.getElementById("timeline");
    this.moment = document.getElementById("moment");
    const devices = [...new Set(rec.runs.map(run => run.device))];
    this.bars = rec.runs.map(run => ({
      start: run.start,
      end: run.end,
      lane: 3 + devices.indexOf(run.device),
      text: `${run.name} on ${run.device}`,
      step: run.source || rec.steps.get(run.parent),
      run,
    }));
    const lane = {realize: 0, kernelize: 1, kernel: 1, lower: 2, compile: 2, copy: 2};
    for (const step of rec.steps.values())
      if (step.name in lane)
        this.bars.push({
          start: step.start,
          end: step.end,
          lane: lane[step.name],
          text: titleOf(step),
          step,
        });
    this.bars.sort((a, b) => a.start - b.start);
    this.lanes = 3 + Math.max(1, devices.length);
    this.end = this.bars.reduce((most, bar) => Math.max(most, bar.end), 1);
    this.from = 0;
    this.to = this.end;
    this.at = -1;
    this.canvas.style.height = `${Math.min(180, 24 + this.lanes * 15)}px`;
    this.listen();
    this.draw();
  }

  draw() {
    const {canvas} = this,
      box = canvas.getBoundingClientRect(),
      ratio = devicePixelRatio || 1;
    canvas.width = box.width * ratio;
    canvas.height = box.height * ratio;
    const paint = canvas.getContext("2d"),
      style = getComputedStyle(document.body);
    const colour = name => style.getPropertyValue(name).trim();
    const colours = {
      realize: colour("--kept-line"),
      kernelize: colour("--rebuilt-line"),
      kernel: colour("--mark"),
      lower: colour("--rebuilt-line"),
      compile: colour("--removed-line"),
      copy: colour("--accent"),
    };
    paint.scale(ratio, ratio);
    const scale = box.width / (this.to - this.from),
      text = colour("--text"),
      run = colour("--added-line");
    paint.font = "10px ui-monospace, monospace";
    this.boxes = [];
    const full = new Float64Array(this.lanes).fill(-1); // bars thinner than a pixel are drawn once
    this.bars.forEach((bar, i) => {
      if (bar.end < this.from || bar.start > this.to) return;
      const x = (bar.start - this.from) * scale,
        w = Math.max(1, (bar.end - bar.start) * scale),
        y = 4 + bar.lane * 15;
      if (w <= 1 && i !== this.at) {
        if (x < full[bar.lane]) return;
        full[bar.lane] = x + 1;
      }
      paint.fillStyle = bar.run ? run : colours[bar.step.name];
      paint.globalAlpha = i === this.at ? 1 : 0.65;
      paint.fillRect(x, y, w, 13);
      if (i === this.at) {
        paint.strokeStyle = text;
        paint.strokeRect(x, y, Math.max(w, 3), 13);
      }
      if (w > 40) {
        paint.globalAlpha = 1;
        paint.fillStyle = text;
        const left = Math.max(2, x + 3);
        paint.fillText(
          shorten(bar.text, Math.max(1, Math.floor((x + w - left) / 6))),
          left,
          y + 10,
        );
      }
      this.boxes.push({x, w, y, i});
    });
    paint.globalAlpha = 1;
    paint.fillStyle = colour("--soft");
    for (let k = 0; k <= 4; k++) {
      const label = duration(this.from + ((this.to - this.from) * k) / 4);
      paint.textAlign = k === 4 ? "right" : k ? "center" : "left";
      paint.fillText(label, (box.width * k) / 4, box.height - 3);
    }
    paint.textAlign = "left";
    const runs = this.rec.runs.length.toLocaleString();
    if (this.at < 0) this.moment.textContent = `${runs} runs in ${duration(this.end)}`;
  }

  pick(i, tell = true) {
    this.at = i;
    const bar = this.bars[i];
    if (bar.end < this.from || bar.start > this.to) {
      const half = (this.to - this.from) / 2;
      this.from = bar.start - half;
      this.to = bar.start + half;
    }
    const run = bar.run,
      seconds = run?.seconds;
    this.moment.textContent =
      `${bar.text}: ${duration(seconds ? seconds * 1e6 : bar.end - bar.start)} ` +
      `at ${duration(bar.start)}` +
      (seconds && run.bytes ? `, ${amount(run.bytes / seconds, "B/s")}` : "") +
      (seconds && run.ops ? `, ${amount(run.ops / seconds, "op/s")}` : "");
    this.draw();
    if (tell && bar.step) this.choose(bar.step);
  }

  hit(e) {
    const box = this.canvas.getBoundingClientRect(),
      x = e.clientX - box.left,
      y = e.clientY - box.top;
    const found = this.boxes.filter(
      b => x >= b.x - 2 && x <= b.x + b.w + 2 && y >= b.y && y <= b.y + 13,
    );
    return found.length ? found.at(-1).i : -1;
  }

  zoom(factor, at = 0.5) {
    const middle = this.from + (this.to - this.from) * at,
      span = Math.max(1, (this.to - this.from) / factor);
    this.from = middle - span * at;
    this.to = this.from + span;
    this.draw();
  }

  listen() {
    const {canvas} = this;
    let drag = null;
    canvas.addEventListener("pointerdown", e => {
      drag = {x: e.clientX, far: false};
    });
    canvas.addEventListener("pointermove", e => {
      if (!drag) {
        const i = this.hit(e);
        if (i >= 0) canvas.title = this.bars[i].text;
        return;
      }
      if (!drag.far && Math.abs(e.clientX - drag.x) < 4) return;
      if (!drag.far) canvas.setPointerCapture(e.pointerId);
      const shift = ((drag.x - e.clientX) * (this.to - this.from)) / canvas.clientWidth;
      this.from += shift;
      this.to += shift;
      drag = {x: e.clientX, far: true};
      this.draw();
    });
    canvas.addEventListener("pointerup", e => {
      if (drag && !drag.far) {
        const i = this.hit(e);
        if (i >= 0) this.pick(i);
      }
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => {
      drag = null;
    });
    canvas.addEventListener(
      "wheel",
      e => {
        e.preventDefault();
        this.zoom(
          Math.exp(-e.deltaY * 0.002),
          (e.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth,
        );
      },
      {passive: false},
    );
    canvas.addEventListener("keydown", e => {
      if (e.key === "ArrowRight" || e.key === "ArrowLeft") {
        const step = e.key === "ArrowRight" ? 1 : -1;
        for (let i = this.at + step; i >= 0 && i < this.bars.length; i += step)
          if (this.bars[i].run) {
            this.pick(i);
            break;
          }
      } else if (e.key === "+" || e.key === "=") this.zoom(1.5);
      else if (e.key === "-") this.zoom(1 / 1.5);
      else if (e.key === "f") {
        this.from = 0;
        this.to = this.end;
        this.draw();
      } else return;
      e.preventDefault();
      e.stopPropagation();
    });
    addEventListener("resize", () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }
}
