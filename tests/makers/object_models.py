#!/usr/bin/env python3
"""Models whose tensors hold objects: maps, optionals, sparse matrices and tensors.

  tests/makers/object_models.py --out tests/models/objects [NAME…]

As control_models.py, whose functions it uses.
"""

import pathlib
import sys
from collections.abc import Callable

import control_models as control  # sets the environment before TensorFlow is imported
import numpy as np
import tensorflow as tf
from control_models import floats, module, spec
from tensorflow.python.ops import map_ops
from tensorflow.python.ops.linalg.sparse import gen_sparse_csr_matrix_ops as csr


class Maps(tf.Module):
  """TensorMap ops, optionals, and items appended to several lists."""

  @tf.function(input_signature=[
      spec("x", tf.float32, None, 3), spec("k", tf.int32)])
  def run(self, x: tf.Tensor, k: tf.Tensor) -> dict[str, tf.Tensor]:
    raw = tf.raw_ops

    def lookup(of: tf.Tensor, key: tf.Tensor | str) -> tf.Tensor:
      return map_ops.tensor_map_lookup(of, key, tf.float32)

    a = map_ops.tensor_map_insert(map_ops.empty_tensor_map(), k, x)
    a = map_ops.tensor_map_insert(a, k + 1, x[0])
    b = map_ops.tensor_map_insert(a, k, x[:1] * 10.0)  # replaces; a stays as it is
    c = map_ops.tensor_map_erase(b, k + 1, tf.float32)
    loop = map_ops.empty_tensor_map()
    for i in tf.range(k):
      loop = map_ops.tensor_map_insert(loop, i, x[i % 2] * tf.cast(i, tf.float32))
    named = map_ops.tensor_map_insert(map_ops.empty_tensor_map(), "name", tf.constant(["a", "b"]))
    inner = map_ops.tensor_map_insert(map_ops.empty_tensor_map(), x[0], a)

    one = tf.experimental.Optional.from_value((x + 1.0, {"k": k}))
    value = one.get_value()
    none = raw.OptionalNone()
    chosen = tf.cond(k > 2, lambda: raw.OptionalFromValue(components=[x * 2.0]),
                     lambda: raw.OptionalNone())

    lists = tf.stack([
        raw.TensorListFromTensor(tensor=x, element_shape=[3]),
        raw.EmptyTensorList(element_shape=[3], max_num_elements=-1, element_dtype=tf.float32)])
    lists = raw.TensorListPushBackBatch(input_handles=lists, tensor=x[:2] + 5.0)

    def stack(handle: tf.Tensor) -> tf.Tensor:
      return raw.TensorListStack(input_handle=handle, element_dtype=tf.float32, element_shape=[3])

    return {
        "a": lookup(a, k), "row": lookup(a, k + 1), "b": lookup(b, k), "kept": lookup(b, k + 1),
        "size": map_ops.tensor_map_size(b), "less": map_ops.tensor_map_size(c),
        "has": map_ops.tensor_map_has_key(c, k + 1), "had": map_ops.tensor_map_has_key(a, k + 1),
        "other_type": map_ops.tensor_map_has_key(a, tf.cast(k, tf.int64)),
        "looped": map_ops.tensor_map_size(loop), "last": lookup(loop, k - 1),
        "keys": tf.sort(map_ops.tensor_map_stack_keys(a, tf.int32)),
        "key": map_ops.tensor_map_stack_keys(inner, tf.float32),
        "name": map_ops.tensor_map_lookup(named, "name", tf.string),
        "inner": lookup(map_ops.tensor_map_lookup(inner, x[0], tf.variant), k),
        "value": value[0], "value_k": value[1]["k"], "has_value": one.has_value(),
        "has_none": raw.OptionalHasValue(optional=none),
        "has_chosen": raw.OptionalHasValue(optional=chosen),
        "longer": stack(lists[0]), "started": stack(lists[1])}


class Serialized(tf.Module):
  """Sparse tensors as strings and as variants, whole and by rows."""

  @tf.function(input_signature=[
      spec("indices", tf.int64, None, 3), spec("x", tf.float32, None), spec("k", tf.int32)])
  def run(self, indices: tf.Tensor, x: tf.Tensor, k: tf.Tensor) -> dict[str, tf.Tensor]:
    raw = tf.raw_ops
    shape = tf.constant([4, 3, 5], tf.int64)
    outputs: dict[str, tf.Tensor] = {}
    for form, dtype in (("strings", tf.string), ("variants", tf.variant)):
      of = {"sparse_indices": indices, "sparse_values": x, "out_type": dtype}
      one = raw.SerializeSparse(sparse_shape=shape, **of)
      larger = raw.SerializeSparse(sparse_shape=shape + [3, 1, 0], **of)
      rows = raw.SerializeManySparse(sparse_shape=shape, **of)
      outputs[f"{form}_rows"] = tf.shape(rows)
      read = {"one": one, "both": tf.stack([one, larger]), "rows": rows, "row": rows[k],
              "grid": tf.reshape(rows, [2, 2, 3]), "last": rows[2:]}
      if dtype == tf.string:
        # Behind a NUL at its end, a stored string would be shorter.
        outputs["one"] = tf.strings.join([one, "."])
        outputs["rows"] = tf.strings.join([rows, "."])
        many = raw.DeserializeManySparse(serialized_sparse=rows, dtype=tf.float32)
        outputs |= {f"many_{i}": part for i, part in enumerate(many)}
      for name, parts in read.items():
        sparse = raw.DeserializeSparse(serialized_sparse=parts, dtype=tf.float32)
        outputs |= {f"{form}_{name}_{i}": part for i, part in enumerate(sparse)}
    return outputs


class Csr(tf.Module):
  """Sparse matrices by rows, and batches of them, of every dtype.

  Those ops that TensorFlow has only for GPUs: tests/unit/ops/csr_matrix_test.cc.
  """

  @tf.function(input_signature=[
      spec("indices", tf.int64, None, 2), spec("batch_indices", tf.int64, None, 3),
      spec("x", tf.float32, None), spec("dense", tf.float32, 4, 5),
      spec("wide", tf.float32, 2, 3, 5)])
  def run(self, indices: tf.Tensor, batch_indices: tf.Tensor, x: tf.Tensor, dense: tf.Tensor,
          wide: tf.Tensor) -> dict[str, tf.Tensor]:
    outputs: dict[str, tf.Tensor] = {}
    for dtype in (tf.float32, tf.float64, tf.complex64, tf.complex128):

      def typed(t: tf.Tensor, to: tf.DType = dtype) -> tf.Tensor:
        real = tf.cast(t, to)
        return real * tf.constant(0.5 + 2j, to) if to.is_complex else real

      def keep(name: str, value: tf.Tensor, to: tf.DType = dtype) -> None:
        outputs[f"{to.name}_{name}"] = value

      def keep_matrix(name: str, m: tf.Tensor, to: tf.DType = dtype) -> None:
        for i, part in enumerate(csr.csr_sparse_matrix_to_sparse_tensor(m, type=to)):
          keep(f"{name}_{i}", part, to)

      one = csr.sparse_tensor_to_csr_sparse_matrix(indices, typed(x), [4, 5])
      batch = csr.sparse_tensor_to_csr_sparse_matrix(batch_indices, typed(x), [2, 3, 5])
      taken = csr.dense_to_csr_sparse_matrix(typed(dense), indices)
      for name, m, index in (("one", one, 0), ("batch", batch, 1), ("taken", taken, 0)):
        keep_matrix(name, m)
        keep(f"{name}_dense", csr.csr_sparse_matrix_to_dense(m, type=dtype))
        keep(f"{name}_nnz", csr.sparse_matrix_nnz(m))
        for i, part in enumerate(csr.csr_sparse_matrix_components(m, index, type=dtype)):
          keep(f"{name}_component_{i}", part)
        for conjugate in (False, True):
          keep_matrix(f"{name}_transposed_{conjugate}",
                      csr.sparse_matrix_transpose(m, type=dtype, conjugate=conjugate))
      for a in ({}, {"transpose_a": True}, {"adjoint_a": True}):
        for b in ({}, {"transpose_b": True}, {"adjoint_b": True}):
          name = "_".join(["product", *a, *b])
          # [4, 5] times [5, 4], or their transposes; batches [2, 3, 5] likewise.
          plain = bool(a) != bool(b)
          factor = typed(dense if plain else tf.transpose(dense))
          wider = typed(wide if plain else tf.transpose(wide, [0, 2, 1]))
          keep(name, csr.sparse_matrix_mat_mul(one, factor, **a, **b))
          keep(f"{name}_batch", csr.sparse_matrix_mat_mul(batch, wider, **a, **b))
          other = taken if plain else csr.sparse_matrix_transpose(taken, type=dtype)
          keep_matrix(f"sparse_{name}", csr.sparse_matrix_sparse_mat_mul(
              one, other, type=dtype, **a, **b))
      for flag in ("transpose_output", "conjugate_output"):
        keep(flag, csr.sparse_matrix_mat_mul(one, typed(tf.transpose(dense)), **{flag: True}))
      none = csr.sparse_tensor_to_csr_sparse_matrix(indices[:0], typed(x[:0]), [4, 5])
      keep_matrix("none", none)
      keep("none_product", csr.sparse_matrix_mat_mul(none, typed(tf.transpose(dense))))
    return outputs


MODELS: dict[str, Callable[[pathlib.Path, str], None]] = {
    "maps": module(Maps, {"": {"x": floats(4, 3), "k": np.int32(2)},
                          "_more": {"x": floats(5, 3), "k": np.int32(3)}}),
    "csr": module(Csr, {"": {
        "indices": np.array([[0, 1], [0, 4], [1, 0], [3, 1], [3, 3], [3, 4]]),
        "batch_indices": np.array(
            [[0, 0, 1], [0, 0, 4], [0, 2, 0], [1, 0, 2], [1, 2, 0], [1, 2, 4]]),
        "x": floats(6), "dense": floats(4, 5), "wide": floats(2, 3, 5)}}),
    "serialized": module(Serialized, {"": {
        "indices": np.array([[0, 1, 2], [0, 2, 0], [1, 0, 4], [3, 0, 0], [3, 2, 1]]),
        "x": floats(5), "k": np.int32(3)}}),
}


if __name__ == "__main__":
  sys.exit(control.command_line(__doc__, MODELS))
