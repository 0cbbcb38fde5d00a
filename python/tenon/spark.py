"""Models in Spark.

    import tenon.spark
    digit = tenon.spark.predict_udf("my_model", batch_size=64)
    frame = frame.withColumn("logits", digit("image"))

docs/SPARK.md describes it. pyspark is not imported before a function of this module is called.
"""

from __future__ import annotations

import collections
import importlib
import uuid
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, OrderedDict, Sequence, Tuple, Union

import numpy as np

from tenon._columns import Array
from tenon._images import Image
from tenon._model import Path
from tenon._predictor import RowPredictor
from tenon._spec import Signature, TensorSpec, signatures

__all__ = ["Image", "batch_function", "predict_udf"]

_MOST_MODELS = 3  # per worker process
_PREDICTORS: OrderedDict[str, RowPredictor] = collections.OrderedDict()
# Spark has no unsigned integers and no half floats.
_SQL_TYPES = {"float32": "FloatType", "float64": "DoubleType", "float16": "FloatType", "half": "FloatType",
              "bfloat16": "FloatType", "int8": "ByteType", "int16": "ShortType", "int32": "IntegerType",
              "int64": "LongType", "uint8": "ShortType", "uint16": "IntegerType", "uint32": "LongType",
              "bool": "BooleanType", "string": "BinaryType"}


def predict_udf(model: Path, *, inputs: Optional[Sequence[str]] = None, outputs: Optional[Sequence[str]] = None,
                return_type: Any = None, batch_size: int = 64, on_error: str = "raise",
                images: Optional[Mapping[str, Image]] = None, constants: Optional[Mapping[str, Any]] = None,
                cast: bool = False, threads: int = 0, cache_dir: Optional[Path] = None, **load: Any) -> Any:
    """A function of columns for Spark 4.1 or later: an `arrow_udf`, so columns are read as Arrow arrays, without a copy.

    A worker process loads the model once, for all partitions that it works on.

    Args:
      model: its path, on every node; relative to the working folder of executors, if it came with `--archives`
      inputs: the inputs that the function's arguments go to, in their order; by default those of the model
      outputs: the outputs to return; by default all
      return_type: as Spark takes it; by default of the model's outputs: a plain type for [n], an array for [n, ...]
        (flat), a struct of these for several outputs, in their order. This, and the default of `inputs`, read the model on the driver
      batch_size: rows of a run
      on_error: what a bad row does (a null, a list of another length, a row that makes the run fail). "raise":
        ValueError, which names column and row. "null": its result is null
      images: inputs that are fed with encoded images, {"input": Image()}
      constants: inputs that are the same for all rows, {"input": value}
      cast: convert values of another dtype
      threads: per op; 0: OMP_NUM_THREADS, which Spark sets to spark.task.cpus
      cache_dir: a folder on each node, through which its processes share one copy of the weights; by default
        TENON_CACHE_DIR, or a folder in the one for temporary files
      load: other options of `tenon.load`: signature, precision, …

    Returns what `pyspark.sql.functions.udf` returns. ValueError if inputs or outputs do not exist, ImportError with a
    Spark that has no arrow_udf: use `batch_function` there.
    """
    try:
        arrow_udf = importlib.import_module("pyspark.sql.functions").arrow_udf
    except AttributeError:
        raise ImportError("predict_udf needs Spark 4.1 or later; see tenon.spark.batch_function") from None
    if on_error not in ("raise", "null"):
        raise ValueError(f'on_error must be "raise" or "null", not {on_error!r}: a function of columns cannot drop rows')
    if inputs is None or return_type is None:
        known = _signature(model, load.get("signature"))
        inputs = inputs or [spec.name for spec in known.inputs if not spec.optional and spec.name not in (constants or {})]
        return_type = return_type or _sql_type(known, outputs)
    key, names, kind = uuid.uuid4().hex, list(inputs), _arrow_type(return_type)
    settings = dict(columns={name: name for name in names}, outputs=None if outputs is None else {o: o for o in outputs},
                    images=images, constants=constants, rows=batch_size, on_error=on_error, cast=cast,
                    cache_dir=cache_dir, options={**load, "threads": threads})

    def predict(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _predict_arrow(_predictor(key, model, settings), names, batches, kind)

    pa: Any = importlib.import_module("pyarrow")
    takes: Any = pa.Array if len(names) == 1 else Tuple[pa.Array, ...]
    predict.__annotations__ = {"batches": Iterator[takes], "return": Iterator[pa.Array]}
    return arrow_udf(predict, return_type)


def batch_function(model: Path, *, inputs: Optional[Sequence[str]] = None, outputs: Optional[Sequence[str]] = None,
                   **options: Any) -> Callable[[], Callable[[Any], Any]]:
    """What `pyspark.ml.functions.predict_batch_udf` takes, in Spark 3.4 and later.

        scores = predict_batch_udf(tenon.spark.batch_function("my_model"), return_type=ArrayType(FloatType()),
                                   batch_size=64, input_tensor_shapes=[[16]])

    Spark stacks the rows of array columns before the model sees them: the error for a null or a ragged row is Spark's
    and names neither column nor row.

    Args:
      model: its path, on every node
      inputs: the input of a single column, [name]; several columns come by name (predict_batch_udf's input_names)
      outputs: the outputs to return; by default all. One output gives an array, several a dict
      options: constants, cast, threads, cache_dir and options of `tenon.load`, as for `predict_udf`
    """
    def make() -> Callable[[Any], Any]:
        load = dict(options)
        settings: Dict[str, Any] = {name: load.pop(name, None) for name in ("constants", "cache_dir")}
        cast = bool(load.pop("cast", False))
        predictor = RowPredictor(
            model, columns=None if inputs is None else {name: name for name in inputs}, images=None, rows=None,
            outputs=None if outputs is None else {name: name for name in outputs}, on_error="raise",
            cast=cast, options=load, **settings)

        def predict(values: Union[Array, Mapping[str, Array]]) -> Any:
            if not isinstance(values, Mapping):
                (name,) = predictor.columns
                values = {name: values}
            rows = len(next(iter(values.values())))
            found = predictor.predict(values, rows, lambda row: f"row {row} of the batch").outputs
            if len(found) == 1:
                return next(iter(found.values()))
            return {name: value if value.ndim == 1 else list(value) for name, value in found.items()}

        return predict

    return make


def _signature(model: Path, name: Optional[str]) -> Signature:
    found = signatures(model)
    wanted = name or ("serving_default" if "serving_default" in found else "")
    if wanted not in found:
        raise ValueError(f"{model}: there is no signature {wanted!r}; there are {', '.join(found)}")
    return found[wanted]


def _sql_type(signature: Signature, outputs: Optional[Sequence[str]]) -> Any:
    """Spark's type of these outputs."""
    types: Any = importlib.import_module("pyspark.sql.types")
    specs = {spec.name: spec for spec in signature.outputs}
    for name in outputs or ():
        if name not in specs:
            raise ValueError(f"the model has no output {name!r}; it has {', '.join(specs)}")

    def of(spec: TensorSpec) -> Any:
        if spec.shape is None or spec.dtype not in _SQL_TYPES:
            raise ValueError(f"output {spec.name!r} is {spec}: give return_type")
        plain = getattr(types, _SQL_TYPES[spec.dtype])()
        return plain if len(spec.shape) == 1 else types.ArrayType(plain)

    chosen = [specs[name] for name in outputs or specs]
    if len(chosen) == 1:
        return of(chosen[0])
    return types.StructType([types.StructField(spec.name, of(spec)) for spec in chosen])


def _predictor(key: str, model: Path, settings: Mapping[str, Any]) -> RowPredictor:
    """This process's predictor for a UDF."""
    if key not in _PREDICTORS:
        _PREDICTORS[key] = RowPredictor(model, **settings)
        while len(_PREDICTORS) > _MOST_MODELS:
            _PREDICTORS.popitem(last=False)
    _PREDICTORS.move_to_end(key)
    return _PREDICTORS[key]


def _predict_arrow(predictor: RowPredictor, names: List[str], batches: Iterator[Any], kind: Any) -> Iterator[Any]:
    """An Arrow array of results, of type `kind`, for each array, or tuple of arrays, in a partition."""
    from tenon import _arrow_columns  # with pyarrow

    context: Any = importlib.import_module("pyspark").TaskContext.get()
    partition = f" of partition {context.partitionId()}" if context is not None else ""
    before = 0
    for batch in batches:
        arrays = batch if isinstance(batch, tuple) else (batch,)
        rows = len(arrays[0])
        first = before
        found = predictor.predict(dict(zip(names, arrays)), rows, lambda row: f"row {first + row}{partition}")
        results = [_flat(_arrow_columns.array_of(values.reshape(len(values), -1) if values.ndim > 2 else values, name))
                   for name, values in found.outputs.items()]
        if len(results) == 1:
            result = results[0]
        else:
            result = _arrow_columns.pa.StructArray.from_arrays(results, [field.name for field in kind])
        if found.good is not None:
            result = _arrow_columns.spread(result, found.good, rows)
        before += rows
        yield result.cast(kind)


def _flat(array: Any) -> Any:
    """With lists of any size, as Spark's arrays are, in place of fixed-size ones."""
    pa: Any = importlib.import_module("pyarrow")
    if not pa.types.is_fixed_size_list(array.type):
        return array
    offsets = np.arange(len(array) + 1, dtype=np.int32) * array.type.list_size
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), array.flatten())


def _arrow_type(return_type: Any) -> Any:
    """Spark's Arrow type of a result. A type in the form of DDL needs a session."""
    if isinstance(return_type, str):
        return_type = importlib.import_module("pyspark.sql.types").DataType.fromDDL(return_type)
    return importlib.import_module("pyspark.sql.pandas.types").to_arrow_type(return_type)
