"""A call as a graph of one op, and as a single call of Tenon's."""

from __future__ import annotations

from typing import Any

import goldens
import numpy as np
import tensorflow as tf
from golden_cases import QUANTIZED
from mutate import Call
from state import add_variables, handles

_FIELDS = {"int": "i", "float": "f", "bool": "b", "string": "s"}


def _shape(proto: Any) -> list[int | None] | None:
  if proto.unknown_rank:
    return None
  return [None if d.size < 0 else d.size for d in proto.dim]


def _one(kind: str, value: Any) -> Any:
  """An AttrValue as tenon._core.execute takes it."""
  if kind.startswith("list("):
    kind, values = kind[5:-1], value.list
    if kind == "type":
      return [tf.as_dtype(t).name for t in values.type]
    if kind == "shape":
      return [_shape(s) for s in values.shape]
    return list(getattr(values, _FIELDS[kind]))
  if kind == "type":
    return tf.as_dtype(value.type).name
  if kind == "shape":
    return _shape(value.shape)
  return getattr(value, _FIELDS[kind])


def _output_count(node: Any, definition: Any) -> int:
  def length(attr: str) -> int:
    if attr in node.attr:
      value = node.attr[attr]
      return len(value.list.type) if value.HasField("list") else value.i
    return next(a.default_value.i for a in definition.attr if a.name == attr)

  return sum(length(arg.number_attr or arg.type_list_attr)
             if arg.number_attr or arg.type_list_attr else 1
             for arg in definition.output_arg)


def request_for(call: Call, definition: Any) -> dict[str, Any] | None:
  """What side.py runs; None if such a graph cannot be written."""
  try:
    graph = goldens.build_graph(call.case, call.values)
  except (ValueError, TypeError, KeyError, OverflowError):
    return None
  node = graph.node[-1]
  arrays = [np.ascontiguousarray(v).reshape(v.shape) for v in call.values]
  kinds = {a.name: a.type for a in definition.attr}
  single = None
  if not handles(definition):
    inputs = [(array, str(QUANTIZED[spec.dtype][0]) if spec.dtype in QUANTIZED else
               tf.as_dtype(array.dtype).name)
              for spec, array in zip(call.case.inputs, arrays)]
    attrs = [(name, kinds[name], _one(kinds[name], value))
             for name, value in node.attr.items()]
    single = (call.case.op, inputs, attrs)
  count = _output_count(node, definition)
  fetches = [f"case:{i}" for i in range(count)]
  fetches += add_variables(graph, {i: (call.values[i].dtype, call.values[i].shape)
                                   for i in handles(definition)})
  return {"graph": graph.SerializeToString(), "fetches": fetches, "eager": single,
          "feeds": {f"in{i}": array for i, (spec, array)
                    in enumerate(zip(call.case.inputs, arrays)) if not spec.constant}}
