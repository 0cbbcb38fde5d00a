"""Tests the commands that look at models: explain, bench, dump and others."""

from __future__ import annotations

import base64
import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

import numpy as np

import support
from support import MODELS, tenon


class OtherCommandsTest(unittest.TestCase):
  """bench, dump, explain, ops, rules, env."""

  def text(self, *words: object) -> str:
    done = tenon(*words)
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertNotEqual(done.stdout.strip(), "")
    return done.stdout

  def test_bench_json(self) -> None:
    for more in (["--inputs", MODELS / "resnet50/inputs.npz"],
                 ["--shape", "image=1,32,32,3"],
                 ["--batch", 2, "--shape", "image=1,40,40,3",
                  "--threads", 1]):
      with self.subTest(more):
        last = self.text("bench", MODELS / "resnet50/saved_model", "--seconds",
                         0.2, "--json", *more).strip().splitlines()[-1]
        figures = json.loads(last)
        self.assertLessEqual({"min_ms", "median_ms", "p99_ms", "first_ms",
                              "load_ms", "n"}, set(figures))
        self.assertGreaterEqual(figures["n"], 1)
        self.assertLess(0, figures["min_ms"])
        self.assertLessEqual(figures["min_ms"], figures["median_ms"])
        self.assertLessEqual(figures["median_ms"], figures["p99_ms"])

  def test_bench_states_its_own_peak_memory(self) -> None:
    megabytes = 500
    held = b"x" * (megabytes << 20)  # of this process, which starts the other
    last = self.text("bench", MODELS / "mlp/saved_model", "--seconds", 0.05,
                     "--json").strip().splitlines()[-1]
    self.assertEqual(len(held), megabytes << 20)
    self.assertLess(5, json.loads(last)["peak_rss_mb"])
    self.assertLess(json.loads(last)["peak_rss_mb"], megabytes)

  def test_bench_of_integer_inputs(self) -> None:
    self.text("bench", MODELS / "bert4/saved_model", "--seconds", 0.1)

  def test_bench_profile(self) -> None:
    words = ["bench", MODELS / "resnet50/saved_model", "--shape",
             "image=1,32,32,3", "--seconds", 0.1, "--profile"]
    total = None
    for by, line in (("op", r"_MklNativeFusedConv2D \(\d+\)$"),
                     ("implementation", r"\w+ \(\d+\)$"),
                     ("scope", r"conv\w+ \(\d+\)$"),
                     ("node", r"Relu \(_MklNativeFusedConv2D\) ")):
      with self.subTest(by):
        table = self.text(*words, "--by", by)
        self.assertRegex(table, re.compile(line, re.M))
        self.assertRegex(table, r"peak: \d+ GFLOP/s")
        steps = re.search(r"in (\d+) steps", table).group(1)
        self.assertIn(total, (None, steps))
        total = steps
        if by in ("op", "implementation"):  # each step is in one line
          nodes = sum(map(int, re.findall(r"\((\d+)\)$", table, re.M)))
          self.assertEqual(nodes, int(steps))
    done = tenon(*words, "--by", "color")
    self.assertGreater(done.returncode, 0)

  def test_bench_trace(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      file = pathlib.Path(scratch) / "trace.json"
      self.text("bench", MODELS / "mlp/saved_model", "--seconds", 0.05, "--trace", file)
      events = json.loads(file.read_text())["traceEvents"]
      self.assertEqual({e["cat"] for e in events}, {"run", "step"})
      done = tenon("bench", MODELS / "mlp/saved_model", "--seconds", 0.05, "--trace",
                   "/no/such/folder/trace.json")
      self.assertGreater(done.returncode, 0)
      self.assertIn("/no/such/folder", done.stderr)

  def test_dump(self) -> None:
    model = MODELS / "resnet50/saved_model"
    for words in ([], ["--phase", "all"], ["--steps"], ["--stats"],
                  ["--format", "text"], ["--format", "pbtxt"],
                  ["--format", "dot"], ["--signature", "serving_default"]):
      with self.subTest(words):
        self.assertIn("Conv2D", self.text("dump", model, *words))

  def test_dump_fires_nothing_when_the_gate_is_off(self) -> None:
    model = MODELS / "resnet50/saved_model"
    self.assertIn("_MklNative", self.text("dump", model))
    done = tenon("dump", model, gate="0")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertNotIn("_MklNative", done.stdout)

  def test_explain(self) -> None:
    model = MODELS / "resnet50/saved_model"
    screen = self.text("explain", model, "--seconds", 0.05)
    for title in ("What runs where", "Costliest nodes", "Almost fused",
                  "What to try first"):
      self.assertIn(title, screen)
    self.assertLessEqual(len(screen.splitlines()), 50)
    self.assertLessEqual(max(map(len, screen.splitlines())), 100)
    self.assertNotIn("\033", screen)  # no terminal, no colors
    # Without a run, and without a plan.
    self.assertIn("What to try first", self.text("explain", model, "--no-profile"))
    self.assertIn("no plan", self.text("explain", model, "--shape", "image=1,2"))

  def test_explain_nodes(self) -> None:
    model = MODELS / "resnet50/saved_model"
    report = json.loads(self.text("explain", model, "--json", "--no-profile"))
    name = next(n["name"] for n in report["loaded"] if n["op"] == "Conv2D")
    prefix = report["scopes"]["prefix"]
    self.assertTrue(prefix and name.startswith(prefix))
    story = self.text("explain", model, name)
    self.assertIn("_MklNativeFusedConv2D", story)
    self.assertIn("fired: now part of", story)
    self.assertEqual(self.text("explain", model, name[len(prefix):]), story)
    done = tenon("explain", model, "no/such/node")
    self.assertGreater(done.returncode, 0)
    self.assertIn("no/such/node", done.stderr)
    self.assertEqual(done.stdout, "")

  def test_explain_in_a_terminal(self) -> None:
    for variables, colored in (({}, True), ({"NO_COLOR": "1"}, False),
                               ({"TERM": "dumb"}, False)):
      with self.subTest(variables):
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 70, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        environment.update({"TERM": "xterm", **variables})
        with subprocess.Popen(
            [support.TENON, "explain", MODELS / "mlp/saved_model", "--seconds", "0.05"],
            stdout=side, stderr=subprocess.DEVNULL, env=environment) as run:
          os.close(side)
          shown = b""
          while True:
            try:
              part = os.read(main, 65536)
            except OSError:
              break
            if not part:
              break
            shown += part
          self.assertEqual(run.wait(timeout=60), 0)
        os.close(main)
        text = shown.decode()
        self.assertEqual("\033[" in text, colored)
        plain = re.sub(r"\033\[\d*m", "", text)
        self.assertLessEqual(max(map(len, plain.splitlines())), 70)

  def test_explain_hostile_names(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      graph = pathlib.Path(scratch) / "hostile.pbtxt"
      names = ["a\\033]0;owned\\007", "x" * 10000, "</script>"]
      text = 'node { name: "in" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } ' \
             'attr { key: "shape" value { shape { dim { size: 4 } } } } }\n'
      before = "in"
      for name in names:
        text += (f'node {{ name: "{name}" op: "Exp" input: "{before}" '
                 'attr { key: "T" value { type: DT_FLOAT } } }\n')
        before = name
      graph.write_text(text)
      done = tenon("explain", graph, "--seconds", 0.01)
      self.assertEqual(done.returncode, 0, done.stderr)
      self.assertNotIn("\033", done.stdout)
      self.assertNotIn("\007", done.stdout)
      self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

  def test_explain_tells_what_it_assumes(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      graph = pathlib.Path(scratch) / "lengths.pbtxt"
      graph.write_text(
          'node { name: "ids" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } '
          'attr { key: "shape" value { shape { dim { size: -1 } dim { size: -1 } } } } }\n'
          'node { name: "y" op: "Exp" input: "ids" attr { key: "T" value { type: DT_FLOAT } } }\n')
      screen = self.text("explain", graph, "--no-profile")
      self.assertIn("unknown lengths were taken as 1", screen)
      self.assertIn("--shape ids=1,128", screen)
      for more in (["--shape", "ids=2,5"], ["--shape", "ids=1,128", "--batch", 3]):
        self.assertNotIn("unknown lengths", self.text("explain", graph, "--no-profile", *more))
    # A batch of one is no assumption.
    self.assertNotIn("unknown lengths", self.text("explain", MODELS / "mlp/saved_model", "--no-profile"))

  def page_data(self, file: pathlib.Path) -> dict:
    page = file.read_text()
    packed = re.search(r'id="tenon-data">([A-Za-z0-9+/=]*)</script>', page).group(1)
    return json.loads(gzip.decompress(base64.b64decode(packed)))

  def test_explore(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      file = pathlib.Path(scratch) / "out.html"
      said = self.text("explore", MODELS / "resnet50/saved_model", "-o", file)
      self.assertIn(str(file), said)
      self.assertLess(file.stat().st_size, 2e6)
      data = self.page_data(file)
      self.assertEqual(data["schema"], "tenon.explore.page")
      (model,) = data["models"]
      self.assertEqual(model["title"], "resnet50")
      self.assertIsNone(model["report"]["profile"])
      self.assertGreater(len(model["report"]["memory"]["items"]), 0)
      # Every node of every phase has a place, in a scope that exists.
      places = model["layout"]["nodes"]
      nodes = {n["id"] for n in model["report"]["loaded"]}
      for phase in model["report"]["phases"]:
        for step in phase["steps"]:
          nodes.update(n["id"] for n in step["added"] if not step["function"])
      self.assertEqual(set(places["id"]), nodes)
      self.assertLess(max(places["scope"]), len(model["layout"]["scopes"]))
      self.assertIn("conv2_block1", {s["name"] for s in model["layout"]["scopes"]})

  def test_explore_two(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      file = pathlib.Path(scratch) / "out.html"
      model = MODELS / "mlp/saved_model"
      self.text("explore", model, "--disable-rules2", "FuseMatMul", "--profile", "--seconds", 0.02,
                "-o", file)
      data = self.page_data(file)
      self.assertEqual(len(data["models"]), 2)
      self.assertGreater(data["models"][1]["report"]["profile"]["runs"], 0)
      self.assertGreater(len(data["models"][0]["report"]["timeline"]["events"]), 0)
      marks = {mark for _, of in data["comparison"]["marks"]["b"] for mark in of}
      self.assertIn("unfused", marks)
      self.text("explore", model, MODELS / "densenet121/saved_model", "-o", file)
      self.assertEqual([m["title"] for m in self.page_data(file)["models"]], ["mlp", "densenet121"])

  def test_explore_writes_all_or_nothing(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      folder = pathlib.Path(scratch)
      model = MODELS / "mlp/saved_model"
      for words in ([model, "-o", folder / "no/such/out.html"], ["no-such-model", "-o", folder / "a.html"],
                    [model, "no-such-model", "-o", folder / "a.html"], [model, "-o", folder],
                    [model, "--format", "color", "-o", folder / "a.html"],
                    [model, "--disable-rules2", "NoSuchRule", "-o", folder / "a.html"]):
        with self.subTest(words):
          done = tenon("explore", *words)
          self.assertGreater(done.returncode, 0)
          self.assertNotEqual(done.stderr, "")
          self.assertEqual(list(folder.iterdir()), [])
      (folder / "old.html").write_text("old")
      self.text("explore", model, "-o", folder / "old.html")
      self.assertGreater(len((folder / "old.html").read_text()), 1000)
      self.assertEqual([f.name for f in folder.iterdir()], ["old.html"])
      # Without a plan there is still the graph.
      done = tenon("explore", model, "--shape", "features=1,3", "-o", folder / "old.html")
      self.assertEqual(done.returncode, 0, done.stderr)
      self.assertIn("no plan", done.stderr)
      # With rewriting off, the graph as loaded.
      done = tenon("explore", model, "-o", folder / "old.html", gate="0")
      self.assertEqual(done.returncode, 0, done.stderr)
      self.assertEqual(self.page_data(folder / "old.html")["models"][0]["report"]["phases"], [])

  def test_explore_for_model_explorer(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      file = pathlib.Path(scratch) / "out.json"
      self.text("explore", MODELS / "mlp/saved_model", "--format", "model-explorer", "-o", file)
      collection = json.loads(file.read_text())
      self.assertEqual(collection["label"], "mlp")
      for graph in collection["graphs"]:
        ids = {n["id"] for n in graph["nodes"]}
        for node in graph["nodes"]:
          for edge in node["incomingEdges"]:
            self.assertIn(edge["sourceNodeId"], ids)

  def test_progress_is_for_terminals(self) -> None:
    words = [support.TENON, "bench", MODELS / "mlp/saved_model", "--seconds", "1.3"]
    main, side = pty.openpty()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=side) as run:
      os.close(side)
      shown = b""
      while True:
        try:
          part = os.read(main, 65536)
        except OSError:
          break
        if not part:
          break
        shown += part
      self.assertEqual(run.wait(timeout=60), 0)
    os.close(main)
    self.assertRegex(shown.decode(), r"measuring +\[=+")
    self.assertEqual(tenon("bench", MODELS / "mlp/saved_model", "--seconds", 1.3).stderr, "")

  def test_tables(self) -> None:
    self.assertIn("Conv2D", self.text("ops"))
    self.text("rules")
    self.assertIn("TF_ENABLE_ONEDNN_OPTS", self.text("env"))

  def test_eager(self) -> None:
    model = MODELS / "mlp"
    with tempfile.TemporaryDirectory() as scratch:
      outs = [pathlib.Path(scratch) / name for name in ("eager.npz", "graph.npz")]
      for out, more in zip(outs, (["--eager"], [])):
        done = tenon("run", model / "saved_model", "--inputs",
                     model / "inputs.npz", "--outputs", out, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
      with np.load(outs[0]) as eager, np.load(outs[1]) as graph:
        self.assertEqual(sorted(eager), sorted(graph))
        for name in graph:
          np.testing.assert_allclose(eager[name], graph[name], rtol=1e-5)
    self.assertIn("op by op", self.text("bench", model / "saved_model", "--eager",
                                        "--seconds", "0.05"))

  def test_counts_ops(self) -> None:
    self.assertRegex(self.text("ops", "--count"),
                     r"^\d{3,} TensorFlow ops, \d+ of them accelerated")

  def test_coverage(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      graph = pathlib.Path(scratch) / "missing.pbtxt"
      graph.write_text("".join(
          f'node {{ name: "{name}" op: "{op}" {inputs} '
          'attr { key: "dtype" value { type: DT_FLOAT } } '
          'attr { key: "T" value { type: DT_FLOAT } } }\n'
          for name, op, inputs in [
              ("x", "Placeholder", ""), ("a", "NoSuchOp", 'input: "x"'),
              ("b", "NoOpLikeThis", 'input: "x"'),
              ("c", "NoSuchOp", 'input: "b"'),
              ("d", "AddV2", 'input: "a" input: "c"')]))
      text = self.text("ops", "--coverage", MODELS / "resnet50/saved_model",
                       graph, "--seconds", "0.1")
    self.assertRegex(text, r"resnet50 +19 +19 +0 +0 .* 100\.0 %")
    self.assertRegex(text, r"missing.pbtxt +5 +1 +1 +3 .*does not run")
    self.assertIn("missing NoSuchOp: a, c", text)
    self.assertIn("missing NoOpLikeThis: b", text)

  def test_private_ops_are_not_exported(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      out = pathlib.Path(scratch) / "graph.pb"
      model = MODELS / "resnet50/saved_model"
      done = tenon("export", model, out)
      self.assertGreater(done.returncode, 0)
      self.assertIn("--private", done.stderr)
      done = tenon("export", model, out, "--private")
      self.assertEqual(done.returncode, 0, done.stderr)
      self.assertIn(b"_MklNative", out.read_bytes())
