"""Processes that run calls of ops: TensorFlow and Tenon."""

from __future__ import annotations

import os
import pathlib
import pickle
import subprocess
import sys
import threading
from typing import Any

from compare import NO_ANSWER

HERE = pathlib.Path(__file__).resolve().parent
TIME_LIMIT = 30  # seconds per call


class Side:
  """A process that runs calls, started again when it dies."""

  def __init__(self, name: str, environment: dict[str, str]) -> None:
    self.name, self.environment = name, environment
    self.process: Any = None
    self.spare: Any = None  # started beforehand: TensorFlow takes seconds

  def _start(self) -> Any:
    return subprocess.Popen(
        [sys.executable, HERE / "side.py", self.name], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=dict(os.environ, **self.environment))

  def send(self, request: dict[str, Any]) -> None:
    if self.process is None:
      self.process = self.spare or self._start()
      self.spare = self._start()
    try:
      pickle.dump(request, self.process.stdin)
      self.process.stdin.flush()
    except BrokenPipeError:
      pass  # receive() says so

  def receive(self) -> Any:
    """The answer, or a text that says what became of the process."""
    process, late = self.process, threading.Event()
    limit = threading.Timer(TIME_LIMIT, lambda: (late.set(), process.kill()))
    limit.start()
    try:
      return pickle.load(process.stdout)
    except (EOFError, pickle.UnpicklingError):
      self.process = None
      status = process.wait()
      return NO_ANSWER if late.is_set() else f"ended with status {status}"
    finally:
      limit.cancel()

  def stop(self) -> None:
    for process in (self.process, self.spare):
      if process is not None:
        process.stdin.close()
        process.wait()
