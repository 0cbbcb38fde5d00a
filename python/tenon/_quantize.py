"""Smaller versions of models."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import sys
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Union, cast

import numpy as np

from tenon import _core, _tables
from tenon._feeds import tensor_for
from tenon._model import Path

Samples = Union[Mapping[str, Any], Iterable[Mapping[str, Any]], None]


@dataclasses.dataclass(frozen=True, repr=False)
class QuantizationReport:
    """What quantization did.

    Attributes:
      path: what was written
      layers: a dict for each layer: "name", "op", "kept" ("" or why it stays in float), "error"
      outputs: a dict for each output: "name", "error", "correlation"
      details: everything, as docs/C_API.md describes it
    """

    path: str
    layers: List[Dict[str, Any]]
    outputs: List[Dict[str, Any]]
    details: Dict[str, Any]

    def _rows(self) -> List[List[str]]:
        rows = []
        for layer in self.layers:
            error = layer.get("error")
            if error is None:
                error = layer.get("weight_error")
            rows.append(["-" if error is None else f"{100 * error:.3f}%", layer["name"], layer["op"],
                         layer["kept"]])
        return rows

    def __repr__(self) -> str:
        return f"{self.path}\n" + _tables.to_text(("error", "layer", "op", "stays in float because"), self._rows())

    def _repr_html_(self) -> str:
        rows = [[html.escape(cell) for cell in row] for row in self._rows()]
        return _tables.to_html(("error", "layer", "op", "stays in float because"), rows)


def _bar(stage: str, done: int, total: int) -> None:
    """A line on stderr that is written over."""
    filled = 30 * done // max(total, 1)
    end = "\n" if done >= total else ""
    sys.stderr.write(f"\r{stage:24.24} [{'#' * filled}{'.' * (30 - filled)}] {done}/{total}{end}")
    sys.stderr.flush()


def _tensors(samples: Samples) -> Dict[str, _core.Tensor]:
    if samples is None:
        return {}
    if isinstance(samples, Mapping):
        named = cast(Mapping[str, Any], samples)
    else:
        feeds = list(samples)
        named = {name: np.concatenate([np.asarray(feed[name]) for feed in feeds])
                 for name in (feeds[0] if feeds else ())}
    return {name: tensor_for(value, "", name, True) for name, value in named.items()}


def quantize(path: Union[Path, bytes], output: Path, samples: Samples = None, *,
             signature: Optional[str] = None, fetches: Optional[Iterable[str]] = None, threads: int = 0,
             weights: Optional[str] = None, keep: Iterable[str] = (),
             progress: Union[bool, Callable[[str, int, int], None]] = True,
             **options: Any) -> QuantizationReport:
    """Writes a smaller version of a float model, and reports the error of each layer.

    Args:
      path: the model, as for `tenon.load`
      output: a .pb or .pbtxt file, or (any other name) a new SavedModel folder
      samples: calibration data by input name, along the first axis; or an iterable of feeds, which are joined
      signature, fetches, threads: as for `tenon.load`
      weights: "int8", "int4" or "bf16": only weights become smaller; by default, weights and activations become
        int8, which needs samples
      keep: layers that stay in float
      progress: a bar on stderr if that is a terminal; or a function of the stage's name, what is done, and the total
      options: those of docs/QUANTIZE.md: method, percentile, max_error, batch, equalize, keep_first, keep_last,
        labels; with weights: group, scales, zero_points, embeddings, least_weights

    Raises ValueError for bad options or samples, FileNotFoundError if there is no model.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = tenon.quantize("tests/models/mlp/saved_model", folder + "/small.pb",
    ...                             {"features": np.ones((16, 16), np.float32)}, progress=False)
    ...     y = tenon.load(folder + "/small.pb")(np.ones((1, 16), np.float32))
    >>> len(report.layers)
    4
    """
    unknown = set(options) - {"batch", "method", "percentile", "max_error", "equalize", "keep_first", "keep_last",
                              "labels", "group", "scales", "zero_points", "embeddings", "least_weights"}
    if unknown:
        raise TypeError(f"quantize has no option {', '.join(map(repr, sorted(unknown)))}")
    tell: Optional[Callable[[str, int, int], None]] = None
    if callable(progress):
        tell = progress
    elif progress and sys.stderr.isatty():
        tell = _bar
    load: Dict[str, Any] = {"signature": signature, "threads": threads}
    if fetches is not None:
        load["fetches"] = ",".join(fetches)
    kept = list(keep)
    text = _core.quantize(
        path if isinstance(path, bytes) else os.fspath(path), os.fspath(output), _tensors(samples), load,
        {"weights": weights, "keep": ",".join(kept) if kept else None, **options}, tell)
    found = json.loads(text)
    return QuantizationReport(os.fspath(output), found["layers"], found["outputs"], found)
