"""What the scripts that make models of bench/compare's larger tables share."""

from __future__ import annotations

import argparse
import json
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf

Arrays = dict[str, np.ndarray]
Inputs = Callable[[np.random.Generator, int], Arrays]


def record(target: pathlib.Path, inputs: Inputs, rng: np.random.Generator,
           **more: Any) -> None:
  """Adds samples of batch 1 and 2, TensorFlow's outputs, and model.json.

  `target` has the SavedModel. Exits if an output is constant or not finite.
  """
  loaded = tf.saved_model.load(str(target / "saved_model"))
  signature = loaded.signatures["serving_default"]
  for suffix, batch in (("", 1), ("_b2", 2)):
    sample = inputs(rng, batch)
    result = signature(**{k: tf.constant(v) for k, v in sample.items()})
    outputs = {k: v.numpy() for k, v in result.items()}
    for key, value in outputs.items():
      if not np.isfinite(value).all() or (batch > 1 and value.std() == 0):
        raise SystemExit(f"{target.name}: output {key} is constant or not finite")
    np.savez_compressed(target / f"inputs{suffix}.npz", **sample)
    np.savez_compressed(target / f"outputs{suffix}.npz", **outputs)
  versions = {"tensorflow": tf.__version__, "numpy": np.__version__,
              "TF_ENABLE_ONEDNN_OPTS": "0", **more}
  (target / "model.json").write_text(json.dumps(versions, indent=2) + "\n")


def main(description: str, known: Iterable[str],
         write: Callable[[str, pathlib.Path], None]) -> int:
  """The command line: writes the models that are named, or all, below --out."""
  known = list(known)
  parser = argparse.ArgumentParser(description=description.split("\n")[0])
  parser.add_argument("names", nargs="*", metavar="NAME",
                      help="default: " + " ".join(known))
  parser.add_argument("--out", required=True, type=pathlib.Path)
  args = parser.parse_args()
  unknown = set(args.names) - set(known)
  if unknown:
    parser.error(f"unknown model: {', '.join(sorted(unknown))}")
  for name in args.names or known:
    write(name, args.out)
    print(name, flush=True)
  return 0
