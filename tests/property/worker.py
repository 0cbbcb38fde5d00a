"""Runs graphs in Tenon through the C interface, on request.

It is a separate process, because TensorFlow's libraries and Tenon's cannot share
one, and because a crash must not end the test. Requests are lines of
JSON on stdin {"graph", "inputs", "outputs", "fetches", "gate", "threads"};
answers are lines {"error": null or text} on stdout.
"""

from __future__ import annotations

import ctypes
import json
import pathlib
import sys

import ml_dtypes
import numpy as np

DTYPES = {1: np.float32, 2: np.float64, 3: np.int32, 4: np.uint8, 5: np.int16,
          6: np.int8, 9: np.int64, 10: np.bool_, 14: ml_dtypes.bfloat16,
          17: np.uint16, 19: np.float16, 22: np.uint32, 23: np.uint64}
NUMBERS = {np.dtype(v): k for k, v in DTYPES.items()}


class SessionOptions(ctypes.Structure):
  """tenon_session_options."""

  _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int),
              ("onednn_opts", ctypes.c_int), ("signature", ctypes.c_char_p),
              ("fetches", ctypes.c_char_p)]


class Tenon:
  """The functions of libtenon that are used here."""

  def __init__(self, library: str) -> None:
    self.lib = ctypes.CDLL(library)
    for name in ("tenon_tensor_data", "tenon_tensor_dims"):
      getattr(self.lib, name).restype = ctypes.c_void_p
    for name in ("tenon_session_create", "tenon_tensor_view",
                 "tenon_session_run"):
      getattr(self.lib, name).restype = ctypes.c_void_p
    for name in ("tenon_status_message", "tenon_session_input_name",
                 "tenon_session_output_name"):
      getattr(self.lib, name).restype = ctypes.c_char_p

  def check(self, status: int | None) -> None:
    if not status:
      return
    message = self.lib.tenon_status_message(ctypes.c_void_p(status)).decode()
    self.lib.tenon_status_free(ctypes.c_void_p(status))
    raise RuntimeError(message)

  def view(self, array: np.ndarray) -> ctypes.c_void_p:
    dims = (ctypes.c_int64 * array.ndim)(*array.shape)
    tensor = ctypes.c_void_p()
    self.check(self.lib.tenon_tensor_view(
        NUMBERS[array.dtype], dims, array.ndim,
        ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), None,
        None, ctypes.byref(tensor)))
    return tensor

  def array(self, tensor: int) -> np.ndarray:
    """A copy; frees the tensor."""
    handle = ctypes.c_void_p(tensor)
    rank = self.lib.tenon_tensor_rank(handle)
    dims = ctypes.cast(self.lib.tenon_tensor_dims(handle),
                       ctypes.POINTER(ctypes.c_int64))
    shape = tuple(dims[i] for i in range(rank))
    dtype = np.dtype(DTYPES[self.lib.tenon_tensor_dtype(handle)])
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    data = ctypes.string_at(self.lib.tenon_tensor_data(handle), size)
    self.lib.tenon_tensor_free(handle)
    return np.frombuffer(data, dtype).reshape(shape)

  def run(self, request: dict, inputs: dict[str, np.ndarray]
          ) -> dict[str, np.ndarray]:
    options = SessionOptions(
        ctypes.sizeof(SessionOptions), request["threads"], request["gate"], None,
        ",".join(request["fetches"]).encode())
    session = ctypes.c_void_p()
    self.check(self.lib.tenon_session_create(
        request["graph"].encode(), ctypes.byref(options), ctypes.byref(session)))
    try:
      count = self.lib.tenon_session_num_inputs(session)
      names = [self.lib.tenon_session_input_name(session, i).decode()
               for i in range(count)]
      views = [self.view(inputs[name]) for name in names]
      outputs = self.lib.tenon_session_num_outputs(session)
      out = (ctypes.c_void_p * outputs)()
      try:
        # Twice: the second run uses the plan and kernels of the first.
        for _ in range(2):
          self.check(self.lib.tenon_session_run(
              session, (ctypes.c_void_p * count)(*views), count, out, outputs))
          values = [self.array(tensor) for tensor in out]
      finally:
        for view in views:
          self.lib.tenon_tensor_free(view)
      return {self.lib.tenon_session_output_name(session, i).decode(): value
              for i, value in enumerate(values)}
    finally:
      self.lib.tenon_session_free(session)


def main() -> int:
  tenon = Tenon(sys.argv[1])
  for line in sys.stdin:
    request = json.loads(line)
    try:
      with np.load(request["inputs"], allow_pickle=False) as arrays:
        inputs = {k: np.array(v, order="C") for k, v in arrays.items()}
      for name in request["bfloat16"]:
        inputs[name] = inputs[name].view(ml_dtypes.bfloat16)
      values = tenon.run(request, inputs)
      found = {k: v.view(np.uint16) if v.dtype == ml_dtypes.bfloat16 else v
               for k, v in values.items()}
      np.savez(pathlib.Path(request["outputs"]), **found)
      answer = {"error": None}
    except RuntimeError as error:
      answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
  return 0


if __name__ == "__main__":
  sys.exit(main())
