"""The page has all data, loads nothing, and works in a browser."""

import base64
import gzip
import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from weft import Tensor
from weft.base import trace
from weft.base.dtype import dtypes
from weft.base.errors import FileError
from weft.tools.viz import Recorder, write_page
from weft.tools.viz.page import data_element, page
from weft.tools.viz.recorder import EVENTS
from weft.uop import Ops, UOp

HOSTILE = "</script><img src=x onerror=\"document.body.dataset.broken='yes'\"><!--<script>&amp;"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell")


def recording():
    recorder = Recorder()
    stop = trace.subscribe(recorder, only=EVENTS)
    try:
        a = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device="REF")
        ((a.permute(1, 0) + 1) * 1).detach().sum(1).tolist()
        UOp.variable("outside", 0, 9).alu(Ops.ADD, UOp.const(dtypes.int, 0)).simplify()
        with trace.span("realize", name=HOSTILE):
            before = UOp.variable(HOSTILE, 0, 9)
            trace.point("rewrite", name=HOSTILE, before=before + 0, after=before)
            trace.point("source", name=HOSTILE, device="X", source=HOSTILE, ast=before)
    finally:
        stop()
    return recorder.as_json()


@pytest.fixture(scope="module")
def data():
    return recording()


def parsed(element):
    """The data as the page's own script reads them."""
    kind, text = re.fullmatch(
        r'<script id="data" type="([^"]+)">(.*)</script>', element, re.DOTALL
    ).groups()
    if kind == "application/json":
        return json.loads(text)
    assert kind == "application/gzip+base64"
    return json.loads(gzip.decompress(base64.b64decode(text)))


@pytest.mark.parametrize("large", [10, 10**9])
def test_data_come_back_and_cannot_end_their_element(data, large):
    element = data_element(data, large)
    assert parsed(element) == json.loads(json.dumps(data))
    inside = element[element.index(">") + 1 : element.rindex("<")]
    assert not set("<>&") & set(inside)


def test_the_page_loads_nothing(data):
    text = page(data, HOSTILE)
    assert f"<title>{html.escape(HOSTILE)}</title>" in text
    assert "default-src 'none'" in text
    loads = re.findall(
        r"""(?:src|href)\s*=\s*["']([^"']*)|@import|url\(|\bfetch\(|WebSocket""", text
    )
    assert loads == ["data:,"]
    assert not [url for url in re.findall(r"https?://[^\s\"'<)]+", text) if "w3.org" not in url]
    assert text.count("<script") == text.count("</script>") == 2
    assert "@STYLE@" not in text and "@DATA@" not in text


def test_the_page_is_written_whole_or_not_at_all(data, tmp_path):
    path = write_page(data, tmp_path / "new folder" / "a page.html", "t")
    assert path.read_text(encoding="utf-8") == page(data, "t")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError) as caught:
        write_page(data, tmp_path / "file" / "page.html")
    assert "WEFT_VIZ" in caught.value.try_
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError):
        write_page(data, tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder", "new folder"]


def browser():
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


WALK = r"""
const errors = [];
addEventListener("error", e => errors.push(String(e.message)));
addEventListener("unhandledrejection", e => errors.push(String(e.reason)));
addEventListener("securitypolicyviolation", e => errors.push("asked for " + e.blockedURI));
const loud = console.error;
console.error = (...said) => { errors.push(said.join(" ")); loud(...said); };
const press = (where, key) =>
  document.querySelector(where).dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const tab = name =>
  [...document.querySelectorAll("#tabs button")].find(b => b.textContent === name);
const shown = () => [...document.querySelectorAll("#graph [data-node] text:first-of-type")]
  .map(t => t.textContent);
function walk() {
  if (!document.documentElement.dataset.ready) return setTimeout(walk, 10);
  const said = {ready: document.documentElement.dataset.ready};
  try {
    const {rec} = page, steps = [...rec.steps.values()];
    const pass = name => steps.find(s => s.name === "pass" && s.facts.name === name);
    said.tree = [...document.querySelectorAll("#tree .row")].map(r => r.textContent);
    page.tree.select(pass("clean"));
    said.note = document.getElementById("note").textContent;
    said.states = [...document.querySelectorAll("#graph [data-node]")]
      .map(n => n.getAttribute("class"));
    said.ops = shown();
    said.edges = document.querySelectorAll("#graph path").length;
    tab("Rules").click();
    said.rules = document.getElementById("detail").textContent;
    document.querySelector("#detail button.link").click();
    said.example = shown();
    tab("IR before").click();
    said.ir = document.querySelector("#detail pre").textContent;
    document.getElementById("collapse").click();
    said.unfolded = shown();
    document.getElementById("collapse").click();
    page.tree.select(steps.find(s => s.name === "source"));
    tab("Source").click();
    said.source = document.querySelector("#detail pre").textContent;
    tab("Runs").click();
    said.runs = document.querySelectorAll("#detail tbody tr").length;
    const search = document.getElementById("search");
    search.value = "linearization";
    search.dispatchEvent(new Event("input"));
    said.found = document.getElementById("found").textContent;
    press("#search", "Enter"); press("#search", "Enter");  // delinearization is the first
    said.foundStep = page.step.facts.name;
    tab("IR linear").click();
    said.linear = document.querySelector("#detail pre").textContent;
    press("#tree [aria-selected=true]", "ArrowUp");
    said.above = page.step.facts.name;
    press("#graph", "ArrowUp"); press("#graph", "ArrowUp");
    said.walked = page.graph.chosen !== null && page.tab;
    press("#graph", "+"); press("#graph", "f"); press("#graph", "Enter");
    press("#timeline", "ArrowRight"); press("#timeline", "+");
    said.moment = document.getElementById("moment").textContent;
    for (const step of steps) page.tree.select(step, false);   // none of them fails
    page.tree.select(steps.filter(s => s.name === "source").at(-1), false);
    tab("Source").click();
    said.hostile = document.getElementById("detail").textContent.includes("</scr" + "ipt><img");
    said.broken = document.body.dataset.broken || document.images.length;
  } catch (error) { errors.push(error.stack); }
  said.errors = errors;
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify(said);
  document.body.append(result);
}
walk();
"""


def run_in_browser(data, folder, program, title="weft: a test"):
    """The output of a script that ran in the page, in a browser."""
    found = browser()
    if found is None:
        pytest.skip(f"no browser is installed (looked for {', '.join(BROWSERS)})")
    path = folder / "page.html"
    text = page(data, title)
    head, _, tail = text.rpartition("</body>")
    path.write_text(f"{head}<script>{program}</script></body>{tail}", encoding="utf-8")
    done = subprocess.run(
        [
            found, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={folder / 'profile'}", "--window-size=1400,900",
            "--virtual-time-budget=20000", "--dump-dom", path.as_uri(),
        ],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    result = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert result is not None, done.stderr[-2000:]
    return json.loads(html.unescape(result[1]))


def test_in_a_browser(data, tmp_path):
    said = run_in_browser(data, tmp_path, WALK, HOSTILE)
    assert said["errors"] == []
    assert said["ready"] == "yes" and not said["broken"] and said["hostile"]
    assert any("clean" in row for row in said["tree"])
    assert any("kernel" in row for row in said["tree"])
    assert any(row.startswith("elsewhere1 rules") for row in said["tree"])
    assert "nodes" in said["note"] and "removed" in said["states"]
    assert any(op.startswith("REDUCE_AXIS") for op in said["ops"]) and said["edges"] > 3
    assert not any(op.startswith("PERMUTE") for op in said["ops"])
    assert any(op.startswith("PERMUTE") for op in said["unfolded"])
    assert "->" in said["rules"] and said["example"]
    assert said["ir"].startswith("%0 = ") and "DETACH float" in said["ir"]
    assert said["source"] and said["runs"] >= 1
    assert said["foundStep"] == "linearization" and "steps" in said["found"]
    assert "STORE void" in said["linear"] and said["above"] == "last_rewrites"
    assert said["walked"] == "Node" and " at " in said["moment"]


LARGE = r"""
addEventListener("error", e => { window.failed = e.message; });
function walk() {
  if (!document.documentElement.dataset.ready) return setTimeout(walk, 10);
  page.tree.select(page.rec.roots[0]);
  const drawn = document.querySelectorAll("#graph [data-node]").length;
  const note = document.getElementById("note").textContent;
  page.graph.show(page.graph.view, page.options(), page.graph.graph.nodes.keys().next().value);
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify({drawn, note, failed: window.failed || "",
    again: document.querySelectorAll("#graph [data-node]").length});
  document.body.append(result);
}
walk();
"""


def test_a_large_graph_is_drawn_in_part_and_says_so(tmp_path):
    recorder = Recorder()
    stop = trace.subscribe(recorder, only=EVENTS)
    x = before = UOp.variable("x", 0, 9)
    for _ in range(6000):
        before = before + x
    trace.point("rewrite", name="large", before=UOp.sink(before), after=UOp.sink(before * 2))
    stop()
    said = run_in_browser(recorder.as_json(), tmp_path, LARGE)
    assert said["failed"] == ""
    assert 500 < said["drawn"] <= 1200 and 500 < said["again"] <= 1200
    assert "Large graph: drawn are 1,200 of 6,0" in said["note"] and "ADD 6000" in said["note"]


def test_without_a_browser_the_scripts_are_whole():
    folder = Path(__file__).resolve().parents[4] / "core" / "weft" / "tools" / "viz"
    if not folder.is_dir():
        pytest.skip("the sources are not here: weft is installed from a wheel")
    for script in folder.glob("*.js"):
        text = script.read_text(encoding="utf-8")
        assert "innerHTML" not in text and "document.write" not in text, script.name
        assert "</script" not in text and "<!--" not in text, script.name
