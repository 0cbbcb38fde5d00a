"""Convolutions and gradients that TensorFlow's CPU kernels refuse, by equal ones.

Channels first as channels last, dilations as zeros between the filter's taps,
groups one by one, and ops without a CPU kernel as those that have one.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np

from golden_cases import Case, Input

Arrays = list[np.ndarray]
Run = Callable[[Case, Arrays], Arrays]

# Op that runs, and the input that tells the gradient's shape.
OPS = {
    "Conv2DBackpropInput": ("Conv2DBackpropInput", 0),
    "Conv2DBackpropInputV2": ("Conv2DBackpropInput", 0),
    "Conv2DBackpropFilter": ("Conv2DBackpropFilter", 1),
    "Conv2DBackpropFilterV2": ("Conv2DBackpropFilter", 1),
    "Conv3DBackpropInput": ("Conv3DBackpropInputV2", 0),
    "Conv3DBackpropInputV2": ("Conv3DBackpropInputV2", 0),
    "Conv3DBackpropFilter": ("Conv3DBackpropFilterV2", 1),
    "Conv3DBackpropFilterV2": ("Conv3DBackpropFilterV2", 1),
    "DepthwiseConv2dNativeBackpropInput":
        ("DepthwiseConv2dNativeBackpropInput", 0),
    "DepthwiseConv2dNativeBackpropFilter":
        ("DepthwiseConv2dNativeBackpropFilter", 1),
}


def compute(case: Case, values: Arrays, run: Run) -> Arrays:
  """The op's output, as TensorFlow's CPU kernels give it in some form."""
  op, which = OPS[case.op]
  values = list(values)
  if values[which].ndim > 1:  # told by a tensor
    values[which] = np.array(values[which].shape, np.int32)
  inputs = [Input(spec.dtype if i != which else "i32", v.shape, False, "")
            for i, (spec, v) in enumerate(zip(case.inputs, values))]
  if values[which].dtype == np.int64:
    values[which] = values[which].astype(np.int32)
  attributes = {k: v for k, v in case.attributes.items() if k != "Tshape"}
  plain = dataclasses.replace(case, op=op, inputs=inputs,
                              attributes=attributes)
  return [_channels_last(plain, values, which, run)]


def compute_3d(case: Case, values: Arrays, run: Run) -> Arrays:
  """Conv3D, channels last and without dilations."""
  x, taps = values[0], values[1]
  first = case.attributes.get("data_format") == "NCDHW"
  order = [0, 2, 3, 4, 1] if first else list(range(5))
  changed = {name: [case.attributes[name][i] for i in order]
             for name in ("strides", "dilations") if name in case.attributes}
  taps = _spread(taps, changed.get("dilations", [1] * 5)[1:-1])
  x = x.transpose(order)
  changed["dilations"] = [1] * 5
  plain = _with(case, [x, taps], data_format="NDHWC", **changed)
  result = run(plain, [x, taps])[0]
  return [result.transpose(0, 4, 1, 2, 3) if first else result]


def compute_nd(case: Case, values: Arrays, run: Run) -> Arrays:
  """Conv, channels last and, of volumes, without dilations and paddings."""
  x, taps = values
  a = dict(case.attributes)
  batch, rank = a.pop("batch_dims", 1), taps.ndim
  first = a.pop("data_format", "CHANNELS_LAST") == "CHANNELS_FIRST"
  order = [0, *range(2, rank), 1] if first else list(range(rank))
  x = x.reshape([-1 if x.size else 0, *x.shape[batch:]]).transpose(order)
  a |= {name: [a[name][i] for i in order]
        for name in ("strides", "dilations") if name in a}
  if pads := a.get("explicit_paddings"):
    a["explicit_paddings"] = [pads[2 * i + k] for i in order for k in (0, 1)]
  if rank == 5:
    taps = _spread(taps, a.pop("dilations", [1] * 5)[1:-1])
    if pads := a.pop("explicit_paddings", []):
      x = np.pad(x, np.reshape(pads, (5, 2)))
      a["padding"] = "VALID"
  plain = dataclasses.replace(_with(case, [x, taps]), attributes=a)
  result = run(plain, [x, taps])[0]
  if first:
    result = result.transpose(0, rank - 1, *range(1, rank - 1))
  return [result.reshape([*values[0].shape[:batch], *result.shape[1:]])]


def _spread(taps: np.ndarray, dilations: list[int]) -> np.ndarray:
  """A filter with zeros between its taps."""
  sizes = [d * (n - 1) + 1 for n, d in zip(taps.shape, dilations)]
  spread = np.zeros([*sizes, *taps.shape[-2:]], taps.dtype)
  spread[tuple(slice(None, None, d) for d in dilations)] = taps
  return spread


def _with(case: Case, values: Arrays, **attributes: Any) -> Case:
  inputs = [dataclasses.replace(spec, shape=v.shape)
            for spec, v in zip(case.inputs, values)]
  return dataclasses.replace(case, inputs=inputs,
                             attributes=case.attributes | attributes)


def _channels_last(case: Case, values: Arrays, which: int,
                   run: Run) -> np.ndarray:
  if not case.attributes.get("data_format", "NHWC").startswith("NC"):
    return _undilated(case, values, which, run)
  rank = values[2].ndim
  order = [0, *range(2, rank), 1]
  back = [0, rank - 1, *range(1, rank - 1)]
  values = list(values)
  values[2] = values[2].transpose(order)
  if which == 0:
    values[0] = values[0][order] if values[0].size == rank else values[0]
  else:
    values[0] = values[0].transpose(order)
  changed: dict[str, Any] = {
      "data_format": "NHWC" if rank == 4 else "NDHWC"}
  for name in ("strides", "dilations"):
    if name in case.attributes:
      changed[name] = [case.attributes[name][i] for i in order]
  if case.attributes.get("explicit_paddings"):
    pads = case.attributes["explicit_paddings"]
    changed["explicit_paddings"] = [pads[2 * i + k]
                                    for i in order for k in (0, 1)]
  result = _undilated(_with(case, values, **changed), values, which, run)
  return result.transpose(back) if which == 0 else result


def _undilated(case: Case, values: Arrays, which: int,
               run: Run) -> np.ndarray:
  dilations = case.attributes.get("dilations", [1])
  if all(d == 1 for d in dilations):
    return _by_group(case, values, which, run)
  taps = tuple(slice(None, None, d) for d in dilations[1:-1])
  values = list(values)
  if which == 1:
    sizes = values[1].copy()
    for i, d in enumerate(dilations[1:-1]):
      sizes[i] = d * (sizes[i] - 1) + 1
    values[1] = sizes
  else:
    values[1] = _spread(values[1], dilations[1:-1])
  dense = _with(case, values, dilations=[1] * len(dilations))
  result = _by_group(dense, values, which, run)
  return result[taps] if which == 1 else result


def _by_group(case: Case, values: Arrays, which: int, run: Run) -> np.ndarray:
  if case.op.startswith("Depthwise") or values[which].size == 2:
    return run(case, values)[0]
  channels = values[0][-1] if which == 0 else values[0].shape[-1]
  per_group = values[1][-2] if which == 1 else values[1].shape[-2]
  groups = int(channels // per_group)
  if groups <= 1:
    return run(case, values)[0]
  results = []
  for g in range(groups):
    part = list(values)
    outputs = values[2].shape[-1] // groups
    part[2] = values[2][..., g * outputs:(g + 1) * outputs]
    part[which] = values[which].copy()
    if which == 0:
      part[0][-1] = per_group
      part[1] = values[1][..., g * outputs:(g + 1) * outputs]
    else:
      part[1][-1] = outputs
      part[0] = values[0][..., g * per_group:(g + 1) * per_group]
    results.append(run(_with(case, part), part)[0])
  return np.concatenate(results, -1)
