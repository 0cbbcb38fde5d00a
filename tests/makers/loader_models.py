#!/usr/bin/env python3
"""Writes tiny models in every file format that the loader reads.

  tests/makers/loader_models.py --out DIR

Each DIR/NAME holds a model, inputs.npz and outputs.npz (keys: the signature's
names, or for a GraphDef tensor names such as `x:0`); with several signatures
the files are inputs_SIGNATURE.npz and so on. model.json lists them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import shutil
import sys
from typing import Any

import models  # sets the environment before TensorFlow is imported
import keras
import numpy as np
import tensorflow as tf
from architectures import ARCHITECTURES, BERT_SMALL, Arrays, bert
from tensorflow.python.framework import convert_to_constants

tf1 = tf.compat.v1


def _fresh(out: pathlib.Path, name: str) -> pathlib.Path:
  target = out / name
  if target.exists():
    shutil.rmtree(target)
  target.mkdir(parents=True)
  return target


def _note(target: pathlib.Path, kind: str, model: str, **more: str) -> None:
  record = {**models.versions(), "kind": kind, "model": model, **more}
  (target / "model.json").write_text(json.dumps(record, indent=2) + "\n")


def _save(target: pathlib.Path, inputs: Arrays, outputs: Arrays,
          suffix: str = "") -> None:
  np.savez_compressed(target / f"inputs{suffix}.npz", **inputs)
  np.savez_compressed(target / f"outputs{suffix}.npz", **outputs)


def frozen(out: pathlib.Path, name: str) -> None:
  """A network of one input as frozen GraphDef, binary and text."""
  target = _fresh(out, f"frozen_{name}")
  architecture = ARCHITECTURES[name]
  model = models.build(name, architecture, True)
  rng = np.random.default_rng(7)
  arrays = architecture.inputs(rng, 2, architecture.size[1], True)
  spec = [tf.TensorSpec([None] + list(v.shape[1:]), v.dtype, name=k)
          for k, v in arrays.items()]
  function = tf.function(lambda *x: tf.identity(model(x[0]), "logits"))
  concrete = convert_to_constants.convert_variables_to_constants_v2(
      function.get_concrete_function(*spec))
  outputs = concrete(*[tf.constant(v) for v in arrays.values()])
  graph = concrete.graph.as_graph_def()
  tf.io.write_graph(graph, str(target), "graph.pb", as_text=False)
  tf.io.write_graph(graph, str(target), "graph.pbtxt", as_text=True)
  _save(target, {f"{k}:0": v for k, v in arrays.items()},
        {concrete.outputs[0].name: outputs[0].numpy()})
  _note(target, "graphdef", "graph.pb", text="graph.pbtxt")


class TwoSignatures(tf.Module):
  """Variables of several dtypes, nested calls, two signatures, two outputs."""

  def __init__(self) -> None:
    super().__init__()
    rng = np.random.default_rng(3)
    self.weights = tf.Variable(rng.normal(0, 1, (4, 3)).astype(np.float32))
    self.bias = tf.Variable(rng.normal(0, 1, 3).astype(np.float32))
    self.table = tf.Variable(rng.integers(-9, 9, (5, 2)), dtype=tf.int64)
    self.scale = tf.Variable(1.5, dtype=tf.float64)

  @tf.function
  def _affine(self, x: tf.Tensor) -> tf.Tensor:
    return tf.matmul(x, self.weights) + self.bias

  @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, "x")])
  def classify(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    logits = self._affine(x)
    return {"logits": logits, "probabilities": tf.nn.softmax(logits)}

  @tf.function(input_signature=[
      tf.TensorSpec([None], tf.int32, "index"),
      tf.TensorSpec([None, 2], tf.float64, "offset")])
  def lookup(self, index: tf.Tensor, offset: tf.Tensor) -> dict[str, tf.Tensor]:
    rows = tf.cast(tf.gather(self.table, index), tf.float64)
    return {"rows": rows * self.scale + offset}


def module(out: pathlib.Path) -> None:
  """tf.saved_model.save of a tf.Module with two signatures."""
  target = _fresh(out, "module_two_signatures")
  net = TwoSignatures()
  path = target / "saved_model"
  tf.saved_model.save(net, str(path), signatures={
      "serving_default": net.classify, "lookup": net.lookup})
  rng = np.random.default_rng(4)
  x = {"x": rng.normal(0, 1, (3, 4)).astype(np.float32)}
  _save(target, x, models.run_signature(path, x), "_serving_default")
  y = {"index": np.array([4, 0, 2], np.int32),
       "offset": rng.normal(0, 1, (3, 2))}
  _save(target, y, models.run_signature(path, y, "lookup"), "_lookup")
  _note(target, "saved_model", "saved_model")


def _tf1_network(resource: bool, shards: int) -> tuple[tf.Tensor, tf.Tensor]:
  """Conv, batch norm, dense, on reference or resource variables."""
  rng = np.random.default_rng(5)
  count = 0

  def variable(name: str, *shape: int) -> tf.Tensor:
    nonlocal count
    count += 1
    value = rng.normal(0, 0.5, shape).astype(np.float32)
    with tf.device(f"/cpu:{count % shards}"):
      return tf1.get_variable(name, initializer=value, use_resource=resource)

  x = tf1.placeholder(tf.float32, [None, None, None, 2], "x")
  y = tf1.nn.conv2d(x, variable("kernel", 3, 3, 2, 4), strides=[1, 2, 2, 1],
                    padding="SAME")
  y = tf1.nn.bias_add(y, variable("conv_bias", 4))
  y, _, _ = tf1.nn.fused_batch_norm(
      y, variable("gamma", 4), variable("beta", 4), variable("mean", 4),
      tf.square(variable("deviation", 4)) + 0.5, is_training=False)
  y = tf1.nn.relu6(y)
  y = tf.reduce_mean(y, [1, 2])
  with tf1.variable_scope("head"):
    y = tf.matmul(y, variable("weights", 4, 3)) + variable("bias", 3)
  return x, tf.identity(y, "logits")


def tf1_style(out: pathlib.Path, name: str, resource: bool,
              shards: int = 1) -> None:
  """A SavedModel written the TensorFlow 1 way, by a builder from a session.

  With shards > 1, variables lie on that many devices, and each device's
  variables are saved in a data file of their own.
  """
  target = _fresh(out, name)
  path = target / "saved_model"
  rng = np.random.default_rng(6)
  value = rng.normal(0, 1, (2, 7, 6, 2)).astype(np.float32)
  config = tf1.ConfigProto(device_count={"CPU": shards})
  with tf.Graph().as_default(), tf1.Session(config=config) as session:
    x, logits = _tf1_network(resource, shards)
    session.run(tf1.global_variables_initializer())
    builder = tf1.saved_model.Builder(str(path))
    signature = tf1.saved_model.predict_signature_def(
        {"pixels": x}, {"scores": logits})
    builder.add_meta_graph_and_variables(
        session, [tf1.saved_model.tag_constants.SERVING],
        {"serving_default": signature}, strip_default_attrs=True,
        saver=tf1.train.Saver(sharded=shards > 1))
    builder.save()
    scores = session.run(logits, {x: value})
  files = len(list((path / "variables").glob("*.data-*")))
  if files != shards:
    raise SystemExit(f"{name}: expected {shards} data files, got {files}")
  _save(target, {"pixels": value}, {"scores": scores})
  _note(target, "saved_model", "saved_model")


def tf1_partitioned(out: pathlib.Path) -> None:
  """A TensorFlow 1 variable in three parts, each saved as a slice."""
  target = _fresh(out, "tf1_partitioned").resolve()
  rng = np.random.default_rng(28)
  with tf.Graph().as_default(), tf1.Session() as session:
    x = tf1.placeholder(tf.float32, [None, 200], "x")
    parts = tf1.get_variable(
        "w", [200, 3], partitioner=tf1.fixed_size_partitioner(3),
        initializer=tf1.random_normal_initializer(seed=29), use_resource=False)
    y = tf.matmul(x, tf.convert_to_tensor(parts))
    session.run(tf1.global_variables_initializer())
    builder = tf1.saved_model.Builder(str(target / "saved_model"))
    builder.add_meta_graph_and_variables(
        session, [tf1.saved_model.tag_constants.SERVING],
        {"serving_default": tf1.saved_model.predict_signature_def(
            {"x": x}, {"y": y})})
    builder.save()
    value = rng.normal(0, 1, (2, 200)).astype(np.float32)
    result = session.run(y, {x: value})
  _save(target, {"x": value}, {"y": result})
  _note(target, "saved_model", "saved_model")


def bert_additive_mask(out: pathlib.Path) -> None:
  """The small BERT with Keras' other attention form (dropout in training)."""
  target = _fresh(out, "bert_additive_mask")
  path = target / "saved_model"
  model = bert(BERT_SMALL, "m", dropout=0.1)
  models.randomize(model, 21)
  model.export(str(path), verbose=False)
  x = ARCHITECTURES["bert4"].inputs(np.random.default_rng(10), 2, 9, True)
  _save(target, x, models.run_signature(path, x))
  _note(target, "saved_model", "saved_model")


def transposed(out: pathlib.Path) -> None:
  """A Keras decoder of transposed convolutions, for images of any size."""
  layers = keras.layers
  target = _fresh(out, "transposed")
  path = target / "saved_model"
  image = y = keras.Input((None, None, 4))
  y = layers.Conv2DTranspose(8, 4, strides=2, padding="same",
                             activation="relu")(y)
  y = layers.Conv2DTranspose(6, 3, padding="valid")(y)
  y = layers.BatchNormalization()(y)
  y = layers.LeakyReLU()(y)
  y = layers.Conv2DTranspose(5, 2, strides=2, padding="valid",
                             use_bias=False)(y)
  y = layers.Conv2DTranspose(3, 5, strides=2, padding="same",
                             activation="tanh")(y)
  model = keras.Model(image, y)
  models.randomize(model, 23)
  model.export(str(path), verbose=False)
  x = {model.input.name: np.random.default_rng(24).normal(
      0, 1, (2, 5, 4, 4)).astype(np.float32)}
  _save(target, x, models.run_signature(path, x))
  _note(target, "saved_model", "saved_model")


class Sliced(tf.Module):
  """A variable too large for one shard of the checkpoint."""

  def __init__(self) -> None:
    super().__init__()
    rng = np.random.default_rng(26)
    self.weights = tf.Variable(rng.normal(0, 1, (300, 3)).astype(np.float32))
    self.bias = tf.Variable(rng.normal(0, 1, 3).astype(np.float32))

  @tf.function(input_signature=[tf.TensorSpec([None, 300], tf.float32, "x")])
  def __call__(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"y": tf.matmul(x, self.weights) + self.bias}


def sliced(out: pathlib.Path) -> None:
  """A checkpoint in small shards, which cut a variable into slices."""
  target = _fresh(out, "sliced")
  path = target / "saved_model"
  policy = tf.train.experimental.MaxShardSizePolicy(1500)
  tf.saved_model.save(Sliced(), str(path), options=tf.saved_model.SaveOptions(
      experimental_sharding_callback=policy))
  x = {"x": np.random.default_rng(27).normal(
      0, 1, (2, 300)).astype(np.float32)}
  _save(target, x, models.run_signature(path, x))
  _note(target, "saved_model", "saved_model")


WORDS = np.array([["hello", "big"], ["", "world"], ["big world", "hello"]])


class Tables(tf.Module):
  """Tables from tensors and from an asset, used in a loop's body as well."""

  def __init__(self, file: pathlib.Path) -> None:
    super().__init__()
    lookup = tf.lookup
    self.ids = lookup.StaticHashTable(lookup.TextFileInitializer(
        str(file), tf.string, lookup.TextFileIndex.WHOLE_LINE, tf.int64,
        lookup.TextFileIndex.LINE_NUMBER), -1)
    self.next = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(
        tf.constant([0, 1, 2], tf.int64), tf.constant([2, 0, 7], tf.int64)), 9)
    self.names = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(
        tf.range(3, dtype=tf.int64), tf.strings.as_string(tf.range(3))), "?")

  @tf.function(input_signature=[tf.TensorSpec([None, None], tf.string, "words")])
  def __call__(self, words: tf.Tensor) -> dict[str, tf.Tensor]:
    ids = self.ids.lookup(words)
    _, last = tf.while_loop(
        lambda i, x: i < 2,
        lambda i, x: (i + 1, self.next.lookup(x)), [0, ids])
    return {"ids": ids, "last": last, "names": self.names.lookup(ids),
            "size": self.ids.size()}


def tables(out: pathlib.Path) -> None:
  """Hash tables that an initializer fills, one of them from an asset."""
  target = _fresh(out, "tables").resolve()
  with contextlib.chdir(target):  # the path is written into the model
    vocabulary = pathlib.Path("vocabulary.txt")
    vocabulary.write_text("hello\nworld\nbig world\n")
    tf.saved_model.save(Tables(vocabulary), "saved_model")
    vocabulary.unlink()  # the asset is a copy
  _table_model(target, "names")


class MutableTables(tf.Module):
  """Tables that are filled before the model is saved: the checkpoint has them."""

  def __init__(self) -> None:
    super().__init__()
    lookup = tf.lookup.experimental
    self.ids = lookup.MutableHashTable(tf.string, tf.int64, -1)
    self.ids.insert(tf.constant(["hello", "world", "big world"]),
                    tf.constant([4, 2, 0], tf.int64))
    self.scores = lookup.DenseHashTable(tf.int64, tf.float32, 0.25,
                                        empty_key=-5, deleted_key=-6)
    self.scores.insert(tf.constant([2, 4], tf.int64), tf.constant([1.5, -2]))
    self.empty = lookup.MutableHashTable(tf.int64, tf.string, "none")

  @tf.function(input_signature=[tf.TensorSpec([None, None], tf.string, "words")])
  def __call__(self, words: tf.Tensor) -> dict[str, tf.Tensor]:
    ids = self.ids.lookup(words)
    scores = self.scores.lookup(tf.reshape(ids, [-1]))
    return {"ids": ids, "scores": tf.reshape(scores, tf.shape(ids)),
            "empty": self.empty.lookup(ids), "size": self.ids.size()}


def _table_model(target: pathlib.Path, string_output: str) -> None:
  """What TensorFlow makes of WORDS in the model that lies in `target`."""
  signature = tf.saved_model.load(
      str(target / "saved_model")).signatures["serving_default"]
  outputs = {k: v.numpy() for k, v in
             signature(words=tf.constant(WORDS.tolist())).items()}
  outputs[string_output] = outputs[string_output].astype("S")
  _save(target, {"words": WORDS.astype("S")}, outputs)
  _note(target, "saved_model", "saved_model")


def mutable_tables(out: pathlib.Path) -> None:
  """Hash tables that the checkpoint restores."""
  target = _fresh(out, "mutable_tables").resolve()
  tf.saved_model.save(MutableTables(), str(target / "saved_model"))
  _table_model(target, "empty")


class AnonymousTables(tf.Module):
  """Tables of all kinds that have no name to be shared by, in a loop's body as well."""

  def __init__(self) -> None:
    super().__init__()
    lookup = tf.lookup
    self.ids, self.others = (
        lookup.StaticHashTable(lookup.KeyValueTensorInitializer(
            ["hello", "world"], tf.constant(values, tf.int64)), -1, experimental_is_anonymous=True)
        for values in ([1, 2], [5, 6]))
    self.names = lookup.experimental.MutableHashTable(
        tf.int64, tf.string, "none", experimental_is_anonymous=True)
    self.names.insert(tf.constant([5, -1], tf.int64), tf.constant(["five", "minus one"]))
    self.scores = lookup.experimental.DenseHashTable(
        tf.int64, tf.float32, 0.25, empty_key=-5, deleted_key=-6, initial_num_buckets=16,
        experimental_is_anonymous=True)
    self.scores.insert(tf.constant([2, 1], tf.int64), tf.constant([1.5, -2]))
    self.seen = lookup.experimental.MutableHashTable(
        tf.string, tf.int64, 0, experimental_is_anonymous=True)

  @tf.function(input_signature=[tf.TensorSpec([None, None], tf.string, "words")])
  def __call__(self, words: tf.Tensor) -> dict[str, tf.Tensor]:
    ids = self.ids.lookup(words)
    _, sums = tf.while_loop(
        lambda i, x: i < 2, lambda i, x: (i + 1, x + self.others.lookup(words)), [0, ids])
    with tf.control_dependencies([self.seen.insert(words, ids)]):
      seen = self.seen.lookup(words)
    return {"ids": ids, "sums": sums, "names": self.names.lookup(self.others.lookup(words)),
            "scores": tf.reshape(self.scores.lookup(tf.reshape(ids, [-1])), tf.shape(ids)),
            "seen": seen, "size": self.ids.size(),
            "scores_size": self.scores.size()}


def anonymous_tables(out: pathlib.Path) -> None:
  """Hash tables without names."""
  target = _fresh(out, "anonymous_tables").resolve()
  tf.saved_model.save(AnonymousTables(), str(target / "saved_model"))
  _table_model(target, "names")


def tf1_tables(out: pathlib.Path) -> None:
  """A TensorFlow 1 table from a file with columns, and its initializer."""
  target = _fresh(out, "tf1_tables").resolve()
  with (contextlib.chdir(target), tf.Graph().as_default(),
        tf1.Session() as session):
    file = pathlib.Path("scores.tsv")
    file.write_text("big\t3\t0.5\nhello\t4\t-2\nworld\t5\t1e3\n")
    words = tf1.placeholder(tf.string, [None, None], "words")
    path_of_table = tf.constant(str(file))
    tf1.add_to_collection(tf1.GraphKeys.ASSET_FILEPATHS, path_of_table)
    table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        path_of_table, tf.string, 0, tf.float32, 2), 0.25)
    scores = table.lookup(words)
    session.run(tf1.tables_initializer())
    builder = tf1.saved_model.Builder("saved_model")
    builder.add_meta_graph_and_variables(
        session, [tf1.saved_model.tag_constants.SERVING],
        {"serving_default": tf1.saved_model.predict_signature_def(
            {"words": words}, {"scores": scores})},
        assets_collection=tf1.get_collection(tf1.GraphKeys.ASSET_FILEPATHS),
        main_op=tf1.tables_initializer())
    builder.save()
    value = session.run(scores, {words: WORDS})
    file.unlink()
  _save(target, {"words": WORDS.astype("S")}, {"scores": value})
  _note(target, "saved_model", "saved_model")


def tf1_local_variables(out: pathlib.Path) -> None:
  """Variables that no checkpoint has: what runs after loading assigns them."""
  target = _fresh(out, "tf1_local_variables")
  path = target / "saved_model"
  x = np.arange(3, dtype=np.float32)
  with tf.Graph().as_default(), tf1.Session() as session:
    given = tf1.placeholder(tf.float32, [None], "x")
    scale = tf1.get_variable("scale", initializer=np.float32(3))
    local = [tf1.get_variable(
        f"local_{i}", initializer=np.float32([i + 1]), use_resource=bool(i),
        collections=[tf1.GraphKeys.LOCAL_VARIABLES]) for i in range(2)]
    with tf.control_dependencies([v.initializer for v in local]):
      ready = tf.group(tf1.assign(local[1], np.float32([7])))
    y = given * scale + local[0] - local[1]
    session.run([tf1.global_variables_initializer(), ready])
    builder = tf1.saved_model.Builder(str(path))
    builder.add_meta_graph_and_variables(
        session, [tf1.saved_model.tag_constants.SERVING],
        {"serving_default": tf1.saved_model.predict_signature_def(
            {"x": given}, {"y": y})}, main_op=ready)
    builder.save()
    value = session.run(y, {given: x})
  _save(target, {"x": x}, {"y": value})
  _note(target, "saved_model", "saved_model")


class _Kernel(keras.layers.Layer):
  """A product with weights of the given name."""

  def __init__(self, weights: str) -> None:
    super().__init__(name="d")
    self.kernel = self.add_weight(shape=(4, 2), name=weights)

  def call(self, x: tf.Tensor) -> tf.Tensor:
    return x @ self.kernel


def same_names(out: pathlib.Path) -> None:
  """Layers whose variables have one name, or that which the export makes."""
  target = _fresh(out, "same_name_signatures")
  path = target / "saved_model"
  module = tf.Module()
  module.layers = [_Kernel(name) for name in ("kernel_1", "kernel", "kernel")]
  for i, layer in enumerate(module.layers):
    layer.kernel.assign(np.full((4, 2), i + 1, np.float32))
  spec = tf.TensorSpec([None, 4], tf.float32, name="x")

  def signature(layers: list[_Kernel]) -> Any:
    def run(x: tf.Tensor) -> dict[str, tf.Tensor]:
      return {f"y{i}": layer(x) for i, layer in enumerate(layers)}
    return tf.function(run, input_signature=[spec])

  tf.saved_model.save(module, str(path), signatures={
      "serving_default": signature(module.layers),
      "first": signature(module.layers[:1]),
      "last": signature(module.layers[2:])})
  x = {"x": np.arange(8, dtype=np.float32).reshape(2, 4)}
  for suffix in ("", "first", "last"):
    _save(target, x, models.run_signature(path, x, suffix or "serving_default"),
          suffix and f"_{suffix}")
  _note(target, "saved_model", "saved_model")


class Composites(tf.Module):
  """Ragged and sparse tensors, in and out."""

  @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32),
                                tf.SparseTensorSpec([3, 4], tf.float32)])
  def __call__(self, rows: tf.RaggedTensor,
               sparse: tf.SparseTensor) -> dict[str, tf.Tensor]:
    return {"sums": tf.reduce_sum(rows, axis=1), "twice": rows * 2.0,
            "nested": tf.RaggedTensor.from_row_lengths(
                rows, tf.constant([1, 0, 2], tf.int64)),
            "negated": tf.sparse.map_values(tf.negative, sparse)}


def composites(out: pathlib.Path) -> None:
  """A signature of ragged and sparse tensors."""
  target = _fresh(out, "composites")
  module = Composites()
  tf.saved_model.save(module, str(target / "saved_model"),
                      signatures=module.__call__.get_concrete_function())
  rows = tf.ragged.constant([[1.0, -2.0, 3.5], [], [4.0]], row_splits_dtype=tf.int64)
  sparse = tf.SparseTensor([[0, 1], [2, 3]], [5.0, -6.0], [3, 4])
  results = module(rows, sparse)
  inputs = {"rows": rows.values, "rows_1": rows.row_splits}
  outputs: dict[str, tf.Tensor] = {"sums": results["sums"]}
  for name in ("twice", "nested"):
    ragged = results[name]
    outputs[f"{name}/values"] = ragged.flat_values
    splits = ragged.nested_row_splits
    for i, each in enumerate(splits):
      outputs[f"{name}/row_splits" + (f"_{i}" if len(splits) > 1 else "")] = each
  for part in ("indices", "values", "dense_shape"):
    outputs[f"negated/{part}"] = getattr(results["negated"], part)
  loaded = tf.saved_model.load(str(target / "saved_model"))
  takes = loaded.signatures["serving_default"].structured_input_signature[1]
  print("composites takes", takes)
  for (name, _), value in zip(
      sorted((n, s) for n, s in takes.items() if n.startswith("sparse")),
      (sparse.indices, sparse.values, sparse.dense_shape)):
    inputs[name] = value
  _save(target, {k: v.numpy() for k, v in inputs.items()},
        {k: v.numpy() for k, v in outputs.items()})
  _note(target, "saved_model", "saved_model")


def composed_ops(out: pathlib.Path) -> None:
  """Frozen graph of the first TensorFlow, with ops that stand for several of today's."""
  target = _fresh(out, "composed_ops")
  rng = np.random.default_rng(12)
  graph = tf1.GraphDef()
  graph.versions.producer = 8  # later ones refuse BatchNormWithGlobalNormalization

  def node(name: str, op: str, *inputs: str, **attrs: object) -> str:
    added = graph.node.add(name=name, op=op, input=inputs)
    added.attr["dtype" if op in ("Placeholder", "Const") else "T"].type = (
        tf.int32.as_datatype_enum if attrs.pop("integers", False) else tf.float32.as_datatype_enum)
    for key, value in attrs.items():
      if isinstance(value, bool):
        added.attr[key].b = value
      elif isinstance(value, float):
        added.attr[key].f = value
      elif isinstance(value, str):
        added.attr[key].s = value.encode()
      elif isinstance(value, list):
        added.attr[key].list.i.extend(value)
      else:
        added.attr[key].tensor.CopyFrom(tf.make_tensor_proto(value))
    return name

  def constant(name: str, value: np.ndarray) -> str:
    return node(name, "Const", value=value, integers=value.dtype == np.int32)

  def floats(name: str, *shape: int) -> str:
    return constant(name, rng.uniform(0.2, 1.0, shape).astype(np.float32))

  pads = np.array([[0, 0], [1, 2], [2, 1], [0, 0]], np.int32)
  node("x", "Placeholder")
  y = node("resized", "FusedResizeAndPadConv2D", "x", constant("size", np.array([9, 7], np.int32)),
           constant("pads", pads), floats("filter", 3, 3, 2, 4), resize_align_corners=True,
           mode="REFLECT", strides=[1, 2, 1, 1], padding="VALID")
  for scales in (True, False):
    name = "scaled" if scales else "plain"
    y = node(name, "BatchNormWithGlobalNormalization", y,
             *(floats(f"{name}_{part}", 4) for part in ("mean", "variance", "beta", "gamma")),
             variance_epsilon=0.01, scale_after_normalization=scales)
  node("y", "FusedPadConv2D", y, constant("more_pads", pads), floats("second", 2, 2, 4, 3),
       mode="SYMMETRIC", strides=[1, 1, 1, 1], padding="SAME")
  # One image: TensorFlow's padding kernels give wrong values for those after the first.
  x = rng.normal(0, 1, (1, 5, 6, 2)).astype(np.float32)
  with tf.Graph().as_default(), tf1.Session() as session:
    tf1.import_graph_def(graph, name="")
    fetched = session.run("y:0", {"x:0": x})
  tf.io.write_graph(graph, str(target), "graph.pb", as_text=False)
  _save(target, {"x:0": x}, {"y:0": fetched})
  _note(target, "graphdef", "graph.pb")


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--out", required=True, type=pathlib.Path)
  args = parser.parse_args()
  frozen(args.out, "mlp")
  frozen(args.out, "resnet50")
  module(args.out)
  tf1_style(args.out, "tf1_variable_v2", resource=False)
  tf1_style(args.out, "tf1_resource", resource=True)
  tf1_style(args.out, "tf1_three_shards", resource=False, shards=3)
  tf1_partitioned(args.out)
  bert_additive_mask(args.out)
  transposed(args.out)
  sliced(args.out)
  tables(args.out)
  mutable_tables(args.out)
  anonymous_tables(args.out)
  tf1_tables(args.out)
  tf1_local_variables(args.out)
  same_names(args.out)
  composites(args.out)
  composed_ops(args.out)
  return 0


if __name__ == "__main__":
  sys.exit(main())
