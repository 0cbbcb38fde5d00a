#!/usr/bin/env python3
"""Writes the models of bench/compare's table trained, with TensorFlow's outputs.

  tests/makers/trained_models.py --out DIR [NAME ...]

Each DIR/NAME holds what zoo_models.py writes, too. The networks are other
people's, with the weights that they trained: packages carry them
(tests/makers/trained/requirements.in), of which nothing is installed. Inputs are
random. Outputs come from TensorFlow with oneDNN off.
"""

from __future__ import annotations

import importlib
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

import recording
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
  recording.record(target, network.inputs,
                   np.random.default_rng(zlib.crc32(name.encode())))


if __name__ == "__main__":
  sys.exit(recording.main(__doc__, trained.NETWORKS, write))
