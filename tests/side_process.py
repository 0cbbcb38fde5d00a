"""A process that answers requests, both pickles, and is started again when it dies."""

from __future__ import annotations

import os
import pickle
import subprocess
import threading
from typing import Any, Sequence

NO_ANSWER = "no answer in time"


class SideProcess:
  """One request at a time: send(), then receive()."""

  def __init__(self, command: Sequence[Any], environment: dict[str, str],
               time_limit: float) -> None:
    self.command, self.time_limit = command, time_limit
    self.environment = dict(os.environ, **environment)
    self.process: Any = None
    self.spare: Any = None  # started beforehand: TensorFlow takes seconds

  def _start(self) -> Any:
    return subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, env=self.environment)

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
    limit = threading.Timer(self.time_limit, lambda: (late.set(), process.kill()))
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
