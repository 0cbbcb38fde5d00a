#!/usr/bin/env python3
"""Writes the models of bench/compare's table trained, with TensorFlow's outputs.

  tests/makers/trained_models.py --out DIR [NAME ...]

Each DIR/NAME holds what zoo_models.py writes, too. The networks are other
people's, with the weights that they trained: packages carry them
(tests/makers/trained/requirements.in), of which nothing is installed. Inputs are
random. Outputs come from TensorFlow with oneDNN off.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pathlib
import shutil
import sys
import zlib

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["TF_USE_LEGACY_KERAS"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

# pylint: disable=wrong-import-position
import numpy as np
import tensorflow as tf

import trained


def write(name: str, out: pathlib.Path) -> None:
  """Exports and records one network under out/name."""
  module, function = trained.NETWORKS[name]
  network = getattr(importlib.import_module(f"trained.{module}"), function)()
  target = out / name
  if target.exists():
    shutil.rmtree(target)
  target.mkdir(parents=True)
  network.save(target / "saved_model")
  loaded = tf.saved_model.load(str(target / "saved_model"))
  signature = loaded.signatures["serving_default"]
  rng = np.random.default_rng(zlib.crc32(name.encode()))
  for suffix, batch in (("", 1), ("_b2", 2)):
    inputs = network.inputs(rng, batch)
    result = signature(**{k: tf.constant(v) for k, v in inputs.items()})
    outputs = {k: v.numpy() for k, v in result.items()}
    for key, value in outputs.items():
      if value.dtype.kind == "f" and not np.isfinite(value).all():
        raise SystemExit(f"{name}: output {key} is not finite")
    np.savez_compressed(target / f"inputs{suffix}.npz", **inputs)
    np.savez_compressed(target / f"outputs{suffix}.npz", **outputs)
  record = {"tensorflow": tf.__version__, "numpy": np.__version__,
            "TF_ENABLE_ONEDNN_OPTS": "0"}
  (target / "model.json").write_text(json.dumps(record, indent=2) + "\n")
  print(name, flush=True)


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("names", nargs="*", metavar="NAME",
                      help="default: " + " ".join(trained.NETWORKS))
  parser.add_argument("--out", required=True, type=pathlib.Path)
  args = parser.parse_args()
  unknown = set(args.names) - set(trained.NETWORKS)
  if unknown:
    parser.error(f"unknown model: {', '.join(sorted(unknown))}")
  for name in args.names or trained.NETWORKS:
    write(name, args.out)
  return 0


if __name__ == "__main__":
  sys.exit(main())
