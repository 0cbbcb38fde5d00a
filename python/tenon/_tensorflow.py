"""Models from TensorFlow's objects, where TensorFlow is installed."""

from __future__ import annotations

import importlib
import os
import pathlib
import shutil
import tempfile
import weakref
from typing import Any, Callable, Optional

from tenon._model import Model, Path, load


def _load_saved(save: Callable[[str], None], directory: Optional[Path], options: Any) -> Model:
    """Loads what `save` writes into a folder: `directory`, or one that lives as long as the model."""
    if directory is not None:
        folder = os.fspath(directory)
        if pathlib.Path(folder).exists() and any(pathlib.Path(folder).iterdir()):
            raise FileExistsError(f"{folder} exists already")
        save(folder)
        return load(folder, **options)
    temporary = tempfile.mkdtemp(prefix="tenon-")
    try:
        folder = os.path.join(temporary, "saved_model")
        save(folder)
        model = load(folder, **options)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    weakref.finalize(model, shutil.rmtree, temporary, ignore_errors=True)
    return model


def from_keras(model: Any, *, directory: Optional[Path] = None, **options: Any) -> Model:
    """Loads a Keras model (Keras 3, or tf.keras): exports it as a SavedModel first. Needs TensorFlow.

    Args:
      model: a built model
      directory: where the SavedModel is kept; by default, until the model is no longer used
      options: as for `tenon.load`

    Raises FileExistsError if `directory` has something in it; what Keras raises if it cannot export.
    """
    def save(folder: str) -> None:
        if hasattr(model, "export"):
            try:
                model.export(folder, verbose=False)
            except TypeError:  # tf.keras 2
                model.export(folder)
        else:
            tf: Any = importlib.import_module("tensorflow")
            tf.saved_model.save(model, folder)

    return _load_saved(save, directory, options)


def from_function(function: Any, *args: Any, directory: Optional[Path] = None,
                  **options: Any) -> Model:
    """Loads a `tf.function`, or a plain function of TensorFlow ops: traces and saves it first. Needs TensorFlow.

    Args:
      function: what to trace
      args: its arguments: tf.TensorSpec, or examples of them; none if it has an input signature
      directory: where the SavedModel is kept; by default, until the model is no longer used
      options: as for `tenon.load`

    The model's inputs have the names of the function's parameters; its outputs, those of the returned dict, or
    output_0, output_1 and so on.
    """
    tf: Any = importlib.import_module("tensorflow")
    traced = function if hasattr(function, "get_concrete_function") else tf.function(function)
    concrete = traced.get_concrete_function(*args)
    module = tf.Module()
    module.function = traced
    module.captured = list(concrete.variables)  # or they would not be saved

    def save(folder: str) -> None:
        tf.saved_model.save(module, folder, signatures=concrete)

    return _load_saved(save, directory, options)
