#!/usr/bin/env python3
"""Writes small frozen graphs of TensorFlow 1 with gradients of loops: stacks and tensor arrays.

  tests/makers/loop_gradient_models.py --out tests/models/loop_gradients [NAME…]

As control_models.py, whose functions it uses: each NAME/ holds graph.pb and
inputs*.npz with outputs*.npz.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any, Callable

import control_models as control  # sets the environment before TensorFlow is imported
import models
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import rnn
from tensorflow.python.ops import rnn_cell as cells

tf1 = tf.compat.v1
raw = tf.raw_ops
Tensors = dict[str, tf.Tensor]
# Placeholders by name and their values, once or several times, and what is fetched.
Built = tuple[dict[str, list[np.ndarray]], Tensors]
rng = np.random.default_rng(37)


def floats(*shape: int) -> np.ndarray:
  return rng.normal(0, 1, shape).astype(np.float32)


def feed(name: str, values: list[np.ndarray], shape: list[int | None]) -> tf.Tensor:
  return tf1.placeholder(tf.as_dtype(values[0].dtype), shape, name)


def weights(name: str, *shape: int) -> tf.Variable:
  return tf1.get_variable(name, initializer=(0.4 * floats(*shape)).astype(np.float32))


def gradients(y: tf.Tensor, names: dict[str, Any]) -> Tensors:
  found = tf.gradients(y, list(names.values()))
  return {k: tf.convert_to_tensor(g) for k, g in zip(names, found)}


def loop(swap_memory: bool, parallel_iterations: int) -> Callable[[], Built]:
  """A loop with weights that it does not change; its gradient sums theirs up."""
  def build() -> Built:
    xs, ns = [floats(3, 4), floats(1, 4), floats(2, 4)], [np.int32(4), np.int32(1), np.int32(0)]
    x, n = feed("x", xs, [None, 4]), feed("n", ns, [])
    w = weights("w", 4, 4)
    _, y = tf1.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w)) * x),
                          [0, x], swap_memory=swap_memory, parallel_iterations=parallel_iterations)
    return {"x": xs, "n": ns}, {"y": y, **gradients(tf.reduce_sum(y * y), {"dx": x, "dw": w})}
  return build


def nested() -> Built:
  """A loop within a loop: one stack holds what all runs of the inner one put there."""
  xs, ns = [floats(3, 4), floats(2, 4)], [np.int32(3), np.int32(1)]
  x, n = feed("x", xs, [None, 4]), feed("n", ns, [])
  w = weights("w", 4, 4)

  def body(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    _, z = tf1.while_loop(lambda j, _: j <= i, lambda j, z: (j + 1, tf.sin(tf.matmul(z, w)) + y), [0, y])
    return i + 1, z * tf.cast(i + 1, tf.float32)

  _, y = tf1.while_loop(lambda i, _: i < n, body, [0, x])
  return {"x": xs, "n": ns}, {"y": y, **gradients(tf.reduce_sum(y * y), {"dx": x, "dw": w})}


def conditions() -> Built:
  """Conditions in a loop, one of them within another: only the branch taken puts values on stacks."""
  xs, ns = [floats(3, 4), 3.0 + floats(2, 4)], [np.int32(5), np.int32(4)]
  x, n = feed("x", xs, [None, 4]), feed("n", ns, [])
  w = weights("w", 4, 4)

  def body(i: tf.Tensor, y: tf.Tensor, t: tf.Tensor) -> tuple[tf.Tensor, ...]:
    def inner() -> tuple[tf.Tensor, tf.Tensor]:
      return tf1.cond(tf.reduce_sum(y) > 0.0, lambda: (tf.sin(y) * t, t * 2.0),
                      lambda: (tf.matmul(y, w) * y, t + 1.0))
    a, t = tf1.cond(i % 3 > 0, inner, lambda: (tf.exp(-y * y), t))
    return i + 1, tf1.cond(i % 2 > 0, lambda: tf.matmul(a * a, w), lambda: a[:, ::-1]), t

  _, y, t = tf1.while_loop(lambda i, *_: i < n, body, [0, x, tf.reduce_mean(x)])
  return {"x": xs, "n": ns}, {
      "y": y, "t": t, **gradients(tf.reduce_sum(y * y) + t, {"dx": x, "dw": w})}


def growing() -> Built:
  """What is put on a stack has another shape each time."""
  xs, ns = [floats(2, 3), floats(1, 3)], [np.int32(3), np.int32(4)]
  x, n = feed("x", xs, [None, 3]), feed("n", ns, [])
  _, y = tf1.while_loop(
      lambda i, _: i < n, lambda i, y: (i + 1, tf.concat([y * y, tf.tanh(y[:1])], 0)), [0, x],
      shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 3])])
  return {"x": xs, "n": ns}, {"y": y, **gradients(tf.reduce_sum(tf.sin(y)), {"dx": x})}


def several() -> Built:
  """Two loops, and two gradients, one of which needs only the first loop."""
  xs = [floats(3, 4), floats(2, 4)]
  x = feed("x", xs, [None, 4])
  w = weights("w", 4, 4)
  _, y = tf1.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x])
  _, z = tf1.while_loop(lambda i, _: i < 2, lambda i, z: (i + 1, z * tf.sin(y) + tf.matmul(z, w)), [0, y])
  return {"x": xs}, {"z": z, **gradients(tf.reduce_sum(z * z), {"dx": x, "dw": w}),
                     **gradients(tf.reduce_sum(y), {"dx_of_y": x, "dw_of_y": w})}


def arrays() -> Built:
  """Arrays that a loop reads more than once and writes; the gradients of reads add up."""
  xs = [floats(6, 3), floats(2, 3)]
  x = feed("x", xs, [None, 3])
  w = weights("w", 3, 3)
  n = tf.shape(x)[0]
  array = tf.TensorArray(tf.float32, n, clear_after_read=False).unstack(x)

  def body(i: tf.Tensor, s: tf.Tensor, out: tf.TensorArray) -> tuple[Any, ...]:
    s = tf.tanh(tf.matmul(array.read(i)[None], w) + s * 0.5) + array.read(i * 2 % n)
    return i + 1, s, out.write(i, s[0])

  _, s, out = tf1.while_loop(lambda i, *_: i < n, body,
                             [0, tf.zeros([1, 3]), tf.TensorArray(tf.float32, n)])
  y = out.stack()
  gathered = array.gather([0, 1, 1])
  return {"x": xs}, {
      "y": y, "s": s, "gathered": gathered,
      **gradients(tf.reduce_sum(y * y) + tf.reduce_sum(s) + tf.reduce_sum(tf.sin(gathered)),
                  {"dx": x, "dw": w})}


def pieces() -> Built:
  """Arrays of pieces with different lengths."""
  xs = [floats(6, 2)]
  x = feed("x", xs, [None, 2])
  array = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 2, 3])

  def body(i: tf.Tensor, out: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
    return i + 1, out.write(i, tf.sin(array.read(2 - i)) * tf.cast(i + 1, tf.float32))

  _, out = tf1.while_loop(lambda i, _: i < 3, body,
                          [0, tf.TensorArray(tf.float32, 3, infer_shape=False)])
  y = out.concat()
  return {"x": xs}, {"y": y, **gradients(tf.reduce_sum(y * y * y), {"dx": x})}


def higher_order() -> Built:
  """map_fn, scan and foldl, and embeddings read row by row."""
  xs, rows = [floats(5, 3), floats(2, 3)], [np.array([0, 2, 1, 2]), np.array([3, 3])]
  x, r = feed("x", xs, [None, 3]), feed("rows", rows, [None])
  w, e = weights("w", 3, 3), weights("e", 4, 3)
  mapped = tf.map_fn(lambda row: tf.tanh(tf.linalg.matvec(w, row)), x)
  scanned = tf.scan(lambda a, row: a * 0.5 + tf.sin(tf.linalg.matvec(w, row)), x)
  folded = tf.foldl(lambda a, row: a * row, x)
  _, s = tf1.while_loop(lambda i, _: i < tf.size(r),
                        lambda i, s: (i + 1, s * 0.5 + tf.sin(tf.gather(e, r[i]))), [0, tf.zeros([3])])
  loss = sum(tf.reduce_sum(t * t) for t in (mapped, scanned, folded, s))
  return {"x": xs, "rows": rows}, {"mapped": mapped, "scanned": scanned, "folded": folded, "s": s,
                                   **gradients(loss, {"dx": x, "dw": w, "de": e})}


def recurrent() -> Built:
  """dynamic_rnn, with lengths and without, and gradients cut by their norm."""
  xs, ns = [floats(4, 6, 3), floats(2, 3, 3)], [np.array([6, 0, 1, 4]), np.array([2, 3])]
  x, n = feed("x", xs, [None, None, 3]), feed("n", ns, [None])
  cell = cells.MultiRNNCell([cells.LSTMCell(5, num_proj=4), cells.BasicRNNCell(3)])
  with tf1.variable_scope("a"):
    y, _ = rnn.dynamic_rnn(cell, x, n, dtype=tf.float32, swap_memory=True)
  with tf1.variable_scope("b"):
    z, _ = rnn.dynamic_rnn(cells.GRUCell(4), x, dtype=tf.float32)
  variables = tf1.trainable_variables()
  for variable in variables:
    variable.load(0.5 * floats(*variable.shape.as_list()), tf1.get_default_session())
  found = tf.gradients(tf.reduce_sum(y * y) + tf.reduce_mean(z * z), [x, *variables])
  cut, norm = tf.clip_by_global_norm(found, 0.5)
  return {"x": xs, "n": ns}, {"y": y, "z": z, "norm": norm, **{f"d{i}": g for i, g in enumerate(cut)}}


def inner_loops() -> Built:
  """Loops in branches, whose gradients read what the branch has kept; and dropout in a branch."""
  xs, ns = [floats(3, 2), floats(3, 2), floats(2, 2)], [np.int32(5), np.int32(3), np.int32(1)]
  x, n = feed("x", xs, [None, 2]), feed("n", ns, [])

  def inner(i: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf1.while_loop(lambda j, _: j < i, lambda j, z: (j + 1, tf.sin(z) * y), [0, y])[1]

  def body(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return i + 1, tf1.cond(i > 0, lambda: tf1.cond(i % 2 > 0, lambda: inner(i, y), lambda: y * y),
                           lambda: tf.cos(y) * x)

  _, y = tf1.while_loop(lambda i, _: i < n, body, [0, x])
  z = tf1.cond(n > 1, lambda: tf1.cond(n < 5, lambda: inner(n, x), lambda: x), lambda: x * x)
  w = tf.constant((0.4 * floats(2, 2)).astype(np.float32))

  def mixed(i: tf.Tensor, v: tf.Tensor, u: tf.Tensor) -> tuple[tf.Tensor, ...]:
    v = tf1.cond(tf.reduce_sum(v) > 0.0, lambda: tf.tanh(tf.matmul(v, w)), lambda: v * u)
    return i + 1, v, inner(i, v) + u

  v, u = tf1.cond(n > 1, lambda: tuple(tf1.while_loop(lambda i, *_: i < n, mixed, [0, z, x])[1:]), lambda: (x, z))
  dropped = tf1.cond(n > 1, lambda: tf1.nn.dropout(x, rate=0.5), lambda: x)
  kept = gradients(tf.sin(dropped), {"kept": x})["kept"]
  return {"x": xs, "n": ns}, {
      "y": y, "z": z, "same_mask": tf.equal(tf.equal(dropped, 0.0), tf.equal(kept, 0.0)),
      "v": v, "u": u, **gradients(tf.reduce_sum(y * y) + tf.reduce_sum(v) + tf.reduce_sum(tf.sin(u)),
                                  {"dx": x, "dw": w})}


def by_hand() -> Built:
  """Merges in both orders, handles that change places, and flows that others read."""
  xs, ps = [floats(3), floats(3)], [np.array(True), np.array(False)]
  x, p = feed("x", xs, [3]), feed("p", ps, [])
  off, on = raw.Switch(data=x, pred=p)
  first, first_index = raw.Merge(inputs=[off * 2.0, on * 3.0])
  second, second_index = raw.Merge(inputs=[on + 1.0, off - 1.0])
  stack = raw.StackV2(max_size=-1, elem_type=tf.float32)
  pushed = raw.StackPushV2(handle=stack, elem=x)
  with tf.control_dependencies([pushed]):
    popped = tf1.cond(p, lambda: raw.StackPopV2(handle=stack, elem_type=tf.float32), lambda: x * 2.0)
  stack = raw.StackV2(max_size=-1, elem_type=tf.float32)
  same, _ = raw.Merge(inputs=list(raw.Switch(data=stack, pred=p)))
  pushed = raw.StackPushV2(handle=stack, elem=x)
  with tf.control_dependencies([pushed]):
    pushed = raw.StackPushV2(handle=same, elem=x[:1])
  with tf.control_dependencies([pushed]):
    top = raw.StackPopV2(handle=stack, elem_type=tf.float32)
  with tf.control_dependencies([top]):
    bottom = raw.StackPopV2(handle=same, elem_type=tf.float32)
  array = raw.TensorArrayV3(size=2, dtype=tf.float32)
  flow = raw.TensorArrayWriteV3(handle=array.handle, index=1, value=x, flow_in=array.flow)
  none = raw.TensorArrayV3(size=0, dtype=tf.float32)
  joined = raw.TensorArrayConcatV3(
      handle=none.handle, flow_in=none.flow, dtype=tf.float32, element_shape_except0=[2])
  return {"x": xs, "p": ps}, {
      "first": first, "first_index": first_index, "second": second, "second_index": second_index,
      "popped": popped, "top": top, "bottom": bottom, "flow": flow + 1.0,
      "read": raw.TensorArrayReadV3(handle=array.handle, index=1, flow_in=flow, dtype=tf.float32),
      "joined": joined.value, "lengths": joined.lengths}


def old_versions() -> Built:
  """What with_old_versions() turns into stacks and arrays of versions 1 and 2."""
  xs = [floats(3, 2)]
  x = feed("x", xs, [3, 2])
  outputs: Tensors = {}
  with tf.name_scope("v1"):
    stack = raw.StackV2(max_size=-1, elem_type=tf.float32)
    pushed = tf.constant(0)
    for i in range(3):
      with tf.control_dependencies([pushed]):
        pushed = raw.StackPushV2(handle=stack, elem=x[i] * 2.0)
    for i in range(3):
      with tf.control_dependencies([pushed]):
        pushed = outputs[f"popped_{i}"] = raw.StackPopV2(handle=stack, elem_type=tf.float32)
    with tf.control_dependencies([pushed]):
      closed = raw.StackCloseV2(handle=stack)
    with tf.control_dependencies([closed]):
      one = tf.constant(1.0)
    first = raw.TensorArrayV3(size=3, dtype=tf.float32, clear_after_read=False).handle
    flow = raw.TensorArrayScatterV3(handle=first, indices=[0, 1, 2], value=x, flow_in=one, name="Unpack")
    outputs["packed"] = raw.TensorArrayGatherV3(
        handle=first, indices=[0, 1, 2], flow_in=flow, dtype=tf.float32, name="Pack")
    outputs["gathered"] = raw.TensorArrayGatherV3(
        handle=first, indices=[2, 0], flow_in=flow, dtype=tf.float32)
    outputs["read"] = raw.TensorArrayReadV3(handle=first, index=1, flow_in=flow, dtype=tf.float32)
    outputs["size"] = raw.TensorArraySizeV3(handle=first, flow_in=flow)
    gradient = raw.TensorArrayGradV3(handle=first, flow_in=flow, source="g").grad_handle
    flow = raw.TensorArrayWriteV3(handle=gradient, index=0, value=x[0], flow_in=flow)
    flow = raw.TensorArrayScatterV3(handle=gradient, indices=[1, 0], value=x[1:], flow_in=flow)
    outputs["sums"] = raw.TensorArrayGatherV3(
        handle=gradient, indices=[0, 1, 2], flow_in=flow, dtype=tf.float32, name="Pack_1")
  with tf.name_scope("v2"):
    second = raw.TensorArrayV3(size=2, dtype=tf.float32).handle
    flow = raw.TensorArraySplitV3(handle=second, value=x, lengths=np.array([1, 2]), flow_in=one)
    again = raw.TensorArrayGradV3(handle=second, flow_in=flow, source="g").grad_handle
    with tf.control_dependencies([again]):
      outputs["joined"], outputs["lengths"] = raw.TensorArrayConcatV3(
          handle=second, flow_in=flow, dtype=tf.float32)
    flow = raw.TensorArrayWriteV3(handle=again, index=1, value=x[1:], flow_in=flow)
    outputs["gradient"] = raw.TensorArrayConcatV3(handle=again, flow_in=flow, dtype=tf.float32).value
    third = raw.TensorArrayV3(size=0, dtype=tf.float32, dynamic_size=True).handle
    _, flow = tf1.while_loop(lambda i, _: i < 3, lambda i, flow: (i + 1, raw.TensorArrayWriteV3(
        handle=third, index=i, value=x[i] * x[i], flow_in=flow)), [0, one])
    outputs["squares"] = raw.TensorArrayGatherV3(
        handle=third, indices=[0, 2, 1], flow_in=flow, dtype=tf.float32)
  return {"x": xs}, outputs


# The last producer that may write version 1.
OLD_PRODUCER = 15


def with_old_versions(graph: tf1.GraphDef) -> tf1.GraphDef:
  graph = type(graph).FromString(graph.SerializeToString())
  graph.versions.producer = OLD_PRODUCER
  for node in graph.node:
    scope = node.name.split("/", maxsplit=1)[0]
    if scope not in ("v1", "v2"):
      continue
    if node.op == "StackV2":
      del node.input[:]
    if node.op.startswith(("Stack", "TensorArray")):
      node.op = node.op[:-2] + ("V2" if scope == "v2" else "")
      node.attr.pop("identical_element_shapes", None)
    if "/Pack" in node.name and node.op == "TensorArrayGather":
      node.op = "TensorArrayPack"
      del node.input[1]
    if node.name.endswith("/Unpack"):
      node.op = "TensorArrayUnpack"
      del node.input[1]
    for value in node.attr.values():
      if value.type == tf.resource.as_datatype_enum:
        value.type = tf.string.as_datatype_enum
  return graph


MODELS: dict[str, Callable[[], Built]] = {
    "loop": loop(False, 10), "swapped": loop(True, 1), "nested": nested, "conditions": conditions,
    "growing": growing, "several": several, "arrays": arrays, "pieces": pieces,
    "higher_order": higher_order, "recurrent": recurrent, "old_versions": old_versions,
    "inner_loops": inner_loops, "by_hand": by_hand}


def write(out: pathlib.Path, name: str) -> None:
  global rng  # pylint: disable=global-statement
  rng = np.random.default_rng(37 + list(MODELS).index(name))
  target = control.fresh(out, name)
  tf1.disable_control_flow_v2()
  with tf.Graph().as_default() as graph, tf1.Session() as session:
    inputs, outputs = MODELS[name]()
    fetches = {k: tf.identity(v, f"out_{k}") for k, v in outputs.items()}
    if name == "old_versions":
      write_old(target, with_old_versions(graph.as_graph_def()), inputs, list(fetches))
      return
    uninitialized = set(session.run(tf1.report_uninitialized_variables()))
    session.run([v.initializer for v in tf1.global_variables() if v.op.name.encode() in uninitialized])
    for i in range(len(next(iter(inputs.values())))):
      fed = {f"{k}:0": np.asarray(v[i]) for k, v in inputs.items()}
      values = session.run(fetches, fed)
      control.save(target, f"_{i}" if i else "", fed, {f"out_{k}:0": v for k, v in values.items()})
    graph_def = tf1.graph_util.convert_variables_to_constants(
        session, graph.as_graph_def(), [f"out_{k}" for k in fetches])
  write_graph(target, graph_def)


def write_graph(target: pathlib.Path, graph_def: tf1.GraphDef) -> None:
  (target / "graph.pb").write_bytes(graph_def.SerializeToString())
  (target / "model.json").write_text(json.dumps(
      {**models.versions(), "kind": "graphdef", "model": "graph.pb"}, indent=2) + "\n")


def write_old(target: pathlib.Path, graph_def: tf1.GraphDef, inputs: dict[str, list[np.ndarray]],
              names: list[str]) -> None:
  fed = {f"{k}:0": v[0] for k, v in inputs.items()}
  with tf.Graph().as_default(), tf1.Session() as session:
    tf.import_graph_def(graph_def, name="")
    values = session.run([f"out_{k}:0" for k in names], fed)
  control.save(target, "", fed, {f"out_{k}:0": v for k, v in zip(names, values)})
  write_graph(target, graph_def)


if __name__ == "__main__":
  sys.exit(control.command_line(__doc__, {name: write for name in MODELS}))
