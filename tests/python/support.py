"""What the tests of the package share: models of tests/models and of a few lines of GraphDef text."""

from __future__ import annotations

import pathlib
import tempfile
import unittest

import numpy as np

import tenon

ROOT = pathlib.Path(__file__).resolve().parents[2]
MLP = ROOT / "tests" / "models" / "mlp"


def mlp_inputs() -> np.ndarray:
    return np.load(MLP / "inputs.npz")["features"]


def mlp_outputs() -> np.ndarray:
    return np.load(MLP / "outputs.npz")["output_0"]


def node(name: str, op: str, *inputs: str, **attrs: str) -> str:
    """A node of a GraphDef in text form; attributes as in `T="type: DT_FLOAT"`."""
    lines = [f'name: "{name}"', f'op: "{op}"', *(f'input: "{i}"' for i in inputs)]
    lines += [f'attr {{ key: "{key}" value {{ {value} }} }}' for key, value in attrs.items()]
    return "node { " + " ".join(lines) + " }\n"


class ModelCase(unittest.TestCase):
    """Makes models in a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def graph(self, text: str, **options: object) -> tenon.Model:
        path = self.folder / "graph.pbtxt"
        path.write_text(text)
        return tenon.load(path, **options)

    def identity(self, dtype: str, shape: str = "unknown_rank: true", **options: object) -> tenon.Model:
        """A model that returns its input x as y."""
        t = f"type: {dtype}"
        return self.graph(node("x", "Placeholder", dtype=t, shape=f"shape {{ {shape} }}") +
                          node("y", "Identity", "x", T=t), **options)
