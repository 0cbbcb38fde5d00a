#!/usr/bin/env python3
"""The demo: Tenon classifies handwritten digits that the model has not seen.

  tools/demo.py --tenon build/bin/tenon

Runs `tenon run` on the held-out digits of tests/models/digits and prints how
many it gets right, how rewriting changed the graph, and the time with the gate
(TF_ENABLE_ONEDNN_OPTS) on and off. Fails if the accuracy is below the one that
training reached in TensorFlow.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "tests/models/digits"


def tenon(args: list[str], gate: str = "1") -> str:
  """Standard output of one `tenon` call; an error ends the demo."""
  environment = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": gate}
  result = subprocess.run(args, env=environment, capture_output=True, text=True)
  if result.returncode != 0:
    raise SystemExit(f"{' '.join(args)}\n{result.stderr}")
  return result.stdout


def logits(tool: str, gate: str) -> np.ndarray:
  with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder) / "logits.npz"
    tenon([tool, "run", str(MODEL / "saved_model"), "--inputs",
           str(MODEL / "inputs.npz"), "--outputs", str(out)], gate)
    with np.load(out) as arrays:
      return next(iter(arrays.values()))


def picture(image: np.ndarray) -> list[str]:
  """An 8x8 image in 0..1 as eight lines of text."""
  shades = " .:-=+*#%@"
  return ["".join(shades[min(9, int(v * 10))] * 2 for v in row)
          for row in image[..., 0]]


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--tenon", required=True)
  args = parser.parse_args()

  with np.load(MODEL / "inputs.npz") as arrays:
    images = next(iter(arrays.values()))
  with np.load(MODEL / "labels.npz") as arrays:
    labels = next(iter(arrays.values()))
  with np.load(MODEL / "outputs.npz") as arrays:
    expected = next(iter(arrays.values()))

  on = logits(args.tenon, "1")
  shown = range(4)
  for lines in zip(*(picture(images[i]) for i in shown)):
    print("   ".join(lines))
  print("   ".join(f"reads as {on[i].argmax()}".ljust(16) for i in shown))

  print(f"\nHeld-out digits: {len(labels)}")
  accuracies = []
  for gate, values in (("1", on), ("0", logits(args.tenon, "0"))):
    accuracies.append(float((values.argmax(1) == labels).mean()))
    difference = np.abs(values - expected).max() / np.abs(expected).max()
    print(f"  TF_ENABLE_ONEDNN_OPTS={gate}: accuracy {accuracies[-1]:.1%}, "
          f"largest difference from TensorFlow {difference:.1e} of the scale")
  trained = float((expected.argmax(1) == labels).mean())

  print("\nRewriting")
  print(tenon([args.tenon, "dump", str(MODEL / "saved_model"), "--stats"]))
  print("Time of one digit (batch 1), warm")
  for gate in ("1", "0"):
    report = json.loads(tenon([args.tenon, "bench", str(MODEL / "saved_model"),
                               "--seconds", "1", "--json"], gate)
                        .strip().splitlines()[-1])
    print(f"  TF_ENABLE_ONEDNN_OPTS={gate}: {report['min_ms']:.3f} ms least, "
          f"{report['median_ms']:.3f} ms median")
  if min(accuracies) < trained:
    print(f"accuracy is below TensorFlow's {trained:.1%}", file=sys.stderr)
    return 1
  return 0


if __name__ == "__main__":
  sys.exit(main())
