#!/usr/bin/env python3
"""Runs every program of examples/ on tests/models/digits, and checks what it prints.

  tests/examples_test.py [--build build] [--site-packages build/site-packages]

The Python programs use the package in BUILD/python, or without --build the one that this Python has; inside_tensorflow.py
runs in an environment with this Python's packages and the plug-in in --site-packages.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIGITS = ROOT / "tests" / "models" / "digits"
MODEL = DIGITS / "saved_model"
OPTIONS = argparse.Namespace()


class ExampleCase(unittest.TestCase):

  def setUp(self) -> None:
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = pathlib.Path(folder.name)

  def output(self, command: list[object], **environment: str) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          cwd=self.folder, env={**os.environ, **environment})
    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
    return done.stdout


class CompiledTest(ExampleCase):
  """The programs in C and C++."""

  def setUp(self) -> None:
    super().setUp()
    if OPTIONS.build is None:
      self.skipTest("no build is given")

  def run_example(self, name: str, *arguments: object) -> str:
    return self.output([OPTIONS.build / "examples" / "bin" / name, *arguments])

  def test_classify(self) -> None:
    self.assertIn("a 6, with logit", self.run_example("classify_c", MODEL))
    shown = self.run_example("classify_cc", MODEL)
    self.assertIn("takes image of rank 4\ngives output_0\na 6,", shown)

  def test_batch(self) -> None:
    shown = self.run_example("batch_cc", MODEL)
    self.assertEqual(re.findall(r"batch (\d+): \S+ images", shown), ["1", "8", "64"])

  def test_futures(self) -> None:
    shown = self.run_example("futures_cc", MODEL)
    found = [float(p) for p in re.findall(r"of a six: (\S+)", shown)]
    self.assertEqual(len(found), 4)
    self.assertGreater(min(found), 0.9)
    self.assertIn("stopped: ", shown)

  def test_profiling(self) -> None:
    shown = self.run_example("profiling_cc", MODEL, "trace.json")
    self.assertIn("10 runs; weights ", shown)
    self.assertIn("Conv2D", shown)
    self.assertTrue(json.loads((self.folder / "trace.json").read_text())["traceEvents"])

  def test_quantize(self) -> None:
    report = json.loads(self.run_example("quantize_c", MODEL, "small.pb"))
    self.assertTrue(any(layer["kept"] == "" for layer in report["layers"]))
    self.assertIn("a 6,", self.run_example("classify_c", "small.pb"))

  def test_a_missing_model_is_an_error(self) -> None:
    for name, more in (("classify_c", []), ("classify_cc", []), ("batch_cc", []), ("futures_cc", []),
                       ("profiling_cc", ["trace.json"]), ("quantize_c", ["small.pb"])):
      done = subprocess.run([OPTIONS.build / "examples" / "bin" / name, self.folder / "none", *more],
                            capture_output=True, text=True, check=False, cwd=self.folder)
      self.assertEqual(done.returncode, 1, name)
      self.assertIn(str(self.folder / "none"), done.stderr, name)


class PythonTest(ExampleCase):
  """The programs in Python."""

  def run_example(self, name: str, *arguments: object) -> str:
    package = {} if OPTIONS.build is None else {"PYTHONPATH": str(OPTIONS.build / "python")}
    return self.output([sys.executable, ROOT / "examples" / f"{name}.py", DIGITS, *arguments], **package)

  def test_classify(self) -> None:
    shown = self.run_example("classify")
    self.assertIn("reads as 9", shown)
    right = re.search(r"(\d+) of 360 are right", shown)
    self.assertIsNotNone(right)
    self.assertGreaterEqual(int(right.group(1)), 358)  # as model.json has it

  def test_batch(self) -> None:
    shown = self.run_example("batch")
    self.assertEqual(re.findall(r"batch (\d+): \d+ images", shown), ["1", "8", "360"])
    self.assertLess(float(re.search(r"TensorFlow: (\S+) of", shown).group(1)), 1e-5)

  def test_futures(self) -> None:
    shown = self.run_example("futures")
    lists = re.findall(r"\[.*\]", shown)
    self.assertEqual(len(lists), 3)
    self.assertEqual(len(set(lists)), 1)
    self.assertIn("too late: ", shown)

  def test_quantize(self) -> None:
    shown = self.run_example("quantize", "small.pb")
    before, after = (float(x) for x in re.findall(r": (\S+)% right", shown))
    self.assertGreater(after, before - 1)

  def test_profiling(self) -> None:
    shown = self.run_example("profiling", "trace.json")
    self.assertIn("_MklNativeFusedConv2D", shown)
    self.assertIn("rules that fired: {", shown)
    self.assertTrue(json.loads((self.folder / "trace.json").read_text())["traceEvents"])

  def test_inside_tensorflow(self) -> None:
    if OPTIONS.site_packages is None:
      self.skipTest("no plug-in is given")
    sys.path.append(str(ROOT / "tools"))
    import environments  # pylint: disable=import-outside-toplevel
    site = self.folder / "site"  # as tools/wheel.py packs it
    shutil.copytree(OPTIONS.site_packages, site)
    shutil.copytree(ROOT / "python" / "tenon_tensorflow", site / "tenon_tensorflow", dirs_exist_ok=True)
    python = environments.borrow(self.folder / "venv", pathlib.Path(sys.executable), site)
    shown = self.output([python, ROOT / "examples" / "inside_tensorflow.py", DIGITS], TF_CPP_MIN_LOG_LEVEL="2")
    self.assertIn("360 of 360 as TensorFlow alone", shown)
    self.assertIn("fuse FuseConv2D 3", shown)


class CompleteTest(unittest.TestCase):

  def test_every_example_is_run(self) -> None:
    # Those that need a cluster's packages are in the latter.
    text = "".join(path.read_text(encoding="utf-8") for path in (
        pathlib.Path(__file__), ROOT / "tests" / "cluster" / "pages_test.py"))
    for path in (ROOT / "examples").glob("*.*"):
      if path.suffix in (".c", ".cc"):
        self.assertIn(f'"{path.stem}_{path.suffix[1:]}"', text, path.name)
      elif path.suffix == ".py":
        self.assertTrue(f'run_example("{path.stem}"' in text or path.name in text, path.name)


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--build", type=lambda path: pathlib.Path(path).resolve())
  parser.add_argument("--site-packages", type=pathlib.Path)
  parser.parse_known_args(namespace=OPTIONS)
  unittest.main(argv=[sys.argv[0], *parser.parse_known_args()[1]])


if __name__ == "__main__":
  main()
