#!/usr/bin/env python3
"""A process that holds GPT-2 in CTranslate2 and times a token when told to.

  ctranslate2_worker.py GPT2_FOLDER --converted FOLDER --outputs OUT.npz [--threads N]

GPT2_FOLDER is models.py's. Speaks as ../peer_worker.py does. OUT.npz gets the logits
after text.npz's last token. A token's time is that of generating 33 tokens after the
text less that of 1, over 32.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time

import ctranslate2
import numpy as np
from ctranslate2.specs import common_spec, transformer_spec

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import peer_worker  # pylint: disable=wrong-import-position

LAYERS, HEADS, WORDS = 12, 12, 50257  # models.gpt2


def convert(weights: list[np.ndarray], target: pathlib.Path) -> None:
  """Writes CTranslate2's form of models.gpt2's weights."""
  spec = transformer_spec.TransformerDecoderModelSpec.from_config(
      LAYERS, HEADS, pre_norm=True, activation=common_spec.Activation.GELUTanh)
  left = iter(weights)
  decoder = spec.decoder
  decoder.scale_embeddings = False
  decoder.embeddings.weight = next(left)
  decoder.projection.weight = decoder.embeddings.weight
  decoder.position_encodings.encodings = next(left)
  for layer in decoder.layer:
    attention, ffn = layer.self_attention, layer.ffn
    attention.layer_norm.gamma, attention.layer_norm.beta = next(left), next(left)
    ffn.layer_norm.gamma, ffn.layer_norm.beta = next(left), next(left)
    for linear in (*attention.linear, ffn.linear_0, ffn.linear_1):
      linear.weight = np.ascontiguousarray(next(left).T)
      linear.bias = next(left)
  decoder.layer_norm.gamma, decoder.layer_norm.beta = next(left), next(left)
  spec.register_vocabulary([str(i) for i in range(WORDS)])
  spec.config.bos_token = spec.config.eos_token = spec.config.unk_token = "0"
  spec.validate()
  spec.optimize(quantization=None)
  target.mkdir(parents=True, exist_ok=True)
  spec.save(str(target))


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("model", type=pathlib.Path)
  parser.add_argument("--converted", type=pathlib.Path, required=True)
  parser.add_argument("--outputs", type=pathlib.Path, required=True)
  parser.add_argument("--threads", type=int, default=2)
  args = parser.parse_args()
  answer = peer_worker.answers()
  if not (args.converted / "model.bin").exists():
    with np.load(args.model / "weights.npz") as arrays:
      convert([arrays[f"arr_{i}"] for i in range(len(arrays))], args.converted)
  generator = ctranslate2.Generator(
      str(args.converted), device="cpu", inter_threads=1,
      intra_threads=args.threads, compute_type="float32")
  with np.load(args.model / "text.npz") as arrays:
    text = [str(t) for t in arrays["text"][0]]
  logits = np.array(generator.forward_batch([text]))
  np.savez(args.outputs, logits=logits[:, -1:])

  def run(tokens: int) -> float:
    start = time.perf_counter()
    generator.generate_batch([text], min_length=tokens, max_length=tokens,
                             sampling_topk=1, include_prompt_in_result=False)
    return time.perf_counter() - start

  def slice_of(seconds: float) -> dict:
    end = time.perf_counter() + seconds
    times: list[float] = []
    while len(times) < 2 or time.perf_counter() < end:
      times.append(1e3 * (run(33) - run(1)) / 32)
    return {"min_ms": min(times), "median_ms": float(np.median(times)),
            "n": len(times)}

  peer_worker.serve(answer, f"CTranslate2 {ctranslate2.__version__}", slice_of)
  return 0


if __name__ == "__main__":
  sys.exit(main())
