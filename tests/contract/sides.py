"""Processes that run calls of ops: TensorFlow and Tenon."""

from __future__ import annotations

import pathlib
import sys

from side_process import SideProcess

HERE = pathlib.Path(__file__).resolve().parent
TIME_LIMIT = 30  # seconds per call


class Side(SideProcess):
  """A process that runs calls, started again when it dies."""

  def __init__(self, name: str, environment: dict[str, str]) -> None:
    super().__init__([sys.executable, HERE / "side.py", name], environment, TIME_LIMIT)
