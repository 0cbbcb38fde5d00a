"""The page of `tenon explore` in headless Chromium: what it shows, by mouse and by keyboard.

usage: page_test.py --tenon PROGRAM [--long]

--long: all test models, and a graph of 20,000 nodes, with the time that it takes to open and to pan.
"""
import argparse
import functools
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import environments

environments.reexec("explorer")
import made
from browser import browser

MODELS = ROOT / "tests" / "models"
ARGS = argparse.Namespace()
SCRATCH = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(SCRATCH.name)
SHORT = ("mlp", "resnet50", "bert4")
LONG = ("mlp", "resnet50", "bert4", "mobilenetv2", "densenet121", "efficientnetb0", "inceptionv3")
VIEWS = ("graph", "pair", "memory", "timeline", "summary")
STEM = re.compile("^_(MklNative|Mkl)?")


def tenon(*words):
  return subprocess.run([ARGS.tenon, *map(str, words)], capture_output=True, text=True, check=True,
                        timeout=600).stdout


@functools.cache
def page_of(*words):
  """The file that `tenon explore` writes."""
  file = FOLDER / (re.sub(r"\W+", "_", "-".join(str(w)[-40:] for w in words)) + ".html")
  tenon("explore", *words, "-o", file)
  return file


def saved(name):
  return MODELS / name / "saved_model"


def explored(name):
  return page_of(saved(name), "--profile", "--seconds", "0.05")


REPORT = "i => JSON.parse(JSON.stringify(explorer.models[i].report))"


class Case(unittest.TestCase):

  def setUp(self):
    self.opened = []

  def open(self, file, fragment="", **options):
    page = browser().page(**options).go(file, fragment)
    self.opened.append(page)
    self.assertEqual(page.js("document.documentElement.dataset.ready"), "yes", page.page.inner_text("#main"))
    return page

  def tearDown(self):
    for page in self.opened:
      self.assertEqual(page.problems, [])
      page.page.context.close()


class PageTest(Case):

  def test_is_what_its_sources_build(self):
    subprocess.run([sys.executable, ROOT / "tools" / "explorer" / "build.py", "--check"], check=True)

  def test_counts_are_those_of_dump(self):
    for name in LONG if ARGS.long else SHORT:
      with self.subTest(name):
        page = self.open(explored(name))
        stats = tenon("dump", saved(name), "--stats")
        counts = re.search(r"\d+ nodes accelerated, .* left", stats).group()
        page.view("summary")
        self.assertIn(counts, page.page.inner_text("#counts"))
        page.view("graph")
        report = page.js(REPORT, 0)
        wanted = [len(report["loaded"]), *(p["nodes"] for p in report["phases"]), len(report["final"])]
        phase = page.page.locator("input.phase").first
        phase.focus()
        page.press("Home")
        for nodes in wanted:
          self.assertEqual(page.page.inner_text("#filter-count"), f"{nodes} nodes")
          page.press("ArrowRight")

  def test_reasons_are_those_of_explain(self):
    for name in ("bert4", "resnet50"):
      page = self.open(explored(name))
      report = json.loads(tenon("explain", saved(name), "--json", "--no-profile"))
      for node in report["final"]:
        if node["reason"]:
          page.js("id => explorer.select(explorer.models[0], id, true)", node["id"])
          self.assertIn(node["reason"]["text"], page.panel())
      report["why_nots"] = [w for w in report["why_nots"] if not w.get("function")]
      at = {w["at"] for w in report["why_nots"]}
      for node in sorted(at)[:20]:
        page.js("id => explorer.select(explorer.models[0], id, true)", node)
        for why in report["why_nots"]:
          if why["at"] == node:
            self.assertIn(why["reason"]["text"], page.panel())

  def test_slider(self):
    page = self.open(explored("resnet50"))
    page.page.click("text=Open all")
    report = page.js(REPORT, 0)
    fuse = [p["phase"] for p in report["phases"]].index("fuse")
    page.page.locator("input.phase").focus()
    page.press("Home", *["ArrowRight"] * (fuse + 1))
    steps = [s for s in report["phases"][fuse]["steps"] if not s["function"]]
    removed = {i for s in steps for i in s["removed"]}
    added = {n["id"] for s in steps for n in s["added"]} - removed
    page.page.check("#constants")
    fates = {b["key"]: b["fate"] for b in page.boxes() if b["key"] >= 0}
    before = set(page.js("() => [...explorer.models[0].history.at(explorer.models[0].history.stops"
                         f"[{fuse + 1}].first).keys()]"))
    self.assertEqual({k for k, f in fates.items() if f == "removed"}, removed & before)
    self.assertEqual({k for k, f in fates.items() if f == "added"}, added)
    # What stays, stays where it is, whatever the state.
    where = "() => Object.fromEntries(explorer.visible[0].pane.scene.boxes.map(b => [b.key, [b.x, b.y]]))"
    there = page.js(where)
    page.page.locator("canvas").first.focus()
    page.press(",")
    self.assertEqual(page.js("explorer.visible[0].slider.state"),
                     page.js("explorer.visible[0].slider.model.history.stops")[fuse + 1]["last"] - 1)
    one = {b["key"]: b["fate"] for b in page.boxes() if b["fate"] and b["key"] >= 0}
    self.assertEqual({k for k, f in one.items() if f == "removed"}, set(steps[-2]["removed"]))
    page.press("<", "<", ">")
    for key, at in page.js(where).items():
      if key in there:
        self.assertEqual(at, there[key])

  def test_search_by_keyboard(self):
    page = self.open(explored("bert4"))
    page.press("/")
    page.page.keyboard.type("matmul")
    self.assertEqual(page.page.get_attribute("#search", "aria-expanded"), "true")
    page.press("ArrowDown", "ArrowDown", "Enter")
    self.assertEqual(page.page.get_attribute("#search", "aria-expanded"), "false")
    chosen = page.js("explorer.selection.key")
    name = page.js("id => explorer.models[0].history.all.get(id).name", chosen)
    self.assertIn("matmul", (name + page.panel()).lower())
    self.assertIn("#node=", page.page.url)
    self.assertGreaterEqual(page.js("explorer.visible[0].pane.scene.index.get(explorer.selection.key)"), 0)

  def test_link_to_a_node(self):
    report = json.loads(tenon("explain", saved("resnet50"), "--json", "--no-profile"))
    node = report["final"][len(report["final"]) // 2]
    short = node["name"].removeprefix(report["scopes"]["prefix"])
    page = self.open(explored("resnet50"), "#node=" + short)
    self.assertEqual(page.js("explorer.selection.key"), node["id"])
    self.assertIn(short, page.panel())
    page.press("<", "<", ",")
    state = page.js("explorer.visible[0].slider.state")
    self.assertIn(f"state={state}", page.page.url)
    again = self.open(explored("resnet50"), "#" + page.page.url.partition("#")[2])
    self.assertEqual(again.js("explorer.visible[0].slider.state"), state)
    self.assertEqual(again.js("explorer.selection.key"), node["id"])

  def test_filters(self):
    page = self.open(explored("bert4"))
    report = page.js(REPORT, 0)
    page.select_filter("unaccelerated")
    self.assertEqual(page.count(), sum(n["reason"] is not None for n in report["final"]))
    ops = [STEM.sub("", n["op"]) for n in report["final"]]
    for op in sorted(set(ops))[:6]:
      page.select_filter("op", op)
      self.assertEqual(page.count(), ops.count(op))
    fused = {n["id"] for p in report["phases"] for s in p["steps"] if s["rule"] == "FuseMatMul" for n in s["added"]}
    page.select_filter("rule", "FuseMatMul")
    self.assertEqual(page.count(), len(fused & {n["id"] for n in report["final"]}))
    page.press("Escape")
    page.page.locator("canvas").first.focus()
    page.press("n")
    self.assertIn(page.js("explorer.selection.key"), fused)
    almost = {i for m in report["near_misses"] for i in m["now"]}
    page.select_filter("almost")
    self.assertGreaterEqual(page.count(), len(almost))
    scope = page.js("explorer.models[0].layout.scopes[0].name")
    page.select_filter("scope", scope)
    self.assertGreater(page.count(), 0)
    self.assertLess(page.count(), len(report["final"]))
    self.assertTrue(any(b["dim"] for b in page.boxes()))

  def test_panes_are_synchronized_by_origin(self):
    page = self.open(explored("resnet50"))
    report = page.js(REPORT, 0)
    page.page.click("text=Open all")
    page.view("pair")
    fused = next(n for n in report["final"] if len(n["origins"]) > 3 and n["op"] != "Const")
    page.page.mouse.move(*page.point(1, fused["id"]))
    self.assertEqual(set(page.js("explorer.visible[0].pane.lit")), set(fused["origins"]))
    constants = ("Const", "VarHandleOp", "ReadVariableOp")
    source = next(i for i in fused["origins"] if page.js("id => explorer.models[0].history.all.get(id).op", i) not in constants)
    page.page.mouse.move(5, 5)
    page.page.mouse.move(*page.point(0, source))
    self.assertIn(fused["id"], page.js("explorer.visible[1].pane.lit"))
    # Both show the same part.
    page.page.mouse.wheel(0, -300)
    views = page.js("explorer.visible.map(s => s.pane.view)")
    self.assertEqual(*views)

  def test_mouse(self):
    page = self.open(explored("resnet50"))
    page.page.click("text=Open all")
    node = page.js("explorer.visible[0].pane.scene.boxes.find(b => b.kind === 'accelerated').key")
    page.page.mouse.click(*page.point(0, node))
    self.assertEqual(page.js("explorer.selection.key"), node)
    view = page.js("explorer.visible[0].pane.view")
    page.page.mouse.move(400, 400)
    page.page.mouse.down()
    page.page.mouse.move(460, 430)
    page.page.mouse.up()
    after = page.js("explorer.visible[0].pane.view")
    self.assertAlmostEqual((view["x"] - after["x"]) * view["scale"], 60, delta=2)
    page.page.mouse.wheel(0, 200)
    self.assertLess(page.js("explorer.visible[0].pane.view.scale"), after["scale"])
    self.assertEqual(page.js("explorer.selection.key"), node)

  def test_keys_walk_the_graph(self):
    page = self.open(explored("bert4"))
    page.page.locator("canvas").first.focus()
    page.press("ArrowDown")
    first = page.js("explorer.selection.key")
    page.press("ArrowDown", "ArrowDown")
    self.assertNotEqual(page.js("explorer.selection.key"), first)
    self.assertTrue(page.page.inner_text("#live"))
    scope = page.js("explorer.visible[0].pane.scene.boxes.find(b => b.key < 0 && b.collapsed)?.key ?? 0")
    if scope:
      page.js("key => explorer.select(explorer.models[0], key)", scope)
      page.press("Enter")
      self.assertFalse(next(b for b in page.boxes() if b["key"] == scope)["collapsed"])
      page.press("Enter")
      self.assertTrue(next(b for b in page.boxes() if b["key"] == scope)["collapsed"])
    scale = page.js("explorer.visible[0].pane.view.scale")
    page.press("+")
    self.assertGreater(page.js("explorer.visible[0].pane.view.scale"), scale)

  def test_memory_and_timeline(self):
    page = self.open(explored("resnet50"))
    report = page.js(REPORT, 0)
    for view, items in (("memory", len(report["memory"]["items"])), ("timeline", None)):
      page.view(view)
      tip = page.page.inner_text(".tip")
      if items is not None:
        self.assertTrue(tip.startswith(f"{items} tensor"), tip)
      page.page.locator("#main canvas").first.focus()
      page.press("ArrowRight", "ArrowRight", "Enter")
      chosen = page.js("explorer.selection.key")
      self.assertIn(chosen, {n["id"] for n in report["final"]})
      self.assertNotEqual(page.page.inner_text(".tip"), tip)
    page.view("graph")
    self.assertEqual(page.js("explorer.visible[0].pane.selected"), [chosen])

  def test_heat(self):
    page = self.open(explored("resnet50"))
    page.page.click("text=Open all")
    for metric in ("time", "flop", "rate", "bytes", "peak"):
      page.page.select_option("#heat", metric)
      fills = page.js("new Set(explorer.visible[0].pane.scene.boxes.map(b => b.fill).filter(Boolean)).size")
      self.assertGreater(fills, 3, metric)
      self.assertTrue(page.page.inner_text(".legend"))
    page.view("pair")
    one, other = page.js("explorer.visible.map(({pane}) => [pane.scene.legend.least, pane.scene.legend.most])")
    self.assertEqual(one, other)

  def test_weights_and_shapes(self):
    page = self.open(explored("resnet50"))
    report = page.js(REPORT, 0)
    self.assertTrue(report["weights"])
    for weights in report["weights"][:3]:
      page.js("id => explorer.select(explorer.models[0], id, true)", weights["node"])
      self.assertIn(f"[{','.join(map(str, weights['shape']))}]", page.panel())
      self.assertIn("Range", page.panel())
      self.assertEqual(page.js("document.querySelectorAll('#panel .bars span').length"), len(weights["histogram"]))
      self.assertTrue(page.page.is_checked("#constants"))
    node = next(n for n in report["final"] if "".join(n.get("outputs", ())) and n["work"] == "runs")
    page.js("id => explorer.select(explorer.models[0], id, true)", node["id"])
    self.assertIn(node["outputs"][0], page.panel())

  def test_copies_names(self):
    page = self.open(explored("mlp"))
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    node = page.js(REPORT, 0)["final"][-1]
    page.js("id => explorer.select(explorer.models[0], id, true)", node["id"])
    page.page.click("text=Copy name")
    page.await_element("#live:text-is('name copied')")
    self.assertEqual(page.js("navigator.clipboard.readText()"), node["name"])

  def test_pictures(self):
    page = self.open(explored("resnet50"))
    for kind in ("SVG", "PNG"):
      with page.page.expect_download() as download:
        page.page.click(f"button:text-is('{kind}')")
      data = pathlib.Path(download.value.path()).read_bytes()
      if kind == "PNG":
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(len(data), 5000)
      else:
        shapes = xml.etree.ElementTree.fromstring(data).findall(".//{*}rect")
        self.assertEqual(len(shapes), 1 + len(page.boxes()))

  def test_hostile_names(self):
    file = FOLDER / "hostile.pbtxt"
    made.hostile(file)
    page = self.open(page_of(file))
    page.page.check("#constants")
    ids = page.js("[...explorer.models[0].history.all.keys()]")
    for name in made.HOSTILE:
      page.page.fill("#search", name[:40])
      page.press("Enter")
    for node in ids:
      page.js("id => explorer.select(explorer.models[0], id, true)", node)
    for view in VIEWS:
      page.view(view)
    page.view("graph")
    self.assertEqual(page.js("window.harm ?? null"), None)
    self.assertEqual(page.js("document.querySelectorAll('script, img, svg').length"), 1)
    with page.page.expect_download() as download:
      page.page.click("button:text-is('SVG')")
    xml.etree.ElementTree.parse(download.value.path())
    names = page.js("explorer.models[0].report.loaded.map(n => n.name)")
    self.assertLessEqual(set(made.HOSTILE), set(names))
    for name in made.HOSTILE:
      node = page.js("name => explorer.models[0].find(name)", name)
      page.js("id => explorer.select(explorer.models[0], id)", node)
      if len(name) < 1000:
        again = self.open(page_of(file), "#" + page.page.url.partition("#")[2])
        self.assertEqual(again.js("explorer.selection.key"), node)

  def test_two_models(self):
    other = saved("mobilenetv2") if ARGS.long else saved("mlp")
    for first, second in ((saved("mlp"), saved("mlp")), (saved("resnet50"), other)):
      page = self.open(page_of(first, second, "--profile", "--seconds", "0.05"))
      self.assertEqual(page.js("explorer.models.length"), 2)
      page.view("pair")
      pairs = page.js("explorer.data.comparison.pairs")
      for a, b in pairs[:5]:
        page.js("id => explorer.select(explorer.models[0], id)", a)
        self.assertIn(b, page.js("explorer.visible[1].pane.selected"))
      page.view("differences")
      self.assertIn("Differences", page.page.inner_text("#main"))
      self.assertEqual(page.accessibility(), [])

  def test_is_accessible(self):
    for scheme in ("light", "dark"):
      page = self.open(explored("bert4"), color_scheme=scheme)
      page.js("explorer.select(explorer.models[0], explorer.models[0].report.steps[3].node, true)")
      for view in VIEWS:
        page.view(view)
        self.assertEqual(page.accessibility(), [], f"{view}, {scheme}")
      page.page.fill("#search", "a")
      self.assertEqual(page.accessibility(), [])

  def test_without_a_run_or_a_plan(self):
    for words in ((), ("--shape", "features=1,3")):
      page = self.open(page_of(saved("mlp"), *words))
      for view in VIEWS:
        page.view(view)
        self.assertTrue(page.page.inner_text("#main").strip() or view == "graph")


@unittest.skipUnless("--long" in sys.argv, "only with --long")
class LongTest(Case):

  def test_every_model_in_every_view(self):
    files = [explored(name) for name in LONG]
    files += [page_of(MODELS / "generate" / name) for name in ("feedback", "loop", "variables")]
    files.append(page_of(MODELS / "attention_signatures" / "saved_model", "--signature", "gpt2"))
    for file in files:
      page = self.open(file)
      self.assertLess(file.stat().st_size, 2_000_000)
      for view in VIEWS:
        page.view(view)
        self.assertEqual(page.accessibility(), [], f"{file} {view}")
      page.view("graph")
      page.page.click("text=Open all")
      page.press("0")

  def test_large_graph(self):
    """Prints its figures: they depend on the machine."""
    file = FOLDER / "large.pbtxt"
    made.large(file, 20_000)
    written = page_of(file)
    times = []
    for _ in range(3):
      page = browser().page()
      start = time.perf_counter()
      page.go(written)
      page.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
      times.append(time.perf_counter() - start)
      self.opened.append(page)
    nodes = page.js("explorer.models[0].report.loaded.length")
    print(f"\n{nodes} nodes, {written.stat().st_size / 1e6:.2f} MB: opened in {statistics.median(times):.2f} s")
    page.page.click("text=Open all")
    page.page.locator("input.phase").focus()
    page.press("Home")
    for scale in ("all", 0.05, 0.2, 0.7):
      rate = page.js("""async scale => {
        const {pane} = explorer.visible[0];
        pane.fit(true);
        if (scale !== "all") pane.zoom(scale / pane.view.scale);
        const frame = () => new Promise(requestAnimationFrame);
        for (let i = 0; i < 5; ++i) await frame();
        const start = performance.now(), frames = pane.frames;
        while (performance.now() - start < 2000) {
          pane.pan(Math.sin(performance.now() / 300) * 25, 11);
          await frame();
        }
        return (pane.frames - frames) / (performance.now() - start) * 1000;
      }""", scale)
      print(f"  panned with all scopes open, scale {scale}: {rate:.0f} frames/s")


if __name__ == "__main__":
  parser = argparse.ArgumentParser()
  parser.add_argument("--tenon", required=True)
  parser.add_argument("--long", action="store_true")
  ARGS, rest = parser.parse_known_args()
  unittest.main(argv=sys.argv[:1] + rest)
