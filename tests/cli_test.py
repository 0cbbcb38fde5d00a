#!/usr/bin/env python3
"""Tests the command line's contract: commands, options, outputs, errors.

  tests/cli_test.py [--tenon build/bin/tenon] [-v] [TEST …]

Other programs rely on it. Runs the models of tests/models; needs only NumPy.
"""

from __future__ import annotations

import argparse
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
import sys
import tempfile
import termios
import unittest

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parent
MODELS = TESTS / "models"
sys.path[:0] = [str(TESTS), str(TESTS.parent / "tools"), str(TESTS / "makers")]

import cpu  # pylint: disable=wrong-import-position
import parity  # pylint: disable=wrong-import-position

TENON = TESTS.parent / "build" / "bin" / "tenon"
LARGE = 1e-5  # relative to the output's scale, for models that are not in parity


def tenon(*words: object, gate: str | None = None,
          **environment: str) -> subprocess.CompletedProcess:
  """One call of the CLI; never raises on failure."""
  if gate is not None:
    environment["TF_ENABLE_ONEDNN_OPTS"] = gate
  return subprocess.run([TENON, *map(str, words)], capture_output=True,
                        text=True, check=False, timeout=300,
                        env={**os.environ, **environment})


def model_cases() -> list[tuple[str, pathlib.Path, str, list[str]]]:
  """(label, folder, suffix of the npz files, CLI words that name the model)."""
  found = []
  folders = [p for p in [*MODELS.iterdir(), *(MODELS / "loader").iterdir()]
             if (p / "model.json").exists()]
  for folder in sorted(folders):
    note = json.loads((folder / "model.json").read_text())
    files = [note.get("model", "saved_model")]
    files += [note["text"]] if "text" in note else []
    for inputs in sorted(folder.glob("inputs*.npz")):
      suffix = inputs.stem.removeprefix("inputs")
      signature = []
      if folder.name.endswith("_signatures"):
        signature = ["--signature", suffix.removeprefix("_")]
      for file in files:
        label = f"{folder.name}/{file}{suffix}"
        found.append((label, folder, suffix,
                      [str(folder / file), *signature]))
  return found


class RunTest(unittest.TestCase):
  """tenon run."""

  def check_model(self, folder: pathlib.Path, suffix: str, words: list[str],
                  gate: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      out = pathlib.Path(scratch) / "out.npz"
      done = tenon("run", *words, "--inputs", folder / f"inputs{suffix}.npz",
                   "--outputs", out, gate=gate)
      self.assertEqual(done.returncode, 0, done.stderr)
      with np.load(out) as arrays:
        got = dict(arrays)
    with np.load(folder / f"outputs{suffix}.npz") as arrays:
      wanted = dict(arrays)
    self.assertEqual(set(got), set(wanted))
    limit = LARGE
    if folder.name in parity.DEPTH:
      limit = parity.tolerance(folder.name)
    for key, reference in wanted.items():
      self.assertEqual(got[key].dtype, reference.dtype)
      self.assertEqual(got[key].shape, reference.shape)
      if reference.dtype.kind == "S":
        np.testing.assert_array_equal(got[key], reference)
        continue
      difference = np.abs(got[key].astype("f8") - reference).max()
      self.assertLessEqual(difference, limit * np.abs(reference).max())

  def test_models_agree_with_tensorflow(self) -> None:
    cases = model_cases()
    self.assertGreater(len(cases), 20)
    for label, folder, suffix, words in cases:
      for gate in ("1", "0"):
        with self.subTest(label, gate=gate):
          self.check_model(folder, suffix, words, gate)

  def test_threads_and_gate_spellings(self) -> None:
    folder = MODELS / "mlp"
    for gate in ("true", "false"):
      with self.subTest(gate):
        self.check_model(folder, "", [str(folder / "saved_model"),
                                      "--threads", "1"], gate)

  def test_bfloat16(self) -> None:
    folder = MODELS / "digits"
    with tempfile.TemporaryDirectory() as scratch:
      out = pathlib.Path(scratch) / "out.npz"
      done = tenon("run", folder / "saved_model", "--inputs",
                   folder / "inputs.npz", "--outputs", out,
                   "--precision", "bf16")
      self.assertEqual(done.returncode, 0, done.stderr)
      with np.load(out) as got, np.load(folder / "outputs.npz") as wanted:
        for key in wanted.files:
          self.assertEqual(got[key].dtype, wanted[key].dtype)
          np.testing.assert_allclose(
              got[key], wanted[key], atol=0.02 * np.abs(wanted[key]).max())
    done = tenon("run", folder / "saved_model", "--precision", "fp12")
    self.assertGreater(done.returncode, 0)
    self.assertIn("--precision", done.stderr)

  def test_fpmath_mode_is_the_default_precision(self) -> None:
    folder = MODELS / "digits"
    results = []
    with tempfile.TemporaryDirectory() as scratch:
      for words, mode in (([], "bf16"), (["--precision", "bf16"], ""),
                          (["--precision", "fp32"], "BF16"), ([], "STRICT")):
        out = pathlib.Path(scratch) / "out.npz"
        done = tenon("run", folder / "saved_model", "--inputs",
                     folder / "inputs.npz", "--outputs", out, *words,
                     TF_SET_ONEDNN_FPMATH_MODE=mode)
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(out) as file:
          results.append(b"".join(file[k].tobytes() for k in file.files))
    self.assertEqual(results[0], results[1])
    self.assertEqual(results[2], results[3])
    done = tenon("run", folder / "saved_model", TF_SET_ONEDNN_FPMATH_MODE="F8")
    self.assertGreater(done.returncode, 0)
    self.assertIn("TF_SET_ONEDNN_FPMATH_MODE='F8'", done.stderr)

  def test_summary_without_outputs(self) -> None:
    done = tenon("run", MODELS / "mlp/saved_model", "--inputs",
                 MODELS / "mlp/inputs.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("output_0", done.stdout)
    self.assertLess(len(done.stdout.splitlines()), 40)

  def test_quiet_when_outputs_are_written(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      done = tenon("run", MODELS / "mlp/saved_model", "--inputs",
                   MODELS / "mlp/inputs.npz", "--outputs",
                   pathlib.Path(scratch) / "out.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertEqual(done.stderr, "")

  def test_fetch_by_tensor_name(self) -> None:
    folder = MODELS / "loader" / "frozen_mlp"
    with np.load(folder / "outputs.npz") as arrays:
      name, wanted = next(iter(arrays.items()))
    with tempfile.TemporaryDirectory() as scratch:
      out = pathlib.Path(scratch) / "out.npz"
      done = tenon("run", folder / "graph.pb", "--inputs",
                   folder / "inputs.npz", "--outputs", out, "--fetch", name)
      self.assertEqual(done.returncode, 0, done.stderr)
      with np.load(out) as arrays:
        self.assertEqual(list(arrays), [name])
        np.testing.assert_allclose(arrays[name], wanted, 1e-5, 1e-5)


class CacheDirTest(unittest.TestCase):
  """run and bench --cache-dir."""

  MODEL = MODELS / "resnet50"

  def setUp(self) -> None:
    scratch = tempfile.TemporaryDirectory()
    self.addCleanup(scratch.cleanup)
    self.scratch = pathlib.Path(scratch.name)
    self.cache = self.scratch / "some" / "cache"

  def words(self, name: str) -> list:
    return ["run", self.MODEL / "saved_model", "--inputs",
            self.MODEL / "inputs.npz", "--threads", 1, "--outputs",
            self.scratch / f"{name}.npz"]

  def result(self, name: str) -> bytes:
    with np.load(self.scratch / f"{name}.npz") as arrays:
      return b"".join(a.tobytes() for a in arrays.values())

  def test_second_start(self) -> None:
    self.assertEqual(tenon(*self.words("without")).returncode, 0)
    for name in ("first", "second"):
      done = tenon(*self.words(name), "--cache-dir", self.cache)
      self.assertEqual((done.returncode, done.stderr), (0, ""))
      self.assertEqual(self.result(name), self.result("without"))
      self.assertEqual(len(list(self.cache.iterdir())), 1)
    done = tenon("bench", self.MODEL / "saved_model", "--seconds", 0.05,
                 "--inputs", self.MODEL / "inputs.npz", "--json",
                 TENON_CACHE_DIR=str(self.cache))
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertEqual(json.loads(done.stdout)["rewrite_ms"], 0)

  def test_list_and_clear(self) -> None:
    done = tenon(*self.words("out"), "--cache-dir", self.cache)
    self.assertEqual(done.returncode, 0, done.stderr)
    (self.cache / "notes.txt").write_text("mine")
    done = tenon("cache", "--cache-dir", self.cache)
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("1 files, ", done.stdout)
    done = tenon("cache", "--clear", TENON_CACHE_DIR=str(self.cache))
    self.assertEqual((done.returncode, done.stdout), (0, "1 files deleted\n"))
    self.assertEqual([p.name for p in self.cache.iterdir()], ["notes.txt"])
    for words in (["cache", "--cache-dir", self.scratch / "nowhere"],
                  ["cache"]):
      done = tenon(*words, TENON_CACHE_DIR="")
      self.assertEqual((done.returncode, done.stdout), (1, ""))
      self.assertTrue(done.stderr.startswith("tenon: "), done.stderr)

  def test_processes_at_once(self) -> None:
    self.assertEqual(tenon(*self.words("without")).returncode, 0)
    names = [f"p{i}" for i in range(4)]
    running = [subprocess.Popen([TENON, *map(str, self.words(n)),
                                 "--cache-dir", self.cache],
                                stderr=subprocess.PIPE, text=True)
               for n in names]
    for name, process in zip(names, running):
      _, errors = process.communicate(timeout=300)
      self.assertEqual((process.returncode, errors), (0, ""))
      self.assertEqual(self.result(name), self.result("without"))
    self.assertEqual([p.suffix for p in self.cache.iterdir()], [".tenon"])

  def test_a_folder_that_cannot_be_written(self) -> None:
    done = tenon(*self.words("out"), "--cache-dir", "/proc/version/cache")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("nothing is kept for the next start", done.stderr)
    if os.geteuid() == 0:  # may write everywhere
      return
    self.cache.mkdir(parents=True)
    self.cache.chmod(0o500)
    done = tenon(*self.words("out"), "--cache-dir", self.cache)
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("nothing is kept for the next start", done.stderr)


class ErrorTest(unittest.TestCase):
  """A mistake gives a non-zero exit status and one clear line."""

  def check(self, done: subprocess.CompletedProcess, *parts: str) -> None:
    self.assertGreater(done.returncode, 0,
                       f"status {done.returncode} (negative: a signal)")
    self.assertLess(done.returncode, 128)
    lines = done.stderr.strip().splitlines()
    self.assertEqual(len(lines), 1, done.stderr)
    for part in parts:
      self.assertIn(part, lines[0])

  def run_with(self, arrays: dict, model: str = "mlp",
               *words: str) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as scratch:
      inputs = pathlib.Path(scratch) / "in.npz"
      np.savez(inputs, **arrays)
      return tenon("run", MODELS / model / "saved_model", "--inputs", inputs,
                   *words)

  def test_no_such_model(self) -> None:
    self.check(tenon("run", "/no/such/model"), "/no/such/model")

  def test_no_such_inputs(self) -> None:
    self.check(tenon("run", MODELS / "mlp/saved_model", "--inputs",
                     "/no/such.npz"), "/no/such.npz")

  def test_not_a_model(self) -> None:
    self.check(tenon("run", MODELS / "README.md"), "README.md")

  def test_missing_input(self) -> None:
    self.check(self.run_with({"mask": np.ones((1, 4), np.int32)}, "bert4"),
               "segment_ids")

  def test_unknown_input(self) -> None:
    with np.load(MODELS / "mlp/inputs.npz") as arrays:
      self.check(self.run_with({**arrays, "feature": np.ones(1)}), "feature")

  def test_wrong_dtype(self) -> None:
    self.check(self.run_with({"features": np.ones((1, 16), np.int32)}),
               "features")

  def test_wrong_shape(self) -> None:
    self.check(self.run_with({"features": np.ones((1, 15), np.float32)}))

  def test_wrong_rank(self) -> None:
    self.check(self.run_with({"image": np.ones((32, 32, 3), np.float32)},
                             "resnet50"))

  def test_ids_out_of_range(self) -> None:
    with np.load(MODELS / "bert4/inputs.npz") as arrays:
      feeds = dict(arrays)
    feeds["token_ids"] = feeds["token_ids"] + 1000
    self.check(self.run_with(feeds, "bert4"))

  def test_unknown_signature(self) -> None:
    with np.load(MODELS / "mlp/inputs.npz") as arrays:
      self.check(self.run_with(dict(arrays), "mlp", "--signature", "nope"),
                 "nope", "serving_default")

  def test_unknown_fetch(self) -> None:
    with np.load(MODELS / "mlp/inputs.npz") as arrays:
      self.check(self.run_with(dict(arrays), "mlp", "--fetch", "nope:0"),
                 "nope")

  def test_bad_gate(self) -> None:
    for value in ("2", "yes"):
      with self.subTest(value):
        done = tenon("run", MODELS / "mlp/saved_model", "--inputs",
                     MODELS / "mlp/inputs.npz", gate=value)
        self.check(done, "TF_ENABLE_ONEDNN_OPTS")

  def test_broken_npz(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      broken = pathlib.Path(scratch) / "in.npz"
      broken.write_bytes((MODELS / "mlp/inputs.npz").read_bytes()[:100])
      self.check(tenon("run", MODELS / "mlp/saved_model", "--inputs", broken))

  def test_unwritable_outputs(self) -> None:
    self.check(tenon("run", MODELS / "mlp/saved_model", "--inputs",
                     MODELS / "mlp/inputs.npz", "--outputs",
                     "/no/such/folder/out.npz"), "/no/such/folder")

  def test_usage(self) -> None:
    for words in ([], ["nope"], ["run"], ["run", "x", "--nope"]):
      with self.subTest(words):
        done = tenon(*words)
        self.assertGreater(done.returncode, 0)
        self.assertNotEqual(done.stderr + done.stdout, "")


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
            [TENON, "explain", MODELS / "mlp/saved_model", "--seconds", "0.05"],
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
    words = [TENON, "bench", MODELS / "mlp/saved_model", "--seconds", "1.3"]
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


class GenerateTest(unittest.TestCase):
  """tenon generate, on the decoders of tests/makers/generate_models.py."""

  FOLDER = MODELS / "generate"

  @classmethod
  def setUpClass(cls) -> None:
    cls.expected = json.loads((cls.FOLDER / "expected.json").read_text())
    cls.ids = ",".join(map(str, cls.expected["ids"]))
    cls.count = len(cls.expected["tokens"])

  def generate(self, model: str, *words: object, **more: object) -> dict:
    done = tenon("generate", self.FOLDER / model, "--json", "--max-tokens",
                 self.count, *words, **more)
    self.assertEqual(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)

  def test_both_kinds_of_cache_agree_with_tensorflow(self) -> None:
    for model in ("variables", "feedback"):
      for gate in ("0", "1"):
        with self.subTest(model=model, gate=gate):
          result = self.generate(model, "--ids", self.ids, gate=gate)
          self.assertEqual(result["tokens"], self.expected["tokens"])
          self.assertEqual(result["prompt"], self.expected["ids"])
          self.assertGreater(result["tokens_per_s"], 0)
          self.assertLessEqual(result["first_token_ms"], result["total_ms"])

  def test_a_loop_in_the_graph(self) -> None:
    result = self.generate("loop", "--prompt", self.expected["prompt"])
    (text,) = result["text"]  # bytes that are no text are shown as U+FFFD
    self.assertTrue(text.startswith(self.expected["prompt"]), text)
    self.assertGreater(len(text), len(self.expected["prompt"]))

  def test_text_through_tokenizers(self) -> None:
    model = self.FOLDER / "variables"
    result = self.generate("variables", "--prompt", self.expected["prompt"],
                           "--tokenizer", f"{model}:tokenize",
                           "--detokenizer", f"{model}:detokenize")
    self.assertEqual(result["prompt"], self.expected["ids"])
    self.assertEqual(result["tokens"], self.expected["tokens"])
    self.assertEqual(len(result["text"]), 1)

  def test_stops_and_streams(self) -> None:
    tokens = self.expected["tokens"]
    done = tenon("generate", self.FOLDER / "feedback", "--ids", self.ids,
                 "--stop", tokens[3], "--max-tokens", 50)
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertEqual(done.stdout, " ".join(map(str, tokens[:3])) + "\n")
    self.assertRegex(done.stderr, r"^3 tokens in .* the first after .* tokens/s")

  def test_sampling_repeats_with_its_seed(self) -> None:
    def draw(seed: int) -> list[int]:
      return self.generate("feedback", "--ids", self.ids, "--temperature", 2,
                           "--top-k", 50, "--seed", seed)["tokens"]
    self.assertEqual(draw(1), draw(1))
    self.assertNotEqual(draw(1), draw(2))

  def test_errors(self) -> None:
    model = self.FOLDER / "variables"
    for words, message in (
        (["--prompt", "a"], "give --ids, or a --tokenizer"),
        ([], "give either --prompt or --ids"),
        (["--ids", "1,x"], "'x' is not an integer"),
        (["--ids", "1", "--top-p", "0"], "top-p must be above 0"),
        (["--ids", "1", "--tokens-input", "z"], "no input 'z'"),
        (["--ids", "300"], "300"),
        (["--ids", "5000000000"], "does not fit into int32")):
      with self.subTest(words=words):
        done = tenon("generate", model, *words)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


class QuantizeTest(unittest.TestCase):
  """tenon quantize."""

  DIGITS = MODELS / "digits"

  def setUp(self) -> None:
    scratch = tempfile.TemporaryDirectory()
    self.addCleanup(scratch.cleanup)
    self.scratch = pathlib.Path(scratch.name)
    self.output = self.scratch / "int8.pb"

  def quantize(self, *words: object, model: pathlib.Path | None = None,
               data: pathlib.Path | None = None
               ) -> subprocess.CompletedProcess:
    return tenon("quantize", model or self.DIGITS / "saved_model", "--data",
                 data or self.DIGITS / "inputs.npz", "--output", self.output,
                 *words)

  def assert_refused(self, done: subprocess.CompletedProcess,
                     message: str) -> None:
    self.assertGreater(done.returncode, 0)
    self.assertIn(message, done.stderr)
    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
    self.assertEqual(list(self.scratch.glob("int8*")), [])

  def data(self, **arrays: np.ndarray) -> pathlib.Path:
    path = self.scratch / "data.npz"
    np.savez(path, **arrays)
    return path

  def outputs(self, model: pathlib.Path,
              inputs: pathlib.Path) -> dict[str, np.ndarray]:
    path = self.scratch / "outputs.npz"
    done = tenon("run", model, "--inputs", inputs, "--outputs", path)
    self.assertEqual(done.returncode, 0, done.stderr)
    with np.load(path) as arrays:
      return dict(arrays)

  def assert_agrees(self, folder: pathlib.Path, case: str = "") -> None:
    """The model's only output is close to TensorFlow's in float."""
    (got,) = self.outputs(self.output, folder / f"inputs{case}.npz").values()
    with np.load(folder / f"outputs{case}.npz") as arrays:
      (want,) = arrays.values()
    self.assertEqual(got.shape, want.shape)
    self.assertGreater(np.corrcoef(got.ravel(), want.ravel())[0, 1], 0.98, case)

  def renamed(self) -> str:
    """The rewritten graph."""
    text = tenon("dump", self.output, "--phase", "rename").stdout
    return text.split("# ---- after rename")[1]

  def test_digits_keep_their_accuracy(self) -> None:
    with np.load(self.DIGITS / "labels.npz") as arrays:
      labels = arrays["labels"]
    with np.load(self.DIGITS / "outputs.npz") as arrays:
      before = np.mean(arrays["output_0"].argmax(1) == labels)
    for method in ("error", "minmax", "percentile", "entropy"):
      done = self.quantize("--method", method, "--accuracy", "labels",
                           "--labels", self.DIGITS / "labels.npz")
      self.assertEqual(done.returncode, 0, done.stderr)
      self.assertEqual(done.stderr, "")
      (scores,) = self.outputs(self.output,
                               self.DIGITS / "inputs.npz").values()
      after = np.mean(scores.argmax(1) == labels)
      self.assertLessEqual(abs(before - after), 0.005, method)
      self.assertIn(f"top-1: {100 * before:.2f} % in fp32, "
                    f"{100 * after:.2f} % in int8", done.stdout)
      self.assertIn("6 of 6 layers in int8", done.stdout)

  def test_a_saved_model(self) -> None:
    results = []
    for name in ("int8.pb", "int8"):
      self.output = self.scratch / name
      done = self.quantize()
      self.assertEqual(done.returncode, 0, done.stderr)
      results.append(self.outputs(self.output, self.DIGITS / "inputs.npz"))
    self.assertEqual([p.name for p in self.output.iterdir()],
                     ["saved_model.pb"])
    # In a GraphDef, outputs are named after their tensors.
    (file,), (folder,) = (list(r.values()) for r in results)
    np.testing.assert_array_equal(file, folder)
    self.assertEqual(list(results[1]), ["output_0"])

  def test_integers_from_end_to_end(self) -> None:
    done = self.quantize()
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertNotIn(b"_Mkl", self.output.read_bytes())
    if not cpu.has_exact_int8():
      self.skipTest("no exact 8-bit products on this CPU")
    after = self.renamed()
    for op in ("Conv2D", "DepthwiseConv2dNative", "FusedConv2D", "MatMul",
               "FusedDepthwiseConv2dNative", "FusedMatMul", "MaxPool"):
      self.assertNotIn(f"= _MklNative{op}(", after)

  def test_resnet50(self) -> None:
    folder = MODELS / "resnet50"
    done = self.quantize(model=folder / "saved_model",
                         data=folder / "inputs.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assert_agrees(folder)

  def test_an_encoder(self) -> None:
    """Dense layers written as Einsum and broadcast products, with any length."""
    folder = MODELS / "bert4"
    done = self.quantize(model=folder / "saved_model",
                         data=folder / "inputs_b2.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("14 of 14 layers in int8", done.stdout)
    for case in ("", "_b2", "_odd"):
      self.assert_agrees(folder, case)

  def test_pools_and_means_of_integers(self) -> None:
    folder = MODELS / "inceptionv3"
    done = self.quantize(model=folder / "saved_model",
                         data=folder / "inputs.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assert_agrees(folder)
    after = self.renamed()
    self.assertIn("= _MklNativeQuantizedAvgPool(", after)
    self.assertNotIn("= _MklNativeAvgPool(", after)

  def test_all_integer_ops_are_accelerated(self) -> None:
    for model, op in (("resnet50", "ScaledMean"),
                      ("densenet121", "FusedElementwiseToIntegers")):
      self.output = self.scratch / f"{model}.pb"
      done = self.quantize(model=MODELS / model / "saved_model",
                           data=MODELS / model / "inputs.npz")
      self.assertEqual(done.returncode, 0, done.stderr)
      after = self.renamed()
      self.assertIn(f"= _MklNative{op}(", after)
      self.assertNotIn(f"= _{op}(", after)

  def test_equalized_channels_keep_the_numbers(self) -> None:
    """The float model inside is the same: layers kept in fp32 show it."""
    with np.load(self.DIGITS / "outputs.npz") as arrays:
      want = arrays["output_0"]
    errors = {}
    for options in ((), ("--no-equalize",)):
      done = self.quantize(*options)
      self.assertEqual(done.returncode, 0, done.stderr)
      (got,) = self.outputs(self.output, self.DIGITS / "inputs.npz").values()
      errors[options] = np.abs(got - want).max() / np.abs(want).max()
      self.output.unlink()
    self.assertLess(errors[()], 0.05)
    self.assertLess(errors["--no-equalize",], 0.05)

  def test_swish_and_gates(self) -> None:
    """Zero points after swish; gates of squeeze-and-excite are equalized."""
    folder = MODELS / "efficientnetb0"
    done = self.quantize(model=folder / "saved_model",
                         data=folder / "inputs_b2.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("quint8 -0.2", done.stdout)
    self.assert_agrees(folder)
    after = self.renamed()
    self.assertIn('fused_ops=["BiasAdd", "Sigmoid", "Mul"]', after)

  def test_layers_kept(self) -> None:
    done = self.quantize("--keep-first", "--keep-last", "--max-error", "100")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("fp32: the first layer", done.stdout)
    self.assertIn("fp32: the last layer", done.stdout)
    self.assertIn("4 of 6 layers in int8", done.stdout)
    done = self.quantize("--max-error", "0.8")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("fp32: its error is above 0.8 %", done.stdout)

  def test_bad_options(self) -> None:
    self.assert_refused(self.quantize("--method", "magic"), "magic")
    self.assert_refused(self.quantize("--batch", "0"), "batch")
    self.assert_refused(self.quantize("--keep", "nothing"), "'nothing'")
    self.assert_refused(self.quantize("--max-error", "0.002"),
                        "nothing to quantize")
    self.assert_refused(self.quantize("--accuracy", "labels"), "'labels'")
    self.assert_refused(
        self.quantize("--labels", self.DIGITS / "labels.npz"), "--accuracy")
    self.output = self.scratch / "folder"
    self.output.mkdir()
    (self.output / "mine").touch()
    self.assert_refused(self.quantize(), "exists already")

  def test_bad_data(self) -> None:
    with np.load(self.DIGITS / "inputs.npz") as arrays:
      image = arrays["image"]
    for arrays, message in (
        ({"picture": image}, "input 'image' is missing"),
        ({"image": image[:, :4]}, "image"),
        ({"image": image[..., 0]}, "image"),
        ({"image": image.astype(np.float64)}, "image"),
        ({"image": image[:0]}, "no samples"),
        ({"image": np.float32(1)}, "scalar"),
        ({"image": image * np.float32("nan")}, "NaN")):
      self.assert_refused(self.quantize(data=self.data(**arrays)), message)
    self.assert_refused(self.quantize(data=self.scratch / "none.npz"), "none")
    for labels in (np.zeros(3, int), np.zeros(len(image), np.float32)):
      data = self.data(image=image, labels=labels)
      self.assert_refused(self.quantize("--accuracy", "labels", data=data),
                          "labels")


class QuantizeWeightsTest(unittest.TestCase):
  """tenon quantize --weights."""

  def setUp(self) -> None:
    scratch = tempfile.TemporaryDirectory()
    self.addCleanup(scratch.cleanup)
    self.scratch = pathlib.Path(scratch.name)
    self.model = self.scratch / "model.pbtxt"
    self.output = self.scratch / "small.pb"
    self.text = self.scratch / "text.npz"
    tokens = np.random.default_rng(1).integers(0, 40, (5, 6)).astype(np.int32)
    np.savez(self.text, tokens=tokens)
    self.write_model()

  # A token predicts the next one: an embedding, two layers, and the embedding
  # again. The terms of the second layer are not whole groups.
  def write_model(self) -> None:
    random = np.random.default_rng(2)

    def const(name: str, value: np.ndarray) -> str:
      dtype = {"f": "DT_FLOAT", "i": "DT_INT32"}[value.dtype.kind]
      key = {"f": "float_val", "i": "int_val"}[value.dtype.kind]
      dims = " ".join(f"dim {{ size: {n} }}" for n in value.shape)
      values = " ".join(f"{key}: {v!r}" for v in value.reshape(-1).tolist())
      return (f'node {{ name: "{name}" op: "Const" attr {{ key: "dtype" value '
              f'{{ type: {dtype} }} }} attr {{ key: "value" value {{ tensor '
              f'{{ dtype: {dtype} tensor_shape {{ {dims} }} {values} }} }} }} }}\n')

    def op(name: str, kind: str, inputs: str, **attrs: str) -> str:
      joined = " ".join(f'input: "{i}"' for i in inputs.split())
      values = " ".join(f'attr {{ key: "{k}" value {{ {v} }} }}'
                        for k, v in attrs.items())
      return f'node {{ name: "{name}" op: "{kind}" {joined} {values} }}\n'

    f32, i32 = "type: DT_FLOAT", "type: DT_INT32"
    uniform = lambda *shape: random.uniform(-1, 1, shape).astype(np.float32)
    self.model.write_text(
        op("tokens", "Placeholder", "", dtype=i32,
           shape="shape { dim { size: -1 } dim { size: 6 } }") +
        const("embedding", uniform(40, 128)) + const("axis", np.int32(0)) +
        op("x", "GatherV2", "embedding tokens axis", Tparams=f32, Tindices=i32,
           Taxis=i32) + const("w", uniform(128, 200) / 10) +
        op("h", "BatchMatMulV2", "x w", T=f32) + op("r", "Relu", "h", T=f32) +
        const("v", uniform(200, 128) / 10) +
        op("y", "BatchMatMulV2", "r v", T=f32) +
        op("logits", "BatchMatMulV2", "y embedding", T=f32, adj_y="b: true"))

  def quantize(self, *words: object) -> subprocess.CompletedProcess:
    return tenon("quantize", self.model, "--output", self.output, *words)

  def logits(self, model: pathlib.Path, *words: str) -> np.ndarray:
    out = self.scratch / "out.npz"
    done = tenon("run", model, "--inputs", self.text, "--outputs", out, *words)
    self.assertEqual(done.returncode, 0, done.stderr)
    with np.load(out) as arrays:
      return next(arrays[k] for k in arrays.files if "logits" in k)

  def test_formats(self) -> None:
    exact = self.logits(self.model)
    for format_, options, error in (
        ("bf16", (), 0.01), ("int8", (), 0.02),
        ("int8", ("--zero-points", "--scales", "bfloat16"), 0.02),
        ("int8", ("--group", "0", "--scales", "float32"), 0.02),
        ("int4", ("--group", "32"), 0.25), ("int4", ("--zero-points",), 0.25)):
      with self.subTest(format=format_, options=options):
        done = self.quantize("--weights", format_, "--text", self.text, "--data",
                             self.text, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"4 of 4 layers with {format_} weights", done.stdout)
        self.assertIn("perplexity: ", done.stdout)
        small = self.logits(self.output)
        self.assertLess(np.linalg.norm(small - exact),
                        error * np.linalg.norm(exact))
        stats = tenon("dump", self.output, "--stats").stdout
        # So few weights of 16 bits are not worth it.
        self.assertEqual("FuseWeightOnly" in stats, format_ != "bf16")
        self.output.unlink()

  def test_left_out(self) -> None:
    done = self.quantize("--weights", "int8", "--keep", "h", "--no-embeddings")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("fp32: as asked", done.stdout)
    self.assertIn("2 of 3 layers", done.stdout)

  def test_refused(self) -> None:
    for words, message in (
        (("--weights", "int3"), "int3"), ((), "--data"),
        (("--weights", "int8", "--group", "-1"), "--group"),
        (("--weights", "int8", "--scales", "float64"), "float64"),
        (("--weights", "int8", "--keep", "nothing"), "'nothing'"),
        (("--weights", "int8", "--tokens", "t"), "--text"),
        (("--weights", "int8", "--text", self.text, "--tokens", "t"), "'t'"),
        (("--weights", "int8", "--text", self.text, "--logits", "z"), "'z'"),
        (("--weights", "int8", "--least-weights", "1000000"),
         "nothing to quantize")):
      done = self.quantize(*words)
      self.assertGreater(done.returncode, 0, words)
      self.assertIn(message, done.stderr)
      self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
      self.assertFalse(self.output.exists())


def main() -> None:
  global TENON  # pylint: disable=global-statement
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--tenon", type=pathlib.Path, default=TENON)
  args, rest = parser.parse_known_args()
  if not args.tenon.exists():
    parser.error(f"{args.tenon} does not exist; build it first")
  TENON = args.tenon.resolve()
  unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
  main()
