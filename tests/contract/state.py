"""Ops on variables: what are handles becomes variables of the graph."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import tensorflow as tf
from golden_cases import Case, Input

# Ops on handles of variables; other handles are of tables, datasets and the like.
_OPS = re.compile(r"Resource(Apply|SparseApply|Scatter|Gather|StridedSlice).*|Stateful.*|Rng.*|"
                  r"Assign(Add|Sub)?VariableOp|ReadVariableOp|VariableShape")

# Inputs by name; others are numbers between 0 and 1. Of a random op: its own below.
_VARIABLE = Input("f32", (5, 3), False, "uniform(0.5,1.5)")
_INPUTS = {
    "indices": Input("i32", (4,), False, "(0,2,4,1)"),
    "lr_power": Input("f32", (), False, "uniform(-0.9,-0.1)"),
    "global_step": Input("i64", (), False, "(3)"),
    "begin": Input("i32", (1,), True, "(0)"), "end": Input("i32", (1,), True, "(4)"),
    "strides": Input("i32", (1,), True, "(1)")}
_SCALAR = Input("f32", (), False, "uniform(0.1,0.9)")
_RANDOM_INPUTS = {
    "resource": Input("i64", (3,), False, "(1,2,3)"), "algorithm": Input("i64", (), True, "(1)"),
    "alg": Input("i32", (), True, "(1)"), "shape": Input("i32", (2,), True, "(2,3)"),
    "minval": Input("i32", (), False, "(3)"), "maxval": Input("i32", (), False, "(30)"),
    "counts": Input("f32", (), False, "(7)"), "probs": _SCALAR}


def handles(definition: Any) -> list[int]:
  """The inputs that are handles of variables."""
  return [i for i, a in enumerate(definition.input_arg)
          if a.type == tf.resource.as_datatype_enum]


def with_typed_handles(definition: Any) -> Any:
  """The definition as if variables were inputs of the dtype that they hold."""
  held = [a.name for a in definition.attr if a.name in ("T", "dtype")]
  if not handles(definition) or _random(definition.name) or not held:
    return definition
  copy = type(definition)()
  copy.CopyFrom(definition)
  for i in handles(definition):
    copy.input_arg[i].ClearField("type")
    copy.input_arg[i].type_attr = held[0]
  return copy


def _random(op: str) -> bool:
  return op.startswith(("Stateful", "Rng"))


def _input(op: str, arg: Any) -> Input:
  if _random(op):
    if arg.name == "delta":
      return Input("i64" if op == "RngSkip" else "u64", (), False, "(3)")
    return _RANDOM_INPUTS[arg.name]
  if arg.type == tf.resource.as_datatype_enum:
    return _VARIABLE
  if arg.name in ("grad", "updates", "value", "delta"):  # of all rows, or of four
    rows = 4 if re.search("Sparse|Scatter|Slice", op) else 5
    return Input("f32", (rows, 3), False, "")
  if arg.name == "indices" and "Nd" in op:
    return Input("i32", (4, 1), False, "(0,2,4,1)")
  return _INPUTS.get(arg.name, _SCALAR)


def state_case(definition: Any) -> Case | None:
  """A call of an op on variables; None for other ops."""
  op = definition.name
  if not handles(definition) or not _OPS.fullmatch(op):
    return None
  follow = {a.type_attr for a in definition.input_arg}
  stated = {"out_type": np.int32, "dtype": np.int64 if "FullInt" in op else np.float32}
  attributes = {a.name: np.dtype(stated[a.name]) for a in definition.attr
                if a.type == "type" and a.name in stated and a.name not in follow}
  return Case("state", op, op, [_input(op, arg) for arg in definition.input_arg],
              attributes, False, None)


def add_variables(graph: Any, held: dict[int, tuple[Any, Any]]) -> list[str]:
  """Makes inputs of the last node handles of variables that are assigned what the inputs were, and
  returns reads of them behind the node, which are to be fetched. For each such input: the dtype, and
  the shape that the variable states (tf.TensorShape takes it)."""
  node = graph.node[-1]
  for i, (dtype, shape) in held.items():
    handle = graph.node.add(name=f"var{i}", op="VarHandleOp")
    handle.attr["shape"].shape.CopyFrom(tf.TensorShape(shape).as_proto())
    handle.attr["shared_name"].s = handle.name.encode()
    assign = graph.node.add(name=f"assign{i}", op="AssignVariableOp",
                            input=[handle.name, node.input[i]])
    read = graph.node.add(name=f"read{i}", op="ReadVariableOp", input=[handle.name, "^" + node.name])
    for added in (handle, assign, read):
      added.attr["dtype"].type = tf.as_dtype(dtype).as_datatype_enum
    node.input[i] = handle.name
    node.input.append("^" + assign.name)
  return [f"read{i}:0" for i in held]
