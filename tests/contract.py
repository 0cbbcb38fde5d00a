#!/usr/bin/env python3
"""Calls of single ops, drawn at random: Tenon must do what TensorFlow does.

  tests/contract.py [--build build] [--seed N] [--count N] [--op REGEX] [--keep FOLDER]

Calls are the golden cases, those of tests/contract/calls.txt, and steps on variables
(tests/contract/state.py), each with random changes (tests/contract/mutate.py): dtypes
for which TensorFlow has a kernel, sizes, ranks, values, attributes. Each runs in
TensorFlow with oneDNN off, and in Tenon with the gate off, with the gate on and op by
op (eager). Success or refusal, the number of outputs, dtypes, shapes and values are
compared (tests/contract/compare.py).

Other values, dtypes or shapes and crashes fail, unless tests/contract/known.py has
them. What only one of the two refuses is listed, because for many invalid calls
TensorFlow's behavior is not defined. --keep gets the list, and a pickle of each call
in it.
"""

from __future__ import annotations

import argparse
import collections
import copy
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import zlib
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "tests" / "contract"
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "makers")]

# pylint: disable=wrong-import-position
import goldens  # sets the environment before TensorFlow is imported
import known
import numpy as np
from compare import FAILURES, KINDS, LISTED, judge
from golden_cases import Case, make_input, read_cases
from mutate import Call, Mutator
from request import request_for
from sides import Side
from state import state_case, with_typed_handles
from tensorflow.python.framework import op_def_registry

CRASHES = 2  # of TensorFlow, after which an op is left


def cases_by_op(build: pathlib.Path) -> dict[str, list[Case]]:
  """Of every op that both sides have."""
  cases: dict[str, list[Case]] = collections.defaultdict(list)
  for path in [*sorted(goldens.CASES.glob("*.txt")), HERE / "calls.txt"]:
    for case in read_cases(path):
      if not case.alone and case.op[0] != "_" and op_def_registry.get(case.op):
        cases[case.op].append(case)
  table = subprocess.run([build / "bin/tenon", "ops"], capture_output=True,
                         text=True, check=True).stdout
  for op in sorted({line.split()[0] for line in table.splitlines() if line} - set(cases)):
    definition = op_def_registry.get(op)
    case = state_case(definition) if definition else None
    if case is not None:
      cases[op].append(case)
  return dict(sorted(cases.items()))


def draw(mutator: Mutator, cases: list[Case], n: int, count: int) -> Call:
  """Call n of `count`: at first each dtype in turn, later any changes."""
  rng = mutator.rng
  case = copy.deepcopy(cases[int(rng.integers(len(cases)))])
  call = Call(case, [make_input(case, i) for i in range(len(case.inputs))], [])
  rows = mutator.rows
  if n < min(len(rows), count // 2):
    every = max(1, 2 * len(rows) // count)
    call.changes.append(mutator.dtypes(call, rows[n * every % len(rows)]))
    if rng.random() < 0.5:
      call.changes.append(mutator.content(call))
  else:
    mutator.change(call)
  return call


def describe(call: Call) -> str:
  inputs = [f"{spec}={np.array2string(value.ravel()[:24], max_line_width=10 ** 6)}"
            for spec, value in zip(call.case.inputs, call.values)]
  return f"{call.case.op}({', '.join(inputs)}) {call.case.attributes}"[:1500]


class Test:
  """Runs and counts calls."""

  def __init__(self, build: pathlib.Path, keep: pathlib.Path) -> None:
    self.reference = Side("tensorflow", {})
    # NaN passes through fused Relu as in TensorFlow.
    self.tenon = Side("tenon", {"PYTHONPATH": str(build / "python"), "TENON_STRICT_NAN": "1"})
    self.keep = keep
    keep.mkdir(parents=True, exist_ok=True)
    self.list = open(keep / "list.txt", "w", encoding="utf-8")

  def outcome(self, call: Call, definition: Any) -> tuple[str, str] | None:
    """Kind and text; None if no such graph can be written."""
    request = request_for(call, definition)
    if request is None:
      return None
    self.reference.send(request)
    self.tenon.send(request)
    wanted, got = self.reference.receive(), self.tenon.receive()
    kind, text = judge(call, wanted, got)
    why = known.reason(call, kind)
    if kind in LISTED and not why:
      name = f"{call.case.op.replace('>', '_')}_{len(list(self.keep.iterdir()))}.pkl"
      self.list.write(f"[{kind}] {call.case.op}: {text}\n  {describe(call)}\n"
                      f"  {'; '.join(call.changes)} ({name})\n")
      self.list.flush()
      (self.keep / name).write_bytes(pickle.dumps(
          {"call": call, "request": request, "wanted": wanted, "got": got}))
    return ("known" if why else kind), text

  def op(self, op: str, cases: list[Case], seed: int, count: int) -> collections.Counter[str]:
    definition = op_def_registry.get(op)
    rng = np.random.default_rng([seed, zlib.crc32(op.encode())])
    mutator = Mutator(rng, with_typed_handles(definition))
    counts: collections.Counter[str] = collections.Counter()
    for n in range(count):
      found = self.outcome(draw(mutator, cases, n, count), definition)
      if found is not None:
        counts[found[0]] += 1
      if counts["TensorFlow crashes"] >= CRASHES:
        break
    return counts

  def can_fail(self) -> bool:
    """Whether a difference that is put in is seen."""
    case = Case("contract", "sum", "AddV2", [], {}, False, None)
    wanted = {"tensorflow": [np.ones(3, np.float32)]}
    return all(judge(Call(case, [], []), wanted, {"eager": [other]})[0] in FAILURES for other in (
        np.full(3, 1.001, np.float32), np.ones(3), np.ones((3, 1), np.float32)))

  def stop(self) -> None:
    self.reference.stop()
    self.tenon.stop()
    self.list.close()


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--count", type=int, default=20, help="calls per op")
  parser.add_argument("--op", default=".*", help="regular expression of names")
  parser.add_argument("--keep", type=pathlib.Path,
                      default=pathlib.Path(tempfile.gettempdir()) / "contract")
  args = parser.parse_args()
  test = Test(args.build.resolve(), args.keep)
  if not test.can_fail():
    print("a difference that was put in was not seen")
    return 1
  total: collections.Counter[str] = collections.Counter()
  ops = 0
  for op, cases in cases_by_op(args.build).items():
    if not re.fullmatch(args.op, op):
      continue
    counts = test.op(op, cases, args.seed, args.count)
    total.update(counts)
    ops += 1
    print(f"{op}: " + ", ".join(f"{counts[k]} {k}" for k in KINDS if counts[k]), flush=True)
  test.stop()
  print(f"{ops} ops: " + ", ".join(f"{total[k]} {k}" for k in KINDS if total[k]))
  print(f"the calls that differ: {args.keep / 'list.txt'}")
  # A test whose calls fail on both sides would test nothing.
  enough = total["agreed"] >= 0.4 * sum(total.values())
  return 0 if enough and not any(total[k] for k in FAILURES) else 1


if __name__ == "__main__":
  sys.exit(main())
