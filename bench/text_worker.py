#!/usr/bin/env python3
"""A process that holds one of bench/text_models.py's models in TensorFlow; speaks as peer_worker does.

  text_worker.py SAVED_MODEL --inputs IN.npz --outputs OUT.npz [--threads N]
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys

import numpy as np
import peer_backends
import peer_worker


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("model", type=pathlib.Path)
  parser.add_argument("--inputs", type=pathlib.Path, required=True)
  parser.add_argument("--outputs", type=pathlib.Path, required=True)
  parser.add_argument("--threads", type=int, default=2)
  args = parser.parse_args()
  answers = os.fdopen(os.dup(1), "w")
  os.dup2(2, 1)
  # pylint: disable=import-outside-toplevel
  import tensorflow as tf
  import tensorflow_text  # pylint: disable=unused-import  # registers its ops
  tf.config.threading.set_intra_op_parallelism_threads(args.threads)
  tf.config.threading.set_inter_op_parallelism_threads(args.threads)
  signature = tf.saved_model.load(str(args.model)).signatures["serving_default"]
  with np.load(args.inputs) as arrays:
    texts = tf.constant(arrays["texts"])
  run = lambda: signature(texts=texts)
  outputs = {k: v.numpy() for k, v in run().items()}
  np.savez(args.outputs, **{k: v.astype(np.bytes_) if v.dtype == object else v
                            for k, v in outputs.items()})
  print(json.dumps({"ready": f"TensorFlow {tf.__version__}, TensorFlow Text "
                             f"{tensorflow_text.__version__}"}),
        file=answers, flush=True)
  backend = peer_backends.Backend(run, lambda: [], "")
  for line in sys.stdin:
    print(json.dumps(peer_worker.measure(backend, float(line))), file=answers,
          flush=True)
  return 0


if __name__ == "__main__":
  sys.exit(main())
