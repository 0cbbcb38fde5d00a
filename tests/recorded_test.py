#!/usr/bin/env python3
"""Tests tests/recorded.py on a test file of its own.

  tests/recorded_test.py --build build
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS)]
build = TESTS.parent / "build"

# pylint: disable=wrong-import-position
import recorded


class RecordedTest(unittest.TestCase):

  def setUp(self) -> None:
    folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
    self.addCleanup(folder.cleanup)
    self.folder = pathlib.Path(folder.name)

  def test_sample_is_recorded_and_agrees(self) -> None:
    results = self.folder / "sample.json"
    recorded.run_file(TESTS / "recorded" / "sample_test.py", results, str(build / "python"))
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    log = results.with_suffix(".log").read_text(encoding="utf-8")
    self.assertEqual([line["kind"] for line in lines], ["end"], log)
    counts = lines[0]["counts"]
    self.assertGreaterEqual(counts["ops"], 5, counts)
    self.assertEqual((counts["functions"], counts["runs"]), (2, 2), counts)
    self.assertEqual(counts["both refuse"], 1, counts)
    self.assertNotIn("handles", counts)
    self.assertEqual(counts["agreed"] + 1, counts["ops"] + 4, counts)
    self.assertIn("OK", log)

  def test_differences_fail(self) -> None:
    results = self.folder / "other.json"
    end = {"kind": "end", "counts": {"agreed": 1000}}
    wrong = {"kind": "values", "name": "Add", "text": "output 0 differs", "inputs": [], "attributes": "", "kept": ""}
    results.write_text(json.dumps(end), encoding="utf-8")
    self.assertEqual(recorded.report([results]), 0)
    results.write_text(json.dumps(wrong) + "\n" + json.dumps(end), encoding="utf-8")
    self.assertEqual(recorded.report([results]), 1)
    self.assertEqual(recorded.report([self.folder / "nothing.json"]), 1)

  def test_needs_a_source(self) -> None:
    run = subprocess.run([sys.executable, TESTS / "recorded.py", "--source", self.folder], capture_output=True,
                         text=True, check=False)
    self.assertEqual(run.returncode, 1)
    self.assertIn("no test files in", run.stdout)


if __name__ == "__main__":
  parser = argparse.ArgumentParser()
  parser.add_argument("--build", type=pathlib.Path, default=build)
  options, rest = parser.parse_known_args()
  build = options.build.resolve()
  unittest.main(argv=[sys.argv[0], *rest])
