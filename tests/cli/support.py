"""What the tests of the command line share."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parent.parent
MODELS = TESTS / "models"
TENON = TESTS.parent / "build" / "bin" / "tenon"  # cli_test.py sets it
LARGE = 1e-5  # relative to the output's scale, for models that are not in parity


def tenon(*words: object, gate: str | None = None,
          **environment: str) -> subprocess.CompletedProcess:
  """One call of the CLI; never raises on failure."""
  if gate is not None:
    environment["TF_ENABLE_ONEDNN_OPTS"] = gate
  return subprocess.run([TENON, *map(str, words)], capture_output=True,
                        text=True, errors="replace", check=False, timeout=300,
                        env={**os.environ, **environment})


def op(name: str, kind: str, inputs: str, **attrs: str) -> str:
  """A node of a GraphDef as text; each attribute is the text of its value."""
  joined = " ".join(f'input: "{i}"' for i in inputs.split())
  values = " ".join(f'attr {{ key: "{k}" value {{ {v} }} }}'
                    for k, v in attrs.items())
  return f'node {{ name: "{name}" op: "{kind}" {joined} {values} }}\n'


def const(name: str, value: np.ndarray) -> str:
  """The same for a constant of float32 or int32."""
  dtype = {"f": "DT_FLOAT", "i": "DT_INT32"}[value.dtype.kind]
  key = {"f": "float_val", "i": "int_val"}[value.dtype.kind]
  dims = " ".join(f"dim {{ size: {n} }}" for n in value.shape)
  values = " ".join(f"{key}: {v!r}" for v in value.reshape(-1).tolist())
  return op(name, "Const", "", dtype=f"type: {dtype}",
            value=f"tensor {{ dtype: {dtype} tensor_shape {{ {dims} }} {values} }}")


def model_cases() -> list[tuple[str, pathlib.Path, str, list[str]]]:
  """(label, folder, suffix of the npz files, CLI words that name the model)."""
  found = []
  folders = [p for p in [*MODELS.iterdir(), *(MODELS / "loader").iterdir()]
             if (p / "model.json").exists()]
  for folder in sorted(folders):
    note = json.loads((folder / "model.json").read_text())
    files = [note.get("model", "saved_model")]
    files += [note["text"]] if "text" in note else []
    for inputs in sorted(folder.glob("inputs*.npz")):
      suffix = inputs.stem.removeprefix("inputs")
      signature = []
      if folder.name.endswith("_signatures"):
        signature = ["--signature", suffix.removeprefix("_")]
      for file in files:
        label = f"{folder.name}/{file}{suffix}"
        found.append((label, folder, suffix,
                      [str(folder / file), *signature]))
  return found
