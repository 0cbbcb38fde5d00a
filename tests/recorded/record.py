"""Runs one of TensorFlow's own test files, and what it computes in Tenon as well.

  record.py FILE RESULTS PYTHONPATH

Each op that the test executes eagerly, each call of a tf.function and each Session.run
becomes a request for contract/side.py, unless it has state; its answer is compared with
what TensorFlow gave. RESULTS gets a line of JSON for each difference, and one with counts
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
from typing import Any

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "contract"), str(HERE.parent / "makers")]

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

# Ops that make no sense alone, that change their inputs, or whose results differ from run to run.
_ALONE = re.compile(
    r"Placeholder.*|_.*|Print.*|Debug.*|Save.*|Restore.*|Read.*|Write.*|Match.*|Delete.*|ShardedFilename|"
    r"Inplace.*|Assert|NoOp|Enter|Exit|Switch|NextIteration|Timestamp|.*(PyFunc|Dataset|Iterator|Summary).*|"
    r"Collective.*|Xla(?!Dynamic).*|(Unb|B)atch(Grad)?")
_RANDOM = re.compile(r".*(Random|Normal|Multinomial|Sampler|Glimpse|BoundingBox).*")
# Graphs with these keep state, or depend on what ran before them.
_STATE = re.compile(
    r"Variable.*|VarHandleOp|Stack.*|TensorArray.*|Random.*|Truncated.*|Parameterized.*|Multinomial|"
    r".*(Sampler|Queue|HashTable|Barrier|PyFunc|Dataset|Iterator|Summary|Accumulator|Reader).*|Save.*|Restore.*|"
    r"Read.*|Write.*|Print.*|Stage.*|Unstage|(Ordered)?Map.*|Mutex.*|Consume.*|Tensor(Map|Forest).*|Timestamp|_.*|"
    r"Match.*|Collective.*|RemoteCall|(Unb|B)atch(Grad)?")


def record_op(recorder: Recorder, op: str, inputs: list[Any], attrs: tuple[Any, ...], outputs: Any) -> None:
  """Outputs: tensors, or the error."""
  definition = op_def_registry.get(op)
  if definition is None or _ALONE.fullmatch(op) or (definition.is_stateful and not _RANDOM.fullmatch(op)):
    return
  tensors = [t if isinstance(t, tf.Tensor) else tf.convert_to_tensor(t) for t in inputs]
  attributes = dict(zip(attrs[::2], attrs[1::2]))
  if recorder.enough(op, (op, str(attrs), str([(t.dtype.name, tuple(t.shape)) for t in tensors]))):
    return
  arrays = [array_of(t, t.dtype) for t in tensors]
  wanted: Any = f"{type(outputs).__name__}: {outputs}"
  count = len(definition.output_arg)
  if not isinstance(outputs, Exception):
    wanted = [array_of(t, t.dtype) for t in outputs]
    count = len(wanted)
  request = graphs.op_request(definition, [(t.dtype, a) for t, a in zip(tensors, arrays)], attributes, count)
  listed = {n: list(v) if isinstance(v, (list, tuple)) else v for n, v in attributes.items()}
  recorder.check("op", op, listed, arrays, request, wanted)


def _ops_of(nodes: Any, functions: Any) -> list[str]:
  ops = [n.op for n in nodes] + [n.op for f in functions for n in f.node_def]
  if any(_STATE.fullmatch(op) for op in ops):
    raise Unsupported("state")
  return ops


def record_function(recorder: Recorder, function: Any, arguments: list[Any], outputs: list[Any]) -> None:
  context = function._bound_context  # pylint: disable=protected-access
  name = tf.compat.as_str(function.name)
  library = graphs.library_of(
      name, lambda f: context.get_function_def(f) if context.has_function(f) else None)
  ops = _ops_of([], library.values())
  key = (str(sorted(collections.Counter(ops).items())), str([(t.dtype.name, tuple(t.shape)) for t in arguments]))
  if recorder.enough("function", key):
    return
  arrays = [array_of(t, t.dtype) for t in arguments]
  wanted = [array_of(t, t.dtype) for t in outputs]
  request = graphs.function_request(name, library, [(t.dtype, a) for t, a in zip(arguments, arrays)],
                                    [t.dtype for t in outputs])
  recorder.check("function", "+".join(sorted(set(ops)))[:300], {}, arrays, request, wanted)


def record_run(recorder: Recorder, graph: Any, feed_dict: Any, fetches: Any, outputs: Any) -> None:
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
  ops = _ops_of([n for n in definition.node if n.name in needed], definition.library.function)
  key = (str(sorted(collections.Counter(ops).items())), str([(k, v.dtype.name, v.shape) for k, v in feeds.items()]),
         str([(v.dtype.name, v.shape) for v in fetched.values()]))
  if recorder.enough("run", key):
    return
  request = graphs.run_request(definition, needed, list(fetched), feeds)
  recorder.check("run", "+".join(sorted(set(ops)))[:300], {}, list(feeds.values()), request, list(fetched.values()))


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

  def fast(*_: Any, **__: Any) -> Any:  # all ops take the slow way, by execute
    raise core._FallbackException("recorded")  # pylint: disable=protected-access

  quick_execute = execute.quick_execute

  def executed(op_name: Any, num_outputs: int, inputs: Any, attrs: Any, ctx: Any, name: Any = None) -> Any:
    op = tf.compat.as_str(op_name)
    try:
      outputs = quick_execute(op_name, num_outputs, inputs, attrs, ctx, name)
    except tf.errors.OpError as error:
      recorded(record_op, op, inputs, attrs or (), error)
      raise
    recorded(record_op, op, inputs, attrs or (), list(outputs))
    return outputs

  call_flat = atomic_function.AtomicFunction.call_flat

  def called(self: Any, *arguments: Any) -> Any:
    outputs = call_flat(self, *arguments)
    if tf.executing_eagerly():
      recorded(record_function, self, list(arguments), list(outputs))
    return outputs

  run = session_module.BaseSession.run

  def ran(self: Any, fetches: Any, feed_dict: Any = None, **options: Any) -> Any:
    outputs = run(self, fetches, feed_dict=feed_dict, **options)
    recorded(record_run, self.graph, feed_dict, fetches, outputs)
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
