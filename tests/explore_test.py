"""The report of `tenon explain --json`: valid by its schema, whole, and in agreement with dump.

usage: explore_test.py --tenon PROGRAM
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ROOT / "tests" / "models"
ARGS = argparse.Namespace()
SCHEMA = json.loads((ROOT / "docs" / "explore.schema.json").read_text())
# Full-size names, small models: what each looks like is in tests/models/README.md.
NAMES = ("resnet50", "mobilenetv2", "bert4", "mlp", "densenet121")


def tenon(*words):
  return subprocess.run([ARGS.tenon, *map(str, words)], capture_output=True, text=True, check=True,
                        timeout=300).stdout


def explore(name, *more):
  return json.loads(tenon("explain", MODELS / name / "saved_model", "--json", *more))


def graph_after(report):
  """Replays the steps of all phases: id -> node."""
  nodes = {node["id"]: node for node in report["loaded"]}
  for phase in report["phases"]:
    for step in phase["steps"]:
      if step["function"]:
        continue
      for node in step["removed"]:
        del nodes[node]
      for node in step["added"] + step["changed"]:
        nodes[node["id"]] = node
  return nodes


class ExploreTest(unittest.TestCase):

  def reports(self):
    for name in NAMES:
      with self.subTest(name):
        yield name, explore(name, "--seconds", "0.05")

  def test_reports(self):
    for name, report in self.reports():
      jsonschema.validate(report, SCHEMA)
      self.assertEqual(report["planning"], "")
      final = {node["id"]: node for node in report["final"]}
      replayed = graph_after(report)
      self.assertEqual({i: (n["name"], n["op"]) for i, n in replayed.items()},
                       {i: (n["name"], n["op"]) for i, n in final.items()})
      loaded = {node["id"] for node in report["loaded"]}
      for node in final.values():
        self.assertLessEqual(set(node["origins"]), loaded)
      for miss in report["near_misses"]:
        self.assertLessEqual(set(miss["now"]), set(final))
      # Steps are nodes, and their times make up the profile.
      for step in report["steps"]:
        self.assertEqual(final[step["node"]]["op"], step["op"])
        self.assertEqual(step["reason"] is None, step["accelerated"] or step["dynamic"])
      self.assertAlmostEqual(sum(s["ms"] for s in report["steps"]), report["profile"]["ms"])
      self.check_memory(report)
      self.check_stats(name, report)

  def check_memory(self, report):
    """No two tensors that are in use at the same time overlap."""
    memory = report["memory"]
    items = memory["items"]
    for i, a in enumerate(items):
      self.assertLessEqual(a["offset"] + a["bytes"], memory["arena_bytes"])
      self.assertLess(a["last"], len(report["steps"]))
      for b in items[:i]:
        together = a["first"] <= b["last"] and b["first"] <= a["last"]
        overlap = a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]
        self.assertFalse(together and overlap, (a, b))

  def check_stats(self, name, report):
    """The counts and reasons of `dump --stats`."""
    stats = tenon("dump", MODELS / name / "saved_model", "--stats")
    counts = list(map(int, re.search(
        r"(\d+) nodes accelerated, (\d+) only pass memory on, (\d+) are computed while planning, "
        r"(\d+) left", stats).groups()))
    work = [(n["work"], n["accelerated"]) for n in report["final"]]
    self.assertEqual(counts, [work.count(("runs", True)),
                              sum(w == "alias" for w, _ in work),
                              sum(w == "planning" for w, _ in work),
                              work.count(("runs", False))])
    for node in report["final"]:
      self.assertEqual(node["reason"] is None, node["accelerated"] or node["work"] != "runs")
      if node["reason"] is not None:
        self.assertRegex(stats, rf"{re.escape(node['op'])} .*{re.escape(node['reason']['text'])}")

  def test_without_a_run(self):
    report = explore("mlp", "--no-profile")
    jsonschema.validate(report, SCHEMA)
    self.assertIsNone(report["profile"])
    self.assertIsNotNone(report["steps"])

  def test_without_a_plan(self):
    report = explore("mlp", "--shape", "features=1,3")
    jsonschema.validate(report, SCHEMA)
    self.assertIsNone(report["steps"])
    self.assertIn("features", report["planning"])


if __name__ == "__main__":
  parser = argparse.ArgumentParser()
  parser.add_argument("--tenon", required=True)
  ARGS, rest = parser.parse_known_args()
  unittest.main(argv=sys.argv[:1] + rest)
