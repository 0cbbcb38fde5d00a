#!/usr/bin/env python3
"""Times of the server's answers beside runs in the client's own process, and what batching brings.

  cmake --build build --target tenon_server tenon_serve_bench
  bench/serve.py --build build [--model tests/models/mlp/saved_model] [--seconds 5]

Client and server are on this machine and share its CPUs.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "serve"))
import clients  # noqa: E402  the path is set above


def measure(args: argparse.Namespace, count: int, *flags: str) -> None:
  with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "1").symlink_to(args.model.resolve())
    server = clients.Server(str(args.build / "bin" / "tensorflow_model_server"),
                            "--model_name=m", f"--model_base_path={folder}",
                            *flags)
    try:
      subprocess.run([args.build / "bin" / "tenon_serve_bench", args.model, "m",
                      server.grpc, str(server.rest_port), str(args.seconds),
                      str(count)], check=True)
    finally:
      server.end()


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
  parser.add_argument("--model", type=pathlib.Path,
                      default=ROOT / "tests" / "models" / "mlp" / "saved_model")
  parser.add_argument("--seconds", type=float, default=5)
  args = parser.parse_args()
  print("one client", flush=True)
  measure(args, 1)
  for name, flags in (("batching off", ()),
                      ("batching on", ("--enable_batching",))):
    print(name, flush=True)
    measure(args, 64, *flags)


if __name__ == "__main__":
  main()
