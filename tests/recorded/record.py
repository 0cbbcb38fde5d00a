"""Runs one of TensorFlow's own test files, and what it computes in Tenon as well.

  record.py FILE RESULTS PYTHONPATH

Each op that the test executes eagerly, each call of a tf.function and each Session.run
becomes a request for contract/side.py, unless it has state that the recorder does not know;
its answer is compared with what TensorFlow gave. Variables are known: the
request assigns them before the call, and what they hold afterwards counts as an output. RESULTS gets a line of JSON for each difference, and one with counts
at the end. Whether the test passes does not matter. PYTHONPATH: where Tenon's package is.
"""

from __future__ import annotations

import collections
import importlib
import os
import pathlib
import re
import runpy
import sys
import tempfile
from typing import Any, Callable, NamedTuple

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "contract"), str(HERE.parent / "makers")]
sys.path.append(str(HERE.parent))

# pylint: disable=wrong-import-position
import graphs
import numpy as np
import tensorflow as tf
from graphs import Unsupported, array_of
from recorder import Recorder
from tensorflow.python import pywrap_tfe
from tensorflow.python.client import session as session_module
from tensorflow.python.eager import core, execute
from tensorflow.python.eager.polymorphic_function import atomic_function
from tensorflow.python.framework import op_def_registry
from tensorflow.python.ops import gen_resource_variable_ops

# Ops that make no sense alone, that change their inputs, or whose results differ from run to run.
_ALONE = re.compile(
    r"Placeholder.*|_.*|Print.*|Debug.*|Save.*|Restore.*|Read(?!Variable).*|Write.*|Match.*|Delete.*|ShardedFilename|"
    r"Inplace.*|Assert|NoOp|Enter|Exit|Switch|NextIteration|Timestamp|.*(PyFunc|Dataset|Iterator|Summary).*|"
    r"Collective.*|Xla(?!Dynamic).*|(Unb|B)atch(Grad)?")
_RANDOM = re.compile(r".*(Random|Normal|Multinomial|Sampler|Glimpse|BoundingBox).*")
# Graphs with these keep state, or depend on what ran before them.
_STATE = re.compile(
    r"Variable(V2)?|VarHandleOp|Stack.*|TensorArray.*|Random.*|Truncated.*|Parameterized.*|Multinomial|"
    r".*(Sampler|Queue|HashTable|Barrier|PyFunc|Dataset|Iterator|Summary|Accumulator|Reader).*|Save.*|Restore.*|"
    r"Read(?!Variable).*|Write.*|Print.*|Stage.*|Unstage|(Ordered)?Map.*|Mutex.*|Consume.*|Tensor(Map|Forest).*|Timestamp|_.*|"
    r"Match.*|Collective.*|RemoteCall|(Unb|B)atch(Grad)?")


# Ops that have state only in the variables that their inputs name.
_OF_VARIABLES = re.compile(r"(Assign|Read|DisableCopyOnRead).*Variable.*|VariableShape|Resource.*")


class Variable(NamedTuple):
  """What a handle named before a call."""
  handle: Any
  dtype: Any
  value: Any


def read(variables: list[Variable | None]) -> list[Any]:
  return [gen_resource_variable_ops.read_variable_op(v.handle, v.dtype) for v in variables if v]


def variables_of(inputs: list[Any]) -> list[Variable | None]:
  """For each input the variable whose handle it is; None: it is a tensor, or another handle."""
  found: list[Variable | None] = []
  for given in inputs:
    data = getattr(given, "_handle_data", None) if getattr(given, "dtype", None) == tf.resource else None
    variable = None
    if data is not None and data.is_set and data.shape_and_type:
      variable = Variable(given, tf.as_dtype(data.shape_and_type[0].dtype), None)
      try:
        variable = variable._replace(value=read([variable])[0])
      except tf.errors.OpError:  # it has no value yet, or is no variable
        variable = None
    found.append(variable)
  return found


def inputs_of(tensors: list[Any], variables: list[Variable | None]) -> list[graphs.Input]:
  return [graphs.Input(v.dtype, array_of(v.value, v.dtype), True) if v else
          graphs.Input(t.dtype, array_of(t, t.dtype)) for t, v in zip(tensors, variables)]


def record_op(recorder: Recorder, op: str, inputs: list[Any], variables: list[Variable | None],
              attrs: tuple[Any, ...], outputs: Any) -> None:
  """Outputs: tensors, or the error."""
  definition = op_def_registry.get(op)
  if definition is None or _ALONE.fullmatch(op) or (
      definition.is_stateful and not _RANDOM.fullmatch(op) and not _OF_VARIABLES.fullmatch(op)):
    return
  tensors = [t if isinstance(t, tf.Tensor) else tf.convert_to_tensor(t) for t in inputs]
  attributes = dict(zip(attrs[::2], attrs[1::2]))
  given = inputs_of(tensors, variables)
  if recorder.enough(op, (op, str(attrs), str([(g.dtype.name, g.array.shape) for g in given]))):
    return
  wanted: Any = f"{type(outputs).__name__}: {outputs}"
  count = len(definition.output_arg)
  if not isinstance(outputs, Exception):
    count = len(outputs)
    wanted = [array_of(t, t.dtype) for t in [*outputs, *read(variables)]]
  request = graphs.op_request(definition, given, attributes, count)
  listed = {n: list(v) if isinstance(v, (list, tuple)) else v for n, v in attributes.items()}
  recorder.check("op", op, listed, [g.array for g in given], request, wanted)


def _ops_of(nodes: Any, functions: Any) -> list[str]:
  """The ops, without the graph's own variables."""
  ops = [n.op for n in nodes if n.op not in graphs.VARIABLES] + [n.op for f in functions for n in f.node_def]
  if any(_STATE.fullmatch(op) for op in ops):
    raise Unsupported("state")
  return ops


Run = Callable[..., Any]


def read_in(session: Any, run: Run, names: list[str]) -> dict[str, np.ndarray]:
  """What variables hold in a session. Those without a value are left out, and those that the graph never reads."""
  values = {}
  for name in names:
    tensor = session.graph.get_operation_by_name(name).outputs[0]
    if tensor.dtype == tf.resource:
      readers = [op for op in tensor.consumers() if op.type == "ReadVariableOp" and not op.control_inputs]
      if not readers:
        continue
      tensor = readers[0].outputs[0]
    try:
      values[name] = array_of(run(session, tensor), tensor.dtype.base_dtype)
    except tf.errors.OpError:
      pass
  return values


def before_run(recorder: Recorder, session: Any, run: Run) -> dict[str, np.ndarray]:
  """The values of all variables of the session's graph, if they are few."""
  if recorder.busy:
    return {}
  recorder.busy = True
  try:
    names = [op.name for op in session.graph.get_operations() if op.type in graphs.VARIABLES]
    return read_in(session, run, names) if len(names) <= 50 else {}
  except Exception:  # pylint: disable=broad-exception-caught
    return {}  # the run is not recorded if it needs one
  finally:
    recorder.busy = False


def record_function(recorder: Recorder, function: Any, arguments: list[Any], variables: list[Variable | None],
                    outputs: list[Any]) -> None:
  context = function._bound_context  # pylint: disable=protected-access
  name = tf.compat.as_str(function.name)
  library = graphs.library_of(
      name, lambda f: context.get_function_def(f) if context.has_function(f) else None)
  ops = _ops_of([], library.values())
  given = inputs_of(arguments, variables)
  key = (str(sorted(collections.Counter(ops).items())), str([(g.dtype.name, g.array.shape) for g in given]))
  if recorder.enough("function", key):
    return
  wanted = [array_of(t, t.dtype) for t in [*outputs, *read(variables)]]
  request = graphs.function_request(name, library, given, [t.dtype for t in outputs])
  recorder.check("function", "+".join(sorted(set(ops)))[:300], {}, [g.array for g in given], request, wanted)


def record_run(recorder: Recorder, session: Any, run: Run, held: dict[str, np.ndarray], feed_dict: Any,
               fetches: Any, outputs: Any) -> None:
  """`held`: the variables' values before the run."""
  graph = session.graph
  fetched: dict[str, np.ndarray] = {}
  for fetch, output in zip(*(tf.nest.flatten(x, expand_composites=True) for x in (fetches, outputs))):
    tensor = graph.as_graph_element(fetch) if isinstance(fetch, str) else fetch
    if isinstance(tensor, tf.Tensor):
      fetched[tensor.name] = array_of(output, tensor.dtype)
    elif not isinstance(tensor, tf.Operation):
      raise Unsupported("fetches")
  if not fetched:
    return
  feeds = {}
  for fed, value in (feed_dict or {}).items():
    tensor = graph.as_graph_element(fed) if isinstance(fed, str) else fed
    if not isinstance(tensor, tf.Tensor) or not tensor.name.endswith(":0"):
      raise Unsupported("feeds")
    feeds[tensor.name] = array_of(np.asarray(value, tensor.dtype.as_numpy_dtype), tensor.dtype)
  definition = graph.as_graph_def()
  needed = graphs.needed_nodes(definition, list(fetched), feeds)
  nodes = [n for n in definition.node if n.name in needed]
  ops = _ops_of(nodes, definition.library.function)
  variables = {n.name: held.get(n.name) for n in nodes if n.op in graphs.VARIABLES}
  if any(value is None for value in variables.values()):
    raise Unsupported("state")
  key = (str(sorted(collections.Counter(ops).items())), str([(k, v.dtype.name, v.shape) for k, v in feeds.items()]),
         str([(v.dtype.name, v.shape) for v in fetched.values()]))
  if recorder.enough("run", key):
    return
  request = graphs.run_request(definition, needed, list(fetched), feeds, variables)
  after = read_in(session, run, list(variables))
  wanted = [*fetched.values(), *(after[name] for name in variables)]
  recorder.check("run", "+".join(sorted(set(ops)))[:300], {}, [*feeds.values(), *variables.values()], request, wanted)


def install(recorder: Recorder) -> None:
  """Puts the recorder where TensorFlow executes."""
  def recorded(record: Any, *arguments: Any) -> None:
    if recorder.busy:
      return
    recorder.busy = True
    try:
      record(recorder, *arguments)
    except Unsupported as reason:
      recorder.counts[str(reason)] += 1
    except Exception as error:  # pylint: disable=broad-exception-caught
      recorder.counts["not recorded"] += 1
      recorder.line(kind="not recorded", name=str(arguments[0])[:60], text=f"{type(error).__name__}: {error}"[:300])
    finally:
      recorder.busy = False

  def before(inputs: Any) -> list[Variable | None]:
    if recorder.busy or not tf.executing_eagerly():
      return [None] * len(inputs)
    recorder.busy = True
    try:
      return variables_of(list(inputs))
    finally:
      recorder.busy = False

  def fast(*_: Any, **__: Any) -> Any:  # all ops take the slow way, by execute
    raise core._FallbackException("recorded")  # pylint: disable=protected-access

  quick_execute = execute.quick_execute

  def executed(op_name: Any, num_outputs: int, inputs: Any, attrs: Any, ctx: Any, name: Any = None) -> Any:
    op = tf.compat.as_str(op_name)
    variables = before(inputs)
    try:
      outputs = quick_execute(op_name, num_outputs, inputs, attrs, ctx, name)
    except tf.errors.OpError as error:
      recorded(record_op, op, inputs, variables, attrs or (), error)
      raise
    recorded(record_op, op, inputs, variables, attrs or (), list(outputs))
    return outputs

  call_flat = atomic_function.AtomicFunction.call_flat

  def called(self: Any, *arguments: Any) -> Any:
    variables = before(arguments)
    outputs = call_flat(self, *arguments)
    if tf.executing_eagerly():
      recorded(record_function, self, list(arguments), variables, list(outputs))
    return outputs

  run = session_module.BaseSession.run

  def ran(self: Any, fetches: Any, feed_dict: Any = None, **options: Any) -> Any:
    held = before_run(recorder, self, run)
    outputs = run(self, fetches, feed_dict=feed_dict, **options)
    recorded(record_run, self, run, held, feed_dict, fetches, outputs)
    return outputs

  pywrap_tfe.TFE_Py_FastPathExecute = fast
  execute.execute = execute.quick_execute = executed
  atomic_function.AtomicFunction.call_flat = called
  session_module.BaseSession.run = ran


def add_helpers(source: pathlib.Path) -> None:
  """Lets tests import modules of the source that TensorFlow's wheel does not carry."""
  for folder in sorted((source / "tensorflow" / "python").rglob("*")):
    if folder.is_dir() and any(folder.glob("*.py")):
      try:
        package = importlib.import_module(".".join(folder.relative_to(source).parts))
        package.__path__.append(str(folder))
      except Exception:  # pylint: disable=broad-exception-caught
        pass  # whoever needs it says so


def main() -> None:
  file, results, python_path = sys.argv[1:]
  recorder = Recorder(pathlib.Path(file).resolve(), pathlib.Path(results).resolve(), python_path)
  before, inner, _ = str(recorder.file).rpartition("/tensorflow/python/")
  if inner:
    add_helpers(pathlib.Path(before))
  install(recorder)
  os.environ.setdefault("TEST_TMPDIR", tempfile.mkdtemp())
  sys.argv = [file]
  status = ""
  try:
    runpy.run_path(file, run_name="__main__")
  except SystemExit as end:
    status = str(end.code)
  except BaseException as error:  # pylint: disable=broad-exception-caught
    status = f"{type(error).__name__}: {error}"
  recorder.end(status[:300])


if __name__ == "__main__":
  main()
