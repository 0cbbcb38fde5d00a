#!/usr/bin/env python3
"""Tests the property test's shrinker by injecting wrong results.

  tests/property_shrink_test.py [-v] [TEST …]

A fake worker runs graphs in TensorFlow and changes the result of one node. Needs
no build.
"""

from __future__ import annotations

import pathlib
import sys
import unittest
from typing import Any, Callable

TESTS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS / "property")]

# pylint: disable=wrong-import-position
import graphs
import numpy as np
import property as property_test
import shrink
import tensorflow as tf
from reference import run_tensorflow

tf1 = tf.compat.v1


class FakeWorker:
  """Adds 1 to all outputs of the node `culprit`."""

  def __init__(self, culprit: str) -> None:
    self.culprit = culprit

  def run(self, definition: Any, feeds: shrink.Values, fetches: list[str],
          how: str) -> shrink.Values:
    del how
    changed = tf1.GraphDef()
    changed.CopyFrom(definition)
    wrong: dict[str, str] = {}
    if any(n.name == self.culprit and n.op != "Placeholder"
           for n in definition.node):
      with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        for t in graph.get_operation_by_name(self.culprit).outputs:
          if t.consumers() or t.name in fetches:
            wrong[t.name] = (t + tf.ones_like(t)).name
        changed = graph.as_graph_def()
    added = len(definition.node)
    for node in list(changed.node)[:added]:
      node.input[:] = [wrong.get("%s:%d" % shrink.source(i), i)
                       for i in node.input]
    values = run_tensorflow(changed, feeds, [wrong.get(f, f) for f in fetches])
    return {f: values[wrong.get(f, f)] for f in fetches}


def drawn_by(make: Callable[[Any], list[Any]], *shape: int) -> graphs.Drawn:
  """The graph of a function of one input."""
  with tf.Graph().as_default() as graph:
    made = make(tf1.placeholder(tf.float32, shape, "x"))
    values = np.random.default_rng(1).standard_normal(shape)
    return graphs.Drawn(graph.as_graph_def(), {"x": values.astype(np.float32)},
                        [t.name for t in made], 8)


def strided_gradients(x: Any) -> list[Any]:
  """Of a convolution: Conv2DBackpropFilter reads ShapeN:1."""
  w = tf.nn.relu(tf.ones([1, 1, x.shape[-1], 8]))
  y = tf.nn.conv2d(tf.tanh(x), w, 2, "SAME")
  return [y, *tf.gradients(tf.square(y), [x, w])]


def halves(x: Any) -> list[Any]:
  _, b = tf.split(tf.tanh(x), 2, -1, name="halves")
  return [tf.negative(tf.exp(b, name="exp"))]


def rows(x: Any) -> list[Any]:
  a, b, _ = tf.unstack(tf.tanh(x), axis=0, name="rows")
  return [tf.negative(tf.subtract(a, b, name="difference"))]


def waits(x: Any) -> list[Any]:
  """A node that only waits for another of two outputs."""
  a, b = tf.split(tf.tanh(x), 2, -1, name="halves")
  with tf.control_dependencies([a]):
    y = tf.exp(x, name="exp")
  return [tf.negative(y), tf.abs(b)]


def name_in_use(x: Any) -> list[Any]:
  y = tf.abs(x, name="halves_output_1")
  return [tf.concat([halves(x)[0], y], -1)]


class ShrinkTest(unittest.TestCase):

  def shrunken(self, drawn: graphs.Drawn, culprit: str) -> shrink.Part | None:
    """None where the change is not seen in what is fetched."""
    check = property_test.Check(FakeWorker(culprit), drawn, None, ("rewritten",))
    failure = lambda *part: check.failure(*part, precise=False)
    part = shrink.shrink(drawn, failure)
    if not part.message.startswith("rewritten"):
      return None
    self.assertIn("differs", part.message)
    # It is a graph of its own that still fails.
    wanted = run_tensorflow(part.graph, part.feeds, part.fetches)
    self.assertIsNotNone(failure(part.graph, part.feeds, part.fetches, wanted))
    return part

  def assert_alone(self, part: shrink.Part | None, culprit: str) -> None:
    """Nothing is left but the culprit, what is fed and constants."""
    assert part is not None
    ops = {n.name: n.op for n in part.graph.node}
    rest = {n for n, op in ops.items() if op not in ("Placeholder", "Const")}
    self.assertEqual(rest, {culprit}, property_test.text(part.graph))

  def test_gradients(self) -> None:
    drawn = drawn_by(strided_gradients, 1, 6, 8, 3)
    for op in ("Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv2D"):
      (culprit,) = (n.name for n in drawn.graph.node if n.op == op)
      with self.subTest(op):
        self.assert_alone(self.shrunken(drawn, culprit), culprit)

  def test_second_output(self) -> None:
    drawn = drawn_by(halves, 3, 8)
    part = self.shrunken(drawn, "exp")
    self.assert_alone(part, "exp")
    self.assertEqual(set(part.feeds), {"halves_output_1"})
    # And where the node itself is the wrong one.
    self.assert_alone(self.shrunken(drawn, "halves"), "halves")

  def test_outputs_of_one_node(self) -> None:
    part = self.shrunken(drawn_by(rows, 3, 8), "difference")
    self.assert_alone(part, "difference")
    self.assertEqual(set(part.feeds), {"rows", "rows_output_1"})

  def test_control_inputs(self) -> None:
    part = self.shrunken(drawn_by(waits, 3, 8), "exp")
    self.assert_alone(part, "exp")
    (exp,) = (n for n in part.graph.node if n.name == "exp")
    self.assertIn("^halves", exp.input)
    self.assertEqual(set(part.feeds), {"x", "halves"})

  def test_control_input_of_a_node_whose_second_output_is_read(self) -> None:
    drawn = drawn_by(waits, 3, 8)
    values = run_tensorflow(drawn.graph, drawn.feeds, ["halves:0", "halves:1"])
    part = shrink.cut_at(drawn, drawn.fetches, {"halves"}, values)
    self.assertEqual(set(part.feeds), {"x", "halves_output_1"})
    (exp,) = (n for n in part.graph.node if n.name == "exp")
    self.assertIn("^halves_output_1", exp.input)
    run_tensorflow(part.graph, part.feeds, part.fetches)

  def test_name_in_use(self) -> None:
    drawn = drawn_by(name_in_use, 3, 8)
    values = run_tensorflow(drawn.graph, drawn.feeds, ["halves:0", "halves:1"])
    part = shrink.cut_at(drawn, drawn.fetches, {"halves"}, values)
    self.assertEqual(set(part.feeds), {"x", "halves_output_1_"})
    run_tensorflow(part.graph, part.feeds, part.fetches)

  def test_fetched_node_is_not_cut(self) -> None:
    drawn = drawn_by(lambda x: list(tf.split(tf.tanh(x), 2, -1, name="s")), 3, 8)
    for culprit in ("s", "Tanh"):
      self.assert_alone(self.shrunken(drawn, culprit), culprit)

  def test_each_cut_of_random_graphs(self) -> None:
    """Gives the values of the whole graph."""
    cuts = 0
    for seed in (3, 11, 19, 259):
      drawn = graphs.draw(seed, tf.float32)
      outputs = shrink.feedable(drawn.graph)
      values = run_tensorflow(drawn.graph, drawn.feeds, sorted(
          {t for tensors in outputs.values() for t in tensors} |
          set(drawn.fetches)))
      for name in list(outputs)[::2]:
        fetches = [f for f in drawn.fetches if shrink.node_of(f) != name]
        if fetches and name in shrink.ancestors(drawn.graph, fetches, set()):
          part = shrink.cut_at(drawn, fetches, {name}, values)
          got = run_tensorflow(part.graph, part.feeds, fetches)
          for f in fetches:
            np.testing.assert_array_equal(got[f], values[f], f"{seed} {name}")
          cuts += 1
    self.assertGreater(cuts, 60)

  def test_random_graphs(self) -> None:
    shrunken = 0
    for seed in (3, 259):
      drawn = graphs.draw(seed, tf.float32)
      names = [n for n in shrink.feedable(drawn.graph)
               if n in shrink.ancestors(drawn.graph, drawn.fetches, set())]
      ops = {n.name: n.op for n in drawn.graph.node}
      # Shapes that are wrong give graphs that nobody can run.
      names = [n for n in names if not ops[n].startswith(("Shape", "Strided"))]
      for culprit in names[::max(len(names) // 4, 1)]:
        with self.subTest(seed=seed, culprit=culprit):
          if part := self.shrunken(drawn, culprit):
            self.assert_alone(part, culprit)
            shrunken += 1
    self.assertGreaterEqual(shrunken, 4)


if __name__ == "__main__":
  unittest.main()
