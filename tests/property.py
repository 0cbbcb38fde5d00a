#!/usr/bin/env python3
"""Random graphs: results with rewriting, without it, and of TensorFlow must agree.

  tests/property.py [--build build] [--seed N] [--count N]

Each seed is a graph of 5 to 25 kinds of nodes (tests/property/graphs.py), run
in Tenon with the gate on and off, in some cases also op by op (eager), and in
TensorFlow with oneDNN off. A failure
prints its seed, the difference and a shrunken graph, and leaves graph and inputs
in --keep. The same seed gives the same graph.

Tolerance, relative to the largest value of the reference: 4 eps for each node
on the path, because each rounds its result and sums a few rounded products.
Intermediate values are near 1, so a much smaller result comes from cancellation, and
the scale is taken as at least 0.1. Larger differences are compared with the same graph in double precision: a graph that
magnifies rounding errors changes TensorFlow's float result as well, and Tenon
may be 4 times as far off.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "property"), str(ROOT / "tests")]

# pylint: disable=wrong-import-position
import graphs
import ml_dtypes
import numpy as np
import shrink
import tensorflow as tf
from differences import EPS, bound, distance
from reference import run_tensorflow

TIME_LIMIT = 120  # seconds per graph
HOW = ("rewritten", "unrewritten", "eager")


class Worker:
  """Tenon in a separate process, restarted when it dies."""

  def __init__(self, build: pathlib.Path, folder: pathlib.Path,
               threads: int) -> None:
    self.build, self.folder, self.threads = build, folder, threads
    self.process: Any = None

  def start(self) -> None:
    # NaN passes through fused Relu as in TensorFlow.
    environment = dict(os.environ, TENON_STRICT_NAN="1")
    self.process = subprocess.Popen(
        [sys.executable, ROOT / "tests/property/worker.py",
         self.build / "lib/libtenon.so"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=environment)

  def run(self, definition: Any, feeds: dict[str, np.ndarray],
          fetches: list[str], how: str) -> dict[str, np.ndarray] | str:
    """Outputs by name, or what went wrong. `how`: one of HOW."""
    graph = self.folder / "graph.pb"
    graph.write_bytes(definition.SerializeToString())
    narrow = [k for k, v in feeds.items() if v.dtype == ml_dtypes.bfloat16]
    np.savez(self.folder / "in.npz", **{
        k: v.view(np.uint16) if k in narrow else v for k, v in feeds.items()})
    if how == "eager":
      return self.run_eager(fetches)
    if self.process is None:
      self.start()
    request = {"graph": str(graph), "inputs": str(self.folder / "in.npz"),
               "outputs": str(self.folder / "out.npz"), "fetches": fetches,
               "gate": int(how == "rewritten"), "threads": self.threads, "bfloat16": narrow}
    late = threading.Event()
    limit = threading.Timer(TIME_LIMIT, lambda: (late.set(), self.process.kill()))
    try:
      limit.start()
      self.process.stdin.write(json.dumps(request) + "\n")
      self.process.stdin.flush()
      answer = self.process.stdout.readline()
    except BrokenPipeError:
      answer = ""
    limit.cancel()
    if not answer:
      status = self.process.wait()
      self.process = None
      if late.is_set():
        return f"no answer within {TIME_LIMIT} s"
      return f"the process ended with status {status}"
    error = json.loads(answer)["error"]
    if error:
      return error
    with np.load(self.folder / "out.npz") as arrays:
      return dict(arrays)

  def run_eager(self, fetches: list[str]) -> dict[str, np.ndarray] | str:
    """The result of `run`, by the command line."""
    done = subprocess.run(
        [self.build / "bin/tenon", "run", self.folder / "graph.pb", "--eager",
         "--threads", str(self.threads), "--fetch", ",".join(fetches),
         "--inputs", self.folder / "in.npz", "--outputs",
         self.folder / "out.npz"], capture_output=True, text=True, check=False)
    if done.returncode:
      return done.stderr.strip() or f"exit status {done.returncode}"
    with np.load(self.folder / "out.npz") as arrays:
      return dict(arrays)

  def stop(self) -> None:
    if self.process is not None:
      self.process.stdin.close()
      self.process.wait()


def widen(value: np.ndarray, like: np.ndarray) -> np.ndarray:
  """bfloat16 is stored as its bits."""
  if value.dtype == np.uint16 and like.dtype == ml_dtypes.bfloat16:
    value = value.view(ml_dtypes.bfloat16)
  return value.astype(np.float64)


class Check:
  """Checks one graph in all three; also used for shrinking."""

  def __init__(self, worker: Worker, drawn: graphs.Drawn,
               double: graphs.Drawn | None, how: tuple[str, ...]) -> None:
    self.worker, self.drawn, self.double = worker, drawn, double
    self.how = how

  def failure(self, definition: Any, feeds: dict[str, np.ndarray],
              fetches: list[str], wanted: dict[str, np.ndarray],
              precise: bool) -> str | None:
    """What is wrong, or None."""
    for where in self.how:
      got = self.worker.run(definition, feeds, fetches, where)
      if isinstance(got, str):
        return f"{where}: {got}"
      for name in fetches:
        reference, value = wanted[name], got[name]
        if value.shape != reference.shape:
          return f"{where}: {name} is {value.shape}, not {reference.shape}"
        if reference.dtype.name not in EPS:
          if not np.array_equal(value, reference):
            return f"{where}: {name} differs"
          continue
        exact = reference.astype(np.float64)
        value = widen(value, reference)
        limit = bound(exact, EPS[reference.dtype.name], self.drawn.depth)
        off = distance(value, exact)
        if off <= limit:
          continue
        if precise and self.double is not None:
          other = self.double.fetches[fetches.index(name)]
          truth = run_tensorflow(self.double.graph, self.double.feeds,
                                 [other])[other]
          allowed = max(limit, 4 * distance(exact, truth))
          if distance(value, truth) <= allowed:
            continue
        return (f"{where}: {name} {reference.dtype}{list(reference.shape)} "
                f"differs by {off:.3g}, allowed {limit:.3g}")
    return None


def text(definition: Any) -> str:
  """One node per line."""
  lines = []
  for node in definition.node:
    attrs = {}
    for key, value in sorted(node.attr.items()):
      if key == "value":
        array = tf.make_ndarray(value.tensor)
        attrs[key] = (f"{array.dtype}{list(array.shape)}" if array.size > 8 else
                      str(array.tolist()))
      elif key == "shape":
        attrs[key] = str(tf.TensorShape(value.shape))
      elif not key.startswith("_") and key not in ("T", "dtype"):
        attrs[key] = " ".join(str(value).replace("\n", " ").split())
    shown = ", ".join(f"{k}={v}" for k, v in attrs.items())
    lines.append(f"  {node.name} = {node.op}({', '.join(node.input)}) {{{shown}}}")
  return "\n".join(lines)


RESULTS = ("passed", "failed", "not run by TensorFlow",
           "with ops that Tenon lacks")


def dtype_of(seed: int) -> Any:
  return {7: tf.float64, 8: tf.bfloat16}.get(seed % 16, tf.float32)


def test(seed: int, worker: Worker, keep: pathlib.Path) -> str:
  """The outcome for the seed: one of RESULTS."""
  dtype = dtype_of(seed)
  drawn = graphs.draw(seed, dtype)
  try:
    wanted = run_tensorflow(drawn.graph, drawn.feeds, drawn.fetches)
  except tf.errors.OpError:
    return "not run by TensorFlow"
  double = None if dtype == tf.float64 else graphs.draw(seed, tf.float64)
  # .npz files cannot represent bfloat16, so the command line cannot be fed it.
  eager = dtype != tf.bfloat16 and seed % 4 == 0
  check = Check(worker, drawn, double, HOW if eager else HOW[:2])
  failure = check.failure(drawn.graph, drawn.feeds, drawn.fetches, wanted,
                          precise=True)
  if failure is None:
    return "passed"
  if "does not have" in failure or "not implemented" in failure:
    print(f"seed {seed}: {failure}", flush=True)
    return "with ops that Tenon lacks"
  print(f"seed {seed} ({dtype.name}): {failure}", flush=True)
  # By the formula alone: a part has no twin in double precision.
  part = shrink.shrink(drawn, lambda *part: check.failure(*part, precise=False))
  keep.mkdir(parents=True, exist_ok=True)
  (keep / f"{seed}.pb").write_bytes(part.graph.SerializeToString())
  np.savez(keep / f"{seed}.npz", **{
      k: v.astype(np.float32) if v.dtype == ml_dtypes.bfloat16 else v
      for k, v in part.feeds.items()})
  print(f"shrunken: {part.message}\n{text(part.graph)}\n"
        f"  fetch {' '.join(part.fetches)}", flush=True)
  return "failed"


def can_fail(worker: Worker) -> bool:
  """Whether the test notices that Tenon is fed slightly different values."""
  drawn = graphs.draw(0, tf.float32)
  wanted = run_tensorflow(drawn.graph, drawn.feeds, drawn.fetches)
  other = {k: v * np.float32(1.001) for k, v in drawn.feeds.items()}
  check = Check(worker, drawn, graphs.draw(0, tf.float64), HOW[:1])
  return check.failure(drawn.graph, other, drawn.fetches, wanted,
                       precise=True) is not None


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
  parser.add_argument("--seed", type=int, default=0, help="of the first graph")
  parser.add_argument("--count", type=int, default=300)
  parser.add_argument("--threads", type=int, default=2)
  parser.add_argument("--keep", type=pathlib.Path,
                      default=pathlib.Path(tempfile.gettempdir()) / "property")
  args = parser.parse_args()
  counts = dict.fromkeys(RESULTS, 0)
  with tempfile.TemporaryDirectory() as folder:
    worker = Worker(args.build.resolve(), pathlib.Path(folder), args.threads)
    if not can_fail(worker):
      print("a difference that was put in was not seen")
      return 1
    for seed in range(args.seed, args.seed + args.count):
      counts[test(seed, worker, args.keep)] += 1
    worker.stop()
  print(", ".join(f"{n} {what}" for what, n in counts.items()))
  # A test whose graphs cannot run would test nothing.
  enough = counts["passed"] >= 0.8 * args.count
  return 0 if enough and not counts["failed"] else 1


if __name__ == "__main__":
  sys.exit(main())
