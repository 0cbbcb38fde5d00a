#!/usr/bin/env python3
"""Writes small models with control flow: branches, loops, tensor lists, RNNs.

  tests/makers/control_models.py --out tests/models/control [NAME…]

Each NAME/ holds saved_model (or graph.pb, frozen) and inputs*.npz with
outputs*.npz, as tests/models/README.md tells.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import sys
from typing import Any, Callable

import models  # sets the environment before TensorFlow is imported
import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import convert_to_constants
from tensorflow.python.framework import function
from tensorflow.python.ops import composite_tensor_ops, functional_ops

tf1 = tf.compat.v1
Arrays = dict[str, np.ndarray]
RNG = np.random.default_rng(31)


def floats(*shape: int) -> np.ndarray:
  return RNG.normal(0, 1, shape).astype(np.float32)


def fresh(out: pathlib.Path, name: str) -> pathlib.Path:
  target = out / name
  if target.exists():
    shutil.rmtree(target)
  target.mkdir(parents=True)
  record = {**models.versions(), "kind": "saved_model", "model": "saved_model"}
  (target / "model.json").write_text(json.dumps(record, indent=2) + "\n")
  return target


def save(target: pathlib.Path, suffix: str, inputs: Arrays, outputs: Arrays) -> None:
  np.savez_compressed(target / f"inputs{suffix}.npz", **inputs)
  np.savez_compressed(target / f"outputs{suffix}.npz", **{
      k: v.astype("S") if v.dtype == object else v for k, v in outputs.items()})


def command_line(description: str, makers: dict[str, Callable[[pathlib.Path, str], None]]) -> int:
  """The program of a file like this one: writes the models of the names given, or all."""
  parser = argparse.ArgumentParser(description=description.split("\n", maxsplit=1)[0])
  parser.add_argument("--out", required=True, type=pathlib.Path)
  parser.add_argument("names", nargs="*", choices=[[], *makers])
  args = parser.parse_args()
  for name, write in makers.items():
    if not args.names or name in args.names:
      write(args.out, name)
  return 0


def spec(name: str, dtype: tf.DType, *shape: int | None) -> tf.TensorSpec:
  return tf.TensorSpec(shape, dtype, name)


class Branches(tf.Module):
  """tf.cond and tf.switch_case, with variables read in the branches."""

  def __init__(self) -> None:
    super().__init__()
    self.first = tf.Variable(floats(4, 3))
    self.second = tf.Variable(floats(4, 3))

  @tf.function(input_signature=[
      spec("x", tf.float32, None, 4), spec("which", tf.int32)])
  def run(self, x: tf.Tensor, which: tf.Tensor) -> dict[str, tf.Tensor]:
    chosen = tf.cond(which > 1, lambda: tf.nn.relu(tf.matmul(x, self.first)),
                     lambda: tf.matmul(x, self.second) + 1.0)
    cases = tf.switch_case(which, [
        lambda: x * 2.0, lambda: tf.reverse(x, [0]), lambda: x[:1]])
    return {"chosen": chosen, "cases": cases,
            "sum": tf.cond(tf.reduce_sum(chosen) > 0, lambda: which,
                           lambda: -which)}


class Loops(tf.Module):
  """Loops: fixed and changing shapes, nested, over tensor lists."""

  def __init__(self) -> None:
    super().__init__()
    self.weights = tf.Variable(0.4 * floats(4, 4))
    self.bias = tf.Variable(floats(4))

  @tf.function(input_signature=[
      spec("x", tf.float32, None, 4), spec("n", tf.int32)])
  def run(self, x: tf.Tensor, n: tf.Tensor) -> dict[str, tf.Tensor]:
    fixed = x
    for _ in tf.range(n):
      fixed = tf.tanh(tf.matmul(fixed, self.weights) + self.bias)
    grown = x
    i = tf.constant(0)
    while i < n:
      tf.autograph.experimental.set_loop_options(shape_invariants=[
          (grown, tf.TensorShape([None, 4]))])
      grown = tf.concat([grown, tf.nn.relu(grown[-1:] + 1.0)], 0)
      i += 1
    nested = tf.zeros([4])
    for i in tf.range(n):
      for j in tf.range(i + 1):
        if j % 2 == 0:
          nested += x[0] * tf.cast(j + 1, tf.float32)
        else:
          nested -= 0.5
    array = tf.TensorArray(tf.float32, n, element_shape=[4])
    for i in tf.range(n):
      array = array.write(i, x[i % tf.shape(x)[0]] * tf.cast(i, tf.float32))
    pieces = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
    for i in tf.range(n):
      pieces = pieces.write(i, x[: i % 2 + 1])
    rows = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)
    return {"fixed": fixed, "grown": grown, "nested": nested,
            "stacked": array.stack(), "third": array.read(2),
            "gathered": array.gather([1, 0]), "joined": pieces.concat(),
            "size": pieces.size(), "rows": rows.scatter([0], x[1:2]).stack()}


class SharedLoops(tf.Module):
  """A loop and a branch that are called at the top and in another loop, there for other shapes."""

  @tf.function(input_signature=[spec("x", tf.float32, None)])
  def shrink(self, x: tf.Tensor) -> tf.Tensor:
    def step(i: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      return i + 1, (x * 0.5 + tf.reduce_mean(x)) / tf.cast(tf.size(x), tf.float32)
    last = tf.while_loop(lambda i, x: i < 3, step, [0, x],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]
    return tf.cond(last[0] > 0, lambda: last * tf.cast(tf.shape(x)[0], tf.float32), lambda: -last)

  @tf.function(input_signature=[spec("x", tf.float32, 4), spec("y", tf.float32, 2, 8)])
  def run(self, x: tf.Tensor, y: tf.Tensor) -> dict[str, tf.Tensor]:
    def step(i: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      return i + 1, total + tf.reduce_sum(self.shrink(y[i] * total))
    total = tf.while_loop(lambda i, total: i < 2, step, [0, 1.0])[1]
    return {"shrunk": self.shrink(x), "total": total}


class Lists(tf.Module):
  """TensorList ops by themselves."""

  @tf.function(input_signature=[
      spec("x", tf.float32, None, 3), spec("k", tf.int32)])
  def run(self, x: tf.Tensor, k: tf.Tensor) -> dict[str, tf.Tensor]:
    raw = tf.raw_ops
    shape = tf.constant([3])
    a = raw.TensorListFromTensor(tensor=x, element_shape=shape)
    a = raw.TensorListSetItem(input_handle=a, index=k, item=x[0] * 10.0)
    a = raw.TensorListPushBack(input_handle=a, tensor=x[1] + 1.0)
    popped = raw.TensorListPopBack(input_handle=a, element_shape=shape,
                                   element_dtype=tf.float32)
    empty = raw.EmptyTensorList(element_shape=[-1, 3], max_num_elements=-1,
                                element_dtype=tf.float32)
    for _ in range(2):
      empty = raw.TensorListPushBack(input_handle=empty, tensor=x[:2])
    joined = raw.TensorListConcatV2(
        input_handle=empty, element_shape=[-1, 3], leading_dims=tf.constant([], tf.int64),
        element_dtype=tf.float32)
    split = raw.TensorListSplit(tensor=x, element_shape=[-1, 3],
                                lengths=tf.constant([1, 3], tf.int64))
    reserved = raw.TensorListReserve(element_shape=shape, num_elements=4,
                                     element_dtype=tf.float32)
    reserved = raw.TensorListSetItem(input_handle=reserved, index=1, item=x[2])
    scattered = raw.TensorListScatterV2(
        tensor=x[:2], indices=[3, 0], element_shape=shape, num_elements=-1)
    resized = raw.TensorListResize(input_handle=a, size=k + 1)
    both = raw.TensorListConcatLists(input_a=a, input_b=resized,
                                     element_dtype=tf.float32)

    def stack(handle: tf.Tensor, element: list[int] | None = None) -> tf.Tensor:
      return raw.TensorListStack(input_handle=handle, element_dtype=tf.float32,
                                 element_shape=[3] if element is None else element)

    return {
        "a": stack(a), "popped": popped.tensor, "rest": stack(popped.output_handle),
        "joined": joined.tensor, "lengths": joined.lengths,
        "piece": raw.TensorListGetItem(input_handle=split, index=1,
                                       element_shape=[-1, 3], element_dtype=tf.float32),
        "reserved": stack(reserved), "zero": raw.TensorListGetItem(
            input_handle=reserved, index=0, element_shape=shape,
            element_dtype=tf.float32),
        "scattered": stack(scattered), "resized": stack(resized, [-1]),
        "both": stack(both), "length": raw.TensorListLength(input_handle=both),
        "shape": raw.TensorListElementShape(input_handle=empty, shape_type=tf.int64),
        "gathered": raw.TensorListGather(input_handle=a, indices=[2, 0, 2],
                                         element_shape=shape, element_dtype=tf.float32)}


class Mapped(tf.Module):
  """tf.map_fn over the rows of ragged tensors, which pass through variant tensors."""

  @tf.function(input_signature=[
      spec("values", tf.float32, None), spec("splits", tf.int64, None)])
  def run(self, values: tf.Tensor, splits: tf.Tensor) -> dict[str, tf.Tensor]:
    rows = tf.RaggedTensor.from_row_splits(values, splits)
    sums = tf.map_fn(tf.reduce_sum, rows, fn_output_signature=tf.float32)
    flipped = tf.map_fn(lambda x: x[::-1] + 1, rows, fn_output_signature=tf.RaggedTensorSpec(
        [None], tf.float32, ragged_rank=0))
    nested = tf.RaggedTensor.from_row_splits(rows, tf.constant([0, 1, 3], tf.int64))
    twice = tf.map_fn(lambda x: tf.concat([x, x], 1), nested,
                      fn_output_signature=tf.RaggedTensorSpec([None, None], tf.float32, ragged_rank=1))
    return {"sums": sums, "flipped": flipped.values, "flipped_splits": flipped.row_splits,
            "twice": twice.flat_values, "twice_splits": twice.nested_row_splits[1],
            "twice_outer": twice.nested_row_splits[0]}


class RaggedGradients(tf.Module):
  """Gradients of tf.map_fn over ragged tensors, and of what their variants hold."""

  @tf.function(input_signature=[
      spec("values", tf.float32, None, 2), spec("splits", tf.int64, None)])
  def run(self, values: tf.Tensor, splits: tf.Tensor) -> dict[str, tf.Tensor]:
    def mapped(x: tf.Tensor) -> tf.Tensor:
      rows = tf.RaggedTensor.from_row_splits(x, splits)
      squares = tf.map_fn(lambda row: row * row, rows, fn_output_signature=tf.RaggedTensorSpec(
          [None, 2], tf.float32, ragged_rank=0))
      sums = tf.map_fn(lambda row: tf.reduce_sum(row * row, 0), rows,
                       fn_output_signature=tf.float32)
      return tf.reduce_sum(squares.values * 3.0) + tf.reduce_sum(sums * [2.0, -1.0])

    def nested(x: tf.Tensor) -> tf.Tensor:
      rows = tf.RaggedTensor.from_nested_row_splits(x, [tf.constant([0, 1, 3], tf.int64), splits])
      cubes = tf.map_fn(lambda row: row * row * row, rows, fn_output_signature=tf.RaggedTensorSpec(
          [None, None, 2], tf.float32, ragged_rank=1))
      return tf.reduce_sum(cubes.flat_values)

    outputs = {}
    for function in (mapped, nested):
      with tf.GradientTape() as tape:
        tape.watch(values)
        loss = function(values)
      outputs[function.__name__] = tape.gradient(loss, values)
    raw = tf.raw_ops

    def encode(part: tf.Tensor) -> tf.Tensor:
      return raw.RaggedTensorToVariant(
          rt_nested_splits=[], rt_dense_values=part, batched_input=False)

    def gradient(parts: tf.Tensor, splits: tf.Tensor, shape: Any, dtype: tf.DType) -> tf.Tensor:
      return raw.RaggedTensorToVariantGradient(
          encoded_ragged_grad=parts, row_splits=splits, dense_values_shape=shape, Tvalues=dtype)

    missing = raw.EmptyTensorList(
        element_shape=tf.constant(-1), max_num_elements=-1, element_dtype=tf.float32)
    some = tf.stack([encode(values[:2]), missing, encode(values[2:])])
    gaps = tf.constant([0, 2, 5, 9])
    outputs["gap"] = gradient(some, gaps, tf.shape(values) + [3, 0], tf.float32)
    outputs["gap_only"] = gradient(missing, gaps, [5, 3], tf.float32)
    outputs["alone"] = gradient(encode(values), splits, [1], tf.float32)
    outputs["square"] = gradient(tf.reshape(tf.stack([encode(values[:1])] * 4), [2, 2]),
                                 tf.constant([0, 1, 2, 3, 4]), [8], tf.float32)
    outputs["zeros"] = gradient(raw.ZerosLike(x=encode(values)), splits, [1], tf.float32)
    outputs["sum"] = gradient(raw.AddN(inputs=[encode(values), encode(values + 1.0)]), splits, [1],
                              tf.float32)
    for dtype in (tf.float64, tf.float16, tf.int8, tf.uint8, tf.int16, tf.uint16,
                  tf.int32, tf.uint32, tf.int64, tf.uint64, tf.bool, tf.complex64, tf.complex128,
                  tf.string):
      cast = tf.strings.as_string if dtype == tf.string else lambda x, d=dtype: tf.cast(x, d)
      cells = cast(tf.cast(tf.range(tf.size(values)) % 100, tf.float32))
      parts = raw.RaggedTensorToVariant(
          rt_nested_splits=[splits], rt_dense_values=cells[:splits[-1]], batched_input=True)
      outputs[dtype.name] = gradient(parts, splits, [splits[-1]], dtype)
    return outputs


class Batched(tf.Module):
  """A function whose calls TensorFlow collects into batches."""

  def __init__(self) -> None:
    super().__init__()
    self.weights = tf.Variable(floats(4, 3))

  @tf.function(input_signature=[spec("x", tf.float32, None, 4)])
  def run(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    weights = tf.identity(self.weights)

    @tf.nondifferentiable_batch_function(1, 4, 100, autograph=False)
    def scores(rows: tf.Tensor) -> tf.Tensor:
      return tf.nn.softmax(tf.matmul(rows, weights))

    return {"scores": scores(tf.exp(x))}


class Suppression(tf.Module):
  """What ends an SSD's serving signature."""

  @tf.function(input_signature=[spec("boxes", tf.float32, None, None, 4),
                                spec("scores", tf.float32, None, None)])
  def run(self, boxes: tf.Tensor, scores: tf.Tensor) -> dict[str, tf.Tensor]:
    indices, valid = tf.image.non_max_suppression_padded(
        boxes, scores, 20, iou_threshold=0.5, score_threshold=0.1, pad_to_max_output_size=True,
        sorted_input=False, canonicalized_coordinates=True, tile_size=32)
    return {"indices": indices, "valid": valid}


class GriffinLim(tf.Module):
  """The sound of frames of which only magnitudes are known."""

  @tf.function(input_signature=[spec("magnitudes", tf.float32, None, None, 33)])
  def run(self, magnitudes: tf.Tensor) -> dict[str, tf.Tensor]:
    size, step = 64, 16
    window = tf.signal.inverse_stft_window_fn(step)
    known = spectrum = tf.cast(magnitudes, tf.complex64)
    for _ in range(3):
      sound = tf.signal.inverse_stft(spectrum, size, step, window_fn=window)
      found = tf.signal.stft(sound, size, step)
      spectrum = known * found / tf.cast(tf.maximum(tf.abs(found), 1e-3), tf.complex64)
    return {"sound": tf.signal.inverse_stft(spectrum, size, step, window_fn=window)}


class TimeDistributed(tf.Module):
  """A recurrent layer of Keras for each of several sequences."""

  def __init__(self) -> None:
    super().__init__()
    keras.utils.set_random_seed(3)
    self.layer = keras.layers.TimeDistributed(keras.layers.Bidirectional(keras.layers.GRU(3)))
    self.layer.build((None, None, None, 3))

  @tf.function(input_signature=[tf.TensorSpec([None, None, None, 3], name="x")])
  def run(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"y": self.layer(x)}


class Wrapped(tf.Module):
  """What first graphs with functions have: For; tensors in a variant; a batch of one call."""

  @tf.function(input_signature=[spec("x", tf.float32, None, 3), spec("limit", tf.int32),
                                spec("step", tf.int32)])
  def run(self, x: tf.Tensor, limit: tf.Tensor, step: tf.Tensor) -> dict[str, tf.Tensor]:
    @function.Defun(tf.int32, tf.float32, tf.int32)
    def body(i: tf.Tensor, y: tf.Tensor, n: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      return tf.tanh(y) + tf.cast(i, tf.float32), n + i

    y, n = functional_ops.For(1, limit, step, [x, tf.constant(0)], body)
    names = tf.type_spec_from_value(tf.RaggedTensor.from_row_lengths(y, [tf.shape(y)[0]]))
    whole = composite_tensor_ops.composite_tensor_to_variants(
        tf.RaggedTensor.from_row_lengths(y, [tf.shape(y)[0]]))
    parts = composite_tensor_ops.composite_tensor_from_variant(whole, names)
    batch = tf.raw_ops.Batch(in_tensors=[y], num_batch_threads=1, max_batch_size=8,
                             batch_timeout_micros=0, grad_timeout_micros=0)
    rest = tf.raw_ops.Unbatch(batched_tensor=-batch.batched_tensors[0],
                              batch_index=batch.batch_index, id=batch.id, timeout_micros=10**7)
    return {"y": y, "n": n, "lengths": parts.row_lengths(), "parts": parts.flat_values, "rest": rest}


class MapsRows(tf.Module):
  """MapDefun: a function of each row, with captured tensors and a variable."""

  def __init__(self) -> None:
    super().__init__()
    self.weights = tf.Variable(np.random.default_rng(9).normal(0, 1, (3, 2)).astype(np.float32))

  @tf.function(input_signature=[spec("x", tf.float32, None, 3), spec("n", tf.int32, None),
                                spec("words", tf.string, None, 2)])
  def run(self, x: tf.Tensor, n: tf.Tensor, words: tf.Tensor) -> dict[str, tf.Tensor]:
    @tf.function(input_signature=[
        spec("row", tf.float32, 3), spec("count", tf.int32), spec("pair", tf.string, 2),
        spec("scale", tf.float32), spec("weights", tf.float32, 3, 2)])
    def of_row(row: tf.Tensor, count: tf.Tensor, pair: tf.Tensor, scale: tf.Tensor,
               weights: tf.Tensor) -> tuple[tf.Tensor, ...]:
      y = tf.linalg.matvec(weights, row, transpose_a=True) * scale
      return y, tf.while_loop(lambda i, s: i < count, lambda i, s: (i + 1, s + y[0]),
                              [0, 0.0])[1], tf.strings.reduce_join(pair)

    def mapped(rows: list[tf.Tensor], shapes: list[list[int | None] | None]) -> list[tf.Tensor]:
      return tf.raw_ops.MapDefun(
          arguments=rows, captured_inputs=[tf.constant(0.5), self.weights.read_value()],
          output_types=[tf.float32, tf.float32, tf.string], output_shapes=shapes,
          f=of_row.get_concrete_function())

    y, sums, joined = mapped([x, n, words], [[2], [], []])
    loose = mapped([x[1:], n[1:], words[1:]], [[None], None, None])
    return {"y": y, "sums": sums, "joined": joined, "loose": loose[0], "loose_sums": loose[1]}


def boxes(batch: int, count: int) -> Arrays:
  rng = np.random.default_rng(5)
  corner = rng.random((batch, count, 2))
  sides = np.concatenate([corner, corner + 0.4 * rng.random((batch, count, 2))], -1)
  return {"boxes": sides.astype(np.float32),
          "scores": rng.random((batch, count)).astype(np.float32)}


def module(make: Callable[[], tf.Module], runs: dict[str, Arrays]) -> Callable:
  def write(out: pathlib.Path, name: str) -> None:
    target = fresh(out, name)
    net = make()
    path = target / "saved_model"
    tf.saved_model.save(net, str(path), signatures={"serving_default": net.run})
    for suffix, inputs in runs.items():
      save(target, suffix, inputs, models.run_signature(path, inputs))
  return write


def recurrent(layers: Callable[[], list[keras.layers.Layer]], masked: bool = False) -> Callable:
  def write(out: pathlib.Path, name: str) -> None:
    target = fresh(out, name)
    x = keras.Input([None, 6], name="x")
    y = x
    for layer in layers():
      y = layer(y)
    model = keras.Model(x, {"y": keras.layers.Dense(3, name="y")(y)})
    models.randomize(model, 17)
    path = target / "saved_model"
    model.export(str(path), verbose=False)
    for suffix, shape in {"": (2, 7, 6), "_one": (1, 3, 6)}.items():
      inputs = {"x": floats(*shape)}
      if masked:  # at the end, and in between
        inputs["x"][0, -2:] = 0
        inputs["x"][-1, 1] = 0
      save(target, suffix, inputs, models.run_signature(path, inputs))
  return write


def tf1_loop(out: pathlib.Path, name: str) -> None:
  """Frozen graph of TensorFlow 1: Enter, Merge, Switch, a cond, a TensorArray."""
  target = fresh(out, name)
  (target / "model.json").write_text(json.dumps(
      {**models.versions(), "kind": "graphdef", "model": "graph.pb"}, indent=2) + "\n")
  tf1.disable_control_flow_v2()
  weights = (0.4 * floats(4, 4)).astype(np.float32)
  with tf.Graph().as_default() as graph, tf1.Session() as session:
    x = tf1.placeholder(tf.float32, [None, 4], "x")
    n = tf1.placeholder(tf.int32, [], "n")

    def body(i: tf.Tensor, y: tf.Tensor, array: tf.TensorArray):
      y = tf.tanh(tf.matmul(y, tf.constant(weights)) + x)
      y = tf1.cond(i % 2 > 0, lambda: y * 0.5, lambda: y + 0.1)
      _, total = tf1.while_loop(
          lambda j, _: j < i, lambda j, t: (j + 1, t + tf.cast(j, tf.float32)),
          [0, tf.constant(0.0)])
      return i + 1, y + total * 0.01, array.write(i, y)

    _, y, array = tf1.while_loop(
        lambda i, *_: i < n, body,
        [0, x, tf.TensorArray(tf.float32, n, infer_shape=False)])
    tf.identity(y, "y")
    tf.identity(array.stack(), "all")
    inputs = {"x": floats(3, 4), "n": np.int32(4)}
    fetched = session.run(["y:0", "all:0"], {x: inputs["x"], n: inputs["n"]})
  tf.io.write_graph(graph.as_graph_def(), str(target), "graph.pb", as_text=False)
  tf1.enable_control_flow_v2()
  save(target, "", {f"{k}:0": np.asarray(v) for k, v in inputs.items()},
       {"y:0": fetched[0], "all:0": fetched[1]})


def tf1_branch_values(out: pathlib.Path, name: str) -> None:
  """Frozen graph of TensorFlow 1 whose outputs are tensors inside a branch."""
  target = fresh(out, name)
  (target / "model.json").write_text(json.dumps(
      {**models.versions(), "kind": "graphdef", "model": "graph.pb"}, indent=2) + "\n")
  tf1.disable_control_flow_v2()
  with tf.Graph().as_default() as graph:
    x = tf1.placeholder(tf.float32, [None, 4], "x")
    which = tf1.placeholder(tf.bool, [], "which")
    kept = []

    def branch() -> tf.Tensor:
      inner = tf.exp(x, "inner")
      kept.append(tf1.random_uniform([4], seed=3, name="noise"))
      deeper = tf1.cond(x[0, 0] > 100, lambda: x, lambda: tf.tanh(inner, "deeper"))
      return inner + kept[0] + deeper

    joined = tf.identity(tf1.cond(which, branch, lambda: x - 1), "joined")
    _, alone = tf.raw_ops.Switch(data=x, pred=which)
    tf.multiply(alone, 2, "alone")
    inner = graph.get_tensor_by_name("cond/inner:0")
    deeper = graph.get_tensor_by_name("cond/cond/deeper:0")
    tf.identity(inner, "exp")
    tf.identity(deeper, "tanh")
    # The noise is drawn once: this is 0.
    tf.abs(tf.round(100 * (joined - inner - deeper - kept[0])), "nothing")
  names = ["alone:0", "exp:0", "tanh:0", "nothing:0"]
  inputs = {"x:0": floats(3, 4), "which:0": np.bool_(True)}
  with tf1.Session(graph=graph) as session:
    fetched = session.run(names, inputs)
  assert not fetched[-1].any()
  tf.io.write_graph(graph.as_graph_def(), str(target), "graph.pb", as_text=False)
  tf1.enable_control_flow_v2()
  save(target, "", {k: np.asarray(v) for k, v in inputs.items()}, dict(zip(names, fetched)))


def lowered(out: pathlib.Path, name: str) -> None:
  """What freezing makes of Case, If and While: _SwitchN, Switch, Merge, Enter."""
  target = fresh(out, name)
  (target / "model.json").write_text(json.dumps(
      {**models.versions(), "kind": "graphdef", "model": "graph.pb"}, indent=2) + "\n")
  w = tf.Variable((0.4 * floats(4, 4)).astype(np.float32))

  @tf.function(input_signature=[spec("x", tf.float32, None, 4), spec("n", tf.int32)])
  def run(x: tf.Tensor, n: tf.Tensor) -> dict[str, tf.Tensor]:
    def checked() -> tf.Tensor:
      tf.debugging.assert_greater_equal(tf.abs(n - 1), 2)
      return x @ w
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = tf.switch_case(n, [lambda: x @ w, lambda: x[:1] * 3.0, lambda: tf.concat([x, x], 0), checked])
      loss = tf.reduce_sum(y * y)
    z = x
    for i in tf.range(n):
      z = tf.switch_case(i, [
          lambda: z + 1.0, lambda: z @ w, lambda: tf.cond(z[0, 0] > 0.0, lambda: -z, lambda: z * 0.5)])
    return {"y": y, "dx": tape.gradient(loss, x), "z": z, "constant": tf.switch_case(
        n - 1, [lambda: tf.constant(1.0), lambda: tf.reduce_sum(x), lambda: tf.constant(3.0)])}

  frozen = convert_to_constants.convert_variables_to_constants_v2(run.get_concrete_function())
  tf.io.write_graph(frozen.graph.as_graph_def(), str(target), "graph.pb", as_text=False)
  for i, n in enumerate((0, 1, 2, 3, 7, -1)):
    inputs = {"x": floats(2 + i % 2, 4), "n": np.int32(n)}
    values = frozen(**{k: tf.constant(v) for k, v in inputs.items()})
    save(target, f"_{i}" if i else "", {f"{k}:0": np.asarray(v) for k, v in inputs.items()},
         {o.name: v.numpy() for o, v in zip(frozen.outputs, tf.nest.flatten(values))})


MODELS: dict[str, Callable[[pathlib.Path, str], None]] = {
    "lowered": lowered,
    "branches": module(Branches, {
        f"_{i}": {"x": floats(2, 4), "which": np.int32(i)} for i in (0, 1, 2, 9)}),
    "loops": module(Loops, {
        "": {"x": floats(2, 4), "n": np.int32(4)},
        "_other": {"x": floats(3, 4), "n": np.int32(6)}}),
    "shared_loops": module(SharedLoops, {"": {"x": floats(4), "y": floats(2, 8)}}),
    "lists": module(Lists, {"": {"x": floats(4, 3), "k": np.int32(2)}}),
    "lstm": recurrent(lambda: [
        keras.layers.LSTM(5, return_sequences=True), keras.layers.LSTM(4)]),
    "gru": recurrent(lambda: [
        keras.layers.GRU(5, return_sequences=True),
        keras.layers.GRU(4, reset_after=False, go_backwards=True)]),
    "bidirectional": recurrent(lambda: [
        keras.layers.Bidirectional(keras.layers.LSTM(4, return_sequences=True))]),
    "masked": recurrent(lambda: [
        keras.layers.Masking(),
        keras.layers.Bidirectional(keras.layers.LSTM(4, return_sequences=True)),
        keras.layers.RNN(keras.layers.GRUCell(5, reset_after=False), return_sequences=True,
                         zero_output_for_mask=True)], masked=True),
    # A loop over the rows of a loop: branches pass on the variables that its body reads.
    "time_distributed": module(TimeDistributed, {
        "": {"x": floats(2, 3, 4, 3)}, "_b1": {"x": floats(1, 2, 1, 3)}}),
    "tf1_loop": tf1_loop,
    "tf1_branch_values": tf1_branch_values,
    "batched": module(Batched, {"": {"x": floats(3, 4)}}),
    "ragged_gradients": module(RaggedGradients, {
        "": {"values": floats(6, 2), "splits": np.array([0, 2, 2, 6])}}),
    "mapped": module(Mapped, {"": {"values": floats(6), "splits": np.array([0, 2, 2, 6])}}),
    "wrapped": module(Wrapped, {
        "": {"x": floats(4, 3), "limit": np.int32(6), "step": np.int32(2)},
        "_down": {"x": floats(2, 3), "limit": np.int32(-3), "step": np.int32(-1)},
        "_none": {"x": floats(1, 3), "limit": np.int32(1), "step": np.int32(0)}}),
    "maps_rows": module(MapsRows, {
        "": {"x": floats(4, 3), "n": np.array([2, 0, 5, 1], np.int32),
             "words": np.array([["a", "b"], ["", "cd"], ["e", ""], ["f", "ghi"]]).astype("S")},
        "_two": {"x": floats(2, 3), "n": np.array([1, 3], np.int32),
                 "words": np.array([["a", "b"], ["", "cd"]]).astype("S")}}),
    "suppression": module(Suppression, {"": boxes(1, 150), "_b2": boxes(2, 70)}),
    "griffin_lim": module(GriffinLim, {
        "": {"magnitudes": np.abs(floats(1, 12, 33))}, "_b2": {"magnitudes": np.abs(floats(2, 5, 33))}}),
}


if __name__ == "__main__":
  sys.exit(command_line(__doc__, MODELS))
