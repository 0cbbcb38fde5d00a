"""int8 forms of the models, made once and kept outside of the repository.

All contestants are calibrated on the same samples, which are not the ones that
they are measured and compared on.
"""

from __future__ import annotations

import hashlib
import pathlib
import subprocess


def digest(*paths: pathlib.Path) -> str:
  """A hash of the bytes of files, and of all files in folders."""
  state = hashlib.sha256()
  for path in paths:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
      if file.is_file():
        state.update(file.read_bytes())
  return state.hexdigest()[:16]


def cached(cache: pathlib.Path, name: str, key: str, ending: str,
           make) -> pathlib.Path:
  """The file NAME-KEY.ENDING, by `make(partial path)` if it is missing.

  Older ones of that name go.
  """
  target = cache / f"{name}-{key}{ending}"
  if target.exists():
    return target
  cache.mkdir(parents=True, exist_ok=True)
  partial = target.with_name("partial-" + target.name)
  make(partial)
  for old in cache.glob(f"{name}-*{ending}"):
    old.unlink()
  return partial.rename(target)


def by_tenon(tenon: pathlib.Path, model: pathlib.Path, samples: pathlib.Path,
             cache: pathlib.Path) -> pathlib.Path:
  """`tenon quantize` of this very program."""
  def make(path: pathlib.Path) -> None:
    done = subprocess.run(
        [tenon, "quantize", model, "--data", samples, "--output", path],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
      raise RuntimeError("tenon quantize: " + done.stderr.strip()[-200:])
  return cached(cache / "int8", f"{model.parent.name}-tenon",
                digest(tenon, model, samples), ".pb", make)


def by_onnxruntime(onnx: pathlib.Path, name: str, samples: dict,
                   cache: pathlib.Path) -> pathlib.Path:
  """QuantizeLinear and DequantizeLinear pairs, per-channel weights.

  `samples`: an array for each input of the model, samples along the first axis;
  they are fed one by one.
  """
  from onnxruntime import quantization
  from onnxruntime.quantization import shape_inference

  class Reader(quantization.CalibrationDataReader):
    """One sample a call."""

    def __init__(self):
      count = len(next(iter(samples.values())))
      self._feeds = iter([{k: v[i:i + 1] for k, v in samples.items()}
                          for i in range(count)])

    def get_next(self):
      return next(self._feeds, None)

  def make(path: pathlib.Path) -> None:
    prepared = path.with_suffix(".prepared")
    try:
      shape_inference.quant_pre_process(str(onnx), str(prepared),
                                        skip_symbolic_shape=True)
      quantization.quantize_static(
          str(prepared), str(path), Reader(),
          quant_format=quantization.QuantFormat.QDQ, per_channel=True,
          activation_type=quantization.QuantType.QUInt8,
          weight_type=quantization.QuantType.QInt8)
    finally:
      prepared.unlink(missing_ok=True)
  state = hashlib.sha256(onnx.read_bytes())
  for key, value in samples.items():
    state.update(key.encode() + value.tobytes())
  return cached(cache.parent / "int8", f"{name}-onnx", state.hexdigest()[:16],
                ".onnx", make)
