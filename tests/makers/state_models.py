#!/usr/bin/env python3
"""Writes SavedModels that try the ops on variables, step after step.

  tests/makers/state_models.py --out tests/models/steps [NAME…]

tests/makers/stepping.py tells the files.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any

import stepping  # sets the environment before TensorFlow is imported
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_training_ops as training_ops
from tensorflow.python.ops import rnn, rnn_cell

tf1 = tf.compat.v1
raw = tf.raw_ops
STEPS = 4


def spec(dtype: Any, *shape: int | None) -> tf.TensorSpec:
  return tf.TensorSpec(shape, dtype)


class Order(tf.Module):
  """Reads before, between and after changes, and reads of other forms."""

  def __init__(self) -> None:
    super().__init__()
    rng = np.random.default_rng(1)
    self.value = tf.Variable(rng.normal(0, 1, (5, 3)).astype(np.float32))
    self.fixed = tf.Variable(rng.normal(0, 1, (5, 3)).astype(np.float32))
    self.count = tf.Variable(3, dtype=tf.int64)
    self.grows = tf.Variable(np.zeros((0, 2), np.float32), shape=[None, 2])

  @tf.function(input_signature=[spec(tf.float32, 5, 3)])
  def order(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    before = self.value.read_value()
    doubled = tf.exp(before * 0.1)  # uses `before` after the next change
    self.value.assign_add(x)
    between = self.value.read_value() + self.fixed
    self.value.assign_sub(0.5 * x)
    self.count.assign_add(2)
    after = self.value * 1.0
    self.value.assign(tf.tanh(after))
    return {"before": before, "doubled": doubled, "between": between,
            "after": after, "last": self.value.read_value(),
            "count": self.count.read_value()}

  @tf.function(input_signature=[spec(tf.int32, None), spec(tf.int64, None, 2)])
  def gather(self, index: tf.Tensor, pairs: tf.Tensor) -> dict[str, tf.Tensor]:
    first = raw.ResourceGather(resource=self.value.handle, indices=index,
                               dtype=tf.float32)
    self.value.assign_add(self.fixed)
    nd = raw.ResourceGatherNd(resource=self.value.handle, indices=pairs,
                              dtype=tf.float32)
    return {"first": first, "nd": nd,
            "fixed": tf.gather(self.fixed, index),
            "shape": raw.VariableShape(input=self.value.handle),
            "ready": raw.VarIsInitializedOp(resource=self.value.handle)}

  @tf.function(input_signature=[spec(tf.float32, None, 2)])
  def grow(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    """A variable whose shape changes from step to step."""
    self.grows.assign(tf.concat([self.grows, x], 0))
    return {"rows": tf.shape(self.grows)[0],
            "sum": tf.reduce_sum(self.grows, 0)}

  @tf.function(input_signature=[spec(tf.int32, None), spec(tf.float32, None, 3)])
  def scatter(self, index: tf.Tensor, x: tf.Tensor) -> dict[str, tf.Tensor]:
    out = {}
    for op in ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update"):
      getattr(raw, f"ResourceScatter{op}")(
          resource=self.value.handle, indices=index, updates=x)
      out[op.lower()] = self.value.read_value()
    raw.ResourceScatterAdd(resource=self.value.handle, indices=index,
                           updates=tf.constant(0.25))
    out["scalar"] = self.value.read_value()
    return out

  @tf.function(input_signature=[spec(tf.float32, 2, 3), spec(tf.int32, 2, 1)])
  def slices(self, x: tf.Tensor, rows: tf.Tensor) -> dict[str, tf.Tensor]:
    self.value[1:4:2, ::-1].assign(x)
    out = {"sliced": self.value.read_value()}
    self.value[..., 1].assign(self.fixed[:, 0])
    out["column"] = self.value.read_value()
    self.value[3:, :2].assign(x[:1, :2])  # broadcast to two rows
    self.value[0, 2].assign(0.25)
    self.value[::2, tf.newaxis, 1:2].assign(-0.5)
    raw.ResourceStridedSliceAssign(  # no elements: any value fits
        ref=self.value.handle, begin=[2], end=[1], strides=[1],
        value=tf.ones([4, 7]))
    out["broadcast"] = self.value.read_value()
    for op in ("Add", "Sub", "Min", "Max", "Update"):
      getattr(raw, f"ResourceScatterNd{op}")(
          ref=self.value.handle, indices=rows, updates=x)
      out[op.lower()] = self.value.read_value()
    return out


OPTIMIZERS: dict[str, tuple[int, dict[str, float]]] = {
    # slots, scalars; the variable comes first, attributes after "|"
    "GradientDescent": (0, {"alpha": 0.1}),
    "Momentum": (1, {"lr": 0.1, "momentum": 0.9}),
    "Momentum|use_nesterov": (1, {"lr": 0.1, "momentum": 0.9}),
    "KerasMomentum": (1, {"lr": 0.1, "momentum": 0.9}),
    "KerasMomentum|use_nesterov": (1, {"lr": 0.1, "momentum": 0.9}),
    "Adam": (2, {"beta1_power": 0.9, "beta2_power": 0.99, "lr": 0.1,
                 "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-3}),
    "Adam|use_nesterov": (2, {"beta1_power": 0.9, "beta2_power": 0.99,
                              "lr": 0.1, "beta1": 0.9, "beta2": 0.99,
                              "epsilon": 1e-3}),
    "AdaMax": (2, {"beta1_power": 0.9, "lr": 0.1, "beta1": 0.9, "beta2": 0.99,
                   "epsilon": 1e-3}),
    "Adagrad": (1, {"lr": 0.1}),
    "AdagradV2": (1, {"lr": 0.1, "epsilon": 1e-3}),
    "Adadelta": (2, {"lr": 0.5, "rho": 0.9, "epsilon": 1e-3}),
    "RMSProp": (2, {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 1e-2}),
    "CenteredRMSProp": (3, {"lr": 0.1, "rho": 0.9, "momentum": 0.5,
                            "epsilon": 1e-1}),
    "Ftrl": (2, {"lr": 0.1, "l1": 0.05, "l2": 0.01, "lr_power": -0.5}),
    "Ftrl|multiply_linear_by_lr": (2, {"lr": 0.1, "l1": 0.05, "l2": 0.01,
                                       "lr_power": -0.5}),
    "FtrlV2": (2, {"lr": 0.1, "l1": 0.05, "l2": 0.01, "l2_shrinkage": 0.02,
                   "lr_power": -0.6}),
}
SLOTS = {"Momentum": ["accum"], "KerasMomentum": ["accum"], "Adam": ["m", "v"],
         "AdaMax": ["m", "v"], "Adagrad": ["accum"], "AdagradV2": ["accum"],
         "Adadelta": ["accum", "accum_update"], "RMSProp": ["ms", "mom"],
         "CenteredRMSProp": ["mg", "ms", "mom"], "Ftrl": ["accum", "linear"],
         "FtrlV2": ["accum", "linear"], "GradientDescent": []}


# Only these have a step, an int64.
MORE_OPTIMIZERS: dict[str, tuple[int, dict[str, float]]] = {
    "AdagradDA": (2, {"lr": 0.1, "l1": 0.05, "l2": 0.01, "global_step": 3}),
    "ProximalGradientDescent": (0, {"alpha": 0.1, "l1": 0.3, "l2": 0.2}),
    "ProximalAdagrad": (1, {"lr": 0.1, "l1": 0.3, "l2": 0.2}),
    "AddSign": (1, {"lr": 0.1, "alpha": 1.5, "sign_decay": 0.9, "beta": 0.8}),
    "PowerSign": (1, {"lr": 0.1, "logbase": 0.7, "sign_decay": 0.9,
                      "beta": 0.8}),
    "AdamWithAmsgrad": (3, {"beta1_power": 0.9, "beta2_power": 0.99, "lr": 0.1,
                            "beta1": 0.9, "beta2": 0.7, "epsilon": 1e-3}),
}
# Those that also update single rows.
SPARSE_OPTIMIZERS = {
    name: entry for name, entry in (OPTIMIZERS | MORE_OPTIMIZERS | {
        "Adagrad|update_slots": (1, {"lr": 0.1}),
        "AdagradV2|update_slots": (1, {"lr": 0.1, "epsilon": 1e-3}),
    }).items() if hasattr(raw, "ResourceSparseApply" + name.split("|")[0])}
SLOTS |= {"AdagradDA": ["gradient_accumulator", "gradient_squared_accumulator"],
          "ProximalGradientDescent": [], "ProximalAdagrad": ["accum"],
          "AddSign": ["m"], "PowerSign": ["m"],
          "AdamWithAmsgrad": ["m", "v", "vhat"]}


class Optimizers(tf.Module):
  """Every optimizer's op, each on variables of its own."""

  def __init__(self, dtype: tf.DType, optimizers: dict[str, Any],
               indices: list[int] | None = None) -> None:
    super().__init__()
    self.dtype = dtype
    self.optimizers = optimizers
    self.indices = indices  # of the rows that change; None: all of them
    self.variables_of: dict[str, list[tf.Variable]] = {}
    rng = np.random.default_rng(2)
    for name, (slots, _) in optimizers.items():
      values = [rng.normal(0, 1, (3, 5))]
      values += [rng.uniform(0.2, 0.6, (3, 5)) for _ in range(slots)]
      self.variables_of[name.replace("|", "_")] = [
          tf.Variable(tf.constant(v, dtype)) for v in values]
    rows = 3 if indices is None else len(indices)
    self.step = tf.function(
        self._step, input_signature=[tf.TensorSpec([rows, 5], dtype, "grad")])

  def _step(self, grad: tf.Tensor) -> dict[str, tf.Tensor]:
    out = {}
    for name, (_, scalars) in self.optimizers.items():
      op, *flags = name.split("|")
      variables = self.variables_of[name.replace("|", "_")]
      handles = {k: v.handle for k, v in zip(["var"] + SLOTS[op], variables)}
      given = {k: tf.constant(v, tf.int64 if k == "global_step" else self.dtype)
               for k, v in scalars.items()}
      if self.indices is not None:
        op = f"ResourceSparseApply{op}"
        given |= {"grad": grad, "indices": tf.constant(self.indices)}
      else:
        descends = op.endswith("GradientDescent")
        op = f"ResourceApply{op}"
        given["delta" if descends else "grad"] = grad
      # update_slots is the one that is true by default.
      getattr(raw, op)(**handles, **given,
                       **{flag: flag != "update_slots" for flag in flags})
      for i, variable in enumerate(variables):
        out[f"{name.replace('|', '_')}_{i}"] = variable.read_value()
    return out


class Recurrent(tf.Module):
  """Training through loops: the gradients of tensor lists, added and zeroed."""

  def __init__(self) -> None:
    super().__init__()
    rng = np.random.default_rng(6)

    def variable(*shape: int) -> tf.Variable:
      return tf.Variable(rng.normal(0, 0.5, shape).astype(np.float32))

    self.inward, self.across, self.bias = variable(3, 4), variable(4, 4), variable(4)
    self.lstm = tf.keras.layers.LSTM(4, return_sequences=True)
    self.lstm(np.zeros((2, 5, 3), np.float32))
    for weight in self.lstm.weights:
      weight.assign(rng.normal(0, 0.5, weight.shape))

  def descend(self, tape: tf.GradientTape, loss: tf.Tensor,
              variables: list[tf.Variable]) -> dict[str, tf.Tensor]:
    out = {"loss": loss}
    for i, gradient in enumerate(tape.gradient(loss, variables)):
      variables[i].assign_sub(0.05 * gradient)
      out[f"gradient_{i}"] = gradient
    return out

  @tf.function(input_signature=[spec(tf.float32, None, 2, 3)])
  def loop(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    """A list that is read three times, and one that is unused."""
    steps = tf.shape(x)[0]
    with tf.GradientTape() as tape:
      inputs = tf.TensorArray(tf.float32, steps, element_shape=[2, 3]).unstack(x * self.bias[:3])
      outputs = tf.TensorArray(tf.float32, steps, element_shape=[2, 4])
      unused = tf.TensorArray(tf.float32, steps, element_shape=[2, 4])

      def body(i: tf.Tensor, h: tf.Tensor, written: Any, other: Any) -> tuple:
        h = tf.tanh(inputs.read(i) @ self.inward + h @ self.across + self.bias)
        return i + 1, h, written.write(i, h), other.write(i, h * 2.0)

      _, last, outputs, unused = tf.while_loop(
          lambda i, *_: i < steps, body,
          (0, tf.zeros([2, 4]), outputs, unused))
      h = outputs.stack()
      again = outputs.gather([0, steps - 1])
      picked = outputs.read(steps // 2)
      loss = tf.reduce_mean(h * h) + tf.reduce_sum(again) * 0.1 + tf.reduce_mean(
          last * picked)
    return self.descend(tape, loss, [self.inward, self.across, self.bias])

  @tf.function(input_signature=[spec(tf.float32, 2, 5, 3)])
  def keras_lstm(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    with tf.GradientTape() as tape:
      y = self.lstm(x)
      loss = tf.reduce_mean((y - tf.reduce_sum(x, -1, keepdims=True)) ** 2)
    return self.descend(tape, loss, self.lstm.trainable_variables)


class Tables(tf.Module):
  """Lookup tables that change, as the cache of a byte-pair tokenizer does."""

  def __init__(self) -> None:
    super().__init__()
    lookup = tf.lookup.experimental
    self.cache = lookup.MutableHashTable(tf.int64, tf.string, "")
    self.counts = lookup.DenseHashTable(tf.int64, tf.int64, 0, empty_key=-1, deleted_key=-2)
    self.seen = lookup.MutableHashTable(tf.string, tf.int64, -1)
    self.seen.insert(tf.constant(["b", "dddd"]), tf.constant([70, 80], tf.int64))
    self.fixed = lookup.MutableHashTable(tf.string, tf.float32, 0.5)
    self.fixed.insert(tf.constant(["b", "x"]), tf.constant([1.5, 3.5]))

  @tf.function(input_signature=[spec(tf.string, 4)])
  def tables(self, words: tf.Tensor) -> dict[str, tf.Tensor]:
    ids = tf.strings.to_hash_bucket_fast(words, 1000)
    cached = self.cache.lookup(ids)
    unseen = tf.gather(words, tf.where(tf.equal(cached, ""))[:, 0])
    if tf.size(unseen) > 0:
      self.cache.insert(tf.strings.to_hash_bucket_fast(unseen, 1000),
                        tf.strings.join([tf.strings.upper(unseen), "!"]))
    lengths = tf.cast(tf.strings.length(words), tf.int64)
    for i in tf.range(tf.size(words)):  # the table is changed in a loop
      self.counts.insert(lengths[i], self.counts.lookup(lengths[i]) + 1)
    before = self.seen.lookup(words, dynamic_default_values=-lengths)
    self.seen.insert(words, 10 * lengths)  # of equal words the last one counts
    self.seen.remove(words[:2])
    keys, values = self.seen.export()
    return {"cached": cached, "answers": self.cache.lookup(ids), "cache_size": self.cache.size(),
            "counts": self.counts.lookup(tf.range(6, dtype=tf.int64)), "before": before,
            "after": self.seen.lookup(words), "exported": tf.size(keys),
            "sum": tf.reduce_sum(values), "fixed": self.fixed.lookup(words)}


class TensorTables(tf.Module):
  """Tables from words and numbers to vectors: some change, others keep what was restored."""

  def __init__(self) -> None:
    super().__init__()
    lookup = tf.lookup.experimental
    self.seen = lookup.MutableHashTable(tf.string, tf.int64, [-1, -2])
    self.seen.insert(tf.constant(["b", "dddd"]), tf.constant([[70, 71], [80, 81]], tf.int64))
    self.fixed = lookup.MutableHashTable(tf.string, tf.float32, [0.5, 0.25, 0.125])
    self.fixed.insert(tf.constant(["b", "x"]), tf.constant([[1.5, 2, 3], [3.5, 4, 5]]))
    self.names = lookup.MutableHashTable(tf.int64, tf.string, ["?"], experimental_is_anonymous=True)
    self.dense = lookup.DenseHashTable(tf.int64, tf.float32, [0.0, 1.0, 2.0],
                                       empty_key=-1, deleted_key=-2)

  @tf.function(input_signature=[spec(tf.string, 4)])
  def tables(self, words: tf.Tensor) -> dict[str, tf.Tensor]:
    lengths = tf.cast(tf.strings.length(words), tf.int64)
    grid = tf.reshape(words, [2, 2])
    before = self.seen.lookup(grid, dynamic_default_values=tf.reshape(
        tf.stack([-lengths, lengths], 1), [2, 2, 2]))
    self.seen.insert(words, tf.stack([10 * lengths, lengths], 1))
    self.seen.remove(words[:2])
    keys, values = self.seen.export()
    self.names.insert(lengths[:2], words[:2, tf.newaxis])
    for i in tf.range(tf.size(words)):  # the table is changed in a loop
      self.dense.insert(lengths[i:i + 1], self.dense.lookup(lengths[i:i + 1]) + 1)
    return {"before": before, "after": self.seen.lookup(words), "exported": tf.size(keys),
            "sum": tf.reduce_sum(values, 0), "fixed": self.fixed.lookup(words),
            "fixed_size": self.fixed.size(), "names": self.names.lookup(lengths),
            "dense": self.dense.lookup(tf.range(6, dtype=tf.int64))}


class SharedState(tf.Module):
  """Ops that share what a session keeps under a name."""

  @tf.function(input_signature=[spec(tf.int64, None, 3), spec(tf.string, None)])
  def sparse(self, indices: tf.Tensor, values: tf.Tensor) -> dict[str, tf.Tensor]:
    shape = tf.constant([4, 3, 5], tf.int64)
    handles = raw.AddManySparseToTensorsMap(
        sparse_indices=indices, sparse_values=values, sparse_shape=shape, shared_name="words")
    one = raw.AddSparseToTensorsMap(
        sparse_indices=indices[:, 1:], sparse_values=values,
        sparse_shape=tf.constant([9, 8], tf.int64), shared_name="words")
    number = raw.AddSparseToTensorsMap(
        sparse_indices=indices, sparse_values=tf.strings.length(values), sparse_shape=shape,
        container="numbers", shared_name="words")
    taken = raw.TakeManySparseFromTensorsMap(
        sparse_handles=tf.concat([handles[2:], [one], handles[:2]], 0), dtype=tf.string,
        shared_name="words")
    numbers = raw.TakeManySparseFromTensorsMap(
        sparse_handles=[number], dtype=tf.int32, container="numbers", shared_name="words")
    return {"handles": handles, "one": one, "number": number,
            **{f"taken_{k}": v for k, v in taken._asdict().items()},
            **{f"numbers_{k}": v for k, v in numbers._asdict().items()}}


  @tf.function(input_signature=[spec(tf.float32, None, 2), spec(tf.string)])
  def staging(self, x: tf.Tensor, word: tf.Tensor) -> dict[str, tf.Tensor]:
    area = {"dtypes": [tf.float32, tf.string], "shared_name": "area"}
    raw.Stage(values=[x, word], shared_name="area")
    raw.Stage(values=[-x, word + "!"], shared_name="area")
    out = {"size": raw.StageSize(**area)}
    out["peeked"], out["peeked_word"] = raw.StagePeek(index=1, **area)
    out["first"], out["first_word"] = raw.Unstage(**area)
    other = {"dtypes": [tf.float32], "shared_name": "other"}
    raw.Stage(values=[x], shared_name="other")
    raw.StageClear(**other)
    out["cleared"] = raw.StageSize(**other)
    return out

  @tf.function(input_signature=[spec(tf.float32, None, 2), spec(tf.int64)])
  def maps(self, x: tf.Tensor, key: tf.Tensor) -> dict[str, tf.Tensor]:
    out = {}
    for kind in ("Map", "OrderedMap"):
      def op(name: str, kind: str = kind, **kwargs: Any) -> Any:
        return getattr(raw, kind + name)(shared_name="map", **kwargs)

      pair = [tf.float32, tf.int64]
      op("Stage", key=key, indices=[1], values=[key * 10], dtypes=pair)
      op("Stage", key=key + 1, indices=[0, 1], values=[-x, key], dtypes=pair)
      out[kind + "_incomplete"] = op("IncompleteSize", dtypes=pair)
      op("Stage", key=key, indices=[0], values=[x], dtypes=pair)
      out[kind + "_size"] = op("Size", dtypes=pair)
      out[kind + "_peeked"], = op("Peek", key=key, indices=[1], dtypes=pair[1:])
      out[kind + "_taken"], = op("Unstage", key=key + 1, indices=[0], dtypes=pair[:1])
      out[kind + "_rest"], = op("Unstage", key=key + 1, indices=[1], dtypes=pair[1:])
      any_key, values = op("UnstageNoKey", indices=[0, 1], dtypes=pair)
      out[kind + "_key"], out[kind + "_x"] = any_key, values[0]
      op("Stage", key=key, indices=[0, 1], values=[x, key], dtypes=pair)
      op("Clear", dtypes=pair)
      out[kind + "_cleared"] = op("Size", dtypes=pair)
    return out


class Queues(tf.Module):
  """Queues that keep elements from step to step."""

  @tf.function(input_signature=[spec(tf.float32, 3, 2), spec(tf.string)])
  def in_order(self, x: tf.Tensor, word: tf.Tensor) -> dict[str, tf.Tensor]:
    types = [tf.float32, tf.string]
    queue = raw.FIFOQueueV2(component_types=types, shapes=[[2], []], capacity=9,
                            shared_name="in_order")
    raw.QueueEnqueueManyV2(handle=queue, components=[x, tf.fill([3], word)])
    raw.QueueEnqueueV2(handle=queue, components=[x[0] * 2, word + "!"])
    out = {"size": raw.QueueSizeV2(handle=queue), "closed": raw.QueueIsClosedV2(handle=queue)}
    out["one"], out["one_word"] = raw.QueueDequeueV2(handle=queue, component_types=types)
    out["two"], out["two_words"] = raw.QueueDequeueManyV2(handle=queue, n=2, component_types=types)
    out["none"], _ = raw.QueueDequeueUpToV2(handle=queue, n=0, component_types=types)
    any_shape = raw.FIFOQueueV2(component_types=[tf.float32], shared_name="any_shape")
    raw.QueueEnqueueV2(handle=any_shape, components=[x[1:]])
    raw.QueueEnqueueManyV2(handle=any_shape, components=[x])
    item, = raw.QueueDequeueV2(handle=any_shape, component_types=[tf.float32])
    out["any_shape"] = tf.reduce_sum(tf.reshape(item, [-1]))  # steps give different shapes
    return out

  @tf.function(input_signature=[spec(tf.float32, None, None), spec(tf.string, None)])
  def padded(self, x: tf.Tensor, words: tf.Tensor) -> dict[str, tf.Tensor]:
    types = [tf.float32, tf.string, tf.bool]
    queue = raw.PaddingFIFOQueueV2(component_types=types, shapes=[[None, None], [None], [2]],
                                   shared_name="padded")
    raw.QueueEnqueueV2(handle=queue, components=[x, words, [True, False]])
    raw.QueueEnqueueV2(handle=queue, components=[tf.transpose(x), words[1:], [False, True]])
    raw.QueueEnqueueV2(handle=queue, components=[x[:0], words[:0], [True, True]])
    together, some, flags = raw.QueueDequeueManyV2(handle=queue, n=2, component_types=types)
    shape = tf.shape(together)
    out = {"shape": shape, "flags": flags,
           "x": tf.pad(together, [[0, 0], [0, 3 - shape[1]], [0, 3 - shape[2]]]),
           "words": tf.strings.reduce_join(some, 1, separator="|")}
    out["size"] = raw.QueueSizeV2(handle=queue)
    return out

  @tf.function(input_signature=[spec(tf.int64, 5)])
  def other_orders(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    shuffled = raw.RandomShuffleQueueV2(component_types=[tf.int64], shapes=[[]], seed=3, seed2=4,
                                        min_after_dequeue=1, shared_name="shuffled")
    raw.QueueEnqueueManyV2(handle=shuffled, components=[x])
    out = {}
    out["shuffled"], = raw.QueueDequeueManyV2(handle=shuffled, n=3, component_types=[tf.int64])
    out["one"], = raw.QueueDequeueV2(handle=shuffled, component_types=[tf.int64])
    types = [tf.int64, tf.float32]
    first = raw.PriorityQueueV2(component_types=types[1:], shapes=[[1]], shared_name="first")
    numbers = tf.cast(tf.range(5), tf.float32)[:, tf.newaxis]
    raw.QueueEnqueueManyV2(handle=first, components=[x // 4, numbers])
    out["priority"], out["numbers"] = raw.QueueDequeueManyV2(
        handle=first, n=4, component_types=types)
    out["left"] = raw.QueueSizeV2(handle=first)
    return out


class Random(tf.Module):
  """Seeded random ops, each of which continues its own sequence, whatever the shape."""

  @tf.function(input_signature=[spec(tf.int32)])
  def run(self, n: tf.Tensor) -> dict[str, tf.Tensor]:
    shape, seeds = tf.stack([n, 2]), {"seed": 3, "seed2": 4}
    values = {
        "uniform": raw.RandomUniform(shape=shape, dtype=tf.float32, **seeds),
        "the_same": raw.RandomUniform(shape=shape, dtype=tf.float32, **seeds),
        "fixed_shape": raw.RandomUniform(shape=[3, 2], dtype=tf.float64, **seeds),
        "normal": raw.RandomStandardNormal(shape=shape, dtype=tf.float32, **seeds),
        "truncated": raw.TruncatedNormal(shape=shape, dtype=tf.float32, **seeds),
        "integers": raw.RandomUniformInt(shape=shape, minval=0, maxval=1000, **seeds),
        "gamma": raw.RandomGamma(shape=shape, alpha=[0.5, 3.0], **seeds),
        "poisson": raw.RandomPoissonV2(shape=shape, rate=[0.5, 30.0], **seeds),
        "categorical": raw.Multinomial(
            logits=tf.zeros(tf.stack([n, 50])), num_samples=5, **seeds),
        "shuffled": raw.RandomShuffle(value=tf.range(n * 3), **seeds),
        "candidates": raw.UniformCandidateSampler(
            true_classes=tf.ones(tf.stack([n, 1]), tf.int64), num_true=1, num_sampled=4,
            unique=True, range_max=100, **seeds)[0]}
    return {name: value[:2] for name, value in values.items()}


def random(out: pathlib.Path) -> None:
  target = stepping.fresh(out / "random")
  model = Random()
  tf.saved_model.save(model, str(target / "saved_model"), signatures=model.run)
  stepping.write_steps(target, {"n": np.array([3, 2, 7, 3], np.int32)}, 6)
  stepping.note(target)


class Candidates(tf.Module):
  """A sampler of classes that learns how frequent each class is."""

  @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int64, "classes")])
  def run(self, classes: tf.Tensor) -> dict[str, tf.Tensor]:
    first = tf.raw_ops.LearnedUnigramCandidateSampler(
        true_classes=classes, num_true=2, num_sampled=5, unique=True, range_max=8, seed=3, seed2=4)
    second = tf.raw_ops.ThreadUnsafeUnigramCandidateSampler(
        true_classes=classes, num_true=2, num_sampled=30, unique=False, range_max=8, seed=5, seed2=4)
    return {f"{name}_{i}": t for name, values in (("unique", first), ("repeated", second))
            for i, t in enumerate(values)}


def candidates(out: pathlib.Path) -> None:
  target = stepping.fresh(out / "candidates")
  model = Candidates()
  stepping.save(model, target, model.run)
  stepping.write_steps(target, {"classes": np.array([[[1, 1], [3, 7]], [[3, 3], [3, 0]]])}, 7)
  stepping.note(target)


def tables(out: pathlib.Path) -> None:
  target = stepping.fresh(out / "tables")
  tf.saved_model.save(Tables(), str(target / "saved_model"))
  words = np.array([["a", "b", "ccc", "a"], ["b", "b", "dddd", "eeeee"], ["ccc", "x", "", "a"]])
  stepping.write_steps(target, {"words": words.astype("S")}, 5)
  stepping.note(target)


def tensor_tables(out: pathlib.Path) -> None:
  target = stepping.fresh(out / "tensor_tables")
  stepping.save(model := TensorTables(), target, model.tables)
  words = np.array([["a", "b", "ccc", "a"], ["b", "b", "dddd", "eeeee"], ["ccc", "x", "", "a"]])
  stepping.write_steps(target, {"words": words.astype("S")}, 5)
  stepping.note(target)


def shared_state(out: pathlib.Path) -> None:
  target = stepping.fresh(out / "shared_state")
  model = SharedState()
  stepping.save(model, target,
                {"sparse": model.sparse, "staging": model.staging, "maps": model.maps})
  indices = np.array([[[0, 0, 1], [0, 2, 0], [2, 1, 4]], [[1, 0, 0], [3, 2, 0], [3, 2, 4]]])
  words = np.array([["a", "bb", "ccc"], ["", "d", "eeeee"]])
  stepping.write_steps(target, {"indices": indices, "values": words.astype("S")}, STEPS, "sparse")
  x = np.random.default_rng(10).normal(0, 1, (2, 3, 2)).astype(np.float32)
  stepping.write_steps(target, {"x": x, "word": np.array(["a", "bc"]).astype("S")}, STEPS, "staging")
  stepping.write_steps(target, {"x": x, "key": np.array([5, -3])}, STEPS, "maps")
  stepping.note(target)


def queues(out: pathlib.Path) -> None:
  target = stepping.fresh(out / "queues")
  model = Queues()
  stepping.save(model, target, {"in_order": model.in_order, "padded": model.padded,
                                "other_orders": model.other_orders})
  rng = np.random.default_rng(11)
  x = rng.normal(0, 1, (2, 3, 2)).astype(np.float32)
  words = np.array([["a", "bb", "c"], ["", "dd", "eee"]]).astype("S")
  stepping.write_steps(target, {"x": x, "word": words[:, 1]}, STEPS, "in_order")
  stepping.write_steps(target, {"x": x, "words": words}, STEPS, "padded")
  stepping.write_steps(target, {"x": rng.integers(0, 20, (2, 5))}, STEPS, "other_orders")
  stepping.note(target)


def recurrent(out: pathlib.Path) -> None:
  target = stepping.fresh(out / "recurrent")
  net = Recurrent()
  tf.saved_model.save(net, str(target / "saved_model"), signatures={
      "loop": net.loop, "keras_lstm": net.keras_lstm})
  rng = np.random.default_rng(7)
  for name, shape in (("loop", (2, 6, 2, 3)), ("keras_lstm", (2, 2, 5, 3))):
    stepping.write_steps(target, {"x": rng.normal(0, 1, shape).astype(np.float32)},
                         STEPS, name)
  stepping.note(target)


def order(out: pathlib.Path) -> None:
  target = stepping.fresh(out / "order")
  net = Order()
  tf.saved_model.save(net, str(target / "saved_model"), signatures={
      "order": net.order, "gather": net.gather, "grow": net.grow,
      "scatter": net.scatter, "slices": net.slices})
  rng = np.random.default_rng(3)

  def floats(*shape: int) -> np.ndarray:
    return rng.normal(0, 1, shape).astype(np.float32)

  stepping.write_steps(target, {"x": floats(2, 5, 3)}, STEPS, "order")
  stepping.write_steps(
      target, {"index": rng.integers(0, 5, (2, 4)).astype(np.int32),
               "pairs": rng.integers(0, 3, (2, 3, 2))}, STEPS, "gather")
  stepping.write_steps(target, {"x": floats(2, 3, 2)}, STEPS, "grow")
  stepping.write_steps(
      target, {"index": np.array([[3, 0, 3], [1, 1, 4]], np.int32),
               "x": floats(2, 3, 3) + 2}, STEPS, "scatter")
  stepping.write_steps(
      target, {"x": floats(2, 2, 3), "rows": np.array([[[4], [0]], [[2], [2]]], np.int32)},
      STEPS, "slices")
  stepping.note(target)


def optimizers(out: pathlib.Path) -> None:
  # Rows out of order, one of them twice.
  kinds = {"optimizers": (OPTIMIZERS, None),
           "more_optimizers": (MORE_OPTIMIZERS, None),
           "sparse_optimizers": (SPARSE_OPTIMIZERS, [2, 0, 2, 1])}
  for kind, (which, indices) in kinds.items():
    for dtype in (tf.float32, tf.float64):
      target = stepping.fresh(out / f"{kind}_{dtype.name}")
      net = Optimizers(dtype, which, indices)
      tf.saved_model.save(net, str(target / "saved_model"),
                          signatures={"serving_default": net.step})
      grad = np.random.default_rng(4).normal(
          0, 1, (3, 3 if indices is None else len(indices), 5))
      stepping.write_steps(
          target, {"grad": grad.astype(dtype.as_numpy_dtype)}, STEPS)
      stepping.note(target)


def tf1_train(out: pathlib.Path) -> None:
  """TensorFlow 1's reference variables, trained by its optimizer."""
  target = stepping.fresh(out / "tf1_reference")
  rng = np.random.default_rng(5)
  with tf.Graph().as_default(), tf1.Session() as session:
    x = tf1.placeholder(tf.float32, [4, 3], "x")
    weights = tf1.get_variable("weights", use_resource=False, initializer=rng.normal(
        0, 1, (3, 2)).astype(np.float32))
    table = tf1.get_variable("table", use_resource=False, initializer=rng.normal(
        0, 1, (5, 2)).astype(np.float32))
    count = tf1.get_variable("count", use_resource=False, initializer=np.int32(0),
                             trainable=False)
    fixed = tf1.get_variable("fixed", use_resource=False, trainable=False,
                             initializer=np.float32(0.5))
    before = tf.identity(weights) * fixed
    y = tf.matmul(x, weights)
    loss = tf.reduce_sum(tf.nn.relu(y) * fixed)
    gradient, = tf.gradients(loss, [weights])
    momentum = tf1.get_variable("momentum", use_resource=False, trainable=False,
                                initializer=np.zeros((3, 2), np.float32))
    with tf1.control_dependencies([before, loss]):
      trained = training_ops.apply_momentum(
          weights._ref(), momentum._ref(), 0.1, gradient, 0.9)
    with tf1.control_dependencies([trained]):
      counted = tf1.assign_add(count, 2)
      scattered = tf1.scatter_add(table, tf.constant([1, 3]), tf.ones([2, 2]))
    with tf1.control_dependencies([counted, scattered]):
      outputs = {"loss": tf.identity(loss), "weights": tf.identity(weights),
                 "count": tf.identity(count), "counted": counted + 1,
                 "table": scattered * 2.0, "before": before}
    session.run(tf1.global_variables_initializer())
    path = target / "saved_model"
    builder = tf1.saved_model.Builder(str(path))
    builder.add_meta_graph_and_variables(
        session, [tf1.saved_model.tag_constants.SERVING],
        {"serving_default": tf1.saved_model.predict_signature_def({"x": x}, outputs)},
        saver=tf1.train.Saver())
    builder.save()
    feeds = {"x": rng.normal(0, 1, (2, 4, 3)).astype(np.float32)}
    got = [session.run(outputs, {x: feeds["x"][i % 2]}) for i in range(STEPS)]
  np.savez_compressed(target / "feeds_serving_default.npz", **feeds)
  np.savez_compressed(target / "steps_serving_default.npz",
                      **{k: np.stack([g[k] for g in got]) for k in outputs})
  stepping.note(target)


def tf1_recurrent(out: pathlib.Path) -> None:
  for use_resource in (False, True):
    tf1_recurrent_with(out, use_resource)


def tf1_recurrent_with(out: pathlib.Path, use_resource: bool) -> None:
  """A recurrent layer of TensorFlow 1, whose loop has frames, trained with momentum."""
  target = stepping.fresh(out / ("tf1_recurrent_resource" if use_resource else "tf1_recurrent"))
  rng = np.random.default_rng(15)
  tf1.disable_control_flow_v2()
  with tf.Graph().as_default(), tf1.Session() as session, tf1.variable_scope(
      "net", use_resource=use_resource):
    x = tf1.placeholder(tf.float32, [None, None, 3], "x")
    n = tf1.placeholder(tf.int32, [None], "n")
    y, state = rnn.dynamic_rnn(rnn_cell.LSTMCell(4), x, n, dtype=tf.float32)
    weights = tf1.get_variable("weights", [4, 2])
    for variable in tf1.trainable_variables():
      variable.load(rng.normal(0, 0.4, variable.shape).astype(np.float32), session)
    loss = tf.reduce_mean(tf.square(tf.matmul(state.h, weights) - 1.0)) + tf.reduce_mean(y * y)
    train = tf1.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
    slots = [v for v in tf1.global_variables() if v not in tf1.trainable_variables()]
    session.run([v.initializer for v in slots])
    with tf1.control_dependencies([train]):
      outputs = {"loss": tf.identity(loss), **{
          f"v{i}": v.read_value() for i, v in enumerate(tf1.trainable_variables())}}
    builder = tf1.saved_model.Builder(str(target / "saved_model"))
    builder.add_meta_graph_and_variables(
        session, [tf1.saved_model.tag_constants.SERVING],
        {"serving_default": tf1.saved_model.predict_signature_def({"x": x, "n": n}, outputs)},
        saver=tf1.train.Saver())
    builder.save()
    feeds = {"x": rng.normal(0, 1, (2, 3, 5, 3)).astype(np.float32),
             "n": np.array([[5, 0, 3], [1, 4, 5]], np.int32)}
    got = [session.run(outputs, {x: feeds["x"][i % 2], n: feeds["n"][i % 2]}) for i in range(STEPS)]
  tf1.enable_control_flow_v2()
  np.savez_compressed(target / "feeds_serving_default.npz", **feeds)
  np.savez_compressed(target / "steps_serving_default.npz",
                      **{k: np.stack([g[k] for g in got]) for k in outputs})
  stepping.note(target)


def tf1_branches(out: pathlib.Path) -> None:
  for use_resource in (False, True):
    tf1_branches_with(out, use_resource)


def tf1_branches_with(out: pathlib.Path, use_resource: bool) -> None:
  """Branches and loops of TensorFlow 1 that change variables, some of them by an optimizer."""
  target = stepping.fresh(out / ("tf1_branches_resource" if use_resource else "tf1_branches"))
  rng = np.random.default_rng(16)
  tf1.disable_control_flow_v2()

  def variable(name: str, *shape: int) -> tf.Variable:
    return tf1.get_variable(name, initializer=rng.normal(0, 1, shape).astype(np.float32))

  with tf.Graph().as_default(), tf1.Session() as session, tf1.variable_scope(
      "net", use_resource=use_resource):
    x = tf1.placeholder(tf.float32, [3], "x")
    p = tf1.placeholder(tf.bool, [], "p")
    changed = {name: variable(name, *shape) for name, shape in
               {"sum": (3,), "count": (), "rows": (4, 3), "weights": (3,), "table": (4, 2)}.items()}
    count, total, rows, weights, table = (changed[k] for k in ("count", "sum", "rows", "weights", "table"))

    def body(i: tf.Tensor) -> tf.Tensor:
      with tf1.control_dependencies([count.assign_add(1.0)]):
        done = tf1.cond(count > 4.0, lambda: tf.identity(total.assign(total * 0.5)),
                        lambda: tf.identity(total.assign_sub(x)))
      with tf1.control_dependencies([done]):
        return i + 1

    looped = tf1.while_loop(lambda i: i < 3, body, [0], parallel_iterations=1)
    scattered = tf1.cond(p, lambda: tf.identity(tf1.scatter_add(rows, [1, 1, 3], tf.stack([x, x * 2.0, x]))),
                         lambda: tf.identity(tf1.scatter_update(rows, [0], x[None])))
    optimizer = tf1.train.AdamOptimizer(0.1)
    loss = tf.reduce_sum(tf.square(weights * x - 1.0))
    with tf1.control_dependencies([loss]):
      found = optimizer.compute_gradients(loss, [weights])
      trained = tf1.cond(p, lambda: tf.group(optimizer.apply_gradients(found)), tf.no_op)
    looked_up = tf1.cond(p, lambda: tf.nn.embedding_lookup(table, [1, 3]),
                         lambda: tf.nn.embedding_lookup(table, [0, 0]) * x[0])
    learned = tf1.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(looked_up ** 2), var_list=[table])
    with tf1.control_dependencies([looped, scattered, trained, learned]):
      outputs = {k: tf.identity(v.read_value()) for k, v in changed.items()}
    session.run(tf1.global_variables_initializer())
    builder = tf1.saved_model.Builder(str(target / "saved_model"))
    builder.add_meta_graph_and_variables(
        session, [tf1.saved_model.tag_constants.SERVING],
        {"serving_default": tf1.saved_model.predict_signature_def({"x": x, "p": p}, outputs)},
        saver=tf1.train.Saver())
    builder.save()
    feeds = {"x": rng.normal(0, 1, (STEPS, 3)).astype(np.float32), "p": np.arange(STEPS) % 3 != 1}
    got = [session.run(outputs, {x: feeds["x"][i], p: feeds["p"][i]}) for i in range(STEPS)]
  tf1.enable_control_flow_v2()
  np.savez_compressed(target / "feeds_serving_default.npz", **feeds)
  np.savez_compressed(target / "steps_serving_default.npz",
                      **{k: np.stack([g[k] for g in got]) for k in outputs})
  stepping.note(target)


def stateful(out: pathlib.Path) -> None:
  """A Keras layer that begins each run with the states that the run before it ended with."""
  target = stepping.fresh(out / "stateful")
  rng = np.random.default_rng(8)
  model = tf.keras.Sequential([
      tf.keras.Input(batch_shape=(2, 3, 4), name="x"),
      tf.keras.layers.LSTM(5, stateful=True, return_sequences=True),
      tf.keras.layers.GRU(3, stateful=True)])
  for weight in model.trainable_weights:
    weight.assign(rng.normal(0, 0.5, weight.shape))
  model.export(str(target / "saved_model"), verbose=False)
  stepping.write_steps(target, {"x": rng.normal(0, 1, (3, 2, 3, 4)).astype(np.float32)}, STEPS)
  stepping.note(target)


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--out", required=True, type=pathlib.Path)
  parser.add_argument("names", nargs="*", help="order, optimizers, …; default: all")
  args = parser.parse_args()
  for write in (order, optimizers, tf1_train, tf1_recurrent, tf1_branches, recurrent, stateful, tables, tensor_tables,
                shared_state, queues, random, candidates):
    if not args.names or write.__name__ in args.names:
      write(args.out)
  return 0


if __name__ == "__main__":
  sys.exit(main())
