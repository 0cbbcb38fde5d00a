#!/usr/bin/env python3
"""Times the seven full-size models in two builds, in turn, so that both see the same load of the machine.

  tests/two_builds.py TENON TENON [--models NAME,…] [--rounds 4] [--seconds 1] [--threads 1]

Prints a line per model: the least ms of each build, and their ratio (second over first).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests"), str(ROOT / "tests" / "makers")]

# pylint: disable=wrong-import-position
import environments
import model_cache
import parity


def least_ms(tenon: pathlib.Path, model: pathlib.Path, seconds: float, threads: int) -> float:
  done = subprocess.run(
      [tenon, "bench", model / "saved_model", "--inputs", model / "inputs.npz", "--seconds", str(seconds),
       "--threads", str(threads), "--json"], capture_output=True, text=True, check=False)
  if done.returncode != 0:
    raise SystemExit(f"{tenon} bench {model}: {done.stderr.strip()}")
  return json.loads(done.stdout.strip().splitlines()[-1])["min_ms"]


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("tenon", type=pathlib.Path, nargs=2)
  parser.add_argument("--models", default=",".join(parity.DEPTH))
  parser.add_argument("--rounds", type=int, default=4)
  parser.add_argument("--seconds", type=float, default=1)
  parser.add_argument("--threads", type=int, default=1)
  args = parser.parse_args()
  environments.reexec("main")
  names = args.models.split(",")
  home = model_cache.ensure(names)
  for name in names:
    times: list[list[float]] = [[], []]
    for turn in range(args.rounds):
      for build in (0, 1) if turn % 2 == 0 else (1, 0):
        times[build].append(least_ms(args.tenon[build], home / name, args.seconds, args.threads))
    first, second = map(min, times)
    print(f"{name:15} {first:8.3f} {second:8.3f} {second / first:6.2f}", flush=True)


if __name__ == "__main__":
  main()
