#!/usr/bin/env python3
"""Runs the seven full-size models in Tenon and compares with TensorFlow.

  tests/parity.py [--tenon build/bin/tenon] [--models NAME,…] [--gates 1,0]

Each model, created if missing (tests/makers/models.py: the stock TensorFlow wheel,
oneDNN off), runs at batch 1, batch 2 and another image size or length, with
the gate on and off. The last line is `N passed, N failed`.

Tolerance: max|difference| <= 1e-5 · sqrt(depth / 50) · max|reference|. Each
layer rounds its sums, by about the same relative amount and independently of
the others, so the error grows with the root of the count of layers on the
longest path; 1e-5 is the requirement, met at ResNet-50's 50 layers.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "makers")]

# pylint: disable=wrong-import-position
import environments
import model_cache

# Contractions on the longest path from input to output.
DEPTH = {"resnet50": 50, "mobilenetv2": 53, "efficientnetb0": 82,
         "inceptionv3": 48, "densenet121": 121, "bert4": 26, "mlp": 4}
SUFFIXES = {"": "batch 1", "_b2": "batch 2", "_odd": "odd size"}


def tolerance(name: str) -> float:
  """Largest allowed difference, relative to the reference's largest value."""
  return 1e-5 * (DEPTH[name] / 50) ** 0.5


def run_tenon(tenon: pathlib.Path, model: pathlib.Path, inputs: pathlib.Path,
              gate: str, threads: int) -> dict:
  """Outputs by name; raises RuntimeError with the CLI's message."""
  import numpy as np  # pylint: disable=import-outside-toplevel
  with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder) / "out.npz"
    done = subprocess.run(
        [tenon, "run", model, "--inputs", inputs, "--outputs", out,
         "--threads", str(threads)],
        env=dict(os.environ, TF_ENABLE_ONEDNN_OPTS=gate),
        capture_output=True, text=True, check=False, timeout=900)
    if done.returncode != 0:
      lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
      raise RuntimeError(f"exit status {done.returncode}: {lines[-1]}")
    with np.load(out) as arrays:
      return dict(arrays)


def compare(name: str, got: dict, wanted: dict) -> tuple[bool, str]:
  """Whether outputs agree, and the figures of the worst one."""
  import numpy as np  # pylint: disable=import-outside-toplevel
  if set(got) != set(wanted):
    return False, f"outputs {sorted(got)}, expected {sorted(wanted)}"
  worst = 0.0
  for key, reference in wanted.items():
    value = got[key]
    if value.shape != reference.shape or value.dtype != reference.dtype:
      return False, (f"{key} is {value.dtype}{list(value.shape)}, expected "
                     f"{reference.dtype}{list(reference.shape)}")
    difference = np.abs(value.astype(np.float64) - reference).max()
    worst = max(worst, float(difference / np.abs(reference).max()))
    if not np.isfinite(value).all():
      return False, f"{key} is not finite"
  limit = tolerance(name)
  return worst <= limit, f"difference {worst:.2e} of scale, limit {limit:.2e}"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=ROOT / "build" / "bin" / "tenon")
  parser.add_argument("--models", default=",".join(DEPTH),
                      help="comma-separated; default: all seven")
  parser.add_argument("--gates", default="1,0",
                      help="values of TF_ENABLE_ONEDNN_OPTS to run with")
  parser.add_argument("--threads", type=int, default=2)
  args = parser.parse_args()
  names = [n for n in args.models.split(",") if n]
  unknown = [n for n in names if n not in DEPTH]
  if unknown:
    parser.error(f"unknown models {unknown}; known: {', '.join(DEPTH)}")
  if not args.tenon.exists():
    parser.error(f"{args.tenon} does not exist; build it first")
  environments.reexec("main")
  import numpy as np  # pylint: disable=import-outside-toplevel

  home = model_cache.ensure(names)
  passed = failed = 0
  for name in names:
    for gate in args.gates.split(","):
      for suffix, label in SUFFIXES.items():
        inputs = home / name / f"inputs{suffix}.npz"
        if not inputs.exists():
          continue
        with np.load(home / name / f"outputs{suffix}.npz") as arrays:
          wanted = dict(arrays)
        start = time.monotonic()
        try:
          good, text = compare(name, run_tenon(
              args.tenon, home / name / "saved_model", inputs, gate,
              args.threads), wanted)
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
          good, text = False, str(error)
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok  ' if good else 'FAIL'} {name:15} gate {gate} "
              f"{label:8} {text} ({time.monotonic() - start:.1f} s)",
              flush=True)
  print(f"{passed} passed, {failed} failed")
  return 1 if failed or not passed else 0


if __name__ == "__main__":
  sys.exit(main())
