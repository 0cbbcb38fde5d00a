#!/usr/bin/env python3
"""Random programs: Tenon must compute what TensorFlow computes.

  tests/programs.py [--build build] [--seed N] [--count N] [--about MODULE] [--keep FOLDER]
                    [--inside-tensorflow build/site-packages]

Where tests/property.py draws flat graphs, each seed is here a function of TensorFlow (tests/programs/program.py):
nested loops, branches and shared functions with unknown sizes, reshapes to computed sizes, recurrent layers,
TensorArrays, ragged tensors, gradients, several dtypes, variables that change. It is saved as a SavedModel and
called with four to six sets of inputs of different sizes, 0 and 1 among them, in TensorFlow with oneDNN off and
in Tenon with rewriting and without; some seeds also as a frozen graph with TensorFlow 1's loops, or
computed in bfloat16. Success or refusal, dtypes, shapes and values are compared. The same seed gives the same
program. A failure prints its seed and what differs, and leaves the model and its inputs (inputs.pkl) in --keep.

With --inside-tensorflow, Tenon is the plug-in of that folder in another process of TensorFlow. Each set of inputs
then runs three times, so that weights have become constants, and states have changed, in the later calls.

Tolerance: that of tests/property.py, 4 eps of the largest value for each step on the path, where eps is that of
the coarsest dtype that the program computes in. Larger differences are compared with the same program in
double precision: Tenon may be 4 times as far from it as TensorFlow is. Computed in bfloat16, Tenon may be 4 times as far
from it as the same program with all its floats in bfloat16.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import pickle
import shutil
import sys
import tempfile
import time
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "programs")]

# pylint: disable=wrong-import-position
import program  # sets the environment before TensorFlow is imported
import keras
import known
import numpy as np
import reference
import tensorflow as tf
from differences import EPS, bound, distance
from side_process import SideProcess

TIME_LIMIT = 300  # seconds per program and way of running
RESULTS = ("passed", "failed", "not made by TensorFlow", "with ops that Tenon lacks")
# What TensorFlow raises where it cannot write or save a program, for instance for lack of a gradient.
NOT_MADE = (TypeError, ValueError, LookupError, NotImplementedError, tf.errors.OpError)


def dtype_of(seed: int) -> Any:
  return {7: tf.float64, 8: tf.bfloat16, 9: tf.half}.get(seed % 20, tf.float32)


class Twin:
  """The results of a program drawn again in another dtype, computed when they are needed."""

  def __init__(self, seed: int, dtype: Any, rounded: Any, times: int) -> None:
    self.arguments, self.times = (seed, dtype, rounded), times
    self.results: Any = None

  def value(self, run: int, name: str, like: np.ndarray) -> np.ndarray | None:
    """An output as wide numbers; None if the program does not exist in that dtype."""
    if self.results is None:
      try:
        self.results = reference.run(program.draw(*self.arguments), self.times)
      except NOT_MADE as error:
        print(f"  no twin in {self.arguments[1].name}: {str(error)[:200]}", flush=True)
        self.results = []
    if len(self.results) <= run or isinstance(self.results[run], str):
      return None
    found = self.results[run].get(name)
    return None if found is None or found.shape != like.shape else wide(found)


def wide(value: np.ndarray) -> np.ndarray:
  return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)


class Check:
  """Compares Tenon's results of one program with TensorFlow's."""

  def __init__(self, seed: int, drawn: program.Program, times: int) -> None:
    self.drawn, self.wanted = drawn, reference.run(drawn, times)
    rounded = dtype_of(seed)
    self.eps = max(EPS[name] for name in drawn.roundings)
    self.exact = Twin(seed, tf.float64, rounded, times)
    self.coarse = Twin(seed, tf.bfloat16, rounded, times)

  def failure(self, got: Any, bfloat16: bool = False) -> str | None:
    """What is wrong, or None."""
    if isinstance(got, str):
      return got
    for run, (want, have) in enumerate(zip(self.wanted, got)):
      if isinstance(want, str) and (isinstance(have, str) or known.refusal(want)):
        if self.drawn.stateful:
          return None  # what a failed run leaves in variables is not defined
        continue
      if isinstance(want, str) or isinstance(have, str):
        who = ("TensorFlow", want) if isinstance(want, str) else ("Tenon", have)
        return f"run {run}: only {who[0]} refuses: {who[1][:600]}"
      for name in want:
        if name not in have:
          return f"run {run}: no output {name}"
        text = self.difference(run, name, want[name], have[name], bfloat16)
        if text:
          return f"run {run}: {name} {text}"
    return None

  def difference(self, run: int, name: str, want: np.ndarray, have: np.ndarray, bfloat16: bool) -> str | None:
    if want.dtype.kind in "OSU":
      equal = want.shape == have.shape and want.astype(object).tolist() == have.astype(object).tolist()
      return None if equal else f"is {have.ravel()[:4]}, not {want.ravel()[:4]}"
    if want.dtype != have.dtype or want.shape != have.shape:
      return f"is {have.dtype}{list(have.shape)}, not {want.dtype}{list(want.shape)}"
    if want.dtype.name not in EPS:
      return None if np.array_equal(want, have) else f"is {have.ravel()[:6]}, not {want.ravel()[:6]}"
    eps = EPS["bfloat16"] if bfloat16 else max(self.eps, EPS[want.dtype.name])
    a, c = wide(want), wide(have)
    limit = bound(a, eps, self.drawn.depth)
    off = distance(c, a)
    if off <= limit:
      return None
    truth = self.exact.value(run, name, want)
    if truth is not None:
      other = self.coarse.value(run, name, want) if bfloat16 else a
      if distance(c, truth) <= max(limit, 4 * distance(a if other is None else other, truth)):
        return None
    return (f"{want.dtype}{list(want.shape)} differs by {off:.3g}, allowed {limit:.3g}: "
            f"{have.ravel()[:4]} not {want.ravel()[:4]}")


class Test:
  """Draws, runs and compares programs."""

  times = 1  # that each set of inputs runs
  lacking = ("does not have", "not implemented")

  def __init__(self, keep: pathlib.Path, command: list[Any], environment: dict[str, str], **options: Any) -> None:
    """`options` are those of each request."""
    # NaN passes through fused Relu as in TensorFlow.
    self.tenon = SideProcess([sys.executable, *command], {"TENON_STRICT_NAN": "1", **environment}, TIME_LIMIT)
    self.keep, self.options = keep, options

  def ask(self, model: pathlib.Path, feeds: list[dict[str, np.ndarray]], **options: Any) -> Any:
    self.tenon.send({"model": str(model), "feeds": feeds * self.times, "options": {**self.options, **options}})
    return self.tenon.receive()

  def frozen(self, drawn: program.Program, folder: pathlib.Path) -> Any:
    """Results of the program as a frozen graph, by the outputs' names."""
    fetches = reference.freeze(drawn, folder / "frozen.pb")
    got = self.ask(folder / "frozen.pb", drawn.feeds, fetches=list(dict.fromkeys(fetches)))
    if isinstance(got, str):
      return got
    names = sorted(drawn.function.structured_outputs)
    return [{n: g[f] for n, f in zip(names, fetches)} if isinstance(g, dict) else g for g in got]

  def ways(self, seed: int, drawn: program.Program, folder: pathlib.Path) -> list[tuple[str, Any]]:
    """Each way of running: its name and Tenon's results."""
    model, feeds = folder / "model", drawn.feeds
    found = [("rewritten", self.ask(model, feeds)), ("unrewritten", self.ask(model, feeds, onednn=False))]
    if seed % 8 == 6 and drawn.freezable:
      found.append(("frozen", self.frozen(drawn, folder)))
    if seed % 8 == 5 and dtype_of(seed) == tf.float32:
      got = self.ask(model, feeds, precision="bf16")
      if not (isinstance(got, str) and "CPU" in got):  # one without such instructions
        found.append(("bfloat16", got))
    return found

  def one(self, seed: int) -> str:
    """The outcome for the seed: one of RESULTS."""
    keras.backend.clear_session()
    dtype = dtype_of(seed)
    with tempfile.TemporaryDirectory() as temporary:
      folder = pathlib.Path(temporary)
      try:
        drawn = program.draw(seed, dtype, dtype)
        reference.save(drawn, folder / "model")
      except NOT_MADE as error:
        print(f"seed {seed}: not made: {type(error).__name__}: {' '.join(str(error).split())[-300:]}", flush=True)
        return "not made by TensorFlow"
      check = Check(seed, drawn, self.times)
      failures = [(way, text) for way, got in self.ways(seed, drawn, folder)
                  if (text := check.failure(got, way == "bfloat16"))]
      if not failures:
        return "passed"
      for way, text in failures:
        print(f"seed {seed} ({dtype.name}, {', '.join(drawn.about)}) {way}: {text}", flush=True)
      if all(any(word in text for word in self.lacking) for _, text in failures):
        return "with ops that Tenon lacks"
      shutil.rmtree(self.keep / str(seed), ignore_errors=True)
      shutil.copytree(folder, self.keep / str(seed))
      (self.keep / str(seed) / "inputs.pkl").write_bytes(
          pickle.dumps({"feeds": drawn.feeds, "wanted": check.wanted}))
      return "failed"

  def can_fail(self) -> bool:
    """Whether the test notices that Tenon is fed slightly different values, which most programs depend on."""
    for seed in range(3):
      with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "model"
        drawn = program.draw(seed, tf.float32, tf.float32)
        reference.save(drawn, folder)
        check = Check(seed, drawn, self.times)
        other = [{k: v * np.float32(1.01) if v.dtype == np.float32 else v for k, v in feed.items()}
                 for feed in drawn.feeds]
        if check.failure(self.ask(folder, other)) is not None:
          return True
    return False

  def summary(self) -> str:
    return ""


class TestInside(Test):
  """The same inside TensorFlow."""

  times = 3
  lacking = ()

  def __init__(self, keep: pathlib.Path, site_packages: pathlib.Path, threads: int) -> None:
    super().__init__(keep, [ROOT / "tests/programs/plugin_side.py", str(threads)],
                     {"TF_PLUGGABLE_DEVICE_LIBRARY_PATH": str(site_packages / "tensorflow-plugins"),
                      "TF_ENABLE_ONEDNN_OPTS": "1"})
    self.whole = 0

  def ask(self, model: pathlib.Path, feeds: list[dict[str, np.ndarray]], **options: Any) -> Any:
    got = super().ask(model, feeds, **options)
    if isinstance(got, str):
      return got
    self.whole += got[0] > 0
    return got[1:]

  def ways(self, seed: int, drawn: program.Program, folder: pathlib.Path) -> list[tuple[str, Any]]:
    found = [("function", self.ask(folder / "model", drawn.feeds))]
    if seed % 8 == 6 and drawn.freezable:
      found.append(("session", self.frozen(drawn, folder)))
    return found

  def summary(self) -> str:
    return f"; {self.whole} graphs with parts that ran whole"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
  parser.add_argument("--seed", type=int, default=0, help="of the first program")
  parser.add_argument("--count", type=int, default=300)
  parser.add_argument("--about", choices=program.MODULES, help="only programs about this")
  parser.add_argument("--threads", type=int, default=2)
  parser.add_argument("--seconds", type=float, help="no further program after so many")
  parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "programs")
  parser.add_argument("--inside-tensorflow", type=pathlib.Path, metavar="SITE_PACKAGES",
                      help="test the plug-in that is there")
  args = parser.parse_args()
  reference.prepare()
  test = (TestInside(args.keep, args.inside_tensorflow.resolve(), args.threads) if args.inside_tensorflow else
          Test(args.keep, [ROOT / "tests/programs/side.py"], {"PYTHONPATH": str(args.build.resolve() / "python")},
               threads=args.threads))
  if not test.can_fail():
    print("a difference that was put in was not seen")
    return 1
  counts: collections.Counter[str] = collections.Counter()
  start = time.monotonic()
  for seed in range(args.seed, args.seed + args.count):
    if args.seconds and time.monotonic() - start > args.seconds:
      break
    if args.about and args.about not in program.about_of(seed):
      continue
    counts[test.one(seed)] += 1
    if counts.total() % 100 == 0:
      print(f"{counts.total()} programs, {counts['failed']} failed", flush=True)
  test.tenon.stop()
  print(", ".join(f"{counts[what]} {what}" for what in RESULTS) + test.summary())
  # A test whose programs cannot run would test nothing.
  enough = counts["passed"] >= 0.8 * counts.total()
  return 0 if enough and not counts["failed"] else 1


if __name__ == "__main__":
  sys.exit(main())
