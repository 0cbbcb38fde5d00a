"""Shrinks a failing graph: a small part of it that still fails.

A node is cut by feeding its outputs: each output that is still read
becomes a placeholder, and the nodes before it are removed.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import graphs
import numpy as np
import tensorflow as tf
from reference import run_tensorflow

tf1 = tf.compat.v1
Values = dict[str, np.ndarray]  # by tensor name ("node:0"), or by node name for feeds
# (graph, feeds, fetches, TensorFlow's values) -> what is wrong, or None.
Failure = Callable[[Any, Values, list[str], Values], "str | None"]


@dataclasses.dataclass
class Part:
  """A part of a graph, what to feed and what to fetch."""

  graph: Any  # GraphDef
  feeds: Values
  fetches: list[str]
  message: str = ""  # what is wrong with it


def source(name: str) -> tuple[str, int]:
  """Node and output that an input or fetch names; -1: a control input."""
  if name.startswith("^"):
    return name[1:], -1
  node, _, output = name.partition(":")
  return node, int(output or 0)


def node_of(name: str) -> str:
  return source(name)[0]


def ancestors(definition: Any, fetches: list[str], cut: set[str]) -> set[str]:
  """The nodes that the fetches need, up to those of `cut`."""
  by_name = {n.name: n for n in definition.node}
  seen: set[str] = set()
  todo = [node_of(f) for f in fetches]
  while todo:
    name = todo.pop()
    if name not in seen:
      seen.add(name)
      todo += [node_of(i) for i in by_name[name].input if name not in cut]
  return seen


def feedable(definition: Any) -> dict[str, list[str]]:
  """By node that can be cut, in order: its first output and what else is read.

  A node without inputs has nothing behind it.
  """
  with tf.Graph().as_default() as graph:
    tf.import_graph_def(definition, name="")
  found = {}
  for node in definition.node:
    outputs = [t for t in graph.get_operation_by_name(node.name).outputs
               if t.consumers() or t.value_index == 0]
    if node.input and outputs and all(
        t.dtype.is_numpy_compatible for t in outputs):
      found[node.name] = [t.name for t in outputs]
  return found


def placeholder_names(definition: Any, outputs: list[str]) -> dict[str, str]:
  """A name of its own for each: the first output of a node keeps the node's."""
  taken = {n.name for n in definition.node}
  names = {}
  for output in outputs:
    node, index = source(output)
    name = node
    if index:
      name = f"{node}_output_{index}"
      while name in taken:
        name += "_"
      taken.add(name)
    names[output] = name
  return names


def cut_at(drawn: graphs.Drawn, fetches: list[str], cut: set[str],
           values: Values) -> Part:
  """The part of the graph behind the nodes of `cut`, none of which is fetched.

  `values` has the first output of each and what else is read.
  """
  assert cut.isdisjoint(map(node_of, fetches))
  kept = ancestors(drawn.graph, fetches, cut)
  part = Part(tf1.GraphDef(), {}, fetches)
  part.graph.versions.CopyFrom(drawn.graph.versions)
  whole = [n for n in drawn.graph.node if n.name in kept - cut]
  used = {source(i) for n in whole for i in n.input if node_of(i) in cut}
  data = {(n, i) for n, i in used if i >= 0}
  # An op that waits for a node of which it reads nothing waits for a placeholder.
  data |= {(n, 0) for n, _ in used - data if n not in dict(data)}
  names = placeholder_names(drawn.graph, [f"{n}:{i}" for n, i in sorted(data)])
  waits = {node_of(output): name for output, name in reversed(names.items())}

  def renamed(name: str) -> str:
    node, index = source(name)
    if node not in cut:
      return name
    return "^" + waits[node] if index < 0 else names[f"{node}:{index}"]

  for output, name in names.items():
    value = values[output]
    node = part.graph.node.add(name=name, op="Placeholder")
    node.attr["dtype"].type = tf.as_dtype(value.dtype).as_datatype_enum
    node.attr["shape"].shape.CopyFrom(tf.TensorShape(value.shape).as_proto())
    part.feeds[name] = value
  for node in whole:
    copy = part.graph.node.add()
    copy.CopyFrom(node)
    copy.input[:] = map(renamed, node.input)
    copy.attr.pop("_class", None)  # a place beside a node that may be gone
    if node.op == "Placeholder":
      part.feeds[node.name] = drawn.feeds[node.name]
  return part


def shrink(drawn: graphs.Drawn, failure: Failure) -> Part:
  """A small part of the graph that TensorFlow runs and that still fails."""
  outputs = {name: tensors for name, tensors in feedable(drawn.graph).items()
             if name in ancestors(drawn.graph, drawn.fetches, set())}
  values = run_tensorflow(drawn.graph, drawn.feeds,
                          [t for tensors in outputs.values() for t in tensors])

  def failing(fetches: list[str], cut: set[str]) -> Part | None:
    part = cut_at(drawn, fetches, cut, values)
    wanted = run_tensorflow(part.graph, part.feeds, fetches)
    part.message = failure(part.graph, part.feeds, fetches, wanted) or ""
    return part if part.message else None

  best = failing(drawn.fetches, set())
  if best is None:
    return Part(drawn.graph, drawn.feeds, drawn.fetches,
                "not seen when run again")
  cut: set[str] = set()

  def on_the_way() -> list[str]:
    needed = ancestors(drawn.graph, best.fetches, cut) - cut
    return [n for n in outputs if n in needed - set(map(node_of, best.fetches))]

  # One fetch; as little as can be behind it; the first tensor on the way that
  # is wrong, and once more what is behind that.
  for fetch in drawn.fetches:
    if part := failing([fetch], cut):
      best = part
      break
  for again in (False, True):
    for name in reversed(on_the_way()):
      if name in on_the_way() and (part := failing(best.fetches, cut | {name})):
        best, cut = part, cut | {name}
    if again:
      break
    tensors = [t for name in on_the_way() for t in outputs[name]]
    for tensor in tensors:
      if part := failing([tensor], cut):
        best = part
        break
    else:
      break
  return best
