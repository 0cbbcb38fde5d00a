#!/usr/bin/env python3
"""A process that holds one model in one peer and times it when told to.

  peer_worker.py PEER SAVED_MODEL --inputs IN.npz --wanted RIGHT.npz
      --outputs OUT.npz --cache DIR [--samples CALIBRATION.npz] [--threads N]
      [--streams S]

Writes one JSON object a line on stdout: first {"ready": …} or {"refused": …},
then for each line `SECONDS` on stdin the times of a slice of runs.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import sys
import time
from collections.abc import Callable

import numpy as np
import peer_backends


def measure(backend: peer_backends.Backend, seconds: float) -> dict:
  """Runs for about `seconds`, two runs unmeasured before; times in ms.

  A run that takes longer than the slice is warm after one, and measured once.
  """
  start = time.perf_counter()
  backend.run()
  slow = time.perf_counter() - start > seconds
  if not slow:
    backend.run()
  if backend.run_many is not None:
    runs, taken = backend.run_many(seconds)
    each = taken / runs * 1e3
    return {"min_ms": each, "median_ms": each, "n": runs}
  times = []
  end = time.perf_counter() + seconds
  while True:
    start = time.perf_counter()
    backend.run()
    now = time.perf_counter()
    times.append((now - start) * 1e3)
    if now >= end and len(times) >= (1 if slow else 3):
      break
  return {"min_ms": min(times), "median_ms": float(np.median(times)),
          "n": len(times)}


def answers() -> Callable[[dict], None]:
  """Writes answers on stdout, from where all else that is printed moves to stderr."""
  pipe = os.fdopen(os.dup(1), "w")
  os.dup2(2, 1)
  return lambda value: print(json.dumps(value), file=pipe, flush=True)


def serve(answer: Callable[[dict], None], version: str,
          slice_of: Callable[[float], dict]) -> None:
  """Answers each line of seconds with the times of a slice of runs."""
  answer({"ready": version})
  for line in sys.stdin:
    answer(slice_of(float(line)))


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("peer", choices=peer_backends.PEERS)
  parser.add_argument("model", type=pathlib.Path)
  parser.add_argument("--inputs", type=pathlib.Path, required=True)
  parser.add_argument("--wanted", type=pathlib.Path, required=True,
                      help="the right outputs, in the order of their names")
  parser.add_argument("--samples", type=pathlib.Path,
                      help="what int8 peers are calibrated on")
  parser.add_argument("--outputs", type=pathlib.Path, required=True)
  parser.add_argument("--threads", type=int, default=2)
  parser.add_argument("--streams", type=int, default=1)
  parser.add_argument("--cache", type=pathlib.Path, required=True)
  args = parser.parse_args()
  answer = answers()
  with np.load(args.inputs) as arrays:
    inputs = dict(arrays)
  with np.load(args.wanted) as arrays:
    wanted = [arrays[k] for k in sorted(arrays)]
  try:
    backend = peer_backends.load(args.peer, args.model, inputs, args.threads,
                                 args.streams, args.cache, args.samples,
                                 wanted)
    backend.run()
    np.savez(args.outputs, *backend.outputs())
  except peer_backends.Refused as error:
    # Results are committed: they name files, not where this machine keeps them.
    text = re.sub(r"/\S*/", "", " ".join(str(error).split()))
    answer({"refused": text[:300]})
    return 0
  serve(answer, backend.version, lambda seconds: measure(backend, seconds))
  return 0


if __name__ == "__main__":
  sys.exit(main())
