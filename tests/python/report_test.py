"""Profiles, explanations, reports."""

from __future__ import annotations

import html
import json
import unittest

import support
import tenon
from support import ModelCase


class ReportTest(ModelCase):

    def setUp(self) -> None:
        super().setUp()
        self.model = tenon.load(support.MLP / "saved_model")

    def test_profile(self) -> None:
        profile = self.model.profile({"features": support.mlp_inputs()}, runs=3)
        self.assertIn("_MklNativeFusedMatMul", profile.by_op)
        self.assertTrue(all(step.ms > 0 for step in profile.steps))
        self.assertLessEqual(sum(step.ms for step in profile.steps), profile.ms)
        self.assertIn("_MklNativeFusedMatMul", repr(profile))
        self.assertIn("<table>", profile._repr_html_())
        trace = self.folder / "trace.json"
        profile.to_chrome_trace(trace)
        events = json.loads(trace.read_text())["traceEvents"]
        self.assertEqual([e["name"] for e in events], [s.node for s in profile.steps])
        for before, after in zip(events, events[1:]):
            self.assertAlmostEqual(before["ts"] + before["dur"], after["ts"], 3)
        with self.assertRaises(ValueError):
            self.model.profile({"features": support.mlp_inputs()}, runs=0)

    def test_explain(self) -> None:
        everything = self.model.explain()
        fired = [verdict for node in everything for verdict in node.rules if verdict.fired]
        self.assertTrue(fired)
        self.assertIn(fired[0].rule, repr(everything))
        self.assertEqual(len(self.model.explain(everything[0].node)), 1)
        self.assertIn("<table>", everything._repr_html_())
        with self.assertRaises(tenon.NotFoundError):
            self.model.explain("no_such_node")

    def test_explore(self) -> None:
        file = self.folder / "page.html"
        page = self.model.explore({"features": support.mlp_inputs()}, seconds=0.01, path=file)
        self.assertEqual(file.read_text(encoding="utf-8"), page.html)
        self.assertIn("tenon-data", page.html)
        self.assertIn("tenon.Page", repr(page))
        # A frame with the page as an attribute, which must not end early.
        frame = page._repr_html_()
        self.assertEqual(frame.count("<"), 2)
        self.assertEqual(html.unescape(frame.split('srcdoc="')[1].split('"')[0]), page.html)
        plain = tenon.load(support.MLP / "saved_model", onednn=False)
        self.assertGreater(len(self.model.explore(against=plain).html), 1000)
        with self.assertRaises(OSError):
            page.save(self.folder / "no" / "such" / "page.html")
        with self.assertRaises(ValueError):
            self.model.explore({"no_such_input": 1})

    def test_report_and_memory(self) -> None:
        report = self.model.report
        self.assertGreater(sum(report.rules.values()), 0)
        self.assertEqual(report.ops_before.get("MatMul"), 4)
        self.assertNotIn("MatMul", report.ops_after)
        self.assertIn("nodes became", repr(report))
        self.assertIn("<table>", report._repr_html_())
        plain = tenon.load(support.MLP / "saved_model", onednn=False).report
        self.assertFalse(plain.enabled)
        self.model(support.mlp_inputs())
        memory = self.model.memory()
        self.assertGreaterEqual(memory.weights + memory.packed, 1025 * 4)
        self.assertGreater(memory.total, memory.weights)

    def test_a_model_in_a_notebook(self) -> None:
        shown = self.model._repr_html_()
        self.assertIn("<td>input</td><td>features</td><td>float32</td><td>[", shown)
        self.assertIn("<td>output</td>", shown)
        self.model.close()
        self.assertIn("closed", self.model._repr_html_())

    def test_names_are_escaped_in_notebooks(self) -> None:
        step = tenon.Step("<script>", "Op", "", True, 1.0, 0.0)
        self.assertNotIn("<script>", tenon.Profile([step], 1.0)._repr_html_())


class CommandLineTest(unittest.TestCase):

    def test_python_m_tenon(self) -> None:
        import subprocess
        import sys
        done = subprocess.run([sys.executable, "-m", "tenon", "--version"], capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, f"tenon {tenon.__version__}\n"))
        done = subprocess.run([sys.executable, "-m", "tenon", "dump", "no_such_model"], capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no_such_model", done.stderr)


if __name__ == "__main__":
    unittest.main()
