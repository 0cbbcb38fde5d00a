"""Models in Spark.

    import tenon.spark
    digit = tenon.spark.predict_udf("my_model", batch_size=64)
    frame = frame.withColumn("logits", digit("image"))

docs/SPARK.md describes it. pyspark is not imported before a function of this module is called.
"""

from __future__ import annotations

import collections
import importlib
import inspect
import math
import uuid
from typing import Any, Callable, Iterator, List, Mapping, Optional, OrderedDict, Sequence, Tuple, Union

import numpy as np

from tenon._columns import Array
from tenon._images import Image
from tenon._model import Path
from tenon._predictor import RowPredictor
from tenon._spec import Signature, TensorSpec, signatures

__all__ = ["Image", "predict_batch_fn", "predict_udf"]

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
                shapes: Optional[Mapping[str, Sequence[int]]] = None, cast: bool = False, threads: int = 0,
                cache_dir: Optional[Path] = None, through: Optional[str] = None,
                **load: Any) -> Any:
    """A function of columns that runs a model. A worker process loads the model once, for all partitions that it works on.

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
      shapes: the shape of an input's rows, {"input": (224, 224, 3)}, where the model leaves it open; its column's arrays may then
        be flat
      cast: convert values of another dtype
      threads: per op; 0: OMP_NUM_THREADS, which Spark sets to spark.task.cpus
      cache_dir: a folder on each node, through which its processes share one copy of the weights; by default
        TENON_CACHE_DIR, or a folder in the one for temporary files
      through: "arrow_udf" (Spark 4.1 or later, the default there): columns are read as Arrow arrays, without a copy.
        "predict_batch_udf" (Spark 3.4 or later): Spark stacks the rows, and raises errors for nulls and ragged rows
        that name neither column nor row; without images and without on_error="null"
      load: other options of `tenon.load`: signature, precision, …

    Returns what `pyspark.sql.functions.udf` returns. ValueError if inputs or outputs do not exist.
    """
    functions: Any = importlib.import_module("pyspark.sql.functions")
    through = through or ("arrow_udf" if hasattr(functions, "arrow_udf") else "predict_batch_udf")
    if through not in ("arrow_udf", "predict_batch_udf"):
        raise ValueError(f'through must be "arrow_udf" or "predict_batch_udf", not {through!r}')
    if on_error not in ("raise", "null"):
        raise ValueError(f'on_error must be "raise" or "null", not {on_error!r}: a function of columns cannot drop rows')
    if through == "predict_batch_udf":
        if images or on_error != "raise":
            raise ValueError('images and on_error="null" need arrow_udf, of Spark 4.1 or later')
        return _batch_udf(model, inputs, outputs, return_type, batch_size,
                          dict(constants=constants, shapes=shapes, cast=cast, threads=threads, cache_dir=cache_dir, **load))
    if inputs is None or return_type is None:
        known = _signature(model, load.get("signature"))
        inputs = inputs or _fed(known, constants)
        return_type = return_type or _sql_type(known, outputs)
    key, names, kind = uuid.uuid4().hex, list(inputs), _arrow_type(return_type)
    settings = dict(columns={name: name for name in names}, outputs=None if outputs is None else {o: o for o in outputs},
                    images=images, constants=constants, rows=batch_size, shapes=shapes, on_error=on_error, cast=cast,
                    cache_dir=cache_dir, options={**load, "threads": threads})

    def predict(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _predict_arrow(_predictor(key, model, settings), names, batches, kind)

    pa: Any = importlib.import_module("pyarrow")
    takes: Any = pa.Array if len(names) == 1 else Tuple[pa.Array, ...]
    predict.__annotations__ = {"batches": Iterator[takes], "return": Iterator[pa.Array]}
    return functions.arrow_udf(predict, return_type)


def predict_batch_fn(model: Path, *, inputs: Optional[Sequence[str]] = None,
                     outputs: Union[Sequence[str], Mapping[str, str], None] = None,
                     constants: Optional[Mapping[str, Any]] = None,
                     shapes: Optional[Mapping[str, Sequence[int]]] = None, cast: bool = False, threads: int = 0,
                     cache_dir: Optional[Path] = None, **load: Any) -> Callable[[], Callable[..., Any]]:
    """A model as the `make_predict_fn` of `pyspark.ml.functions.predict_batch_udf`, in Spark 3.4 and later.

        scores = predict_batch_udf(tenon.spark.predict_batch_fn("my_model"), return_type=ArrayType(FloatType()),
                                   batch_size=64, input_tensor_shapes=[[16]])

    Spark stacks the rows of array columns before the model sees them: the error for a null or a ragged row is Spark's
    and names neither column nor row.

    Args:
      model: its path, on every node
      inputs: the inputs that the columns go to, in their order; by default those of the model
      outputs: the outputs to return, or {"output": "field of return_type"}; by default all. One output [n] is for a plain
        return_type, [n, ...] (flat) for an array, several outputs are for a struct
      constants, shapes, cast, threads, cache_dir, load: as for `predict_udf`
    """
    columns = None if inputs is None else {name: name for name in inputs}
    fields = None if outputs is None else dict(outputs) if isinstance(outputs, Mapping) else {name: name for name in outputs}

    def make() -> Callable[..., Any]:
        predictor = RowPredictor(model, columns=columns, outputs=fields, images=None, constants=constants, rows=None,
                                 shapes=shapes, on_error="raise", cast=cast, cache_dir=cache_dir, options={**load, "threads": threads})
        names = list(predictor.columns)

        def predict(*arrays: Array) -> Any:
            found = predictor.predict(dict(zip(names, arrays)), len(arrays[0]), lambda row: f"row {row} of the batch")
            results = {name: _plain(values) for name, values in found.outputs.items()}
            return results if len(results) > 1 else next(iter(results.values()))

        # Spark counts the parameters, to tell several inputs from one that several columns make up.
        shown: Any = predict
        shown.__signature__ = inspect.Signature([inspect.Parameter(f"input_{i}", inspect.Parameter.POSITIONAL_ONLY)
                                                 for i in range(len(names))])
        return predict

    return make


def _plain(values: Array) -> Array:
    """Results as Spark takes them from NumPy: [n] or [n, k], no bfloat16."""
    if values.dtype.name == "bfloat16":
        values = values.astype(np.float32)
    return values if values.ndim < 3 else values.reshape(len(values), math.prod(values.shape[1:]))


def _batch_udf(model: Path, inputs: Optional[Sequence[str]], outputs: Optional[Sequence[str]], return_type: Any,
               batch_size: int, options: Mapping[str, Any]) -> Any:
    """A `predict_batch_udf`; what it must be told about shapes is read from the model, on the driver."""
    known = _signature(model, options.get("signature"))
    names = list(inputs or _fed(known, options["constants"]))
    specs = {spec.name: spec for spec in known.inputs}
    shapes: List[List[int]] = []
    for name in names:
        if name not in specs:
            raise ValueError(f"the model has no input {name!r}; it has {', '.join(specs)}")
        shape = (options["shapes"] or {}).get(name) or (specs[name].shape or (None, None))[1:]
        if None in shape:
            raise ValueError(f"input {name!r} is {specs[name]}: predict_batch_udf needs rows of a known shape, "
                             f"shapes={{{name!r}: (…)}}")
        shapes.append([d for d in shape if d is not None])
    kind = _sql_type(known, outputs) if return_type is None else _data_type(return_type)
    given = list(outputs or [spec.name for spec in known.outputs])
    fields = dict(zip(given, kind.names)) if len(given) > 1 else given
    udf = importlib.import_module("pyspark.ml.functions").predict_batch_udf
    return udf(predict_batch_fn(model, inputs=names, outputs=fields, **options), return_type=kind, batch_size=batch_size,
               input_tensor_shapes=shapes)


def _fed(signature: Signature, constants: Optional[Mapping[str, Any]]) -> List[str]:
    """The inputs that columns feed by default."""
    return [spec.name for spec in signature.inputs if not spec.optional and spec.name not in (constants or {})]


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


def _data_type(return_type: Any) -> Any:
    """Spark's type, which may be given in the form of DDL; that needs a session."""
    if isinstance(return_type, str):
        return importlib.import_module("pyspark.sql.types").DataType.fromDDL(return_type)
    return return_type


def _arrow_type(return_type: Any) -> Any:
    """Spark's Arrow type of a result."""
    return importlib.import_module("pyspark.sql.pandas.types").to_arrow_type(_data_type(return_type))
