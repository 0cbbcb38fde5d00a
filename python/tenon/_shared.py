"""A model whose weights all processes of a machine have in memory once."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import tempfile
import threading
from typing import Any, Dict, Iterator, Mapping, Optional

import numpy as np

from tenon._model import Model, Path, load

Array = np.ndarray[Any, Any]


def default_cache_dir() -> str:
    """TENON_CACHE_DIR, or a folder of this user's in the folder for temporary files.

    PermissionError if that folder is another user's.
    """
    named = os.environ.get("TENON_CACHE_DIR")
    if named:
        return named
    folder = pathlib.Path(tempfile.gettempdir()) / f"tenon-cache-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.lstat().st_uid != os.getuid() or folder.is_symlink():
        raise PermissionError(f"{folder} is another user's: set TENON_CACHE_DIR")
    return str(folder)


class SharedModel:
    """Loads a model through the disk cache, which is mapped: its pages are the same in every process.

    A process that has packed the weights itself holds a copy of its own. So the first process writes the cache, then
    loads again; those that start meanwhile wait for it. A process that dies releases its lock.
    """

    def __init__(self, path: Path, cache_dir: Optional[Path], options: Mapping[str, Any]) -> None:
        self._path = path
        self._options: Dict[str, Any] = dict(options)
        self._folder = pathlib.Path(default_cache_dir() if cache_dir is None else cache_dir)
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            self.model = self._load()
        self._writes = self._state(self.model) == "pending"
        self._lock = threading.Lock()

    def run(self, feed: Mapping[str, Any]) -> Dict[str, Array]:
        """As Model.run. The first one also sees to the cache."""
        if self._writes:
            with self._lock:
                if self._writes:
                    self._share(feed)
        return self.model.run(feed)

    def _load(self) -> Model:
        return load(self._path, cache_dir=self._folder, **self._options)

    @staticmethod
    def _state(model: Model) -> str:
        state: str = model.report.details["disk_cache"]["state"]
        return state

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process of this machine is between these lines."""
        with open(self._folder / "predictors.lock", "a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _share(self, feed: Mapping[str, Any]) -> None:
        with self._alone():
            again = self._load()
            if self._state(again) == "pending":  # nobody else has written it
                again.run(feed)  # writes it, with weights as this feed's plan wants them
                if self._state(again) == "written":
                    again.close()
                    again = self._load()
        self.model.close()
        self.model = again
        self._writes = False
