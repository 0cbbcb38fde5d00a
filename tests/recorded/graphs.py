"""Graphs of what TensorFlow executed: an op, a tf.function, a Session.run."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np
import tensorflow as tf
from state import add_variables

INTEGERS = {tf.qint8: np.int8, tf.quint8: np.uint8, tf.qint16: np.int16, tf.quint16: np.uint16,
            tf.qint32: np.int32}
_FIELDS = {"string": ("s", tf.compat.as_bytes), "int": ("i", int), "float": ("f", float),
           "bool": ("b", bool)}


class Unsupported(Exception):
  """Such a call cannot be recorded; the message is a word for the counts."""


def array_of(value: Any, dtype: Any) -> np.ndarray:
  """A tensor, or what Session.run gave for one, as an array; integers for quantized numbers."""
  if dtype in (tf.resource, tf.variant):
    raise Unsupported("handles")
  if dtype in INTEGERS:
    if not hasattr(value, "dtype") or not hasattr(value, "numpy"):
      raise Unsupported("quantized")
    value = tf.bitcast(value, tf.as_dtype(INTEGERS[dtype]))
  if hasattr(value, "numpy"):
    value = value.numpy()
  array = np.asarray(value, object) if isinstance(value, (bytes, str)) else np.asarray(value)
  if array.dtype == object and (dtype != tf.string or not all(isinstance(v, (bytes, str)) for v in array.flat)):
    raise Unsupported("composite")
  return np.ascontiguousarray(array).reshape(array.shape)


def _shape(value: Any) -> Any:
  return value if hasattr(value, "unknown_rank") else tf.TensorShape(value).as_proto()


def set_attr(attr: Any, kind: str, value: Any) -> None:
  """Fills an AttrValue with a value as the ops' Python functions give it."""
  if kind == "type":
    attr.type = tf.as_dtype(value).as_datatype_enum
  elif kind == "shape":
    attr.shape.CopyFrom(_shape(value))
  elif kind == "tensor":
    attr.tensor.CopyFrom(value)
  elif kind in _FIELDS:
    field, convert = _FIELDS[kind]
    setattr(attr, field, convert(value))
  elif kind == "list(type)":
    attr.list.type.extend(tf.as_dtype(v).as_datatype_enum for v in value)
  elif kind == "list(shape)":
    attr.list.shape.extend(map(_shape, value))
  elif kind.startswith("list(") and kind[5:-1] in _FIELDS:
    field, convert = _FIELDS[kind[5:-1]]
    getattr(attr.list, field).extend(map(convert, value))
  else:
    raise Unsupported("functions")
  if kind.startswith("list("):
    attr.list.SetInParent()


def eager_attr(kind: str, value: Any) -> Any:
  """An attribute as tenon._core.execute takes it."""
  if kind.startswith("list("):
    return [eager_attr(kind[5:-1], v) for v in value]
  if kind == "type":
    return tf.as_dtype(value).name
  if kind == "shape":
    shape = tf.TensorShape(value)
    return None if shape.rank is None else list(shape)
  return _FIELDS[kind][1](value)


def _add_input(graph: Any, i: int, dtype: Any, array: np.ndarray, constant: bool) -> str:
  node = graph.node.add(name=f"in{i}", op="Const" if constant else "Placeholder")
  node.attr["dtype"].type = dtype.as_datatype_enum
  if constant:
    node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(array, dtype, array.shape))
  else:
    node.attr["shape"].shape.CopyFrom(tf.TensorShape(array.shape).as_proto())
  return node.name


def _request(graph: Any, fetches: list[str], feeds: dict[str, np.ndarray], eager: Any = None) -> dict[str, Any]:
  return {"graph": graph.SerializeToString(), "fetches": fetches, "feeds": feeds, "eager": eager}


class Input(NamedTuple):
  dtype: Any
  array: np.ndarray
  variable: bool = False  # the input is the handle of a variable, which holds the array

  @property
  def constant(self) -> bool:
    """Few integers: axes, shapes and the like."""
    return (not self.variable and self.array.size <= 16 and self.array.dtype in (np.int32, np.int64)
            and self.dtype not in INTEGERS)


def _with_variables(graph: Any, inputs: list[Input]) -> list[str]:
  """Gives the last node the variables. Returns fetches of what they hold afterwards."""
  return add_variables(graph, {i: (given.dtype, None) for i, given in enumerate(inputs) if given.variable})


def op_request(definition: Any, inputs: list[Input], attributes: dict[str, Any],
               outputs: int) -> dict[str, Any]:
  """A call of an op. Few integers after the first input are constants."""
  kinds = {a.name: a.type for a in definition.attr}
  constant = [i > 0 and given.constant for i, given in enumerate(inputs)]
  graph = tf.compat.v1.GraphDef()
  names = [_add_input(graph, i, given.dtype, given.array, fixed)
           for i, (given, fixed) in enumerate(zip(inputs, constant))]
  node = graph.node.add(name="case", op=definition.name, input=names)
  for name, value in attributes.items():
    set_attr(node.attr[name], kinds.get(name, "func"), value)
  eager = None
  held = _with_variables(graph, inputs)
  if not held and not any(kinds[name] == "tensor" for name in attributes):
    eager = (definition.name, [(given.array, given.dtype.name) for given in inputs],
             [(n, kinds[n], eager_attr(kinds[n], v)) for n, v in attributes.items()])
  return _request(graph, [f"case:{i}" for i in range(outputs)] + held,
                  {f"in{i}": given.array for i, given in enumerate(inputs) if not constant[i]}, eager)


def library_of(name: str, find: Callable[[str], Any]) -> dict[str, Any]:
  """A function and all that it calls. `find`: the definition of a name; None: it is no function."""
  found: dict[str, Any] = {}
  todo = [name]
  while todo:
    name = todo.pop()
    definition = None if name in found else find(name)
    if definition is None:
      continue
    found[name] = definition
    for node in definition.node_def:
      todo.append(node.op)
      for value in node.attr.values():
        todo += [f.name for f in [value.func, *value.list.func] if f.name]
  return found


def function_request(name: str, library: dict[str, Any], inputs: list[Input],
                     outputs: list[Any]) -> dict[str, Any]:
  """A call of a function. Outputs: dtypes."""
  graph = tf.compat.v1.GraphDef()
  graph.library.function.extend(library.values())
  names = [_add_input(graph, i, given.dtype, given.array, False) for i, given in enumerate(inputs)]
  node = graph.node.add(name="case", op="StatefulPartitionedCall", input=names)
  set_attr(node.attr["Tin"], "list(type)", [tf.resource if g.variable else g.dtype for g in inputs])
  set_attr(node.attr["Tout"], "list(type)", outputs)
  node.attr["f"].func.name = name
  held = _with_variables(graph, inputs)
  return _request(graph, [f"case:{i}" for i in range(len(outputs))] + held,
                  {f"in{i}": given.array for i, given in enumerate(inputs)})


def needed_nodes(definition: Any, fetches: list[str], feeds: dict[str, np.ndarray]) -> set[str]:
  """The nodes that the fetches need, down to the feeds ("name:0")."""
  nodes = {n.name: n for n in definition.node}
  todo, needed = [f.split(":")[0] for f in fetches], set[str]()
  while todo:
    name = todo.pop()
    if name in needed:
      continue
    needed.add(name)
    if name + ":0" not in feeds:
      todo += [i.lstrip("^").split(":")[0] for i in nodes[name].input]
  return needed


VARIABLES = ("VarHandleOp", "VariableV2", "Variable")


def run_request(definition: Any, needed: set[str], fetches: list[str], feeds: dict[str, np.ndarray],
                variables: dict[str, np.ndarray]) -> dict[str, Any]:
  """A run of these nodes. Whatever is fed becomes a Placeholder. The variables' values by their nodes'
  names: they are assigned before anything uses them; what they hold afterwards is fetched last."""
  graph = tf.compat.v1.GraphDef(versions=definition.versions, library=definition.library)
  users: dict[str, list[str]] = {name: [] for name in variables}
  for node in definition.node:
    if node.name not in needed:
      continue
    copy = graph.node.add()
    copy.CopyFrom(node)
    value = feeds.get(node.name + ":0")
    if value is not None and node.op != "Placeholder":
      copy.Clear()
      copy.name, copy.op = node.name, "Placeholder"
      dtype = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
      copy.attr["dtype"].type = dtype.as_datatype_enum
    for name in {i.split(":")[0] for i in copy.input} & set(variables):
      copy.input.append(f"^{name}/recorded/assign")
      users[name].append(node.name)
  values = {name[:-2]: value for name, value in feeds.items()}
  for node in [n for n in graph.node if n.name in variables]:
    prefix, dtype = node.name + "/recorded/", node.attr["dtype"].type
    handle = node.op == "VarHandleOp"
    given = graph.node.add(name=prefix + "value", op="Placeholder")
    assign = graph.node.add(name=prefix + "assign", op="AssignVariableOp" if handle else "Assign",
                            input=[node.name, given.name])
    read = graph.node.add(name=prefix + "read", op="ReadVariableOp" if handle else "Identity",
                          input=[node.name, "^" + assign.name, *("^" + user for user in users[node.name])])
    for added in (given, assign, read):
      added.attr["dtype" if handle or added is given else "T"].type = dtype
    if not handle:
      assign.attr["validate_shape"].b = False
    values[given.name] = variables[node.name]
    fetches = [*fetches, read.name + ":0"]
  return _request(graph, fetches, values)
