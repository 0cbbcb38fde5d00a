"""Models that change variables, and what TensorFlow gives step after step.

A folder holds saved_model, and for each signature feeds_SIGNATURE.npz and
steps_SIGNATURE.npz. Both are stacked along a new first axis: step i takes
feeds[i % len(feeds)], and steps[i] is what TensorFlow (TF_ENABLE_ONEDNN_OPTS=0)
gave for it, starting from the saved variables.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
from typing import Any, Callable, Iterable

import models  # sets the environment before TensorFlow is imported
import numpy as np
import tensorflow as tf

Arrays = dict[str, np.ndarray]


def fresh(target: pathlib.Path) -> pathlib.Path:
  if target.exists():
    shutil.rmtree(target)
  target.mkdir(parents=True)
  return target


def save(saved: tf.Module, target: pathlib.Path, signatures: Any) -> None:
  """Without what would differ from one time to the next, or tell of the maker's files."""
  tf.saved_model.save(saved, str(target / "saved_model"), signatures=signatures,
                      options=tf.saved_model.SaveOptions(experimental_debug_stripper=True))
  (target / "saved_model" / "fingerprint.pb").unlink(missing_ok=True)


def note(target: pathlib.Path) -> None:
  record = {**models.versions(), "kind": "steps", "model": "saved_model"}
  (target / "model.json").write_text(json.dumps(record, indent=2) + "\n")


def write_steps(target: pathlib.Path, inputs: Arrays, steps: int,
                signature: str = "serving_default") -> Arrays:
  """Runs a signature of the saved model `steps` times from its saved state."""
  function = tf.saved_model.load(str(target / "saved_model")).signatures[signature]
  collected: dict[str, list[np.ndarray]] = {}
  for i in range(steps):
    fed = {k: tf.constant(v[i % len(v)]) for k, v in inputs.items()}
    for key, value in function(**fed).items():
      collected.setdefault(key, []).append(value.numpy())
  outputs = {k: np.stack(v) for k, v in collected.items()}
  for key, value in outputs.items():
    if value.dtype == object and any(text.endswith(b"\0") for text in value.flat):
      raise SystemExit(f"{target.name}: {key} ends with a zero byte, which NumPy would drop")
  outputs = {k: v.astype("S") if v.dtype == object else v for k, v in outputs.items()}
  np.savez_compressed(target / f"feeds_{signature}.npz", **inputs)
  np.savez_compressed(target / f"steps_{signature}.npz", **outputs)
  return outputs


def write_named(doc: str, names: Iterable[str],
                write: Callable[[pathlib.Path, str], None]) -> int:
  """A maker's main(): writes the models that the command line names, or all."""
  parser = argparse.ArgumentParser(description=doc.split("\n", maxsplit=1)[0])
  parser.add_argument("--out", required=True, type=pathlib.Path)
  parser.add_argument("names", nargs="*", choices=[[], *names])
  args = parser.parse_args()
  for name in args.names or names:
    write(args.out, name)
  return 0
