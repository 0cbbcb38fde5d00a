#!/usr/bin/env python3
"""Runs the numeric suites under each limit of the instruction set.

  tests/isa.py [--build build] [--sample] [--draws N] [LIMIT …]

oneDNN has different implementations for each family of CPUs, and our vector code
different loops; ONEDNN_MAX_CPU_ISA limits both, so that one machine tests
the families below its own. LIMIT: a value in tests/cpu.py; default: all below the
CPU's own. --sample runs a part of each suite, a different part under
each limit; tools/nightly.sh runs everything.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import time

import cpu

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Suite:
  """A program of the build, or a script of tests/."""

  def __init__(self, name: str, words: list[str], shards: int = 1,
               environment: dict[str, str] | None = None) -> None:
    self.name, self.words, self.shards = name, words, shards
    self.environment = environment or {}

  def run(self, build: pathlib.Path, limit: str, shard: int) -> str:
    """Runs every `shards`-th test; returns what went wrong, or nothing."""
    # More threads than CPUs must not wait by spinning.
    environment = {"OMP_WAIT_POLICY": "passive", **os.environ, "ONEDNN_MAX_CPU_ISA": limit,
                   **self.environment}
    if self.shards > 1:
      environment |= {"GTEST_TOTAL_SHARDS": str(self.shards),
                      "GTEST_SHARD_INDEX": str(shard % self.shards)}
    if self.words[0].endswith(".py"):
      command = [sys.executable, ROOT / "tests" / self.words[0], "--build", build]
    else:
      command = [build / "bin" / self.words[0], "--gtest_brief=1"]
    done = subprocess.run([*command, *self.words[1:]], capture_output=True,
                          text=True, check=False, env=environment, cwd=ROOT)
    if done.returncode == 0:
      return ""
    return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"


def suites(sample: bool, draws: str, index: int) -> list[Suite]:
  """Random tests get different seeds under each limit."""
  graphs = ["--seed", str(100_000 * (index + 1)), "--count", "25" if sample else "300"]
  return [
      Suite("sweep", ["sweep_test"], environment={"TENON_SWEEP_COUNT": draws,
                                                  "TENON_SWEEP_SEED": str(100_000 * index)}),
      Suite("numerics", ["numerics_test"], shards=3 if sample else 1),
      Suite("kernels and gradients", ["kernels_test"], shards=5 if sample else 1),
      Suite("models", ["models_test"], shards=4 if sample else 1),
      Suite("property", ["property.py", *graphs]),
  ]


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
  parser.add_argument("--sample", action="store_true")
  parser.add_argument("--draws", type=int, metavar="N",
                      help="problems of each family of the sweep (5000, or 60 of a sample)")
  parser.add_argument("limits", nargs="*", metavar="LIMIT")
  args = parser.parse_args()
  given = cpu.limits()
  unknown = set(args.limits) - set(cpu.LIMITS)
  if unknown:
    parser.error(f"no such limit: {', '.join(sorted(unknown))}; known: {', '.join(cpu.LIMITS)}")
  failed = 0
  for limit in args.limits or given:
    if limit not in given:
      print(f"{limit}: this CPU does not go that far", flush=True)
      continue
    index = list(cpu.LIMITS).index(limit)
    draws = str(args.draws or (60 if args.sample else 5000))
    for suite in suites(args.sample, draws, index):
      start = time.monotonic()
      wrong = suite.run(args.build.resolve(), limit, index)
      took = time.monotonic() - start
      print(f"{limit}: {suite.name}: {'FAILED' if wrong else 'passed'}, {took:.0f} s", flush=True)
      if wrong:
        print(wrong, flush=True)
        failed += 1
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main())
