# Written by tools/ops_stub.py; do not edit.
"""TensorFlow's ops, one at a time: every op that Tenon has, by its TensorFlow name.

A docstring gives the dtypes: an attribute such as T stands for one dtype, "N * T" for a list of N tensors. Attributes
without a default must be given; a dtype attribute may be given to convert numbers and lists to that dtype.
"""

from collections.abc import Sequence as _Sequence
from typing import Any as _Any, NamedTuple as _NamedTuple, Protocol as _Protocol, TypeAlias as _TypeAlias

from numpy.typing import ArrayLike as _ArrayLike, DTypeLike as _DType
from tenon._core import Tensor as _Tensor

class _DLPack(_Protocol):
    def __dlpack__(self, *args: _Any, **kwargs: _Any) -> _Any: ...

_Value: _TypeAlias = _ArrayLike | _DLPack
_Shape: _TypeAlias = _Sequence[int | None] | None

def __dir__() -> list[str]: ...

def Abs(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 int8 int16 int32 int64. Accelerated for float32 bfloat16
    float64 float16.
    """

def AccumulateNV2(inputs: _Sequence[_Value], *, T: _DType = ..., shape: _Shape) -> _Tensor:
    """inputs: N * T -> sum: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128
    float16 uint32 uint64.
    """

def Acos(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def Acosh(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def Add(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 uint8 int8 int16 int32 int64 complex64 complex128 string.
    Accelerated for float32 bfloat16 float64 float16.
    """

def AddManySparseToTensorsMap(sparse_indices: _Value, sparse_values: _Value, sparse_shape: _Value, *, T: _DType = ...,
        container: str | bytes = "", shared_name: str | bytes = "") -> _Tensor:
    """sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> sparse_handles: int64."""

def AddN(inputs: _Sequence[_Value], *, T: _DType = ...) -> _Tensor:
    """inputs: N * T -> sum: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128
    float16 uint32 uint64 variant. Accelerated for float32 bfloat16 float16.
    """

def AddSparseToTensorsMap(sparse_indices: _Value, sparse_values: _Value, sparse_shape: _Value, *, T: _DType = ...,
        container: str | bytes = "", shared_name: str | bytes = "") -> _Tensor:
    """sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> sparse_handle: int64."""

def AddV2(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 uint8 uint16 uint32 uint64 int8 int16 int32 int64
    complex64 complex128. Accelerated for float32 bfloat16 float64 float16.
    """

def AdjustContrast(images: _Value, contrast_factor: _Value, min_value: _Value, max_value: _Value, *,
        T: _DType = ...) -> _Tensor:
    """images: T, contrast_factor: float32, min_value: float32, max_value: float32 -> output: float32. T: uint8 int8
    int16 int32 float32 float64.
    """

def AdjustContrastv2(images: _Value, contrast_factor: _Value, *, T: _DType = ...) -> _Tensor:
    """images: T, contrast_factor: float32 -> output: T. T: float16 float32. Accelerated for float16 float32."""

def AdjustHue(images: _Value, delta: _Value, *, T: _DType = ...) -> _Tensor:
    """images: T, delta: float32 -> output: T. T: float16 float32. Accelerated for float16 float32."""

def AdjustSaturation(images: _Value, scale: _Value, *, T: _DType = ...) -> _Tensor:
    """images: T, scale: float32 -> output: T. T: float16 float32. Accelerated for float16 float32."""

def All(input: _Value, reduction_indices: _Value, *, keep_dims: bool = False, Tidx: _DType = ...) -> _Tensor:
    """input: bool, reduction_indices: Tidx -> output: bool. Tidx: int32 int64."""

class _AllCandidateSamplerOutputs(_NamedTuple):
    sampled_candidates: _Tensor
    true_expected_count: _Tensor
    sampled_expected_count: _Tensor

def AllCandidateSampler(true_classes: _Value, *, num_true: int, num_sampled: int, unique: bool, seed: int = 0,
        seed2: int = 0) -> _AllCandidateSamplerOutputs:
    """true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32.
    """

def Angle(input: _Value, *, T: _DType = ..., Tout: _DType = "float32") -> _Tensor:
    """input: T -> output: Tout. T: complex64 complex128. Tout: float32 float64."""

def Any(input: _Value, reduction_indices: _Value, *, keep_dims: bool = False, Tidx: _DType = ...) -> _Tensor:
    """input: bool, reduction_indices: Tidx -> output: bool. Tidx: int32 int64."""

class _ApproxTopKOutputs(_NamedTuple):
    values: _Tensor
    indices: _Tensor

def ApproxTopK(input: _Value, *, k: int, reduction_dimension: int = -1, recall_target: float = 0.95,
        is_max_k: bool = True, reduction_input_size_override: int = -1, aggregate_to_topk: bool = True,
        T: _DType = ...) -> _ApproxTopKOutputs:
    """input: T -> values: T, indices: int32. T: float16 bfloat16 float32."""

def ApproximateEqual(x: _Value, y: _Value, *, T: _DType = ..., tolerance: float = 1e-5) -> _Tensor:
    """x: T, y: T -> z: bool. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128
    float16 uint32 uint64.
    """

def ArgMax(input: _Value, dimension: _Value, *, T: _DType = ..., Tidx: _DType = ...,
        output_type: _DType = "int64") -> _Tensor:
    """input: T, dimension: Tidx -> output: output_type. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64 bool. Tidx: int16 int32 int64. output_type: int16 uint16 int32 int64. Accelerated for float32
    bfloat16 float16.
    """

def ArgMin(input: _Value, dimension: _Value, *, T: _DType = ..., Tidx: _DType = ...,
        output_type: _DType = "int64") -> _Tensor:
    """input: T, dimension: Tidx -> output: output_type. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64 bool. Tidx: int32 int64. output_type: int32 int64. Accelerated for float32 bfloat16 float16.
    """

def AsString(input: _Value, *, T: _DType = ..., precision: int = -1, scientific: bool = False, shortest: bool = False,
        width: int = -1, fill: str | bytes = "") -> _Tensor:
    """input: T -> output: string. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64
    complex64 complex128 bool string.
    """

def Asin(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def Asinh(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def Assert(condition: _Value, data: _Sequence[_Value], *, summarize: int = 3) -> None:
    """condition: bool, data: T -> nothing."""

def AssignAddVariableOp(resource: _Value, value: _Value, *, dtype: _DType = ...) -> None:
    """resource: resource, value: dtype -> nothing."""

def AssignSubVariableOp(resource: _Value, value: _Value, *, dtype: _DType = ...) -> None:
    """resource: resource, value: dtype -> nothing."""

def AssignVariableOp(resource: _Value, value: _Value, *, dtype: _DType = ..., validate_shape: bool = False) -> None:
    """resource: resource, value: dtype -> nothing."""

def Atan(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def Atan2(y: _Value, x: _Value, *, T: _DType = ...) -> _Tensor:
    """y: T, x: T -> z: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def Atanh(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def AudioSpectrogram(input: _Value, *, window_size: int, stride: int, magnitude_squared: bool = False) -> _Tensor:
    """input: float32 -> spectrogram: float32."""

def AvgPool(value: _Value, *, ksize: _Sequence[int], strides: _Sequence[int], padding: str | bytes,
        data_format: str | bytes = "NHWC", T: _DType = ...) -> _Tensor:
    """value: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float16."""

def AvgPool3D(input: _Value, *, ksize: _Sequence[int], strides: _Sequence[int], padding: str | bytes,
        data_format: str | bytes = "NDHWC", T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float16."""

def AvgPool3DGrad(orig_input_shape: _Value, grad: _Value, *, T: _DType = ..., ksize: _Sequence[int],
        strides: _Sequence[int], padding: str | bytes, data_format: str | bytes = "NDHWC") -> _Tensor:
    """orig_input_shape: int32, grad: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float32
    bfloat16 float16.
    """

def AvgPoolGrad(orig_input_shape: _Value, grad: _Value, *, T: _DType = ..., ksize: _Sequence[int],
        strides: _Sequence[int], padding: str | bytes, data_format: str | bytes = "NHWC") -> _Tensor:
    """orig_input_shape: int32, grad: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float32
    bfloat16 float16.
    """

def BandedTriangularSolve(matrix: _Value, rhs: _Value, *, lower: bool = True, adjoint: bool = False,
        T: _DType = ...) -> _Tensor:
    """matrix: T, rhs: T -> output: T. T: float64 float32 float16 complex64 complex128."""

class _BatchOutputs(_NamedTuple):
    batched_tensors: list[_Tensor]
    batch_index: _Tensor
    id: _Tensor

def Batch(in_tensors: _Sequence[_Value], *, num_batch_threads: int, max_batch_size: int, max_enqueued_batches: int = 10,
        batch_timeout_micros: int, allowed_batch_sizes: _Sequence[int] = ..., grad_timeout_micros: int,
        container: str | bytes = "", shared_name: str | bytes = "", batching_queue: str | bytes = "") -> _BatchOutputs:
    """in_tensors: T -> batched_tensors: T, batch_index: int64, id: int64."""

def BatchCholesky(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float64 float32."""

def BatchCholeskyGrad(l: _Value, grad: _Value, *, T: _DType = ...) -> _Tensor:
    """l: T, grad: T -> output: T. T: float32 float64."""

def BatchFFT(input: _Value) -> _Tensor:
    """input: complex64 -> output: complex64."""

def BatchFFT2D(input: _Value) -> _Tensor:
    """input: complex64 -> output: complex64."""

def BatchFFT3D(input: _Value) -> _Tensor:
    """input: complex64 -> output: complex64."""

def BatchIFFT(input: _Value) -> _Tensor:
    """input: complex64 -> output: complex64."""

def BatchIFFT2D(input: _Value) -> _Tensor:
    """input: complex64 -> output: complex64."""

def BatchIFFT3D(input: _Value) -> _Tensor:
    """input: complex64 -> output: complex64."""

def BatchMatMul(x: _Value, y: _Value, *, T: _DType = ..., adj_x: bool = False, adj_y: bool = False,
        grad_x: bool = False, grad_y: bool = False) -> _Tensor:
    """x: T, y: T -> output: T. T: bfloat16 float16 float32 float64 int32 int64 complex64 complex128. Accelerated for
    float32 bfloat16 float64 complex64 complex128 float16.
    """

def BatchMatMulV2(x: _Value, y: _Value, *, T: _DType = ..., adj_x: bool = False, adj_y: bool = False,
        grad_x: bool = False, grad_y: bool = False) -> _Tensor:
    """x: T, y: T -> output: T. T: bfloat16 float16 float32 float64 int16 int32 int64 uint8 uint16 uint32 uint64
    complex64 complex128. Accelerated for float32 bfloat16 float64 complex64 complex128 float16.
    """

def BatchMatMulV3(x: _Value, y: _Value, *, Ta: _DType = ..., Tb: _DType = ..., Tout: _DType, adj_x: bool = False,
        adj_y: bool = False, grad_x: bool = False, grad_y: bool = False) -> _Tensor:
    """x: Ta, y: Tb -> output: Tout. Ta: bfloat16 float16 float32 float64 uint8 int8 int16 int32 int64 complex64
    complex128. Tb: bfloat16 float16 float32 float64 uint8 int8 int16 int32 int64 complex64 complex128. Tout: bfloat16
    float16 float32 float64 int16 int32 int64 complex64 complex128. Accelerated for float32 bfloat16 float64 complex64
    complex128 float16.
    """

def BatchMatrixBandPart(input: _Value, num_lower: _Value, num_upper: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T, num_lower: int64, num_upper: int64 -> band: T."""

def BatchMatrixDeterminant(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float32 float64 complex64 complex128."""

def BatchMatrixDiag(diagonal: _Value, *, T: _DType = ...) -> _Tensor:
    """diagonal: T -> output: T."""

def BatchMatrixDiagPart(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> diagonal: T."""

def BatchMatrixInverse(input: _Value, *, adjoint: bool = False, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float64 float32."""

def BatchMatrixSetDiag(input: _Value, diagonal: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T, diagonal: T -> output: T."""

def BatchMatrixSolve(matrix: _Value, rhs: _Value, *, adjoint: bool = False, T: _DType = ...) -> _Tensor:
    """matrix: T, rhs: T -> output: T. T: float64 float32."""

def BatchMatrixSolveLs(matrix: _Value, rhs: _Value, l2_regularizer: _Value, *, T: _DType = ...,
        fast: bool = True) -> _Tensor:
    """matrix: T, rhs: T, l2_regularizer: float64 -> output: T. T: float64 float32."""

def BatchMatrixTriangularSolve(matrix: _Value, rhs: _Value, *, lower: bool = True, adjoint: bool = False,
        T: _DType = ...) -> _Tensor:
    """matrix: T, rhs: T -> output: T. T: float64 float32."""

def BatchNormWithGlobalNormalization(t: _Value, m: _Value, v: _Value, beta: _Value, gamma: _Value, *, T: _DType = ...,
        variance_epsilon: float, scale_after_normalization: bool) -> _Tensor:
    """t: T, m: T, v: T, beta: T, gamma: T -> result: T. T: float16 float32 float64."""

class _BatchNormWithGlobalNormalizationGradOutputs(_NamedTuple):
    dx: _Tensor
    dm: _Tensor
    dv: _Tensor
    db: _Tensor
    dg: _Tensor

def BatchNormWithGlobalNormalizationGrad(t: _Value, m: _Value, v: _Value, gamma: _Value, backprop: _Value, *,
        T: _DType = ..., variance_epsilon: float,
        scale_after_normalization: bool) -> _BatchNormWithGlobalNormalizationGradOutputs:
    """t: T, m: T, v: T, gamma: T, backprop: T -> dx: T, dm: T, dv: T, db: T, dg: T. T: float16 float32 float64."""

def BatchSelfAdjointEig(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float64 float32."""

class _BatchSelfAdjointEigV2Outputs(_NamedTuple):
    e: _Tensor
    v: _Tensor

def BatchSelfAdjointEigV2(input: _Value, *, compute_v: bool = True, T: _DType = ...) -> _BatchSelfAdjointEigV2Outputs:
    """input: T -> e: T, v: T. T: float64 float32."""

class _BatchSvdOutputs(_NamedTuple):
    s: _Tensor
    u: _Tensor
    v: _Tensor

def BatchSvd(input: _Value, *, compute_uv: bool = True, full_matrices: bool = False,
        T: _DType = ...) -> _BatchSvdOutputs:
    """input: T -> s: T, u: T, v: T. T: float64 float32 complex64 complex128."""

def BatchToSpace(input: _Value, crops: _Value, *, T: _DType = ..., block_size: int, Tidx: _DType = ...) -> _Tensor:
    """input: T, crops: Tidx -> output: T. Tidx: int32 int64."""

def BatchToSpaceND(input: _Value, block_shape: _Value, crops: _Value, *, T: _DType = ..., Tblock_shape: _DType = ...,
        Tcrops: _DType = ...) -> _Tensor:
    """input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T. Tblock_shape: int32 int64. Tcrops: int32 int64.
    """

def BesselI0(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselI0e(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselI1(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselI1e(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselJ0(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselJ1(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselK0(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselK0e(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselK1(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselK1e(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselY0(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def BesselY1(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def Betainc(a: _Value, b: _Value, x: _Value, *, T: _DType = ...) -> _Tensor:
    """a: T, b: T, x: T -> z: T. T: float32 float64."""

def BiasAdd(value: _Value, bias: _Value, *, T: _DType = ..., data_format: str | bytes = "NHWC") -> _Tensor:
    """value: T, bias: T -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16
    complex128 float16 uint32 uint64. Accelerated for float32 float16.
    """

def BiasAddGrad(out_backprop: _Value, *, T: _DType = ..., data_format: str | bytes = "NHWC") -> _Tensor:
    """out_backprop: T -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16
    complex128 float16 uint32 uint64. Accelerated for float32 float16.
    """

def BiasAddV1(value: _Value, bias: _Value, *, T: _DType = ...) -> _Tensor:
    """value: T, bias: T -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16
    complex128 float16 uint32 uint64.
    """

def Bincount(arr: _Value, size: _Value, weights: _Value, *, T: _DType = ...) -> _Tensor:
    """arr: int32, size: int32, weights: T -> bins: T. T: int32 int64 float32 float64."""

def Bitcast(input: _Value, *, T: _DType = ..., type: _DType) -> _Tensor:
    """input: T -> output: type. T: bfloat16 float16 float32 float64 int64 int32 uint8 uint16 uint32 uint64 int8 int16
    complex64 complex128 qint8 quint8 qint16 quint16 qint32. type: bfloat16 float16 float32 float64 int64 int32 uint8
    uint16 uint32 uint64 int8 int16 complex64 complex128 qint8 quint8 qint16 quint16 qint32.
    """

def BitwiseAnd(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: int8 int16 int32 int64 uint8 uint16 uint32 uint64."""

def BitwiseOr(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: int8 int16 int32 int64 uint8 uint16 uint32 uint64."""

def BitwiseXor(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: int8 int16 int32 int64 uint8 uint16 uint32 uint64."""

class _BlockLSTMOutputs(_NamedTuple):
    i: _Tensor
    cs: _Tensor
    f: _Tensor
    o: _Tensor
    ci: _Tensor
    co: _Tensor
    h: _Tensor

def BlockLSTM(seq_len_max: _Value, x: _Value, cs_prev: _Value, h_prev: _Value, w: _Value, wci: _Value, wcf: _Value,
        wco: _Value, b: _Value, *, forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False,
        T: _DType = ...) -> _BlockLSTMOutputs:
    """seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T -> i: T, cs: T, f: T, o: T,
    ci: T, co: T, h: T. T: float16 float32. Accelerated for float32 float16.
    """

class _BlockLSTMGradOutputs(_NamedTuple):
    x_grad: _Tensor
    cs_prev_grad: _Tensor
    h_prev_grad: _Tensor
    w_grad: _Tensor
    wci_grad: _Tensor
    wcf_grad: _Tensor
    wco_grad: _Tensor
    b_grad: _Tensor

def BlockLSTMGrad(seq_len_max: _Value, x: _Value, cs_prev: _Value, h_prev: _Value, w: _Value, wci: _Value, wcf: _Value,
        wco: _Value, b: _Value, i: _Value, cs: _Value, f: _Value, o: _Value, ci: _Value, co: _Value, h: _Value,
        cs_grad: _Value, h_grad: _Value, *, use_peephole: bool, T: _DType = ...) -> _BlockLSTMGradOutputs:
    """seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci:
    T, co: T, h: T, cs_grad: T, h_grad: T -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T,
    wcf_grad: T, wco_grad: T, b_grad: T. T: float16 float32. Accelerated for float16 float32.
    """

class _BlockLSTMGradV2Outputs(_NamedTuple):
    x_grad: _Tensor
    cs_prev_grad: _Tensor
    h_prev_grad: _Tensor
    w_grad: _Tensor
    wci_grad: _Tensor
    wcf_grad: _Tensor
    wco_grad: _Tensor
    b_grad: _Tensor

def BlockLSTMGradV2(seq_len_max: _Value, x: _Value, cs_prev: _Value, h_prev: _Value, w: _Value, wci: _Value,
        wcf: _Value, wco: _Value, b: _Value, i: _Value, cs: _Value, f: _Value, o: _Value, ci: _Value, co: _Value,
        h: _Value, cs_grad: _Value, h_grad: _Value, *, use_peephole: bool, T: _DType = ...) -> _BlockLSTMGradV2Outputs:
    """seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci:
    T, co: T, h: T, cs_grad: T, h_grad: T -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T,
    wcf_grad: T, wco_grad: T, b_grad: T. T: float16 float32. Accelerated for float16 float32.
    """

class _BlockLSTMV2Outputs(_NamedTuple):
    i: _Tensor
    cs: _Tensor
    f: _Tensor
    o: _Tensor
    ci: _Tensor
    co: _Tensor
    h: _Tensor

def BlockLSTMV2(seq_len_max: _Value, x: _Value, cs_prev: _Value, h_prev: _Value, w: _Value, wci: _Value, wcf: _Value,
        wco: _Value, b: _Value, *, cell_clip: float = 0.0, use_peephole: bool = False,
        T: _DType = ...) -> _BlockLSTMV2Outputs:
    """seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T -> i: T, cs: T, f: T, o: T,
    ci: T, co: T, h: T. T: float16 float32. Accelerated for float32 float16.
    """

def BroadcastArgs(s0: _Value, s1: _Value, *, T: _DType = ...) -> _Tensor:
    """s0: T, s1: T -> r0: T. T: int32 int64."""

class _BroadcastGradientArgsOutputs(_NamedTuple):
    r0: _Tensor
    r1: _Tensor

def BroadcastGradientArgs(s0: _Value, s1: _Value, *, T: _DType = ...) -> _BroadcastGradientArgsOutputs:
    """s0: T, s1: T -> r0: T, r1: T. T: int32 int64."""

def BroadcastTo(input: _Value, shape: _Value, *, T: _DType = ..., Tidx: _DType = ...) -> _Tensor:
    """input: T, shape: Tidx -> output: T. Tidx: int32 int64."""

def Bucketize(input: _Value, *, T: _DType = ..., boundaries: _Sequence[float]) -> _Tensor:
    """input: T -> output: int32. T: int32 int64 float32 float64."""

class _CSRSparseMatrixComponentsOutputs(_NamedTuple):
    row_ptrs: _Tensor
    col_inds: _Tensor
    values: _Tensor

def CSRSparseMatrixComponents(csr_sparse_matrix: _Value, index: _Value, *,
        type: _DType) -> _CSRSparseMatrixComponentsOutputs:
    """csr_sparse_matrix: variant, index: int32 -> row_ptrs: int32, col_inds: int32, values: type. type: float32 float64
    complex64 complex128.
    """

def CSRSparseMatrixToDense(sparse_input: _Value, *, type: _DType) -> _Tensor:
    """sparse_input: variant -> dense_output: type. type: float32 float64 complex64 complex128."""

class _CSRSparseMatrixToSparseTensorOutputs(_NamedTuple):
    indices: _Tensor
    values: _Tensor
    dense_shape: _Tensor

def CSRSparseMatrixToSparseTensor(sparse_matrix: _Value, *, type: _DType) -> _CSRSparseMatrixToSparseTensorOutputs:
    """sparse_matrix: variant -> indices: int64, values: type, dense_shape: int64. type: float32 float64 complex64
    complex128.
    """

class _CTCBeamSearchDecoderOutputs(_NamedTuple):
    decoded_indices: list[_Tensor]
    decoded_values: list[_Tensor]
    decoded_shape: list[_Tensor]
    log_probability: _Tensor

def CTCBeamSearchDecoder(inputs: _Value, sequence_length: _Value, *, beam_width: int, top_paths: int,
        merge_repeated: bool = True, T: _DType = ...) -> _CTCBeamSearchDecoderOutputs:
    """inputs: T, sequence_length: int32 -> decoded_indices: top_paths * int64, decoded_values: top_paths * int64,
    decoded_shape: top_paths * int64, log_probability: T. T: float32 float64.
    """

class _CTCGreedyDecoderOutputs(_NamedTuple):
    decoded_indices: _Tensor
    decoded_values: _Tensor
    decoded_shape: _Tensor
    log_probability: _Tensor

def CTCGreedyDecoder(inputs: _Value, sequence_length: _Value, *, merge_repeated: bool = False, blank_index: int = -1,
        T: _DType = ...) -> _CTCGreedyDecoderOutputs:
    """inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64, decoded_shape: int64,
    log_probability: T. T: float32 float64.
    """

class _CTCLossOutputs(_NamedTuple):
    loss: _Tensor
    gradient: _Tensor

def CTCLoss(inputs: _Value, labels_indices: _Value, labels_values: _Value, sequence_length: _Value, *,
        preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
        ignore_longer_outputs_than_inputs: bool = False, T: _DType = ...) -> _CTCLossOutputs:
    """inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: T, gradient: T. T:
    float32 float64.
    """

class _CTCLossV2Outputs(_NamedTuple):
    loss: _Tensor
    gradient: _Tensor

def CTCLossV2(inputs: _Value, labels_indices: _Value, labels_values: _Value, sequence_length: _Value, *,
        preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
        ignore_longer_outputs_than_inputs: bool = False) -> _CTCLossV2Outputs:
    """inputs: float32, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: float32, gradient:
    float32.
    """

def CaseFoldUTF8(input: _Value) -> _Tensor:
    """input: string -> output: string."""

def Cast(x: _Value, *, SrcT: _DType = ..., DstT: _DType, Truncate: bool = False) -> _Tensor:
    """x: SrcT -> y: DstT. Accelerated for float32 float16 bfloat16."""

def Ceil(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def CheckNumerics(tensor: _Value, *, T: _DType = ..., message: str | bytes) -> _Tensor:
    """tensor: T -> output: T. T: bfloat16 float16 float32 float64."""

def CheckNumericsV2(tensor: _Value, *, T: _DType = ..., message: str | bytes) -> _Tensor:
    """tensor: T -> output: T. T: bfloat16 float16 float32 float64."""

def Cholesky(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float64 float32 float16 complex64 complex128."""

def CholeskyGrad(l: _Value, grad: _Value, *, T: _DType = ...) -> _Tensor:
    """l: T, grad: T -> output: T. T: float16 float32 float64."""

def ClipByValue(t: _Value, clip_value_min: _Value, clip_value_max: _Value, *, T: _DType = ...) -> _Tensor:
    """t: T, clip_value_min: T, clip_value_max: T -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16
    uint16 float16 uint32 uint64 complex64 complex128.
    """

class _CombinedNonMaxSuppressionOutputs(_NamedTuple):
    nmsed_boxes: _Tensor
    nmsed_scores: _Tensor
    nmsed_classes: _Tensor
    valid_detections: _Tensor

def CombinedNonMaxSuppression(boxes: _Value, scores: _Value, max_output_size_per_class: _Value, max_total_size: _Value,
        iou_threshold: _Value, score_threshold: _Value, *, pad_per_class: bool = False,
        clip_boxes: bool = True) -> _CombinedNonMaxSuppressionOutputs:
    """boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32, iou_threshold: float32,
    score_threshold: float32 -> nmsed_boxes: float32, nmsed_scores: float32, nmsed_classes: float32, valid_detections:
    int32.
    """

def Complex(real: _Value, imag: _Value, *, T: _DType = ..., Tout: _DType = "complex64") -> _Tensor:
    """real: T, imag: T -> out: Tout. T: float32 float64. Tout: complex64 complex128."""

def ComplexAbs(x: _Value, *, T: _DType = ..., Tout: _DType = "float32") -> _Tensor:
    """x: T -> y: Tout. T: complex64 complex128. Tout: float32 float64."""

def CompositeTensorVariantFromComponents(components: _Sequence[_Value], *, metadata: str | bytes) -> _Tensor:
    """components: Tcomponents -> encoded: variant."""

def CompositeTensorVariantToComponents(encoded: _Value, *, metadata: str | bytes,
        Tcomponents: _Sequence[_DType]) -> list[_Tensor]:
    """encoded: variant -> components: Tcomponents."""

class _ComputeAccidentalHitsOutputs(_NamedTuple):
    indices: _Tensor
    ids: _Tensor
    weights: _Tensor

def ComputeAccidentalHits(true_classes: _Value, sampled_candidates: _Value, *, num_true: int, seed: int = 0,
        seed2: int = 0) -> _ComputeAccidentalHitsOutputs:
    """true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float32."""

def Concat(concat_dim: _Value, values: _Sequence[_Value], *, T: _DType = ...) -> _Tensor:
    """concat_dim: int32, values: N * T -> output: T. Accelerated for float32 bfloat16 float16 float64 int8 int16 int32
    int64 uint8 uint16 uint32 uint64 bool complex64 complex128 qint8 quint8.
    """

def ConcatOffset(concat_dim: _Value, shape: _Sequence[_Value], *, shape_type: _DType = ...) -> list[_Tensor]:
    """concat_dim: int32, shape: N * shape_type -> offset: N * shape_type. shape_type: int32 int64."""

def ConcatV2(values: _Sequence[_Value], axis: _Value, *, T: _DType = ..., Tidx: _DType = ...) -> _Tensor:
    """values: N * T, axis: Tidx -> output: T. Tidx: int32 int64. Accelerated for float32 bfloat16 float16 float64 int8
    int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128 qint8 quint8.
    """

def Conj(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: complex64 complex128."""

def ConjugateTranspose(x: _Value, perm: _Value, *, T: _DType = ..., Tperm: _DType = ...) -> _Tensor:
    """x: T, perm: Tperm -> y: T. Tperm: int32 int64. Accelerated for float32 bfloat16 float16 float64 int8 int16 int32
    int64 uint8 uint16 uint32 uint64 bool complex64 complex128.
    """

def Const(*, value: _Value, dtype: _DType) -> _Tensor:
    """nothing -> output: dtype."""

class _ConstrainedSequenceOutputs(_NamedTuple):
    states: _Tensor
    states_splits: _Tensor

def ConstrainedSequence(scores: _Value, sequence_lengths: _Value, allowed_transitions: _Value,
        transition_weights: _Value, *, Tin: _DType = ..., Tsplits: _DType = "int64", use_viterbi: bool,
        use_log_space: bool, use_start_and_end_states: bool) -> _ConstrainedSequenceOutputs:
    """scores: float32, sequence_lengths: Tin, allowed_transitions: bool, transition_weights: float32 -> states: int32,
    states_splits: Tsplits. Tin: int32 int64. Tsplits: int32 int64.
    """

def ControlTrigger() -> None:
    """nothing -> nothing."""

def Conv(input: _Value, filter: _Value, *, T: _DType = ..., strides: _Sequence[int], padding: str | bytes,
        explicit_paddings: _Sequence[int] = ..., data_format: str | bytes = "CHANNELS_LAST",
        dilations: _Sequence[int] = ..., batch_dims: int = 1, groups: int = 1) -> _Tensor:
    """input: T, filter: T -> output: T. T: float16 bfloat16 float32 float64 int32. Accelerated for float32 bfloat16
    float64 float16.
    """

def Conv2D(input: _Value, filter: _Value, *, T: _DType = ..., strides: _Sequence[int], use_cudnn_on_gpu: bool = True,
        padding: str | bytes, explicit_paddings: _Sequence[int] = ..., data_format: str | bytes = "NHWC",
        dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter: T -> output: T. T: float16 bfloat16 float32 float64 int32. Accelerated for float32 bfloat16
    float64 float16.
    """

def Conv2DBackpropFilter(input: _Value, filter_sizes: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], use_cudnn_on_gpu: bool = True, padding: str | bytes,
        explicit_paddings: _Sequence[int] = ..., data_format: str | bytes = "NHWC",
        dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter_sizes: int32, out_backprop: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for
    float32 bfloat16 float64 float16.
    """

def Conv2DBackpropFilterV2(input: _Value, filter: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], use_cudnn_on_gpu: bool = True, padding: str | bytes,
        explicit_paddings: _Sequence[int] = ..., data_format: str | bytes = "NHWC",
        dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter: T, out_backprop: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float32
    bfloat16 float64 float16.
    """

def Conv2DBackpropInput(input_sizes: _Value, filter: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], use_cudnn_on_gpu: bool = True, padding: str | bytes,
        explicit_paddings: _Sequence[int] = ..., data_format: str | bytes = "NHWC",
        dilations: _Sequence[int] = ...) -> _Tensor:
    """input_sizes: int32, filter: T, out_backprop: T -> output: T. T: float16 bfloat16 float32 float64 int32.
    Accelerated for float32 bfloat16 float64 float16.
    """

def Conv2DBackpropInputV2(input: _Value, filter: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], use_cudnn_on_gpu: bool = True, padding: str | bytes,
        explicit_paddings: _Sequence[int] = ..., data_format: str | bytes = "NHWC",
        dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter: T, out_backprop: T -> output: T. T: float16 bfloat16 float32 float64 int32. Accelerated for
    float32 bfloat16 float64 float16.
    """

def Conv3D(input: _Value, filter: _Value, *, T: _DType = ..., strides: _Sequence[int], padding: str | bytes,
        explicit_paddings: _Sequence[int] = ..., data_format: str | bytes = "NDHWC",
        dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float64
    float16.
    """

def Conv3DBackpropFilter(input: _Value, filter: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter: T, out_backprop: T -> output: T. T: float16 float32 float64. Accelerated for float32 float16.
    """

def Conv3DBackpropFilterV2(input: _Value, filter_sizes: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], padding: str | bytes, data_format: str | bytes = "NDHWC",
        dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter_sizes: int32, out_backprop: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for
    float32 bfloat16 float64 float16.
    """

def Conv3DBackpropInput(input: _Value, filter: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter: T, out_backprop: T -> output: T. T: float16 float32 float64. Accelerated for float32 float16.
    """

def Conv3DBackpropInputV2(input_sizes: _Value, filter: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], padding: str | bytes, data_format: str | bytes = "NDHWC",
        dilations: _Sequence[int] = ..., Tshape: _DType = ...) -> _Tensor:
    """input_sizes: Tshape, filter: T, out_backprop: T -> output: T. T: float16 bfloat16 float32 float64. Tshape: int32
    int64. Accelerated for float32 bfloat16 float64 float16.
    """

def Copy(input: _Value, *, T: _DType = ..., tensor_name: str | bytes = "",
        debug_ops_spec: _Sequence[str | bytes] = ...) -> _Tensor:
    """input: T -> output: T."""

def CopyHost(input: _Value, *, T: _DType = ..., tensor_name: str | bytes = "",
        debug_ops_spec: _Sequence[str | bytes] = ...) -> _Tensor:
    """input: T -> output: T."""

def Cos(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def Cosh(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def CropAndResize(image: _Value, boxes: _Value, box_ind: _Value, crop_size: _Value, *, T: _DType = ...,
        method: str | bytes = "bilinear", extrapolation_value: float = 0.0) -> _Tensor:
    """image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32. T: uint8 uint16 int8 int16 int32
    int64 float16 float32 float64.
    """

def CropAndResizeGradBoxes(grads: _Value, image: _Value, boxes: _Value, box_ind: _Value, *, T: _DType = ...,
        method: str | bytes = "bilinear") -> _Tensor:
    """grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32. T: uint8 uint16 int8 int16 int32
    int64 float16 float32 float64.
    """

def CropAndResizeGradImage(grads: _Value, boxes: _Value, box_ind: _Value, image_size: _Value, *, T: _DType,
        method: str | bytes = "bilinear") -> _Tensor:
    """grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T. T: float32 float16 float64."""

def Cross(a: _Value, b: _Value, *, T: _DType = ...) -> _Tensor:
    """a: T, b: T -> product: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64.
    """

def Cumprod(x: _Value, axis: _Value, *, exclusive: bool = False, reverse: bool = False, T: _DType = ...,
        Tidx: _DType = ...) -> _Tensor:
    """x: T, axis: Tidx -> out: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128
    float16 uint32 uint64. Tidx: int32 int64.
    """

def Cumsum(x: _Value, axis: _Value, *, exclusive: bool = False, reverse: bool = False, T: _DType = ...,
        Tidx: _DType = ...) -> _Tensor:
    """x: T, axis: Tidx -> out: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128
    float16 uint32 uint64. Tidx: int32 int64.
    """

def CumulativeLogsumexp(x: _Value, axis: _Value, *, exclusive: bool = False, reverse: bool = False, T: _DType = ...,
        Tidx: _DType = ...) -> _Tensor:
    """x: T, axis: Tidx -> out: T. T: bfloat16 float16 float32 float64. Tidx: int32 int64. Accelerated for float32
    float64 float16.
    """

def DataFormatDimMap(x: _Value, *, T: _DType = ..., src_format: str | bytes = "NHWC",
        dst_format: str | bytes = "NCHW") -> _Tensor:
    """x: T -> y: T. T: int32 int64."""

def DataFormatVecPermute(x: _Value, *, T: _DType = ..., src_format: str | bytes = "NHWC",
        dst_format: str | bytes = "NCHW") -> _Tensor:
    """x: T -> y: T. T: int32 int64."""

def Dawsn(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def DebugGradientIdentity(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T."""

def DecodeAndCropJpeg(contents: _Value, crop_window: _Value, *, channels: int = 0, ratio: int = 1,
        fancy_upscaling: bool = True, try_recover_truncated: bool = False, acceptable_fraction: float = 1,
        dct_method: str | bytes = "") -> _Tensor:
    """contents: string, crop_window: int32 -> image: uint8."""

def DecodeBase64(input: _Value) -> _Tensor:
    """input: string -> output: string."""

def DecodeBmp(contents: _Value, *, channels: int = 0) -> _Tensor:
    """contents: string -> image: uint8."""

def DecodeCSV(records: _Value, record_defaults: _Sequence[_Value], *, field_delim: str | bytes = ",",
        use_quote_delim: bool = True, na_value: str | bytes = "", select_cols: _Sequence[int] = ...) -> list[_Tensor]:
    """records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE."""

def DecodeCompressed(bytes: _Value, *, compression_type: str | bytes = "") -> _Tensor:
    """bytes: string -> output: string."""

def DecodeGif(contents: _Value) -> _Tensor:
    """contents: string -> image: uint8."""

def DecodeImage(contents: _Value, *, channels: int = 0, dtype: _DType = "uint8",
        expand_animations: bool = True) -> _Tensor:
    """contents: string -> image: dtype. dtype: uint8 uint16 float32."""

def DecodeJpeg(contents: _Value, *, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
        try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str | bytes = "") -> _Tensor:
    """contents: string -> image: uint8."""

def DecodePaddedRaw(input_bytes: _Value, fixed_length: _Value, *, out_type: _DType,
        little_endian: bool = True) -> _Tensor:
    """input_bytes: string, fixed_length: int32 -> output: out_type. out_type: float16 float32 float64 int32 uint16
    uint8 int16 int8 int64 bfloat16.
    """

def DecodePng(contents: _Value, *, channels: int = 0, dtype: _DType = "uint8") -> _Tensor:
    """contents: string -> image: dtype. dtype: uint8 uint16."""

class _DecodeProtoV2Outputs(_NamedTuple):
    sizes: _Tensor
    values: list[_Tensor]

def DecodeProtoV2(bytes: _Value, *, message_type: str | bytes, field_names: _Sequence[str | bytes],
        output_types: _Sequence[_DType], descriptor_source: str | bytes = "local://",
        message_format: str | bytes = "binary", sanitize: bool = False) -> _DecodeProtoV2Outputs:
    """bytes: string -> sizes: int32, values: output_types."""

def DecodeRaw(bytes: _Value, *, out_type: _DType, little_endian: bool = True) -> _Tensor:
    """bytes: string -> output: out_type. out_type: float16 float32 float64 int32 uint16 uint8 int16 int8 int64
    complex64 complex128 bool bfloat16.
    """

class _DecodeWavOutputs(_NamedTuple):
    audio: _Tensor
    sample_rate: _Tensor

def DecodeWav(contents: _Value, *, desired_channels: int = -1, desired_samples: int = -1) -> _DecodeWavOutputs:
    """contents: string -> audio: float32, sample_rate: int32."""

def DecodeWebP(contents: _Value, *, channels: int = 0, dtype: _DType = "uint8") -> _Tensor:
    """contents: string -> image: dtype. dtype: uint8."""

def DeepCopy(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T."""

def DenseBincount(input: _Value, size: _Value, weights: _Value, *, Tidx: _DType = ..., T: _DType = ...,
        binary_output: bool = False) -> _Tensor:
    """input: Tidx, size: Tidx, weights: T -> output: T. Tidx: int32 int64. T: int32 int64 float32 float64."""

class _DenseCountSparseOutputOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_dense_shape: _Tensor

def DenseCountSparseOutput(values: _Value, weights: _Value, *, T: _DType = ..., minlength: int = -1,
        maxlength: int = -1, binary_output: bool, output_type: _DType = ...) -> _DenseCountSparseOutputOutputs:
    """values: T, weights: output_type -> output_indices: int64, output_values: output_type, output_dense_shape: int64.
    T: int32 int64. output_type: int32 int64 float32 float64.
    """

def DenseToCSRSparseMatrix(dense_input: _Value, indices: _Value, *, T: _DType = ...) -> _Tensor:
    """dense_input: T, indices: int64 -> sparse_output: variant. T: float32 float64 complex64 complex128."""

class _DenseToDenseSetOperationOutputs(_NamedTuple):
    result_indices: _Tensor
    result_values: _Tensor
    result_shape: _Tensor

def DenseToDenseSetOperation(set1: _Value, set2: _Value, *, set_operation: str | bytes, validate_indices: bool = True,
        T: _DType = ...) -> _DenseToDenseSetOperationOutputs:
    """set1: T, set2: T -> result_indices: int64, result_values: T, result_shape: int64. T: int8 int16 int32 int64 uint8
    uint16 string.
    """

class _DenseToSparseSetOperationOutputs(_NamedTuple):
    result_indices: _Tensor
    result_values: _Tensor
    result_shape: _Tensor

def DenseToSparseSetOperation(set1: _Value, set2_indices: _Value, set2_values: _Value, set2_shape: _Value, *,
        set_operation: str | bytes, validate_indices: bool = True,
        T: _DType = ...) -> _DenseToSparseSetOperationOutputs:
    """set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> result_indices: int64, result_values: T,
    result_shape: int64. T: int8 int16 int32 int64 uint8 uint16 string.
    """

def DepthToSpace(input: _Value, *, T: _DType = ..., block_size: int, data_format: str | bytes = "NHWC") -> _Tensor:
    """input: T -> output: T."""

def DepthwiseConv2dNative(input: _Value, filter: _Value, *, T: _DType = ..., strides: _Sequence[int],
        padding: str | bytes, explicit_paddings: _Sequence[int] = ..., data_format: str | bytes = "NHWC",
        dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float64
    float16.
    """

def DepthwiseConv2dNativeBackpropFilter(input: _Value, filter_sizes: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], padding: str | bytes, explicit_paddings: _Sequence[int] = ...,
        data_format: str | bytes = "NHWC", dilations: _Sequence[int] = ...) -> _Tensor:
    """input: T, filter_sizes: int32, out_backprop: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for
    float32 bfloat16 float64 float16.
    """

def DepthwiseConv2dNativeBackpropInput(input_sizes: _Value, filter: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], padding: str | bytes, explicit_paddings: _Sequence[int] = ...,
        data_format: str | bytes = "NHWC", dilations: _Sequence[int] = ...) -> _Tensor:
    """input_sizes: int32, filter: T, out_backprop: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for
    float32 bfloat16 float64 float16.
    """

def Dequantize(input: _Value, min_range: _Value, max_range: _Value, *, T: _DType = ...,
        mode: str | bytes = "MIN_COMBINED", narrow_range: bool = False, axis: int = -1,
        dtype: _DType = "float32") -> _Tensor:
    """input: T, min_range: float32, max_range: float32 -> output: dtype. T: qint8 quint8 qint32 qint16 quint16. dtype:
    float32 bfloat16. Accelerated for qint8 quint8.
    """

class _DeserializeManySparseOutputs(_NamedTuple):
    sparse_indices: _Tensor
    sparse_values: _Tensor
    sparse_shape: _Tensor

def DeserializeManySparse(serialized_sparse: _Value, *, dtype: _DType) -> _DeserializeManySparseOutputs:
    """serialized_sparse: string -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64."""

class _DeserializeSparseOutputs(_NamedTuple):
    sparse_indices: _Tensor
    sparse_values: _Tensor
    sparse_shape: _Tensor

def DeserializeSparse(serialized_sparse: _Value, *, dtype: _DType,
        Tserialized: _DType = ...) -> _DeserializeSparseOutputs:
    """serialized_sparse: Tserialized -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64. Tserialized:
    string variant.
    """

def DestroyResourceOp(resource: _Value, *, ignore_lookup_error: bool = True) -> None:
    """resource: resource -> nothing."""

def DeviceIndex(*, device_names: _Sequence[str | bytes]) -> _Tensor:
    """nothing -> index: int32."""

def Diag(diagonal: _Value, *, T: _DType = ...) -> _Tensor:
    """diagonal: T -> output: T. T: bfloat16 float16 float32 float64 int32 int64 complex64 complex128."""

def DiagPart(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> diagonal: T. T: bfloat16 float16 float32 float64 int32 int64 complex64 complex128."""

def Digamma(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def Dilation2D(input: _Value, filter: _Value, *, T: _DType = ..., strides: _Sequence[int], rates: _Sequence[int],
        padding: str | bytes) -> _Tensor:
    """input: T, filter: T -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32
    uint64. Accelerated for float32 float16.
    """

def Dilation2DBackpropFilter(input: _Value, filter: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], rates: _Sequence[int], padding: str | bytes) -> _Tensor:
    """input: T, filter: T, out_backprop: T -> filter_backprop: T. T: float32 float64 int32 uint8 int16 int8 int64
    bfloat16 uint16 float16 uint32 uint64.
    """

def Dilation2DBackpropInput(input: _Value, filter: _Value, out_backprop: _Value, *, T: _DType = ...,
        strides: _Sequence[int], rates: _Sequence[int], padding: str | bytes) -> _Tensor:
    """input: T, filter: T, out_backprop: T -> in_backprop: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16
    uint16 float16 uint32 uint64.
    """

def DisableCopyOnRead(resource: _Value) -> None:
    """resource: resource -> nothing."""

def Div(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 uint8 int8 uint16 int16 int32 uint32 uint64 int64
    complex64 complex128. Accelerated for float32 bfloat16 float64 complex64 float16.
    """

def DivNoNan(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: float16 float32 bfloat16 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

def DrawBoundingBoxes(images: _Value, boxes: _Value, *, T: _DType = ...) -> _Tensor:
    """images: T, boxes: float32 -> output: T. T: float32 float16."""

def DrawBoundingBoxesV2(images: _Value, boxes: _Value, colors: _Value, *, T: _DType = ...) -> _Tensor:
    """images: T, boxes: float32, colors: float32 -> output: T. T: float32 float16."""

def DynamicPartition(data: _Value, partitions: _Value, *, num_partitions: int, T: _DType = ...) -> list[_Tensor]:
    """data: T, partitions: int32 -> outputs: num_partitions * T."""

def DynamicStitch(indices: _Sequence[_Value], data: _Sequence[_Value], *, T: _DType = ...) -> _Tensor:
    """indices: N * int32, data: N * T -> merged: T."""

def EditDistance(hypothesis_indices: _Value, hypothesis_values: _Value, hypothesis_shape: _Value, truth_indices: _Value,
        truth_values: _Value, truth_shape: _Value, *, normalize: bool = True, T: _DType = ...) -> _Tensor:
    """hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, truth_values: T,
    truth_shape: int64 -> output: float32.
    """

class _EigOutputs(_NamedTuple):
    e: _Tensor
    v: _Tensor

def Eig(input: _Value, *, compute_v: bool = True, T: _DType = ..., Tout: _DType) -> _EigOutputs:
    """input: T -> e: Tout, v: Tout. T: float32 float64 complex64 complex128. Tout: complex64 complex128."""

def Einsum(inputs: _Sequence[_Value], *, equation: str | bytes, T: _DType = ...) -> _Tensor:
    """inputs: N * T -> output: T. T: bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64
    complex64 complex128. Accelerated for float32 bfloat16 float64 complex64 complex128 float16.
    """

def Elu(features: _Value, *, T: _DType = ...) -> _Tensor:
    """features: T -> activations: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float64
    float16.
    """

def EluGrad(gradients: _Value, outputs: _Value, *, T: _DType = ...) -> _Tensor:
    """gradients: T, outputs: T -> backprops: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16
    float64 float16.
    """

def Empty(shape: _Value, *, dtype: _DType, init: bool = False) -> _Tensor:
    """shape: int32 -> output: dtype."""

def EmptyTensorList(element_shape: _Value, max_num_elements: _Value, *, element_dtype: _DType,
        shape_type: _DType = ...) -> _Tensor:
    """element_shape: shape_type, max_num_elements: int32 -> handle: variant. shape_type: int32 int64."""

def EmptyTensorMap() -> _Tensor:
    """nothing -> handle: variant."""

def EncodeBase64(input: _Value, *, pad: bool = False) -> _Tensor:
    """input: string -> output: string."""

def EncodeJpeg(image: _Value, *, format: str | bytes = "", quality: int = 95, progressive: bool = False,
        optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: str | bytes = "in",
        x_density: int = 300, y_density: int = 300, xmp_metadata: str | bytes = "") -> _Tensor:
    """image: uint8 -> contents: string."""

def EncodeJpegVariableQuality(images: _Value, quality: _Value) -> _Tensor:
    """images: uint8, quality: int32 -> contents: string."""

def EncodePng(image: _Value, *, compression: int = -1, T: _DType = ...) -> _Tensor:
    """image: T -> contents: string. T: uint8 uint16."""

def EncodeProto(sizes: _Value, values: _Sequence[_Value], *, field_names: _Sequence[str | bytes],
        message_type: str | bytes, descriptor_source: str | bytes = "local://") -> _Tensor:
    """sizes: int32, values: Tinput_types -> bytes: string."""

def EncodeWav(audio: _Value, sample_rate: _Value) -> _Tensor:
    """audio: float32, sample_rate: int32 -> contents: string."""

def EnsureShape(input: _Value, *, shape: _Shape, T: _DType = ...) -> _Tensor:
    """input: T -> output: T."""

def Equal(x: _Value, y: _Value, *, T: _DType = ..., incompatible_shape_error: bool = True) -> _Tensor:
    """x: T, y: T -> z: bool."""

def Erf(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def Erfc(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def Erfinv(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float16."""

def EuclideanNorm(input: _Value, reduction_indices: _Value, *, keep_dims: bool = False, T: _DType = ...,
        Tidx: _DType = ...) -> _Tensor:
    """input: T, reduction_indices: Tidx -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64
    bfloat16 uint16 complex128 float16 uint32 uint64. Tidx: int32 int64.
    """

def Exp(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    complex64 float16.
    """

def ExpandDims(input: _Value, dim: _Value, *, T: _DType = ..., Tdim: _DType = ...) -> _Tensor:
    """input: T, dim: Tdim -> output: T. Tdim: int32 int64."""

def Expint(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def Expm1(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def ExtractGlimpse(input: _Value, size: _Value, offsets: _Value, *, centered: bool = True, normalized: bool = True,
        uniform_noise: bool = True, noise: str | bytes = "uniform") -> _Tensor:
    """input: float32, size: int32, offsets: float32 -> glimpse: float32."""

def ExtractGlimpseV2(input: _Value, size: _Value, offsets: _Value, *, centered: bool = True, normalized: bool = True,
        uniform_noise: bool = True, noise: str | bytes = "uniform") -> _Tensor:
    """input: float32, size: int32, offsets: float32 -> glimpse: float32."""

def ExtractImagePatches(images: _Value, *, ksizes: _Sequence[int], strides: _Sequence[int], rates: _Sequence[int],
        T: _DType = ..., padding: str | bytes) -> _Tensor:
    """images: T -> patches: T. T: bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64
    complex64 complex128 bool.
    """

def ExtractJpegShape(contents: _Value, *, output_type: _DType = "int32") -> _Tensor:
    """contents: string -> image_shape: output_type. output_type: int32 int64."""

def ExtractVolumePatches(input: _Value, *, ksizes: _Sequence[int], strides: _Sequence[int], T: _DType = ...,
        padding: str | bytes) -> _Tensor:
    """input: T -> patches: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64."""

def FFT(input: _Value, *, Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex -> output: Tcomplex. Tcomplex: complex64 complex128. Accelerated for complex64 complex128."""

def FFT2D(input: _Value, *, Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex -> output: Tcomplex. Tcomplex: complex64 complex128. Accelerated for complex64 complex128."""

def FFT3D(input: _Value, *, Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex -> output: Tcomplex. Tcomplex: complex64 complex128. Accelerated for complex64 complex128."""

def FFTND(input: _Value, fft_length: _Value, axes: _Value, *, Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex, fft_length: int32, axes: int32 -> output: Tcomplex. Tcomplex: complex64 complex128."""

def FIFOQueueV2(*, component_types: _Sequence[_DType], capacity: int = -1, container: str | bytes = "",
        shared_name: str | bytes = "") -> _Tensor:
    """nothing -> handle: resource."""

def Fact() -> _Tensor:
    """nothing -> fact: string."""

def FakeParam(*, dtype: _DType, shape: _Shape) -> _Tensor:
    """nothing -> output: dtype."""

def FakeQuantWithMinMaxArgs(inputs: _Value, *, min: float = -6, max: float = 6, num_bits: int = 8,
        narrow_range: bool = False) -> _Tensor:
    """inputs: float32 -> outputs: float32. Accelerated for float32."""

def FakeQuantWithMinMaxArgsGradient(gradients: _Value, inputs: _Value, *, min: float = -6, max: float = 6,
        num_bits: int = 8, narrow_range: bool = False) -> _Tensor:
    """gradients: float32, inputs: float32 -> backprops: float32."""

def FakeQuantWithMinMaxVars(inputs: _Value, min: _Value, max: _Value, *, num_bits: int = 8,
        narrow_range: bool = False) -> _Tensor:
    """inputs: float32, min: float32, max: float32 -> outputs: float32. Accelerated for float32."""

class _FakeQuantWithMinMaxVarsGradientOutputs(_NamedTuple):
    backprops_wrt_input: _Tensor
    backprop_wrt_min: _Tensor
    backprop_wrt_max: _Tensor

def FakeQuantWithMinMaxVarsGradient(gradients: _Value, inputs: _Value, min: _Value, max: _Value, *, num_bits: int = 8,
        narrow_range: bool = False) -> _FakeQuantWithMinMaxVarsGradientOutputs:
    """gradients: float32, inputs: float32, min: float32, max: float32 -> backprops_wrt_input: float32,
    backprop_wrt_min: float32, backprop_wrt_max: float32.
    """

def FakeQuantWithMinMaxVarsPerChannel(inputs: _Value, min: _Value, max: _Value, *, num_bits: int = 8,
        narrow_range: bool = False) -> _Tensor:
    """inputs: float32, min: float32, max: float32 -> outputs: float32. Accelerated for float32."""

class _FakeQuantWithMinMaxVarsPerChannelGradientOutputs(_NamedTuple):
    backprops_wrt_input: _Tensor
    backprop_wrt_min: _Tensor
    backprop_wrt_max: _Tensor

def FakeQuantWithMinMaxVarsPerChannelGradient(gradients: _Value, inputs: _Value, min: _Value, max: _Value, *,
        num_bits: int = 8, narrow_range: bool = False) -> _FakeQuantWithMinMaxVarsPerChannelGradientOutputs:
    """gradients: float32, inputs: float32, min: float32, max: float32 -> backprops_wrt_input: float32,
    backprop_wrt_min: float32, backprop_wrt_max: float32.
    """

class _FastBertNormalizeOutputs(_NamedTuple):
    output_values: _Tensor
    output_offsets: _Tensor
    output_row_splits: _Tensor

def FastBertNormalize(input_values: _Value, fast_bert_normalizer_model: _Value, *,
        get_offsets: bool = False) -> _FastBertNormalizeOutputs:
    """input_values: string, fast_bert_normalizer_model: uint8 -> output_values: string, output_offsets: int64,
    output_row_splits: int64.
    """

class _FastWordpieceTokenizeWithOffsetsOutputs(_NamedTuple):
    output_subwords: _Tensor
    output_ids: _Tensor
    output_row_splits: _Tensor
    start_values: _Tensor
    end_values: _Tensor

def FastWordpieceTokenizeWithOffsets(input_values: _Value,
        wp_model: _Value) -> _FastWordpieceTokenizeWithOffsetsOutputs:
    """input_values: string, wp_model: uint8 -> output_subwords: string, output_ids: int64, output_row_splits: int64,
    start_values: int64, end_values: int64.
    """

def Fill(dims: _Value, value: _Value, *, T: _DType = ..., index_type: _DType = ...) -> _Tensor:
    """dims: index_type, value: T -> output: T. index_type: int32 int64."""

def FindSourceOffsets(offsets_map: _Value, input_offsets_values: _Value, input_offsets_splits: _Value, *,
        Tsplits: _DType = ...) -> _Tensor:
    """offsets_map: variant, input_offsets_values: int64, input_offsets_splits: Tsplits -> output_offsets_values: int64.
    Tsplits: int32 int64.
    """

def Fingerprint(data: _Value, method: _Value, *, T: _DType = ...) -> _Tensor:
    """data: T, method: string -> fingerprint: uint8."""

class _FixedUnigramCandidateSamplerOutputs(_NamedTuple):
    sampled_candidates: _Tensor
    true_expected_count: _Tensor
    sampled_expected_count: _Tensor

def FixedUnigramCandidateSampler(true_classes: _Value, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
        vocab_file: str | bytes = "", distortion: float = 1, num_reserved_ids: int = 0, num_shards: int = 1,
        shard: int = 0, unigrams: _Sequence[float] = ..., seed: int = 0,
        seed2: int = 0) -> _FixedUnigramCandidateSamplerOutputs:
    """true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32.
    """

def Floor(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def FloorDiv(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 uint8 int8 uint16 int16 int32 uint32 uint64 int64
    complex64 complex128.
    """

def FloorMod(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64."""

class _FractionalAvgPoolOutputs(_NamedTuple):
    output: _Tensor
    row_pooling_sequence: _Tensor
    col_pooling_sequence: _Tensor

def FractionalAvgPool(value: _Value, *, pooling_ratio: _Sequence[float], pseudo_random: bool = False,
        overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0,
        T: _DType = ...) -> _FractionalAvgPoolOutputs:
    """value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64. T: float32 float64 int32 int64.
    """

def FractionalAvgPoolGrad(orig_input_tensor_shape: _Value, out_backprop: _Value, row_pooling_sequence: _Value,
        col_pooling_sequence: _Value, *, overlapping: bool = False, T: _DType = ...) -> _Tensor:
    """orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64 ->
    output: T. T: float32 float64 int32 int64.
    """

class _FractionalMaxPoolOutputs(_NamedTuple):
    output: _Tensor
    row_pooling_sequence: _Tensor
    col_pooling_sequence: _Tensor

def FractionalMaxPool(value: _Value, *, pooling_ratio: _Sequence[float], pseudo_random: bool = False,
        overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0,
        T: _DType = ...) -> _FractionalMaxPoolOutputs:
    """value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64. T: float32 float64 int32 int64.
    """

def FractionalMaxPoolGrad(orig_input: _Value, orig_output: _Value, out_backprop: _Value, row_pooling_sequence: _Value,
        col_pooling_sequence: _Value, *, overlapping: bool = False, T: _DType = ...) -> _Tensor:
    """orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64 ->
    output: T. T: float32 float64 int32 int64.
    """

def FresnelCos(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def FresnelSin(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

class _FusedBatchNormOutputs(_NamedTuple):
    y: _Tensor
    batch_mean: _Tensor
    batch_variance: _Tensor
    reserve_space_1: _Tensor
    reserve_space_2: _Tensor

def FusedBatchNorm(x: _Value, scale: _Value, offset: _Value, mean: _Value, variance: _Value, *, T: _DType = ...,
        epsilon: float = 0.0001, exponential_avg_factor: float = 1.0, data_format: str | bytes = "NHWC",
        is_training: bool = True) -> _FusedBatchNormOutputs:
    """x: T, scale: T, offset: T, mean: T, variance: T -> y: T, batch_mean: T, batch_variance: T, reserve_space_1: T,
    reserve_space_2: T. T: float32. Accelerated for float32.
    """

class _FusedBatchNormGradOutputs(_NamedTuple):
    x_backprop: _Tensor
    scale_backprop: _Tensor
    offset_backprop: _Tensor
    reserve_space_3: _Tensor
    reserve_space_4: _Tensor

def FusedBatchNormGrad(y_backprop: _Value, x: _Value, scale: _Value, reserve_space_1: _Value, reserve_space_2: _Value,
        *, T: _DType = ..., epsilon: float = 0.0001, data_format: str | bytes = "NHWC",
        is_training: bool = True) -> _FusedBatchNormGradOutputs:
    """y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T -> x_backprop: T, scale_backprop: T,
    offset_backprop: T, reserve_space_3: T, reserve_space_4: T. T: float32. Accelerated for float32.
    """

class _FusedBatchNormGradV2Outputs(_NamedTuple):
    x_backprop: _Tensor
    scale_backprop: _Tensor
    offset_backprop: _Tensor
    reserve_space_3: _Tensor
    reserve_space_4: _Tensor

def FusedBatchNormGradV2(y_backprop: _Value, x: _Value, scale: _Value, reserve_space_1: _Value, reserve_space_2: _Value,
        *, T: _DType = ..., U: _DType = ..., epsilon: float = 0.0001, data_format: str | bytes = "NHWC",
        is_training: bool = True) -> _FusedBatchNormGradV2Outputs:
    """y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U -> x_backprop: T, scale_backprop: U,
    offset_backprop: U, reserve_space_3: U, reserve_space_4: U. T: float16 bfloat16 float32. U: float32. Accelerated for
    float32 bfloat16 float16.
    """

class _FusedBatchNormGradV3Outputs(_NamedTuple):
    x_backprop: _Tensor
    scale_backprop: _Tensor
    offset_backprop: _Tensor
    reserve_space_4: _Tensor
    reserve_space_5: _Tensor

def FusedBatchNormGradV3(y_backprop: _Value, x: _Value, scale: _Value, reserve_space_1: _Value, reserve_space_2: _Value,
        reserve_space_3: _Value, *, T: _DType = ..., U: _DType = ..., epsilon: float = 0.0001,
        data_format: str | bytes = "NHWC", is_training: bool = True) -> _FusedBatchNormGradV3Outputs:
    """y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U -> x_backprop: T,
    scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U. T: float16 bfloat16 float32. U:
    float32. Accelerated for float32 bfloat16 float16.
    """

class _FusedBatchNormV2Outputs(_NamedTuple):
    y: _Tensor
    batch_mean: _Tensor
    batch_variance: _Tensor
    reserve_space_1: _Tensor
    reserve_space_2: _Tensor

def FusedBatchNormV2(x: _Value, scale: _Value, offset: _Value, mean: _Value, variance: _Value, *, T: _DType = ...,
        U: _DType = ..., epsilon: float = 0.0001, exponential_avg_factor: float = 1.0,
        data_format: str | bytes = "NHWC", is_training: bool = True) -> _FusedBatchNormV2Outputs:
    """x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U,
    reserve_space_2: U. T: float16 bfloat16 float32. U: float32. Accelerated for float32 bfloat16 float16.
    """

class _FusedBatchNormV3Outputs(_NamedTuple):
    y: _Tensor
    batch_mean: _Tensor
    batch_variance: _Tensor
    reserve_space_1: _Tensor
    reserve_space_2: _Tensor
    reserve_space_3: _Tensor

def FusedBatchNormV3(x: _Value, scale: _Value, offset: _Value, mean: _Value, variance: _Value, *, T: _DType = ...,
        U: _DType = ..., epsilon: float = 0.0001, exponential_avg_factor: float = 1.0,
        data_format: str | bytes = "NHWC", is_training: bool = True) -> _FusedBatchNormV3Outputs:
    """x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U,
    reserve_space_2: U, reserve_space_3: U. T: float16 bfloat16 float32. U: float32. Accelerated for float32 bfloat16
    float16.
    """

class _GRUBlockCellOutputs(_NamedTuple):
    r: _Tensor
    u: _Tensor
    c: _Tensor
    h: _Tensor

def GRUBlockCell(x: _Value, h_prev: _Value, w_ru: _Value, w_c: _Value, b_ru: _Value, b_c: _Value, *,
        T: _DType = ...) -> _GRUBlockCellOutputs:
    """x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T -> r: T, u: T, c: T, h: T. T: float32. Accelerated for float32.
    """

class _GRUBlockCellGradOutputs(_NamedTuple):
    d_x: _Tensor
    d_h_prev: _Tensor
    d_c_bar: _Tensor
    d_r_bar_u_bar: _Tensor

def GRUBlockCellGrad(x: _Value, h_prev: _Value, w_ru: _Value, w_c: _Value, b_ru: _Value, b_c: _Value, r: _Value,
        u: _Value, c: _Value, d_h: _Value, *, T: _DType = ...) -> _GRUBlockCellGradOutputs:
    """x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T -> d_x: T, d_h_prev: T, d_c_bar: T,
    d_r_bar_u_bar: T. T: float32. Accelerated for float32.
    """

def Gather(params: _Value, indices: _Value, *, validate_indices: bool = True, Tparams: _DType = ...,
        Tindices: _DType = ...) -> _Tensor:
    """params: Tparams, indices: Tindices -> output: Tparams. Tindices: int32 int64."""

def GatherNd(params: _Value, indices: _Value, *, Tparams: _DType = ..., Tindices: _DType = ...,
        bad_indices_policy: str | bytes = "") -> _Tensor:
    """params: Tparams, indices: Tindices -> output: Tparams. Tindices: int16 int32 int64."""

def GatherV2(params: _Value, indices: _Value, axis: _Value, *, batch_dims: int = 0, Tparams: _DType = ...,
        Tindices: _DType = ..., Taxis: _DType = ...) -> _Tensor:
    """params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams. Tindices: int16 int32 int64. Taxis: int32
    int64.
    """

def Greater(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: bool. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64."""

def GreaterEqual(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: bool. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64."""

def GuaranteeConst(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T."""

def HSVToRGB(images: _Value, *, T: _DType = ...) -> _Tensor:
    """images: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float16 bfloat16 float32."""

def HistogramFixedWidth(values: _Value, value_range: _Value, nbins: _Value, *, T: _DType = ...,
        dtype: _DType = "int32") -> _Tensor:
    """values: T, value_range: T, nbins: int32 -> out: dtype. T: int32 int64 float32 float64. dtype: int32 int64."""

def HistogramSummary(tag: _Value, values: _Value, *, T: _DType = ...) -> _Tensor:
    """tag: string, values: T -> summary: string. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64.
    """

def IFFT(input: _Value, *, Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex -> output: Tcomplex. Tcomplex: complex64 complex128. Accelerated for complex64 complex128."""

def IFFT2D(input: _Value, *, Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex -> output: Tcomplex. Tcomplex: complex64 complex128. Accelerated for complex64 complex128."""

def IFFT3D(input: _Value, *, Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex -> output: Tcomplex. Tcomplex: complex64 complex128. Accelerated for complex64 complex128."""

def IFFTND(input: _Value, fft_length: _Value, axes: _Value, *, Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex, fft_length: int32, axes: int32 -> output: Tcomplex. Tcomplex: complex64 complex128."""

def IRFFT(input: _Value, fft_length: _Value, *, Treal: _DType = "float32", Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex, fft_length: int32 -> output: Treal. Treal: float32 float64. Tcomplex: complex64 complex128.
    Accelerated for float32 float64.
    """

def IRFFT2D(input: _Value, fft_length: _Value, *, Treal: _DType = "float32", Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex, fft_length: int32 -> output: Treal. Treal: float32 float64. Tcomplex: complex64 complex128.
    Accelerated for float32 float64.
    """

def IRFFT3D(input: _Value, fft_length: _Value, *, Treal: _DType = "float32", Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex, fft_length: int32 -> output: Treal. Treal: float32 float64. Tcomplex: complex64 complex128.
    Accelerated for float32 float64.
    """

def IRFFTND(input: _Value, fft_length: _Value, axes: _Value, *, Treal: _DType = "float32",
        Tcomplex: _DType = ...) -> _Tensor:
    """input: Tcomplex, fft_length: int32, axes: int32 -> output: Treal. Treal: float32 float64. Tcomplex: complex64
    complex128.
    """

def Identity(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T."""

def IdentityN(input: _Sequence[_Value]) -> list[_Tensor]:
    """input: T -> output: T."""

def Igamma(a: _Value, x: _Value, *, T: _DType = ...) -> _Tensor:
    """a: T, x: T -> z: T. T: bfloat16 float16 float32 float64."""

def IgammaGradA(a: _Value, x: _Value, *, T: _DType = ...) -> _Tensor:
    """a: T, x: T -> z: T. T: float32 float64."""

def Igammac(a: _Value, x: _Value, *, T: _DType = ...) -> _Tensor:
    """a: T, x: T -> z: T. T: bfloat16 float16 float32 float64."""

def Imag(input: _Value, *, T: _DType = ..., Tout: _DType = "float32") -> _Tensor:
    """input: T -> output: Tout. T: complex64 complex128. Tout: float32 float64."""

def ImageProjectiveTransformV2(images: _Value, transforms: _Value, output_shape: _Value, *, dtype: _DType = ...,
        interpolation: str | bytes, fill_mode: str | bytes = "CONSTANT") -> _Tensor:
    """images: dtype, transforms: float32, output_shape: int32 -> transformed_images: dtype. dtype: uint8 int32 int64
    float16 bfloat16 float32 float64.
    """

def ImageProjectiveTransformV3(images: _Value, transforms: _Value, output_shape: _Value, fill_value: _Value, *,
        dtype: _DType = ..., interpolation: str | bytes, fill_mode: str | bytes = "CONSTANT") -> _Tensor:
    """images: dtype, transforms: float32, output_shape: int32, fill_value: float32 -> transformed_images: dtype. dtype:
    uint8 int32 int64 float16 bfloat16 float32 float64.
    """

def InTopK(predictions: _Value, targets: _Value, *, k: int, T: _DType = ...) -> _Tensor:
    """predictions: float32, targets: T -> precision: bool. T: int32 int64."""

def InTopKV2(predictions: _Value, targets: _Value, k: _Value, *, T: _DType = ...) -> _Tensor:
    """predictions: float32, targets: T, k: T -> precision: bool. T: int32 int64."""

def InplaceAdd(x: _Value, i: _Value, v: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, i: int32, v: T -> y: T."""

def InplaceSub(x: _Value, i: _Value, v: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, i: int32, v: T -> y: T."""

def InplaceUpdate(x: _Value, i: _Value, v: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, i: int32, v: T -> y: T."""

def Inv(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 int8 int16 int32 int64 complex64 complex128. Accelerated for
    float32 bfloat16 float64 float16.
    """

def InvGrad(y: _Value, dy: _Value, *, T: _DType = ...) -> _Tensor:
    """y: T, dy: T -> z: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

def Invert(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: int8 int16 int32 int64 uint8 uint16 uint32 uint64."""

def InvertPermutation(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: int32 int64."""

def IsFinite(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: bool. T: bfloat16 float16 float32 float64."""

def IsInf(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: bool. T: bfloat16 float16 float32 float64."""

def IsNan(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: bool. T: bfloat16 float16 float32 float64."""

class _IsotonicRegressionOutputs(_NamedTuple):
    output: _Tensor
    segments: _Tensor

def IsotonicRegression(input: _Value, *, output_dtype: _DType = "float32",
        T: _DType = ...) -> _IsotonicRegressionOutputs:
    """input: T -> output: output_dtype, segments: int32. output_dtype: float16 bfloat16 float32 float64. T: float32
    float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64.
    """

def KMC2ChainInitialization(distances: _Value, seed: _Value) -> _Tensor:
    """distances: float32, seed: int64 -> index: int64."""

def KmeansPlusPlusInitialization(points: _Value, num_to_sample: _Value, seed: _Value,
        num_retries_per_sample: _Value) -> _Tensor:
    """points: float32, num_to_sample: int64, seed: int64, num_retries_per_sample: int64 -> samples: float32."""

def L2Loss(t: _Value, *, T: _DType = ...) -> _Tensor:
    """t: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float32 float16."""

def LRN(input: _Value, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
        T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float16 bfloat16 float32. Accelerated for float32 bfloat16 float16."""

def LRNGrad(input_grads: _Value, input_image: _Value, output_image: _Value, *, depth_radius: int = 5, bias: float = 1.0,
        alpha: float = 1.0, beta: float = 0.5, T: _DType = ...) -> _Tensor:
    """input_grads: T, input_image: T, output_image: T -> output: T. T: float16 bfloat16 float32. Accelerated for
    float32 bfloat16 float16.
    """

class _LSTMBlockCellOutputs(_NamedTuple):
    i: _Tensor
    cs: _Tensor
    f: _Tensor
    o: _Tensor
    ci: _Tensor
    co: _Tensor
    h: _Tensor

def LSTMBlockCell(x: _Value, cs_prev: _Value, h_prev: _Value, w: _Value, wci: _Value, wcf: _Value, wco: _Value,
        b: _Value, *, forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False,
        T: _DType = ...) -> _LSTMBlockCellOutputs:
    """x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T.
    T: float16 float32. Accelerated for float32 float16.
    """

class _LSTMBlockCellGradOutputs(_NamedTuple):
    cs_prev_grad: _Tensor
    dicfo: _Tensor
    wci_grad: _Tensor
    wcf_grad: _Tensor
    wco_grad: _Tensor

def LSTMBlockCellGrad(x: _Value, cs_prev: _Value, h_prev: _Value, w: _Value, wci: _Value, wcf: _Value, wco: _Value,
        b: _Value, i: _Value, cs: _Value, f: _Value, o: _Value, ci: _Value, co: _Value, cs_grad: _Value, h_grad: _Value,
        *, use_peephole: bool, T: _DType = ...) -> _LSTMBlockCellGradOutputs:
    """x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad:
    T, h_grad: T -> cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T. T: float16 float32.
    """

def LeakyRelu(features: _Value, *, alpha: float = 0.2, T: _DType = ...) -> _Tensor:
    """features: T -> activations: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float16."""

def LeakyReluGrad(gradients: _Value, features: _Value, *, alpha: float = 0.2, T: _DType = ...) -> _Tensor:
    """gradients: T, features: T -> backprops: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16
    float16.
    """

class _LearnedUnigramCandidateSamplerOutputs(_NamedTuple):
    sampled_candidates: _Tensor
    true_expected_count: _Tensor
    sampled_expected_count: _Tensor

def LearnedUnigramCandidateSampler(true_classes: _Value, *, num_true: int, num_sampled: int, unique: bool,
        range_max: int, seed: int = 0, seed2: int = 0) -> _LearnedUnigramCandidateSamplerOutputs:
    """true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32.
    """

def LeftShift(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: int8 int16 int32 int64 uint8 uint16 uint32 uint64."""

def Less(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: bool. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64."""

def LessEqual(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: bool. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64."""

def Lgamma(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def LinSpace(start: _Value, stop: _Value, num: _Value, *, T: _DType = ..., Tidx: _DType = ...) -> _Tensor:
    """start: T, stop: T, num: Tidx -> output: T. T: bfloat16 float16 float32 float64. Tidx: int32 int64."""

class _ListDiffOutputs(_NamedTuple):
    out: _Tensor
    idx: _Tensor

def ListDiff(x: _Value, y: _Value, *, T: _DType = ..., out_idx: _DType = "int32") -> _ListDiffOutputs:
    """x: T, y: T -> out: T, idx: out_idx. out_idx: int32 int64."""

def Log(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    complex64 float16.
    """

def Log1p(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

class _LogMatrixDeterminantOutputs(_NamedTuple):
    sign: _Tensor
    log_abs_determinant: _Tensor

def LogMatrixDeterminant(input: _Value, *, T: _DType = ...) -> _LogMatrixDeterminantOutputs:
    """input: T -> sign: T, log_abs_determinant: T. T: float16 float32 float64 complex64 complex128."""

def LogSoftmax(logits: _Value, *, T: _DType = ...) -> _Tensor:
    """logits: T -> logsoftmax: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float64
    float16.
    """

class _LogUniformCandidateSamplerOutputs(_NamedTuple):
    sampled_candidates: _Tensor
    true_expected_count: _Tensor
    sampled_expected_count: _Tensor

def LogUniformCandidateSampler(true_classes: _Value, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
        seed: int = 0, seed2: int = 0) -> _LogUniformCandidateSamplerOutputs:
    """true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32.
    """

def LogicalAnd(x: _Value, y: _Value) -> _Tensor:
    """x: bool, y: bool -> z: bool."""

def LogicalNot(x: _Value) -> _Tensor:
    """x: bool -> y: bool."""

def LogicalOr(x: _Value, y: _Value) -> _Tensor:
    """x: bool, y: bool -> z: bool."""

class _LookupTableExportV2Outputs(_NamedTuple):
    keys: _Tensor
    values: _Tensor

def LookupTableExportV2(table_handle: _Value, *, Tkeys: _DType, Tvalues: _DType) -> _LookupTableExportV2Outputs:
    """table_handle: resource -> keys: Tkeys, values: Tvalues."""

def LookupTableFindV2(table_handle: _Value, keys: _Value, default_value: _Value, *, Tin: _DType = ...,
        Tout: _DType = ...) -> _Tensor:
    """table_handle: resource, keys: Tin, default_value: Tout -> values: Tout."""

def LookupTableImportV2(table_handle: _Value, keys: _Value, values: _Value, *, Tin: _DType = ...,
        Tout: _DType = ...) -> None:
    """table_handle: resource, keys: Tin, values: Tout -> nothing."""

def LookupTableInsertV2(table_handle: _Value, keys: _Value, values: _Value, *, Tin: _DType = ...,
        Tout: _DType = ...) -> None:
    """table_handle: resource, keys: Tin, values: Tout -> nothing."""

def LookupTableRemoveV2(table_handle: _Value, keys: _Value, *, Tin: _DType = ...) -> None:
    """table_handle: resource, keys: Tin -> nothing."""

def LookupTableSizeV2(table_handle: _Value) -> _Tensor:
    """table_handle: resource -> size: int64."""

def LowerBound(sorted_inputs: _Value, values: _Value, *, T: _DType = ..., out_type: _DType = "int32") -> _Tensor:
    """sorted_inputs: T, values: T -> output: out_type. out_type: int32 int64."""

class _LuOutputs(_NamedTuple):
    lu: _Tensor
    p: _Tensor

def Lu(input: _Value, *, T: _DType = ..., output_idx_type: _DType = "int32") -> _LuOutputs:
    """input: T -> lu: T, p: output_idx_type. T: float64 float32 float16 complex64 complex128. output_idx_type: int32
    int64.
    """

def MapClear(*, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType], container: str | bytes = "",
        shared_name: str | bytes = "") -> None:
    """nothing -> nothing."""

def MapIncompleteSize(*, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType],
        container: str | bytes = "", shared_name: str | bytes = "") -> _Tensor:
    """nothing -> size: int32."""

def MapPeek(key: _Value, indices: _Value, *, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType],
        container: str | bytes = "", shared_name: str | bytes = "") -> list[_Tensor]:
    """key: int64, indices: int32 -> values: dtypes."""

def MapSize(*, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType], container: str | bytes = "",
        shared_name: str | bytes = "") -> _Tensor:
    """nothing -> size: int32."""

def MapStage(key: _Value, indices: _Value, values: _Sequence[_Value], *, capacity: int = 0, memory_limit: int = 0,
        dtypes: _Sequence[_DType], container: str | bytes = "", shared_name: str | bytes = "") -> None:
    """key: int64, indices: int32, values: fake_dtypes -> nothing."""

def MapUnstage(key: _Value, indices: _Value, *, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType],
        container: str | bytes = "", shared_name: str | bytes = "") -> list[_Tensor]:
    """key: int64, indices: int32 -> values: dtypes."""

class _MapUnstageNoKeyOutputs(_NamedTuple):
    key: _Tensor
    values: list[_Tensor]

def MapUnstageNoKey(indices: _Value, *, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType],
        container: str | bytes = "", shared_name: str | bytes = "") -> _MapUnstageNoKeyOutputs:
    """indices: int32 -> key: int64, values: dtypes."""

def MatMul(a: _Value, b: _Value, *, transpose_a: bool = False, transpose_b: bool = False, T: _DType = ...,
        grad_a: bool = False, grad_b: bool = False) -> _Tensor:
    """a: T, b: T -> product: T. T: bfloat16 float16 float32 float64 int32 int64 uint8 uint16 uint32 uint64 complex64
    complex128. Accelerated for float32 bfloat16 float64 complex64 complex128 float16.
    """

def MatrixBandPart(input: _Value, num_lower: _Value, num_upper: _Value, *, T: _DType = ...,
        Tindex: _DType = ...) -> _Tensor:
    """input: T, num_lower: Tindex, num_upper: Tindex -> band: T. Tindex: int32 int64."""

def MatrixDeterminant(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float16 float32 float64 complex64 complex128."""

def MatrixDiag(diagonal: _Value, *, T: _DType = ...) -> _Tensor:
    """diagonal: T -> output: T."""

def MatrixDiagPart(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> diagonal: T."""

def MatrixDiagPartV2(input: _Value, k: _Value, padding_value: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T, k: int32, padding_value: T -> diagonal: T."""

def MatrixDiagPartV3(input: _Value, k: _Value, padding_value: _Value, *, T: _DType = ...,
        align: str | bytes = "RIGHT_LEFT") -> _Tensor:
    """input: T, k: int32, padding_value: T -> diagonal: T."""

def MatrixDiagV2(diagonal: _Value, k: _Value, num_rows: _Value, num_cols: _Value, padding_value: _Value, *,
        T: _DType = ...) -> _Tensor:
    """diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T."""

def MatrixDiagV3(diagonal: _Value, k: _Value, num_rows: _Value, num_cols: _Value, padding_value: _Value, *,
        T: _DType = ..., align: str | bytes = "RIGHT_LEFT") -> _Tensor:
    """diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T."""

def MatrixExponential(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float64 float32 complex64 complex128."""

def MatrixInverse(input: _Value, *, adjoint: bool = False, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float64 float32 float16 complex64 complex128."""

def MatrixLogarithm(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: complex64 complex128."""

def MatrixSetDiag(input: _Value, diagonal: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T, diagonal: T -> output: T."""

def MatrixSetDiagV2(input: _Value, diagonal: _Value, k: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T, diagonal: T, k: int32 -> output: T."""

def MatrixSetDiagV3(input: _Value, diagonal: _Value, k: _Value, *, T: _DType = ...,
        align: str | bytes = "RIGHT_LEFT") -> _Tensor:
    """input: T, diagonal: T, k: int32 -> output: T."""

def MatrixSolve(matrix: _Value, rhs: _Value, *, adjoint: bool = False, T: _DType = ...) -> _Tensor:
    """matrix: T, rhs: T -> output: T. T: float64 float32 float16 complex64 complex128."""

def MatrixSolveLs(matrix: _Value, rhs: _Value, l2_regularizer: _Value, *, T: _DType = ...,
        fast: bool = True) -> _Tensor:
    """matrix: T, rhs: T, l2_regularizer: float64 -> output: T. T: float64 float32 float16 complex64 complex128."""

def MatrixSquareRoot(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float64 float32 float16 complex64 complex128."""

def MatrixTriangularSolve(matrix: _Value, rhs: _Value, *, lower: bool = True, adjoint: bool = False,
        T: _DType = ...) -> _Tensor:
    """matrix: T, rhs: T -> output: T. T: bfloat16 float64 float32 float16 complex64 complex128."""

def Max(input: _Value, reduction_indices: _Value, *, keep_dims: bool = False, T: _DType = ...,
        Tidx: _DType = ...) -> _Tensor:
    """input: T, reduction_indices: Tidx -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64. Tidx: int32 int64. Accelerated for float32 float16.
    """

def MaxPool(input: _Value, *, T: _DType = ..., ksize: _Sequence[int], strides: _Sequence[int], padding: str | bytes,
        explicit_paddings: _Sequence[int] = ..., data_format: str | bytes = "NHWC") -> _Tensor:
    """input: T -> output: T. T: float16 bfloat16 float32 float64 int32 int64 uint8 int16 int8 uint16. Accelerated for
    float32 bfloat16 float16.
    """

def MaxPool3D(input: _Value, *, ksize: _Sequence[int], strides: _Sequence[int], padding: str | bytes,
        data_format: str | bytes = "NDHWC", T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float16 bfloat16 float32. Accelerated for float32 bfloat16 float16."""

def MaxPool3DGrad(orig_input: _Value, orig_output: _Value, grad: _Value, *, T: _DType = ..., TInput: _DType = ...,
        ksize: _Sequence[int], strides: _Sequence[int], padding: str | bytes,
        data_format: str | bytes = "NDHWC") -> _Tensor:
    """orig_input: TInput, orig_output: TInput, grad: T -> output: T. T: float16 bfloat16 float32. TInput: float16
    bfloat16 float32. Accelerated for float32 bfloat16 float16.
    """

def MaxPool3DGradGrad(orig_input: _Value, orig_output: _Value, grad: _Value, *, ksize: _Sequence[int],
        strides: _Sequence[int], padding: str | bytes, data_format: str | bytes = "NDHWC", T: _DType = ...) -> _Tensor:
    """orig_input: T, orig_output: T, grad: T -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16
    uint16 float16 uint32 uint64.
    """

def MaxPoolGrad(orig_input: _Value, orig_output: _Value, grad: _Value, *, T: _DType = ..., ksize: _Sequence[int],
        strides: _Sequence[int], padding: str | bytes, explicit_paddings: _Sequence[int] = ...,
        data_format: str | bytes = "NHWC") -> _Tensor:
    """orig_input: T, orig_output: T, grad: T -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16
    uint16 float16 uint32 uint64. Accelerated for float32 bfloat16 float16.
    """

def MaxPoolGradGrad(orig_input: _Value, orig_output: _Value, grad: _Value, *, ksize: _Sequence[int],
        strides: _Sequence[int], padding: str | bytes, data_format: str | bytes = "NHWC", T: _DType = ...) -> _Tensor:
    """orig_input: T, orig_output: T, grad: T -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16
    uint16 float16 uint32 uint64.
    """

def MaxPoolGradGradV2(orig_input: _Value, orig_output: _Value, grad: _Value, ksize: _Value, strides: _Value, *,
        padding: str | bytes, data_format: str | bytes = "NHWC", T: _DType = ...) -> _Tensor:
    """orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T. T: float32 float64 int32 uint8
    int16 int8 int64 bfloat16 uint16 float16 uint32 uint64.
    """

def MaxPoolGradGradWithArgmax(input: _Value, grad: _Value, argmax: _Value, *, T: _DType = ..., ksize: _Sequence[int],
        strides: _Sequence[int], padding: str | bytes, include_batch_in_index: bool = False,
        Targmax: _DType = ...) -> _Tensor:
    """input: T, grad: T, argmax: Targmax -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64. Targmax: int32 int64.
    """

def MaxPoolGradV2(orig_input: _Value, orig_output: _Value, grad: _Value, ksize: _Value, strides: _Value, *,
        T: _DType = ..., padding: str | bytes, data_format: str | bytes = "NHWC") -> _Tensor:
    """orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T. T: float32 float64 int32 uint8
    int16 int8 int64 bfloat16 uint16 float16 uint32 uint64. Accelerated for float32 bfloat16 float16.
    """

def MaxPoolGradWithArgmax(input: _Value, grad: _Value, argmax: _Value, *, T: _DType = ..., ksize: _Sequence[int],
        strides: _Sequence[int], padding: str | bytes, include_batch_in_index: bool = False,
        Targmax: _DType = ...) -> _Tensor:
    """input: T, grad: T, argmax: Targmax -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64. Targmax: int32 int64.
    """

def MaxPoolV2(input: _Value, ksize: _Value, strides: _Value, *, T: _DType = ..., padding: str | bytes,
        data_format: str | bytes = "NHWC") -> _Tensor:
    """input: T, ksize: int32, strides: int32 -> output: T. T: float16 bfloat16 float32 float64 int32 int64 uint8 int16
    int8 uint16. Accelerated for float32 bfloat16 float16.
    """

class _MaxPoolWithArgmaxOutputs(_NamedTuple):
    output: _Tensor
    argmax: _Tensor

def MaxPoolWithArgmax(input: _Value, *, T: _DType = ..., ksize: _Sequence[int], strides: _Sequence[int],
        Targmax: _DType = "int64", padding: str | bytes,
        include_batch_in_index: bool = False) -> _MaxPoolWithArgmaxOutputs:
    """input: T -> output: T, argmax: Targmax. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16
    uint32 uint64. Targmax: int32 int64. Accelerated for float32 float16.
    """

class _MaxSpanningTreeOutputs(_NamedTuple):
    max_scores: _Tensor
    argmax_sources: _Tensor

def MaxSpanningTree(num_nodes: _Value, scores: _Value, *, T: _DType = ...,
        forest: bool = False) -> _MaxSpanningTreeOutputs:
    """num_nodes: int32, scores: T -> max_scores: T, argmax_sources: int32. T: int32 float32 float64."""

def Maximum(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64.
    Accelerated for float32 bfloat16 float64 float16.
    """

def Mean(input: _Value, reduction_indices: _Value, *, keep_dims: bool = False, T: _DType = ...,
        Tidx: _DType = ...) -> _Tensor:
    """input: T, reduction_indices: Tidx -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64
    bfloat16 uint16 complex128 float16 uint32 uint64. Tidx: int32 int64. Accelerated for float32 bfloat16 float16.
    """

def MergeSummary(inputs: _Sequence[_Value]) -> _Tensor:
    """inputs: N * string -> summary: string."""

def Mfcc(spectrogram: _Value, sample_rate: _Value, *, upper_frequency_limit: float = 4000,
        lower_frequency_limit: float = 20, filterbank_channel_count: int = 40,
        dct_coefficient_count: int = 13) -> _Tensor:
    """spectrogram: float32, sample_rate: int32 -> output: float32."""

def Min(input: _Value, reduction_indices: _Value, *, keep_dims: bool = False, T: _DType = ...,
        Tidx: _DType = ...) -> _Tensor:
    """input: T, reduction_indices: Tidx -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64. Tidx: int32 int64. Accelerated for float32 float16.
    """

def Minimum(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64.
    Accelerated for float32 bfloat16 float64 float16.
    """

def MirrorPad(input: _Value, paddings: _Value, *, T: _DType = ..., Tpaddings: _DType = ...,
        mode: str | bytes) -> _Tensor:
    """input: T, paddings: Tpaddings -> output: T. Tpaddings: int32 int64."""

def MirrorPadGrad(input: _Value, paddings: _Value, *, T: _DType = ..., Tpaddings: _DType = ...,
        mode: str | bytes) -> _Tensor:
    """input: T, paddings: Tpaddings -> output: T. Tpaddings: int32 int64."""

def Mod(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: int32 int64 float16 bfloat16 float32 float64."""

def Mul(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 uint8 uint16 uint32 uint64 int8 int16 int32 int64
    complex64 complex128. Accelerated for float32 bfloat16 float64 complex64 float16.
    """

def MulNoNan(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 complex64 complex128."""

def Multinomial(logits: _Value, num_samples: _Value, *, seed: int = 0, seed2: int = 0, T: _DType = ...,
        output_dtype: _DType = "int64") -> _Tensor:
    """logits: T, num_samples: int32 -> output: output_dtype. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16
    uint16 float16 uint32 uint64. output_dtype: int32 int64.
    """

def Ndtri(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float16."""

class _NearestNeighborsOutputs(_NamedTuple):
    nearest_center_indices: _Tensor
    nearest_center_distances: _Tensor

def NearestNeighbors(points: _Value, centers: _Value, k: _Value) -> _NearestNeighborsOutputs:
    """points: float32, centers: float32, k: int64 -> nearest_center_indices: int64, nearest_center_distances: float32.
    """

def Neg(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 int8 int16 int32 int64 complex64 complex128. Accelerated for
    float32 bfloat16 float64 float16.
    """

def NextAfter(x1: _Value, x2: _Value, *, T: _DType = ...) -> _Tensor:
    """x1: T, x2: T -> output: T. T: float32 float64."""

def NoOp() -> None:
    """nothing -> nothing."""

def NonDeterministicInts(shape: _Value, *, dtype: _DType = "int64", shape_dtype: _DType = ...) -> _Tensor:
    """shape: shape_dtype -> output: dtype. dtype: int32 int64 uint32 uint64. shape_dtype: int32 int64."""

def NonMaxSuppression(boxes: _Value, scores: _Value, max_output_size: _Value, *, iou_threshold: float = 0.5) -> _Tensor:
    """boxes: float32, scores: float32, max_output_size: int32 -> selected_indices: int32."""

def NonMaxSuppressionV2(boxes: _Value, scores: _Value, max_output_size: _Value, iou_threshold: _Value, *,
        T: _DType = ..., T_threshold: _DType = ...) -> _Tensor:
    """boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold -> selected_indices: int32. T: float16
    float32. T_threshold: float16 float32.
    """

def NonMaxSuppressionV3(boxes: _Value, scores: _Value, max_output_size: _Value, iou_threshold: _Value,
        score_threshold: _Value, *, T: _DType = ..., T_threshold: _DType = ...) -> _Tensor:
    """boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold ->
    selected_indices: int32. T: float16 float32. T_threshold: float16 float32.
    """

class _NonMaxSuppressionV4Outputs(_NamedTuple):
    selected_indices: _Tensor
    valid_outputs: _Tensor

def NonMaxSuppressionV4(boxes: _Value, scores: _Value, max_output_size: _Value, iou_threshold: _Value,
        score_threshold: _Value, *, T: _DType = ..., T_threshold: _DType = ...,
        pad_to_max_output_size: bool = False) -> _NonMaxSuppressionV4Outputs:
    """boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold ->
    selected_indices: int32, valid_outputs: int32. T: float16 float32. T_threshold: float16 float32.
    """

class _NonMaxSuppressionV5Outputs(_NamedTuple):
    selected_indices: _Tensor
    selected_scores: _Tensor
    valid_outputs: _Tensor

def NonMaxSuppressionV5(boxes: _Value, scores: _Value, max_output_size: _Value, iou_threshold: _Value,
        score_threshold: _Value, soft_nms_sigma: _Value, *, T: _DType = ...,
        pad_to_max_output_size: bool = False) -> _NonMaxSuppressionV5Outputs:
    """boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, soft_nms_sigma: T ->
    selected_indices: int32, selected_scores: T, valid_outputs: int32. T: float16 float32.
    """

def NonMaxSuppressionWithOverlaps(overlaps: _Value, scores: _Value, max_output_size: _Value, overlap_threshold: _Value,
        score_threshold: _Value) -> _Tensor:
    """overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32, score_threshold: float32
    -> selected_indices: int32.
    """

def NormalizeUTF8(input: _Value, *, normalization_form: str | bytes) -> _Tensor:
    """input: string -> output: string."""

class _NormalizeUTF8WithOffsetsMapOutputs(_NamedTuple):
    output: _Tensor
    offsets_map: _Tensor

def NormalizeUTF8WithOffsetsMap(input: _Value, *,
        normalization_form: str | bytes) -> _NormalizeUTF8WithOffsetsMapOutputs:
    """input: string -> output: string, offsets_map: variant."""

def NotEqual(x: _Value, y: _Value, *, T: _DType = ..., incompatible_shape_error: bool = True) -> _Tensor:
    """x: T, y: T -> z: bool."""

def NthElement(input: _Value, n: _Value, *, reverse: bool = False, T: _DType = ...) -> _Tensor:
    """input: T, n: int32 -> values: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32
    uint64.
    """

def OneHot(indices: _Value, depth: _Value, on_value: _Value, off_value: _Value, *, axis: int = -1, T: _DType = ...,
        TI: _DType = ...) -> _Tensor:
    """indices: TI, depth: int32, on_value: T, off_value: T -> output: T. TI: uint8 int8 int32 int64."""

def OnesLike(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64
    complex128 bool.
    """

def OptionalFromValue(components: _Sequence[_Value]) -> _Tensor:
    """components: Toutput_types -> optional: variant."""

def OptionalGetValue(optional: _Value, *, output_types: _Sequence[_DType]) -> list[_Tensor]:
    """optional: variant -> components: output_types."""

def OptionalHasValue(optional: _Value) -> _Tensor:
    """optional: variant -> has_value: bool."""

def OptionalNone() -> _Tensor:
    """nothing -> optional: variant."""

def OrderedMapClear(*, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType], container: str | bytes = "",
        shared_name: str | bytes = "") -> None:
    """nothing -> nothing."""

def OrderedMapIncompleteSize(*, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType],
        container: str | bytes = "", shared_name: str | bytes = "") -> _Tensor:
    """nothing -> size: int32."""

def OrderedMapPeek(key: _Value, indices: _Value, *, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType],
        container: str | bytes = "", shared_name: str | bytes = "") -> list[_Tensor]:
    """key: int64, indices: int32 -> values: dtypes."""

def OrderedMapSize(*, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType], container: str | bytes = "",
        shared_name: str | bytes = "") -> _Tensor:
    """nothing -> size: int32."""

def OrderedMapStage(key: _Value, indices: _Value, values: _Sequence[_Value], *, capacity: int = 0,
        memory_limit: int = 0, dtypes: _Sequence[_DType], container: str | bytes = "",
        shared_name: str | bytes = "") -> None:
    """key: int64, indices: int32, values: fake_dtypes -> nothing."""

def OrderedMapUnstage(key: _Value, indices: _Value, *, capacity: int = 0, memory_limit: int = 0,
        dtypes: _Sequence[_DType], container: str | bytes = "", shared_name: str | bytes = "") -> list[_Tensor]:
    """key: int64, indices: int32 -> values: dtypes."""

class _OrderedMapUnstageNoKeyOutputs(_NamedTuple):
    key: _Tensor
    values: list[_Tensor]

def OrderedMapUnstageNoKey(indices: _Value, *, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType],
        container: str | bytes = "", shared_name: str | bytes = "") -> _OrderedMapUnstageNoKeyOutputs:
    """indices: int32 -> key: int64, values: dtypes."""

def Pack(values: _Sequence[_Value], *, T: _DType = ..., axis: int = 0) -> _Tensor:
    """values: N * T -> output: T."""

def Pad(input: _Value, paddings: _Value, *, T: _DType = ..., Tpaddings: _DType = ...) -> _Tensor:
    """input: T, paddings: Tpaddings -> output: T. Tpaddings: int32 int64."""

def PadV2(input: _Value, paddings: _Value, constant_values: _Value, *, T: _DType = ...,
        Tpaddings: _DType = ...) -> _Tensor:
    """input: T, paddings: Tpaddings, constant_values: T -> output: T. Tpaddings: int32 int64."""

def PaddingFIFOQueueV2(*, component_types: _Sequence[_DType], capacity: int = -1, container: str | bytes = "",
        shared_name: str | bytes = "") -> _Tensor:
    """nothing -> handle: resource."""

def ParallelConcat(values: _Sequence[_Value], *, T: _DType = ..., shape: _Shape) -> _Tensor:
    """values: N * T -> output: T."""

def ParallelDynamicStitch(indices: _Sequence[_Value], data: _Sequence[_Value], *, T: _DType = ...) -> _Tensor:
    """indices: N * int32, data: N * T -> merged: T."""

def ParameterizedTruncatedNormal(shape: _Value, means: _Value, stdevs: _Value, minvals: _Value, maxvals: _Value, *,
        seed: int = 0, seed2: int = 0, dtype: _DType = ..., T: _DType = ...) -> _Tensor:
    """shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype. dtype: float16 float32
    float64. T: int32 int64.
    """

class _ParseExampleOutputs(_NamedTuple):
    sparse_indices: list[_Tensor]
    sparse_values: list[_Tensor]
    sparse_shapes: list[_Tensor]
    dense_values: list[_Tensor]

def ParseExample(serialized: _Value, names: _Value, sparse_keys: _Sequence[_Value], dense_keys: _Sequence[_Value],
        dense_defaults: _Sequence[_Value], *, sparse_types: _Sequence[_DType]) -> _ParseExampleOutputs:
    """serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string, dense_defaults:
    Tdense -> sparse_indices: Nsparse * int64, sparse_values: sparse_types, sparse_shapes: Nsparse * int64,
    dense_values: Tdense.
    """

class _ParseExampleV2Outputs(_NamedTuple):
    sparse_indices: list[_Tensor]
    sparse_values: list[_Tensor]
    sparse_shapes: list[_Tensor]
    dense_values: list[_Tensor]
    ragged_values: list[_Tensor]
    ragged_row_splits: list[_Tensor]

def ParseExampleV2(serialized: _Value, names: _Value, sparse_keys: _Value, dense_keys: _Value, ragged_keys: _Value,
        dense_defaults: _Sequence[_Value], *, num_sparse: int, sparse_types: _Sequence[_DType],
        ragged_value_types: _Sequence[_DType], ragged_split_types: _Sequence[_DType]) -> _ParseExampleV2Outputs:
    """serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, dense_defaults:
    Tdense -> sparse_indices: num_sparse * int64, sparse_values: sparse_types, sparse_shapes: num_sparse * int64,
    dense_values: Tdense, ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types.
    """

class _ParseSequenceExampleOutputs(_NamedTuple):
    context_sparse_indices: list[_Tensor]
    context_sparse_values: list[_Tensor]
    context_sparse_shapes: list[_Tensor]
    context_dense_values: list[_Tensor]
    feature_list_sparse_indices: list[_Tensor]
    feature_list_sparse_values: list[_Tensor]
    feature_list_sparse_shapes: list[_Tensor]
    feature_list_dense_values: list[_Tensor]
    feature_list_dense_lengths: list[_Tensor]

def ParseSequenceExample(serialized: _Value, debug_name: _Value, context_dense_defaults: _Sequence[_Value], *,
        feature_list_dense_missing_assumed_empty: _Sequence[str | bytes], context_sparse_keys: _Sequence[str | bytes],
        context_dense_keys: _Sequence[str | bytes], feature_list_sparse_keys: _Sequence[str | bytes],
        feature_list_dense_keys: _Sequence[str | bytes], Ncontext_sparse: int = 0, Ncontext_dense: int = 0,
        Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, context_sparse_types: _Sequence[_DType] = ...,
        feature_list_dense_types: _Sequence[_DType] = ...,
        feature_list_sparse_types: _Sequence[_DType] = ...) -> _ParseSequenceExampleOutputs:
    """serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> context_sparse_indices:
    Ncontext_sparse * int64, context_sparse_values: context_sparse_types, context_sparse_shapes: Ncontext_sparse *
    int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse * int64,
    feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse * int64,
    feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths: Nfeature_list_dense * int64.
    """

class _ParseSequenceExampleV2Outputs(_NamedTuple):
    context_sparse_indices: list[_Tensor]
    context_sparse_values: list[_Tensor]
    context_sparse_shapes: list[_Tensor]
    context_dense_values: list[_Tensor]
    context_ragged_values: list[_Tensor]
    context_ragged_row_splits: list[_Tensor]
    feature_list_sparse_indices: list[_Tensor]
    feature_list_sparse_values: list[_Tensor]
    feature_list_sparse_shapes: list[_Tensor]
    feature_list_dense_values: list[_Tensor]
    feature_list_dense_lengths: list[_Tensor]
    feature_list_ragged_values: list[_Tensor]
    feature_list_ragged_outer_splits: list[_Tensor]
    feature_list_ragged_inner_splits: list[_Tensor]

def ParseSequenceExampleV2(serialized: _Value, debug_name: _Value, context_sparse_keys: _Value,
        context_dense_keys: _Value, context_ragged_keys: _Value, feature_list_sparse_keys: _Value,
        feature_list_dense_keys: _Value, feature_list_ragged_keys: _Value,
        feature_list_dense_missing_assumed_empty: _Value, context_dense_defaults: _Sequence[_Value], *,
        Ncontext_sparse: int = 0, context_sparse_types: _Sequence[_DType] = ...,
        context_ragged_value_types: _Sequence[_DType] = ..., context_ragged_split_types: _Sequence[_DType] = ...,
        Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, feature_list_dense_types: _Sequence[_DType] = ...,
        feature_list_sparse_types: _Sequence[_DType] = ..., feature_list_ragged_value_types: _Sequence[_DType] = ...,
        feature_list_ragged_split_types: _Sequence[_DType] = ...) -> _ParseSequenceExampleV2Outputs:
    """serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string,
    context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string,
    feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, context_dense_defaults:
    Tcontext_dense -> context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types,
    context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, context_ragged_values:
    context_ragged_value_types, context_ragged_row_splits: context_ragged_split_types, feature_list_sparse_indices:
    Nfeature_list_sparse * int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes:
    Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths:
    Nfeature_list_dense * int64, feature_list_ragged_values: feature_list_ragged_value_types,
    feature_list_ragged_outer_splits: feature_list_ragged_split_types, feature_list_ragged_inner_splits:
    feature_list_ragged_split_types. context_ragged_split_types: int32 int64. feature_list_ragged_split_types: int32
    int64.
    """

class _ParseSingleExampleOutputs(_NamedTuple):
    sparse_indices: list[_Tensor]
    sparse_values: list[_Tensor]
    sparse_shapes: list[_Tensor]
    dense_values: list[_Tensor]

def ParseSingleExample(serialized: _Value, dense_defaults: _Sequence[_Value], *, num_sparse: int,
        sparse_keys: _Sequence[str | bytes], dense_keys: _Sequence[str | bytes],
        sparse_types: _Sequence[_DType]) -> _ParseSingleExampleOutputs:
    """serialized: string, dense_defaults: Tdense -> sparse_indices: num_sparse * int64, sparse_values: sparse_types,
    sparse_shapes: num_sparse * int64, dense_values: Tdense.
    """

class _ParseSingleSequenceExampleOutputs(_NamedTuple):
    context_sparse_indices: list[_Tensor]
    context_sparse_values: list[_Tensor]
    context_sparse_shapes: list[_Tensor]
    context_dense_values: list[_Tensor]
    feature_list_sparse_indices: list[_Tensor]
    feature_list_sparse_values: list[_Tensor]
    feature_list_sparse_shapes: list[_Tensor]
    feature_list_dense_values: list[_Tensor]

def ParseSingleSequenceExample(serialized: _Value, feature_list_dense_missing_assumed_empty: _Value,
        context_sparse_keys: _Sequence[_Value], context_dense_keys: _Sequence[_Value],
        feature_list_sparse_keys: _Sequence[_Value], feature_list_dense_keys: _Sequence[_Value],
        context_dense_defaults: _Sequence[_Value], debug_name: _Value, *, context_sparse_types: _Sequence[_DType] = ...,
        feature_list_dense_types: _Sequence[_DType] = ...,
        feature_list_sparse_types: _Sequence[_DType] = ...) -> _ParseSingleSequenceExampleOutputs:
    """serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: Ncontext_sparse *
    string, context_dense_keys: Ncontext_dense * string, feature_list_sparse_keys: Nfeature_list_sparse * string,
    feature_list_dense_keys: Nfeature_list_dense * string, context_dense_defaults: Tcontext_dense, debug_name: string ->
    context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, context_sparse_shapes:
    Ncontext_sparse * int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse *
    int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse *
    int64, feature_list_dense_values: feature_list_dense_types.
    """

def ParseTensor(serialized: _Value, *, out_type: _DType) -> _Tensor:
    """serialized: string -> output: out_type. out_type: float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8
    uint16 uint32 uint64 bool complex64 complex128 string qint8 quint8 qint16 quint16 qint32.
    """

class _PhraseTokenizeOutputs(_NamedTuple):
    output_subwords: _Tensor
    output_ids: _Tensor
    output_row_splits: _Tensor

def PhraseTokenize(input_values: _Value, phrase_model: _Value) -> _PhraseTokenizeOutputs:
    """input_values: string, phrase_model: uint8 -> output_subwords: string, output_ids: int64, output_row_splits:
    int64.
    """

def PlaceholderWithDefault(input: _Value, *, dtype: _DType = ..., shape: _Shape) -> _Tensor:
    """input: dtype -> output: dtype."""

def Polygamma(a: _Value, x: _Value, *, T: _DType = ...) -> _Tensor:
    """a: T, x: T -> z: T. T: float32 float64."""

def PopulationCount(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: uint8. T: int8 int16 int32 int64 uint8 uint16 uint32 uint64."""

def Pow(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float32 float16 float64 int8 int16 int32 int64 complex64 complex128. Accelerated
    for float32 bfloat16 float64 float16.
    """

def PreventGradient(input: _Value, *, T: _DType = ..., message: str | bytes = "") -> _Tensor:
    """input: T -> output: T."""

def Print(input: _Value, data: _Sequence[_Value], *, T: _DType = ..., message: str | bytes = "", first_n: int = -1,
        summarize: int = 3) -> _Tensor:
    """input: T, data: U -> output: T."""

def PrintV2(input: _Value, *, output_stream: str | bytes = "stderr", end: str | bytes = "") -> None:
    """input: string -> nothing."""

def PriorityQueueV2(*, component_types: _Sequence[_DType] = ..., capacity: int = -1, container: str | bytes = "",
        shared_name: str | bytes = "") -> _Tensor:
    """nothing -> handle: resource."""

def Prod(input: _Value, reduction_indices: _Value, *, keep_dims: bool = False, T: _DType = ...,
        Tidx: _DType = ...) -> _Tensor:
    """input: T, reduction_indices: Tidx -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64
    bfloat16 uint16 complex128 float16 uint32 uint64. Tidx: int32 int64.
    """

class _QrOutputs(_NamedTuple):
    q: _Tensor
    r: _Tensor

def Qr(input: _Value, *, full_matrices: bool = False, T: _DType = ...) -> _QrOutputs:
    """input: T -> q: T, r: T. T: float64 float32 float16 complex64 complex128."""

def QuantizeAndDequantize(input: _Value, *, signed_input: bool = True, num_bits: int = 8, range_given: bool = False,
        input_min: float = 0, input_max: float = 0, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: bfloat16 float16 float32 float64."""

def QuantizeAndDequantizeV2(input: _Value, input_min: _Value, input_max: _Value, *, signed_input: bool = True,
        num_bits: int = 8, range_given: bool = False, T: _DType = ..., round_mode: str | bytes = "HALF_TO_EVEN",
        narrow_range: bool = False, axis: int = -1) -> _Tensor:
    """input: T, input_min: T, input_max: T -> output: T. T: bfloat16 float16 float32 float64."""

def QuantizeAndDequantizeV3(input: _Value, input_min: _Value, input_max: _Value, num_bits: _Value, *,
        signed_input: bool = True, range_given: bool = True, T: _DType = ..., narrow_range: bool = False,
        axis: int = -1) -> _Tensor:
    """input: T, input_min: T, input_max: T, num_bits: int32 -> output: T. T: bfloat16 float16 float32 float64."""

def QuantizeAndDequantizeV4(input: _Value, input_min: _Value, input_max: _Value, *, signed_input: bool = True,
        num_bits: int = 8, range_given: bool = False, T: _DType = ..., round_mode: str | bytes = "HALF_TO_EVEN",
        narrow_range: bool = False, axis: int = -1) -> _Tensor:
    """input: T, input_min: T, input_max: T -> output: T. T: bfloat16 float16 float32 float64."""

class _QuantizeAndDequantizeV4GradOutputs(_NamedTuple):
    input_backprop: _Tensor
    input_min_backprop: _Tensor
    input_max_backprop: _Tensor

def QuantizeAndDequantizeV4Grad(gradients: _Value, input: _Value, input_min: _Value, input_max: _Value, *,
        T: _DType = ..., axis: int = -1) -> _QuantizeAndDequantizeV4GradOutputs:
    """gradients: T, input: T, input_min: T, input_max: T -> input_backprop: T, input_min_backprop: T,
    input_max_backprop: T. T: bfloat16 float16 float32 float64.
    """

class _QuantizeDownAndShrinkRangeOutputs(_NamedTuple):
    output: _Tensor
    output_min: _Tensor
    output_max: _Tensor

def QuantizeDownAndShrinkRange(input: _Value, input_min: _Value, input_max: _Value, *, Tinput: _DType = ...,
        out_type: _DType) -> _QuantizeDownAndShrinkRangeOutputs:
    """input: Tinput, input_min: float32, input_max: float32 -> output: out_type, output_min: float32, output_max:
    float32. Tinput: qint32. out_type: quint8.
    """

class _QuantizeV2Outputs(_NamedTuple):
    output: _Tensor
    output_min: _Tensor
    output_max: _Tensor

def QuantizeV2(input: _Value, min_range: _Value, max_range: _Value, *, T: _DType, mode: str | bytes = "MIN_COMBINED",
        round_mode: str | bytes = "HALF_AWAY_FROM_ZERO", narrow_range: bool = False, axis: int = -1,
        ensure_minimum_range: float = 0.01) -> _QuantizeV2Outputs:
    """input: float32, min_range: float32, max_range: float32 -> output: T, output_min: float32, output_max: float32. T:
    qint8 quint8 qint32 qint16 quint16. Accelerated for qint8 quint8.
    """

class _QuantizedAddOutputs(_NamedTuple):
    z: _Tensor
    min_z: _Tensor
    max_z: _Tensor

def QuantizedAdd(x: _Value, y: _Value, min_x: _Value, max_x: _Value, min_y: _Value, max_y: _Value, *, T1: _DType = ...,
        T2: _DType = ..., Toutput: _DType = "qint32") -> _QuantizedAddOutputs:
    """x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32 -> z: Toutput, min_z: float32,
    max_z: float32. T1: quint8. T2: quint8. Toutput: qint32.
    """

class _QuantizedAvgPoolOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedAvgPool(input: _Value, min_input: _Value, max_input: _Value, *, T: _DType = ..., ksize: _Sequence[int],
        strides: _Sequence[int], padding: str | bytes) -> _QuantizedAvgPoolOutputs:
    """input: T, min_input: float32, max_input: float32 -> output: T, min_output: float32, max_output: float32. T: qint8
    quint8. Accelerated for qint8 quint8.
    """

class _QuantizedBatchNormWithGlobalNormalizationOutputs(_NamedTuple):
    result: _Tensor
    result_min: _Tensor
    result_max: _Tensor

def QuantizedBatchNormWithGlobalNormalization(t: _Value, t_min: _Value, t_max: _Value, m: _Value, m_min: _Value,
        m_max: _Value, v: _Value, v_min: _Value, v_max: _Value, beta: _Value, beta_min: _Value, beta_max: _Value,
        gamma: _Value, gamma_min: _Value, gamma_max: _Value, *, Tinput: _DType = ..., out_type: _DType,
        variance_epsilon: float, scale_after_normalization: bool) -> _QuantizedBatchNormWithGlobalNormalizationOutputs:
    """t: Tinput, t_min: float32, t_max: float32, m: Tinput, m_min: float32, m_max: float32, v: Tinput, v_min: float32,
    v_max: float32, beta: Tinput, beta_min: float32, beta_max: float32, gamma: Tinput, gamma_min: float32, gamma_max:
    float32 -> result: out_type, result_min: float32, result_max: float32. Tinput: quint8. out_type: qint32.
    """

class _QuantizedBiasAddOutputs(_NamedTuple):
    output: _Tensor
    min_out: _Tensor
    max_out: _Tensor

def QuantizedBiasAdd(input: _Value, bias: _Value, min_input: _Value, max_input: _Value, min_bias: _Value,
        max_bias: _Value, *, T1: _DType = ..., T2: _DType = ..., out_type: _DType) -> _QuantizedBiasAddOutputs:
    """input: T1, bias: T2, min_input: float32, max_input: float32, min_bias: float32, max_bias: float32 -> output:
    out_type, min_out: float32, max_out: float32. T1: qint8 quint8. T2: qint8 quint8. out_type: qint32.
    """

class _QuantizedConcatOutputs(_NamedTuple):
    output: _Tensor
    output_min: _Tensor
    output_max: _Tensor

def QuantizedConcat(concat_dim: _Value, values: _Sequence[_Value], input_mins: _Sequence[_Value],
        input_maxes: _Sequence[_Value], *, T: _DType = ...) -> _QuantizedConcatOutputs:
    """concat_dim: int32, values: N * T, input_mins: N * float32, input_maxes: N * float32 -> output: T, output_min:
    float32, output_max: float32. T: qint8 quint8 qint16 quint16 qint32.
    """

class _QuantizedConcatV2Outputs(_NamedTuple):
    output: _Tensor
    output_min: _Tensor
    output_max: _Tensor

def QuantizedConcatV2(values: _Sequence[_Value], axis: _Value, input_mins: _Sequence[_Value],
        input_maxes: _Sequence[_Value], *, T: _DType = ..., Tidx: _DType = ...) -> _QuantizedConcatV2Outputs:
    """values: N * T, axis: Tidx, input_mins: N * float32, input_maxes: N * float32 -> output: T, output_min: float32,
    output_max: float32. T: qint8 quint8 qint16 quint16 qint32. Tidx: int32 int64.
    """

class _QuantizedConv2DOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2D(input: _Value, filter: _Value, min_input: _Value, max_input: _Value, min_filter: _Value,
        max_filter: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ..., out_type: _DType = "qint32",
        strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...) -> _QuantizedConv2DOutputs:
    """input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32
    -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8. Tfilter: qint8 quint8.
    out_type: qint32. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DAndReluOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DAndRelu(input: _Value, filter: _Value, min_input: _Value, max_input: _Value, min_filter: _Value,
        max_filter: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ..., out_type: _DType = "qint32",
        strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DAndReluOutputs:
    """input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32
    -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8. Tfilter: qint8. out_type:
    qint32. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DAndReluAndRequantizeOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DAndReluAndRequantize(input: _Value, filter: _Value, min_input: _Value, max_input: _Value,
        min_filter: _Value, max_filter: _Value, min_freezed_output: _Value, max_freezed_output: _Value, *,
        Tinput: _DType = ..., Tfilter: _DType = ..., out_type: _DType = "quint8", strides: _Sequence[int],
        padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DAndReluAndRequantizeOutputs:
    """input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32,
    min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output: float32, max_output:
    float32. Tinput: quint8 qint8. Tfilter: qint8. Tbias: float32 qint32. Tsummand: quint8 qint8. out_type: quint8
    qint8. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DAndRequantizeOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DAndRequantize(input: _Value, filter: _Value, min_input: _Value, max_input: _Value,
        min_filter: _Value, max_filter: _Value, min_freezed_output: _Value, max_freezed_output: _Value, *,
        Tinput: _DType = ..., Tfilter: _DType = ..., out_type: _DType = "qint8", strides: _Sequence[int],
        padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DAndRequantizeOutputs:
    """input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32,
    min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output: float32, max_output:
    float32. Tinput: quint8 qint8. Tfilter: qint8. Tbias: float32 qint32. Tsummand: quint8 qint8. out_type: quint8
    qint8. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DPerChannelOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DPerChannel(input: _Value, filter: _Value, min_input: _Value, max_input: _Value, min_filter: _Value,
        max_filter: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ..., out_type: _DType = "qint32",
        strides: _Sequence[int], padding: str | bytes,
        dilations: _Sequence[int] = ...) -> _QuantizedConv2DPerChannelOutputs:
    """input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32
    -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8. Tfilter: qint8. out_type:
    qint32. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DWithBiasOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DWithBias(input: _Value, filter: _Value, bias: _Value, min_input: _Value, max_input: _Value,
        min_filter: _Value, max_filter: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ...,
        out_type: _DType = "qint32", strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DWithBiasOutputs:
    """input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32 -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8. Tfilter:
    qint8. out_type: qint32. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DWithBiasAndReluOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DWithBiasAndRelu(input: _Value, filter: _Value, bias: _Value, min_input: _Value, max_input: _Value,
        min_filter: _Value, max_filter: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ...,
        out_type: _DType = "qint32", strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DWithBiasAndReluOutputs:
    """input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32 -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8. Tfilter:
    qint8. out_type: qint32. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DWithBiasAndReluAndRequantizeOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DWithBiasAndReluAndRequantize(input: _Value, filter: _Value, bias: _Value, min_input: _Value,
        max_input: _Value, min_filter: _Value, max_filter: _Value, min_freezed_output: _Value,
        max_freezed_output: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ..., Tbias: _DType = ...,
        out_type: _DType = "quint8", strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DWithBiasAndReluAndRequantizeOutputs:
    """input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32, min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output:
    float32, max_output: float32. Tinput: quint8 qint8. Tfilter: qint8. Tbias: float32 qint32. Tsummand: quint8 qint8.
    out_type: quint8 qint8. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DWithBiasAndRequantizeOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DWithBiasAndRequantize(input: _Value, filter: _Value, bias: _Value, min_input: _Value,
        max_input: _Value, min_filter: _Value, max_filter: _Value, min_freezed_output: _Value,
        max_freezed_output: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ..., Tbias: _DType = ...,
        out_type: _DType = "qint8", strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DWithBiasAndRequantizeOutputs:
    """input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32, min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output:
    float32, max_output: float32. Tinput: quint8 qint8. Tfilter: qint8. Tbias: float32 qint32. Tsummand: quint8 qint8.
    out_type: quint8 qint8. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DWithBiasSignedSumAndReluAndRequantizeOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DWithBiasSignedSumAndReluAndRequantize(input: _Value, filter: _Value, bias: _Value, min_input: _Value,
        max_input: _Value, min_filter: _Value, max_filter: _Value, min_freezed_output: _Value,
        max_freezed_output: _Value, summand: _Value, min_summand: _Value, max_summand: _Value, *, Tinput: _DType = ...,
        Tfilter: _DType = ..., Tbias: _DType = ..., Tsummand: _DType = ..., out_type: _DType = "quint8",
        strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DWithBiasSignedSumAndReluAndRequantizeOutputs:
    """input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32, min_freezed_output: float32, max_freezed_output: float32, summand: Tsummand, min_summand:
    float32, max_summand: float32 -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8.
    Tfilter: qint8. Tbias: float32 qint32. Tsummand: quint8 qint8. out_type: quint8 qint8. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DWithBiasSumAndReluOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DWithBiasSumAndRelu(input: _Value, filter: _Value, bias: _Value, min_input: _Value, max_input: _Value,
        min_filter: _Value, max_filter: _Value, summand: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ...,
        out_type: _DType = "qint32", strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DWithBiasSumAndReluOutputs:
    """input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32, summand: float32 -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8
    qint8. Tfilter: qint8. out_type: qint32. Accelerated for quint8 qint8.
    """

class _QuantizedConv2DWithBiasSumAndReluAndRequantizeOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedConv2DWithBiasSumAndReluAndRequantize(input: _Value, filter: _Value, bias: _Value, min_input: _Value,
        max_input: _Value, min_filter: _Value, max_filter: _Value, min_freezed_output: _Value,
        max_freezed_output: _Value, summand: _Value, min_summand: _Value, max_summand: _Value, *, Tinput: _DType = ...,
        Tfilter: _DType = ..., Tbias: _DType = ..., Tsummand: _DType = ..., out_type: _DType = "quint8",
        strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedConv2DWithBiasSumAndReluAndRequantizeOutputs:
    """input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32, min_freezed_output: float32, max_freezed_output: float32, summand: Tsummand, min_summand:
    float32, max_summand: float32 -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8.
    Tfilter: qint8. Tbias: float32 qint32. Tsummand: quint8 qint8. out_type: quint8 qint8. Accelerated for quint8 qint8.
    """

class _QuantizedDepthwiseConv2DOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedDepthwiseConv2D(input: _Value, filter: _Value, min_input: _Value, max_input: _Value, min_filter: _Value,
        max_filter: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ..., out_type: _DType = "qint32",
        strides: _Sequence[int], padding: str | bytes,
        dilations: _Sequence[int] = ...) -> _QuantizedDepthwiseConv2DOutputs:
    """input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32
    -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8. Tfilter: qint8. out_type:
    qint32. Accelerated for quint8 qint8.
    """

class _QuantizedDepthwiseConv2DWithBiasOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedDepthwiseConv2DWithBias(input: _Value, filter: _Value, bias: _Value, min_input: _Value, max_input: _Value,
        min_filter: _Value, max_filter: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ...,
        out_type: _DType = "qint32", strides: _Sequence[int], padding: str | bytes,
        dilations: _Sequence[int] = ...) -> _QuantizedDepthwiseConv2DWithBiasOutputs:
    """input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32 -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8. Tfilter:
    qint8. out_type: qint32. Accelerated for quint8 qint8.
    """

class _QuantizedDepthwiseConv2DWithBiasAndReluOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedDepthwiseConv2DWithBiasAndRelu(input: _Value, filter: _Value, bias: _Value, min_input: _Value,
        max_input: _Value, min_filter: _Value, max_filter: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ...,
        out_type: _DType = "qint32", strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedDepthwiseConv2DWithBiasAndReluOutputs:
    """input: Tinput, filter: Tfilter, bias: float32, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32 -> output: out_type, min_output: float32, max_output: float32. Tinput: quint8 qint8. Tfilter:
    qint8. out_type: qint32. Accelerated for quint8 qint8.
    """

class _QuantizedDepthwiseConv2DWithBiasAndReluAndRequantizeOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize(input: _Value, filter: _Value, bias: _Value, min_input: _Value,
        max_input: _Value, min_filter: _Value, max_filter: _Value, min_freezed_output: _Value,
        max_freezed_output: _Value, *, Tinput: _DType = ..., Tfilter: _DType = ..., Tbias: _DType = ...,
        out_type: _DType = "quint8", strides: _Sequence[int], padding: str | bytes, dilations: _Sequence[int] = ...,
        padding_list: _Sequence[int] = ...) -> _QuantizedDepthwiseConv2DWithBiasAndReluAndRequantizeOutputs:
    """input: Tinput, filter: Tfilter, bias: Tbias, min_input: float32, max_input: float32, min_filter: float32,
    max_filter: float32, min_freezed_output: float32, max_freezed_output: float32 -> output: out_type, min_output:
    float32, max_output: float32. Tinput: quint8 qint8. Tfilter: qint8. Tbias: float32 qint32. Tsummand: quint8 qint8.
    out_type: quint8 qint8. Accelerated for quint8 qint8.
    """

class _QuantizedInstanceNormOutputs(_NamedTuple):
    y: _Tensor
    y_min: _Tensor
    y_max: _Tensor

def QuantizedInstanceNorm(x: _Value, x_min: _Value, x_max: _Value, *, T: _DType = ..., output_range_given: bool = False,
        given_y_min: float = 0, given_y_max: float = 0, variance_epsilon: float = 1e-05,
        min_separation: float = 0.001) -> _QuantizedInstanceNormOutputs:
    """x: T, x_min: float32, x_max: float32 -> y: T, y_min: float32, y_max: float32. T: quint8."""

class _QuantizedMatMulOutputs(_NamedTuple):
    out: _Tensor
    min_out: _Tensor
    max_out: _Tensor

def QuantizedMatMul(a: _Value, b: _Value, min_a: _Value, max_a: _Value, min_b: _Value, max_b: _Value, *,
        T1: _DType = ..., T2: _DType = ..., Toutput: _DType = "qint32", transpose_a: bool = False,
        transpose_b: bool = False, Tactivation: _DType = "quint8") -> _QuantizedMatMulOutputs:
    """a: T1, b: T2, min_a: float32, max_a: float32, min_b: float32, max_b: float32 -> out: Toutput, min_out: float32,
    max_out: float32. T1: quint8. T2: quint8. Toutput: qint32. Accelerated for quint8.
    """

class _QuantizedMatMulWithBiasOutputs(_NamedTuple):
    out: _Tensor
    min_out: _Tensor
    max_out: _Tensor

def QuantizedMatMulWithBias(a: _Value, b: _Value, bias: _Value, min_a: _Value, max_a: _Value, min_b: _Value,
        max_b: _Value, *, T1: _DType = ..., T2: _DType = ..., Tbias: _DType = ..., Toutput: _DType = "qint32",
        transpose_a: bool = False, transpose_b: bool = False,
        input_quant_mode: str | bytes = "MIN_FIRST") -> _QuantizedMatMulWithBiasOutputs:
    """a: T1, b: T2, bias: Tbias, min_a: float32, max_a: float32, min_b: float32, max_b: float32 -> out: Toutput,
    min_out: float32, max_out: float32. T1: quint8 qint8. T2: qint8. Tbias: float32 qint32. Toutput: qint32. Accelerated
    for quint8 qint8.
    """

def QuantizedMatMulWithBiasAndDequantize(a: _Value, b: _Value, bias: _Value, min_a: _Value, max_a: _Value,
        min_b: _Value, max_b: _Value, min_freezed_output: _Value, max_freezed_output: _Value, *, T1: _DType = ...,
        T2: _DType = ..., Tbias: _DType = ..., Toutput: _DType, transpose_a: bool = False, transpose_b: bool = False,
        input_quant_mode: str | bytes = "MIN_FIRST") -> _Tensor:
    """a: T1, b: T2, bias: Tbias, min_a: float32, max_a: float32, min_b: float32, max_b: float32, min_freezed_output:
    float32, max_freezed_output: float32 -> out: Toutput. T1: quint8 qint8. T2: qint8. Tbias: float32 qint32. Toutput:
    float32. Accelerated for quint8 qint8.
    """

class _QuantizedMatMulWithBiasAndReluOutputs(_NamedTuple):
    out: _Tensor
    min_out: _Tensor
    max_out: _Tensor

def QuantizedMatMulWithBiasAndRelu(a: _Value, b: _Value, bias: _Value, min_a: _Value, max_a: _Value, min_b: _Value,
        max_b: _Value, *, T1: _DType = ..., T2: _DType = ..., Toutput: _DType = "qint32", transpose_a: bool = False,
        transpose_b: bool = False,
        input_quant_mode: str | bytes = "MIN_FIRST") -> _QuantizedMatMulWithBiasAndReluOutputs:
    """a: T1, b: T2, bias: float32, min_a: float32, max_a: float32, min_b: float32, max_b: float32 -> out: Toutput,
    min_out: float32, max_out: float32. T1: quint8 qint8. T2: qint8. Toutput: qint32. Accelerated for quint8 qint8.
    """

class _QuantizedMatMulWithBiasAndReluAndRequantizeOutputs(_NamedTuple):
    out: _Tensor
    min_out: _Tensor
    max_out: _Tensor

def QuantizedMatMulWithBiasAndReluAndRequantize(a: _Value, b: _Value, bias: _Value, min_a: _Value, max_a: _Value,
        min_b: _Value, max_b: _Value, min_freezed_output: _Value, max_freezed_output: _Value, *, T1: _DType = ...,
        T2: _DType = ..., Tbias: _DType = ..., Toutput: _DType = "quint8", transpose_a: bool = False,
        transpose_b: bool = False,
        input_quant_mode: str | bytes = "MIN_FIRST") -> _QuantizedMatMulWithBiasAndReluAndRequantizeOutputs:
    """a: T1, b: T2, bias: Tbias, min_a: float32, max_a: float32, min_b: float32, max_b: float32, min_freezed_output:
    float32, max_freezed_output: float32 -> out: Toutput, min_out: float32, max_out: float32. T1: quint8 qint8. T2:
    qint8. Tbias: float32 qint32. Toutput: quint8 qint8. Accelerated for quint8 qint8.
    """

class _QuantizedMatMulWithBiasAndRequantizeOutputs(_NamedTuple):
    out: _Tensor
    min_out: _Tensor
    max_out: _Tensor

def QuantizedMatMulWithBiasAndRequantize(a: _Value, b: _Value, bias: _Value, min_a: _Value, max_a: _Value,
        min_b: _Value, max_b: _Value, min_freezed_output: _Value, max_freezed_output: _Value, *, T1: _DType = ...,
        T2: _DType = ..., Tbias: _DType = ..., Toutput: _DType = "quint8", transpose_a: bool = False,
        transpose_b: bool = False,
        input_quant_mode: str | bytes = "MIN_FIRST") -> _QuantizedMatMulWithBiasAndRequantizeOutputs:
    """a: T1, b: T2, bias: Tbias, min_a: float32, max_a: float32, min_b: float32, max_b: float32, min_freezed_output:
    float32, max_freezed_output: float32 -> out: Toutput, min_out: float32, max_out: float32. T1: quint8 qint8. T2:
    qint8. Tbias: float32 qint32. Toutput: quint8 qint8. Accelerated for quint8 qint8.
    """

class _QuantizedMaxPoolOutputs(_NamedTuple):
    output: _Tensor
    min_output: _Tensor
    max_output: _Tensor

def QuantizedMaxPool(input: _Value, min_input: _Value, max_input: _Value, *, T: _DType = ..., ksize: _Sequence[int],
        strides: _Sequence[int], padding: str | bytes) -> _QuantizedMaxPoolOutputs:
    """input: T, min_input: float32, max_input: float32 -> output: T, min_output: float32, max_output: float32. T: qint8
    quint8. Accelerated for qint8 quint8.
    """

class _QuantizedMulOutputs(_NamedTuple):
    z: _Tensor
    min_z: _Tensor
    max_z: _Tensor

def QuantizedMul(x: _Value, y: _Value, min_x: _Value, max_x: _Value, min_y: _Value, max_y: _Value, *, T1: _DType = ...,
        T2: _DType = ..., Toutput: _DType = "qint32") -> _QuantizedMulOutputs:
    """x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32 -> z: Toutput, min_z: float32,
    max_z: float32. T1: quint8. T2: quint8. Toutput: qint32.
    """

class _QuantizedReluOutputs(_NamedTuple):
    activations: _Tensor
    min_activations: _Tensor
    max_activations: _Tensor

def QuantizedRelu(features: _Value, min_features: _Value, max_features: _Value, *, Tinput: _DType = ...,
        out_type: _DType = "quint8") -> _QuantizedReluOutputs:
    """features: Tinput, min_features: float32, max_features: float32 -> activations: out_type, min_activations:
    float32, max_activations: float32. Tinput: quint8 qint32. out_type: quint8 qint32.
    """

class _QuantizedRelu6Outputs(_NamedTuple):
    activations: _Tensor
    min_activations: _Tensor
    max_activations: _Tensor

def QuantizedRelu6(features: _Value, min_features: _Value, max_features: _Value, *, Tinput: _DType = ...,
        out_type: _DType = "quint8") -> _QuantizedRelu6Outputs:
    """features: Tinput, min_features: float32, max_features: float32 -> activations: out_type, min_activations:
    float32, max_activations: float32. Tinput: quint8 qint32. out_type: quint8 qint32.
    """

class _QuantizedReluXOutputs(_NamedTuple):
    activations: _Tensor
    min_activations: _Tensor
    max_activations: _Tensor

def QuantizedReluX(features: _Value, max_value: _Value, min_features: _Value, max_features: _Value, *,
        Tinput: _DType = ..., out_type: _DType = "quint8") -> _QuantizedReluXOutputs:
    """features: Tinput, max_value: float32, min_features: float32, max_features: float32 -> activations: out_type,
    min_activations: float32, max_activations: float32. Tinput: quint8 qint32. out_type: quint8 qint32.
    """

class _QuantizedReshapeOutputs(_NamedTuple):
    output: _Tensor
    output_min: _Tensor
    output_max: _Tensor

def QuantizedReshape(tensor: _Value, shape: _Value, input_min: _Value, input_max: _Value, *, T: _DType = ...,
        Tshape: _DType = ...) -> _QuantizedReshapeOutputs:
    """tensor: T, shape: Tshape, input_min: float32, input_max: float32 -> output: T, output_min: float32, output_max:
    float32. Tshape: int32 int64.
    """

class _QuantizedResizeBilinearOutputs(_NamedTuple):
    resized_images: _Tensor
    out_min: _Tensor
    out_max: _Tensor

def QuantizedResizeBilinear(images: _Value, size: _Value, min: _Value, max: _Value, *, T: _DType = ...,
        align_corners: bool = False, half_pixel_centers: bool = False) -> _QuantizedResizeBilinearOutputs:
    """images: T, size: int32, min: float32, max: float32 -> resized_images: T, out_min: float32, out_max: float32. T:
    quint8 qint32 float32.
    """

def QueueCloseV2(handle: _Value, *, cancel_pending_enqueues: bool = False) -> None:
    """handle: resource -> nothing."""

def QueueDequeueManyV2(handle: _Value, n: _Value, *, component_types: _Sequence[_DType],
        timeout_ms: int = -1) -> list[_Tensor]:
    """handle: resource, n: int32 -> components: component_types."""

def QueueDequeueUpToV2(handle: _Value, n: _Value, *, component_types: _Sequence[_DType],
        timeout_ms: int = -1) -> list[_Tensor]:
    """handle: resource, n: int32 -> components: component_types."""

def QueueDequeueV2(handle: _Value, *, component_types: _Sequence[_DType], timeout_ms: int = -1) -> list[_Tensor]:
    """handle: resource -> components: component_types."""

def QueueEnqueueManyV2(handle: _Value, components: _Sequence[_Value], *, timeout_ms: int = -1) -> None:
    """handle: resource, components: Tcomponents -> nothing."""

def QueueEnqueueV2(handle: _Value, components: _Sequence[_Value], *, timeout_ms: int = -1) -> None:
    """handle: resource, components: Tcomponents -> nothing."""

def QueueIsClosedV2(handle: _Value) -> _Tensor:
    """handle: resource -> is_closed: bool."""

def QueueSizeV2(handle: _Value) -> _Tensor:
    """handle: resource -> size: int32."""

def RFFT(input: _Value, fft_length: _Value, *, Treal: _DType = ..., Tcomplex: _DType = "complex64") -> _Tensor:
    """input: Treal, fft_length: int32 -> output: Tcomplex. Treal: float32 float64. Tcomplex: complex64 complex128.
    Accelerated for float32 float64.
    """

def RFFT2D(input: _Value, fft_length: _Value, *, Treal: _DType = ..., Tcomplex: _DType = "complex64") -> _Tensor:
    """input: Treal, fft_length: int32 -> output: Tcomplex. Treal: float32 float64. Tcomplex: complex64 complex128.
    Accelerated for float32 float64.
    """

def RFFT3D(input: _Value, fft_length: _Value, *, Treal: _DType = ..., Tcomplex: _DType = "complex64") -> _Tensor:
    """input: Treal, fft_length: int32 -> output: Tcomplex. Treal: float32 float64. Tcomplex: complex64 complex128.
    Accelerated for float32 float64.
    """

def RFFTND(input: _Value, fft_length: _Value, axes: _Value, *, Treal: _DType = ...,
        Tcomplex: _DType = "complex64") -> _Tensor:
    """input: Treal, fft_length: int32, axes: int32 -> output: Tcomplex. Treal: float32 float64. Tcomplex: complex64
    complex128.
    """

def RGBToHSV(images: _Value, *, T: _DType = ...) -> _Tensor:
    """images: T -> output: T. T: float16 bfloat16 float32 float64. Accelerated for float16 bfloat16 float32."""

def RaggedBincount(splits: _Value, values: _Value, size: _Value, weights: _Value, *, Tidx: _DType = ...,
        T: _DType = ..., binary_output: bool = False) -> _Tensor:
    """splits: int64, values: Tidx, size: Tidx, weights: T -> output: T. Tidx: int32 int64. T: int32 int64 float32
    float64.
    """

class _RaggedCountSparseOutputOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_dense_shape: _Tensor

def RaggedCountSparseOutput(splits: _Value, values: _Value, weights: _Value, *, T: _DType = ..., minlength: int = -1,
        maxlength: int = -1, binary_output: bool, output_type: _DType = ...) -> _RaggedCountSparseOutputOutputs:
    """splits: int64, values: T, weights: output_type -> output_indices: int64, output_values: output_type,
    output_dense_shape: int64. T: int32 int64. output_type: int32 int64 float32 float64.
    """

class _RaggedCrossOutputs(_NamedTuple):
    output_values: _Tensor
    output_row_splits: _Tensor

def RaggedCross(ragged_values: _Sequence[_Value], ragged_row_splits: _Sequence[_Value],
        sparse_indices: _Sequence[_Value], sparse_values: _Sequence[_Value], sparse_shape: _Sequence[_Value],
        dense_inputs: _Sequence[_Value], *, input_order: str | bytes, hashed_output: bool, num_buckets: int,
        hash_key: int, out_values_type: _DType, out_row_splits_type: _DType) -> _RaggedCrossOutputs:
    """ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, sparse_indices: Nsparse * int64,
    sparse_values: sparse_values_types, sparse_shape: Nsparse * int64, dense_inputs: dense_types -> output_values:
    out_values_type, output_row_splits: out_row_splits_type. ragged_values_types: int64 string. ragged_splits_types:
    int32 int64. sparse_values_types: int64 string. dense_types: int64 string. out_values_type: int64 string.
    out_row_splits_type: int32 int64.
    """

class _RaggedFillEmptyRowsOutputs(_NamedTuple):
    output_value_rowids: _Tensor
    output_values: _Tensor
    empty_row_indicator: _Tensor
    reverse_index_map: _Tensor

def RaggedFillEmptyRows(value_rowids: _Value, values: _Value, nrows: _Value, default_value: _Value, *,
        T: _DType = ...) -> _RaggedFillEmptyRowsOutputs:
    """value_rowids: int64, values: T, nrows: int64, default_value: T -> output_value_rowids: int64, output_values: T,
    empty_row_indicator: bool, reverse_index_map: int64.
    """

class _RaggedFillEmptyRowsGradOutputs(_NamedTuple):
    d_values: _Tensor
    d_default_value: _Tensor

def RaggedFillEmptyRowsGrad(reverse_index_map: _Value, grad_values: _Value, *,
        T: _DType = ...) -> _RaggedFillEmptyRowsGradOutputs:
    """reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T. T: float32 float64 float16 bfloat16
    int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128.
    """

class _RaggedGatherOutputs(_NamedTuple):
    output_nested_splits: list[_Tensor]
    output_dense_values: _Tensor

def RaggedGather(params_nested_splits: _Sequence[_Value], params_dense_values: _Value, indices: _Value, *,
        Tvalues: _DType = ..., Tindices: _DType = ..., Tsplits: _DType = ...,
        OUTPUT_RAGGED_RANK: int) -> _RaggedGatherOutputs:
    """params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, indices: Tindices ->
    output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues. Tindices: int32 int64. Tsplits:
    int32 int64.
    """

class _RaggedRangeOutputs(_NamedTuple):
    rt_nested_splits: _Tensor
    rt_dense_values: _Tensor

def RaggedRange(starts: _Value, limits: _Value, deltas: _Value, *, T: _DType = ...,
        Tsplits: _DType = "int64") -> _RaggedRangeOutputs:
    """starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T. T: bfloat16 float32 float64
    int32 int64. Tsplits: int32 int64.
    """

class _RaggedTensorFromVariantOutputs(_NamedTuple):
    output_nested_splits: list[_Tensor]
    output_dense_values: _Tensor

def RaggedTensorFromVariant(encoded_ragged: _Value, *, input_ragged_rank: int, output_ragged_rank: int, Tvalues: _DType,
        Tsplits: _DType = "int64") -> _RaggedTensorFromVariantOutputs:
    """encoded_ragged: variant -> output_nested_splits: output_ragged_rank * Tsplits, output_dense_values: Tvalues.
    Tsplits: int32 int64.
    """

class _RaggedTensorToSparseOutputs(_NamedTuple):
    sparse_indices: _Tensor
    sparse_values: _Tensor
    sparse_dense_shape: _Tensor

def RaggedTensorToSparse(rt_nested_splits: _Sequence[_Value], rt_dense_values: _Value, *, T: _DType = ...,
        Tsplits: _DType = ...) -> _RaggedTensorToSparseOutputs:
    """rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T -> sparse_indices: int64, sparse_values: T,
    sparse_dense_shape: int64. Tsplits: int32 int64.
    """

def RaggedTensorToTensor(shape: _Value, values: _Value, default_value: _Value, row_partition_tensors: _Sequence[_Value],
        *, T: _DType = ..., Tindex: _DType = ..., Tshape: _DType = ...,
        row_partition_types: _Sequence[str | bytes]) -> _Tensor:
    """shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors * Tindex -> result:
    T. Tindex: int64 int32. Tshape: int64 int32.
    """

def RaggedTensorToVariant(rt_nested_splits: _Sequence[_Value], rt_dense_values: _Value, *, Tvalues: _DType = ...,
        Tsplits: _DType = ..., batched_input: bool) -> _Tensor:
    """rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues -> encoded_ragged: variant. Tsplits: int32
    int64.
    """

def RaggedTensorToVariantGradient(encoded_ragged_grad: _Value, row_splits: _Value, dense_values_shape: _Value, *,
        Tvalues: _DType, Tsplits: _DType = ...) -> _Tensor:
    """encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32 -> dense_values_grad: Tvalues.
    Tsplits: int32 int64.
    """

def RandomCrop(image: _Value, size: _Value, *, T: _DType = ..., seed: int = 0, seed2: int = 0) -> _Tensor:
    """image: T, size: int64 -> output: T. T: uint8 int8 int16 int32 int64 float32 float64."""

def RandomGamma(shape: _Value, alpha: _Value, *, seed: int = 0, seed2: int = 0, S: _DType = ...,
        T: _DType = ...) -> _Tensor:
    """shape: S, alpha: T -> output: T. S: int32 int64. T: float16 float32 float64."""

def RandomGammaGrad(alpha: _Value, sample: _Value, *, T: _DType = ...) -> _Tensor:
    """alpha: T, sample: T -> output: T. T: float32 float64."""

def RandomIndexShuffle(index: _Value, seed: _Value, max_index: _Value, *, rounds: int = 4, dtype: _DType = ...,
        Tseed: _DType = ...) -> _Tensor:
    """index: dtype, seed: Tseed, max_index: dtype -> output: dtype. dtype: int32 uint32 int64 uint64. Tseed: int32
    uint32 int64 uint64.
    """

def RandomPoisson(shape: _Value, rate: _Value, *, seed: int = 0, seed2: int = 0, S: _DType = ...,
        dtype: _DType = ...) -> _Tensor:
    """shape: S, rate: dtype -> output: dtype. S: int32 int64. dtype: float16 float32 float64."""

def RandomPoissonV2(shape: _Value, rate: _Value, *, seed: int = 0, seed2: int = 0, S: _DType = ..., R: _DType = ...,
        dtype: _DType = "int64") -> _Tensor:
    """shape: S, rate: R -> output: dtype. S: int32 int64. R: float16 float32 float64 int32 int64. dtype: float16
    float32 float64 int32 int64.
    """

def RandomShuffle(value: _Value, *, seed: int = 0, seed2: int = 0, T: _DType = ...) -> _Tensor:
    """value: T -> output: T."""

def RandomShuffleQueueV2(*, component_types: _Sequence[_DType], capacity: int = -1, min_after_dequeue: int = 0,
        seed: int = 0, seed2: int = 0, container: str | bytes = "", shared_name: str | bytes = "") -> _Tensor:
    """nothing -> handle: resource."""

def RandomStandardNormal(shape: _Value, *, seed: int = 0, seed2: int = 0, dtype: _DType, T: _DType = ...) -> _Tensor:
    """shape: T -> output: dtype. dtype: float16 bfloat16 float32 float64. T: int32 int64."""

def RandomUniform(shape: _Value, *, seed: int = 0, seed2: int = 0, dtype: _DType, T: _DType = ...) -> _Tensor:
    """shape: T -> output: dtype. dtype: float16 bfloat16 float32 float64. T: int32 int64."""

def RandomUniformInt(shape: _Value, minval: _Value, maxval: _Value, *, seed: int = 0, seed2: int = 0,
        Tout: _DType = ..., T: _DType = ...) -> _Tensor:
    """shape: T, minval: Tout, maxval: Tout -> output: Tout. Tout: int32 int64. T: int32 int64."""

def Range(start: _Value, limit: _Value, delta: _Value, *, Tidx: _DType = ...) -> _Tensor:
    """start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx. Tidx: bfloat16 float16 float32 float64 int8 int16 int32
    int64 uint16 uint32 uint64.
    """

def Rank(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: int32."""

def ReadVariableOp(resource: _Value, *, dtype: _DType) -> _Tensor:
    """resource: resource -> value: dtype."""

def Real(input: _Value, *, T: _DType = ..., Tout: _DType = "float32") -> _Tensor:
    """input: T -> output: Tout. T: complex64 complex128. Tout: float32 float64."""

def RealDiv(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 uint8 int8 uint16 int16 int32 uint32 uint64 int64
    complex64 complex128. Accelerated for float32 bfloat16 float64 complex64 float16.
    """

def Reciprocal(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 int8 int16 int32 int64 complex64 complex128. Accelerated for
    float32 bfloat16 float64 float16.
    """

def ReciprocalGrad(y: _Value, dy: _Value, *, T: _DType = ...) -> _Tensor:
    """y: T, dy: T -> z: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

def ReduceJoin(inputs: _Value, reduction_indices: _Value, *, keep_dims: bool = False,
        separator: str | bytes = "") -> _Tensor:
    """inputs: string, reduction_indices: int32 -> output: string."""

def RegexFullMatch(input: _Value, pattern: _Value) -> _Tensor:
    """input: string, pattern: string -> output: bool."""

def RegexReplace(input: _Value, pattern: _Value, rewrite: _Value, *, replace_global: bool = True) -> _Tensor:
    """input: string, pattern: string, rewrite: string -> output: string."""

class _RegexSplitWithOffsetsOutputs(_NamedTuple):
    tokens: _Tensor
    begin_offsets: _Tensor
    end_offsets: _Tensor
    row_splits: _Tensor

def RegexSplitWithOffsets(input: _Value, delim_regex_pattern: _Value,
        keep_delim_regex_pattern: _Value) -> _RegexSplitWithOffsetsOutputs:
    """input: string, delim_regex_pattern: string, keep_delim_regex_pattern: string -> tokens: string, begin_offsets:
    int64, end_offsets: int64, row_splits: int64.
    """

def Relu(features: _Value, *, T: _DType = ...) -> _Tensor:
    """features: T -> activations: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32
    uint64. Accelerated for float32 bfloat16 float64 float16.
    """

def Relu6(features: _Value, *, T: _DType = ...) -> _Tensor:
    """features: T -> activations: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32
    uint64. Accelerated for float32 bfloat16 float64 float16.
    """

def Relu6Grad(gradients: _Value, features: _Value, *, T: _DType = ...) -> _Tensor:
    """gradients: T, features: T -> backprops: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64. Accelerated for float32 bfloat16 float64 float16.
    """

def ReluGrad(gradients: _Value, features: _Value, *, T: _DType = ...) -> _Tensor:
    """gradients: T, features: T -> backprops: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64. Accelerated for float32 bfloat16 float64 float16.
    """

class _RequantizationRangeOutputs(_NamedTuple):
    output_min: _Tensor
    output_max: _Tensor

def RequantizationRange(input: _Value, input_min: _Value, input_max: _Value, *,
        Tinput: _DType = ...) -> _RequantizationRangeOutputs:
    """input: Tinput, input_min: float32, input_max: float32 -> output_min: float32, output_max: float32. Tinput:
    qint32.
    """

class _RequantizationRangePerChannelOutputs(_NamedTuple):
    output_min: _Tensor
    output_max: _Tensor

def RequantizationRangePerChannel(input: _Value, input_min: _Value, input_max: _Value, *, T: _DType = ...,
        clip_value_max: float) -> _RequantizationRangePerChannelOutputs:
    """input: T, input_min: float32, input_max: float32 -> output_min: float32, output_max: float32. T: qint32."""

class _RequantizeOutputs(_NamedTuple):
    output: _Tensor
    output_min: _Tensor
    output_max: _Tensor

def Requantize(input: _Value, input_min: _Value, input_max: _Value, requested_output_min: _Value,
        requested_output_max: _Value, *, Tinput: _DType = ..., out_type: _DType) -> _RequantizeOutputs:
    """input: Tinput, input_min: float32, input_max: float32, requested_output_min: float32, requested_output_max:
    float32 -> output: out_type, output_min: float32, output_max: float32. Tinput: qint32. out_type: quint8 qint8.
    """

class _RequantizePerChannelOutputs(_NamedTuple):
    output: _Tensor
    output_min: _Tensor
    output_max: _Tensor

def RequantizePerChannel(input: _Value, input_min: _Value, input_max: _Value, requested_output_min: _Value,
        requested_output_max: _Value, *, T: _DType = ..., out_type: _DType = "quint8") -> _RequantizePerChannelOutputs:
    """input: T, input_min: float32, input_max: float32, requested_output_min: float32, requested_output_max: float32 ->
    output: out_type, output_min: float32, output_max: float32. T: qint32. out_type: quint8 qint8.
    """

def Reshape(tensor: _Value, shape: _Value, *, T: _DType = ..., Tshape: _DType = ...) -> _Tensor:
    """tensor: T, shape: Tshape -> output: T. Tshape: int32 int64."""

def ResizeArea(images: _Value, size: _Value, *, T: _DType = ..., align_corners: bool = False) -> _Tensor:
    """images: T, size: int32 -> resized_images: float32. T: int8 uint8 int16 uint16 int32 int64 float16 float32 float64
    bfloat16. Accelerated for int8 uint8 int16 uint16 int32 int64 float16 float32 float64 bfloat16.
    """

def ResizeBicubic(images: _Value, size: _Value, *, T: _DType = ..., align_corners: bool = False,
        half_pixel_centers: bool = False) -> _Tensor:
    """images: T, size: int32 -> resized_images: float32. T: int8 uint8 int16 uint16 int32 int64 float16 float32 float64
    bfloat16. Accelerated for int8 uint8 int16 uint16 int32 int64 float16 float32 float64 bfloat16.
    """

def ResizeBicubicGrad(grads: _Value, original_image: _Value, *, T: _DType = ..., align_corners: bool = False,
        half_pixel_centers: bool = False) -> _Tensor:
    """grads: float32, original_image: T -> output: T. T: float32 float64."""

def ResizeBilinear(images: _Value, size: _Value, *, T: _DType = ..., align_corners: bool = False,
        half_pixel_centers: bool = False) -> _Tensor:
    """images: T, size: int32 -> resized_images: float32. T: int8 uint8 int16 uint16 int32 int64 bfloat16 float16
    float32 float64.
    """

def ResizeBilinearGrad(grads: _Value, original_image: _Value, *, T: _DType = ..., align_corners: bool = False,
        half_pixel_centers: bool = False) -> _Tensor:
    """grads: float32, original_image: T -> output: T. T: float32 bfloat16 float16 float64."""

def ResizeNearestNeighbor(images: _Value, size: _Value, *, T: _DType = ..., align_corners: bool = False,
        half_pixel_centers: bool = False) -> _Tensor:
    """images: T, size: int32 -> resized_images: T. T: int8 uint8 int16 uint16 int32 int64 float16 float32 float64
    bfloat16.
    """

def ResizeNearestNeighborGrad(grads: _Value, size: _Value, *, T: _DType = ..., align_corners: bool = False,
        half_pixel_centers: bool = False) -> _Tensor:
    """grads: T, size: int32 -> output: T. T: uint8 int8 int32 float16 float32 float64 bfloat16."""

def ResourceApplyAdaMax(var: _Value, m: _Value, v: _Value, beta1_power: _Value, lr: _Value, beta1: _Value,
        beta2: _Value, epsilon: _Value, grad: _Value, *, T: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T ->
    nothing. T: float16 bfloat16 float32 float64.
    """

def ResourceApplyAdadelta(var: _Value, accum: _Value, accum_update: _Value, lr: _Value, rho: _Value, epsilon: _Value,
        grad: _Value, *, T: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T -> nothing. T: float16
    bfloat16 float32 float64 complex64 complex128.
    """

def ResourceApplyAdagrad(var: _Value, accum: _Value, lr: _Value, grad: _Value, *, T: _DType = ...,
        use_locking: bool = False, update_slots: bool = True) -> None:
    """var: resource, accum: resource, lr: T, grad: T -> nothing. T: float16 bfloat16 float32 float64 complex64
    complex128.
    """

def ResourceApplyAdagradDA(var: _Value, gradient_accumulator: _Value, gradient_squared_accumulator: _Value,
        grad: _Value, lr: _Value, l1: _Value, l2: _Value, global_step: _Value, *, T: _DType = ...,
        use_locking: bool = False) -> None:
    """var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource, grad: T, lr: T, l1: T, l2:
    T, global_step: int64 -> nothing. T: float32 float64.
    """

def ResourceApplyAdagradV2(var: _Value, accum: _Value, lr: _Value, epsilon: _Value, grad: _Value, *, T: _DType = ...,
        use_locking: bool = False, update_slots: bool = True) -> None:
    """var: resource, accum: resource, lr: T, epsilon: T, grad: T -> nothing. T: float16 bfloat16 float32 float64
    complex64 complex128.
    """

def ResourceApplyAdam(var: _Value, m: _Value, v: _Value, beta1_power: _Value, beta2_power: _Value, lr: _Value,
        beta1: _Value, beta2: _Value, epsilon: _Value, grad: _Value, *, T: _DType = ..., use_locking: bool = False,
        use_nesterov: bool = False) -> None:
    """var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T,
    grad: T -> nothing. T: float16 bfloat16 float32 float64 complex64 complex128.
    """

def ResourceApplyAdamWithAmsgrad(var: _Value, m: _Value, v: _Value, vhat: _Value, beta1_power: _Value,
        beta2_power: _Value, lr: _Value, beta1: _Value, beta2: _Value, epsilon: _Value, grad: _Value, *,
        T: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2:
    T, epsilon: T, grad: T -> nothing. T: float16 bfloat16 float32 float64.
    """

def ResourceApplyAddSign(var: _Value, m: _Value, lr: _Value, alpha: _Value, sign_decay: _Value, beta: _Value,
        grad: _Value, *, T: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, m: resource, lr: T, alpha: T, sign_decay: T, beta: T, grad: T -> nothing. T: float16 bfloat16
    float32 float64.
    """

def ResourceApplyCenteredRMSProp(var: _Value, mg: _Value, ms: _Value, mom: _Value, lr: _Value, rho: _Value,
        momentum: _Value, epsilon: _Value, grad: _Value, *, T: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T ->
    nothing. T: float16 bfloat16 float32 float64 complex64 complex128.
    """

def ResourceApplyFtrl(var: _Value, accum: _Value, linear: _Value, grad: _Value, lr: _Value, l1: _Value, l2: _Value,
        lr_power: _Value, *, T: _DType = ..., use_locking: bool = False, multiply_linear_by_lr: bool = False) -> None:
    """var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, lr_power: T -> nothing. T:
    float16 bfloat16 float32 float64.
    """

def ResourceApplyFtrlV2(var: _Value, accum: _Value, linear: _Value, grad: _Value, lr: _Value, l1: _Value, l2: _Value,
        l2_shrinkage: _Value, lr_power: _Value, *, T: _DType = ..., use_locking: bool = False,
        multiply_linear_by_lr: bool = False) -> None:
    """var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T ->
    nothing. T: float16 bfloat16 float32 float64.
    """

def ResourceApplyGradientDescent(var: _Value, alpha: _Value, delta: _Value, *, T: _DType = ...,
        use_locking: bool = False) -> None:
    """var: resource, alpha: T, delta: T -> nothing. T: float16 bfloat16 float32 float64 complex64 complex128."""

def ResourceApplyKerasMomentum(var: _Value, accum: _Value, lr: _Value, grad: _Value, momentum: _Value, *,
        T: _DType = ..., use_locking: bool = False, use_nesterov: bool = False) -> None:
    """var: resource, accum: resource, lr: T, grad: T, momentum: T -> nothing. T: float16 bfloat16 float32 float64
    complex64 complex128.
    """

def ResourceApplyMomentum(var: _Value, accum: _Value, lr: _Value, grad: _Value, momentum: _Value, *, T: _DType = ...,
        use_locking: bool = False, use_nesterov: bool = False) -> None:
    """var: resource, accum: resource, lr: T, grad: T, momentum: T -> nothing. T: float16 bfloat16 float32 float64
    complex64 complex128.
    """

def ResourceApplyPowerSign(var: _Value, m: _Value, lr: _Value, logbase: _Value, sign_decay: _Value, beta: _Value,
        grad: _Value, *, T: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, m: resource, lr: T, logbase: T, sign_decay: T, beta: T, grad: T -> nothing. T: float16 bfloat16
    float32 float64.
    """

def ResourceApplyProximalAdagrad(var: _Value, accum: _Value, lr: _Value, l1: _Value, l2: _Value, grad: _Value, *,
        T: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T -> nothing. T: float32 float64."""

def ResourceApplyProximalGradientDescent(var: _Value, alpha: _Value, l1: _Value, l2: _Value, delta: _Value, *,
        T: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, alpha: T, l1: T, l2: T, delta: T -> nothing. T: float32 float64."""

def ResourceApplyRMSProp(var: _Value, ms: _Value, mom: _Value, lr: _Value, rho: _Value, momentum: _Value,
        epsilon: _Value, grad: _Value, *, T: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T -> nothing. T:
    float16 bfloat16 float32 float64 complex64 complex128.
    """

def ResourceCountUpTo(resource: _Value, *, limit: int, T: _DType) -> _Tensor:
    """resource: resource -> output: T. T: int32 int64."""

def ResourceScatterAdd(resource: _Value, indices: _Value, updates: _Value, *, dtype: _DType = ...,
        Tindices: _DType = ..., use_locking: bool = True) -> None:
    """resource: resource, indices: Tindices, updates: dtype -> nothing. Tindices: int32 int64."""

def ResourceScatterDiv(resource: _Value, indices: _Value, updates: _Value, *, dtype: _DType = ...,
        Tindices: _DType = ..., use_locking: bool = True) -> None:
    """resource: resource, indices: Tindices, updates: dtype -> nothing. Tindices: int32 int64."""

def ResourceScatterMax(resource: _Value, indices: _Value, updates: _Value, *, dtype: _DType = ...,
        Tindices: _DType = ..., use_locking: bool = True) -> None:
    """resource: resource, indices: Tindices, updates: dtype -> nothing. Tindices: int32 int64."""

def ResourceScatterMin(resource: _Value, indices: _Value, updates: _Value, *, dtype: _DType = ...,
        Tindices: _DType = ..., use_locking: bool = True) -> None:
    """resource: resource, indices: Tindices, updates: dtype -> nothing. Tindices: int32 int64."""

def ResourceScatterMul(resource: _Value, indices: _Value, updates: _Value, *, dtype: _DType = ...,
        Tindices: _DType = ..., use_locking: bool = True) -> None:
    """resource: resource, indices: Tindices, updates: dtype -> nothing. Tindices: int32 int64."""

def ResourceScatterNdAdd(ref: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        use_locking: bool = True, bad_indices_policy: str | bytes = "") -> None:
    """ref: resource, indices: Tindices, updates: T -> nothing. Tindices: int32 int64."""

def ResourceScatterNdMax(ref: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        use_locking: bool = True, bad_indices_policy: str | bytes = "") -> None:
    """ref: resource, indices: Tindices, updates: T -> nothing. Tindices: int32 int64."""

def ResourceScatterNdMin(ref: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        use_locking: bool = True, bad_indices_policy: str | bytes = "") -> None:
    """ref: resource, indices: Tindices, updates: T -> nothing. Tindices: int32 int64."""

def ResourceScatterNdSub(ref: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        use_locking: bool = True, bad_indices_policy: str | bytes = "") -> None:
    """ref: resource, indices: Tindices, updates: T -> nothing. Tindices: int32 int64."""

def ResourceScatterNdUpdate(ref: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        use_locking: bool = True, bad_indices_policy: str | bytes = "") -> None:
    """ref: resource, indices: Tindices, updates: T -> nothing. Tindices: int32 int64."""

def ResourceScatterSub(resource: _Value, indices: _Value, updates: _Value, *, dtype: _DType = ...,
        Tindices: _DType = ..., use_locking: bool = True) -> None:
    """resource: resource, indices: Tindices, updates: dtype -> nothing. Tindices: int32 int64."""

def ResourceScatterUpdate(resource: _Value, indices: _Value, updates: _Value, *, dtype: _DType = ...,
        Tindices: _DType = ..., use_locking: bool = True) -> None:
    """resource: resource, indices: Tindices, updates: dtype -> nothing. Tindices: int32 int64."""

def ResourceSparseApplyAdadelta(var: _Value, accum: _Value, accum_update: _Value, lr: _Value, rho: _Value,
        epsilon: _Value, grad: _Value, indices: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        use_locking: bool = False) -> None:
    """var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T, indices: Tindices ->
    nothing. T: float16 bfloat16 float32 float64 complex64 complex128. Tindices: int32 int64.
    """

def ResourceSparseApplyAdagrad(var: _Value, accum: _Value, lr: _Value, grad: _Value, indices: _Value, *,
        T: _DType = ..., Tindices: _DType = ..., use_locking: bool = False, update_slots: bool = True) -> None:
    """var: resource, accum: resource, lr: T, grad: T, indices: Tindices -> nothing. T: float16 bfloat16 float32 float64
    complex64 complex128. Tindices: int32 int64.
    """

def ResourceSparseApplyAdagradDA(var: _Value, gradient_accumulator: _Value, gradient_squared_accumulator: _Value,
        grad: _Value, indices: _Value, lr: _Value, l1: _Value, l2: _Value, global_step: _Value, *, T: _DType = ...,
        Tindices: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource, grad: T, indices:
    Tindices, lr: T, l1: T, l2: T, global_step: int64 -> nothing. T: float32 float64. Tindices: int32 int64.
    """

def ResourceSparseApplyAdagradV2(var: _Value, accum: _Value, lr: _Value, epsilon: _Value, grad: _Value, indices: _Value,
        *, T: _DType = ..., Tindices: _DType = ..., use_locking: bool = False, update_slots: bool = True) -> None:
    """var: resource, accum: resource, lr: T, epsilon: T, grad: T, indices: Tindices -> nothing. T: float16 bfloat16
    float32 float64 complex64 complex128. Tindices: int32 int64.
    """

def ResourceSparseApplyCenteredRMSProp(var: _Value, mg: _Value, ms: _Value, mom: _Value, lr: _Value, rho: _Value,
        momentum: _Value, epsilon: _Value, grad: _Value, indices: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        use_locking: bool = False) -> None:
    """var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T,
    indices: Tindices -> nothing. T: float16 float32 float64 complex64 complex128. Tindices: int32 int64.
    """

def ResourceSparseApplyFtrl(var: _Value, accum: _Value, linear: _Value, grad: _Value, indices: _Value, lr: _Value,
        l1: _Value, l2: _Value, lr_power: _Value, *, T: _DType = ..., Tindices: _DType = ..., use_locking: bool = False,
        multiply_linear_by_lr: bool = False) -> None:
    """var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, lr_power: T ->
    nothing. T: float16 bfloat16 float32 float64. Tindices: int32 int64.
    """

def ResourceSparseApplyFtrlV2(var: _Value, accum: _Value, linear: _Value, grad: _Value, indices: _Value, lr: _Value,
        l1: _Value, l2: _Value, l2_shrinkage: _Value, lr_power: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        use_locking: bool = False, multiply_linear_by_lr: bool = False) -> None:
    """var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, l2_shrinkage:
    T, lr_power: T -> nothing. T: float16 bfloat16 float32 float64. Tindices: int32 int64.
    """

def ResourceSparseApplyKerasMomentum(var: _Value, accum: _Value, lr: _Value, grad: _Value, indices: _Value,
        momentum: _Value, *, T: _DType = ..., Tindices: _DType = ..., use_locking: bool = False,
        use_nesterov: bool = False) -> None:
    """var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T -> nothing. T: float16 bfloat16
    float32 float64 complex64 complex128. Tindices: int32 int64.
    """

def ResourceSparseApplyMomentum(var: _Value, accum: _Value, lr: _Value, grad: _Value, indices: _Value, momentum: _Value,
        *, T: _DType = ..., Tindices: _DType = ..., use_locking: bool = False, use_nesterov: bool = False) -> None:
    """var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T -> nothing. T: float16 bfloat16
    float32 float64 complex64 complex128. Tindices: int32 int64.
    """

def ResourceSparseApplyProximalAdagrad(var: _Value, accum: _Value, lr: _Value, l1: _Value, l2: _Value, grad: _Value,
        indices: _Value, *, T: _DType = ..., Tindices: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T, indices: Tindices -> nothing. T: float32 float64.
    Tindices: int32 int64.
    """

def ResourceSparseApplyProximalGradientDescent(var: _Value, alpha: _Value, l1: _Value, l2: _Value, grad: _Value,
        indices: _Value, *, T: _DType = ..., Tindices: _DType = ..., use_locking: bool = False) -> None:
    """var: resource, alpha: T, l1: T, l2: T, grad: T, indices: Tindices -> nothing. T: float32 float64. Tindices: int32
    int64.
    """

def ResourceSparseApplyRMSProp(var: _Value, ms: _Value, mom: _Value, lr: _Value, rho: _Value, momentum: _Value,
        epsilon: _Value, grad: _Value, indices: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        use_locking: bool = False) -> None:
    """var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices ->
    nothing. T: float16 float32 float64 complex64 complex128. Tindices: int32 int64.
    """

def ResourceStridedSliceAssign(ref: _Value, begin: _Value, end: _Value, strides: _Value, value: _Value, *,
        T: _DType = ..., Index: _DType = ..., begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0,
        new_axis_mask: int = 0, shrink_axis_mask: int = 0) -> None:
    """ref: resource, begin: Index, end: Index, strides: Index, value: T -> nothing. Index: int32 int64."""

def Reverse(tensor: _Value, dims: _Value, *, T: _DType = ...) -> _Tensor:
    """tensor: T, dims: bool -> output: T. T: uint8 int8 uint16 int16 uint32 int32 uint64 int64 bool bfloat16 float16
    float32 float64 complex64 complex128 string.
    """

def ReverseSequence(input: _Value, seq_lengths: _Value, *, seq_dim: int, batch_dim: int = 0, T: _DType = ...,
        Tlen: _DType = ...) -> _Tensor:
    """input: T, seq_lengths: Tlen -> output: T. Tlen: int32 int64."""

def ReverseV2(tensor: _Value, axis: _Value, *, Tidx: _DType = ..., T: _DType = ...) -> _Tensor:
    """tensor: T, axis: Tidx -> output: T. Tidx: int32 int64. T: uint8 int8 uint16 int16 int32 uint32 int64 uint64 bool
    bfloat16 float16 float32 float64 complex64 complex128 string.
    """

def RightShift(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: int8 int16 int32 int64 uint8 uint16 uint32 uint64."""

def Rint(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def RngReadAndSkip(resource: _Value, alg: _Value, delta: _Value) -> _Tensor:
    """resource: resource, alg: int32, delta: uint64 -> value: int64."""

def RngSkip(resource: _Value, algorithm: _Value, delta: _Value) -> None:
    """resource: resource, algorithm: int64, delta: int64 -> nothing."""

def Roll(input: _Value, shift: _Value, axis: _Value, *, T: _DType = ..., Tshift: _DType = ...,
        Taxis: _DType = ...) -> _Tensor:
    """input: T, shift: Tshift, axis: Taxis -> output: T. Tshift: int32 int64. Taxis: int32 int64."""

class _RougeLOutputs(_NamedTuple):
    f_measure: _Tensor
    p_measure: _Tensor
    r_measure: _Tensor

def RougeL(hyp_values: _Value, hyp_splits: _Value, ref_values: _Value, ref_splits: _Value, alpha: _Value, *,
        Tsplits: _DType = ..., Tvalues: _DType = ...) -> _RougeLOutputs:
    """hyp_values: Tvalues, hyp_splits: Tsplits, ref_values: Tvalues, ref_splits: Tsplits, alpha: float32 -> f_measure:
    float32, p_measure: float32, r_measure: float32. Tsplits: int32 int64. Tvalues: int32 int64 string.
    """

def Round(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 int8 int16 int32 int64 complex64 complex128. Accelerated for
    float32 bfloat16 float64 float16.
    """

def Rsqrt(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def RsqrtGrad(y: _Value, dy: _Value, *, T: _DType = ...) -> _Tensor:
    """y: T, dy: T -> z: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

class _SampleDistortedBoundingBoxOutputs(_NamedTuple):
    begin: _Tensor
    size: _Tensor
    bboxes: _Tensor

def SampleDistortedBoundingBox(image_size: _Value, bounding_boxes: _Value, *, T: _DType = ..., seed: int = 0,
        seed2: int = 0, min_object_covered: float = 0.1, aspect_ratio_range: _Sequence[float] = ...,
        area_range: _Sequence[float] = ..., max_attempts: int = 100,
        use_image_if_no_bounding_boxes: bool = False) -> _SampleDistortedBoundingBoxOutputs:
    """image_size: T, bounding_boxes: float32 -> begin: T, size: T, bboxes: float32. T: uint8 int8 int16 int32 int64."""

class _SampleDistortedBoundingBoxV2Outputs(_NamedTuple):
    begin: _Tensor
    size: _Tensor
    bboxes: _Tensor

def SampleDistortedBoundingBoxV2(image_size: _Value, bounding_boxes: _Value, min_object_covered: _Value, *,
        T: _DType = ..., seed: int = 0, seed2: int = 0, aspect_ratio_range: _Sequence[float] = ...,
        area_range: _Sequence[float] = ..., max_attempts: int = 100,
        use_image_if_no_bounding_boxes: bool = False) -> _SampleDistortedBoundingBoxV2Outputs:
    """image_size: T, bounding_boxes: float32, min_object_covered: float32 -> begin: T, size: T, bboxes: float32. T:
    uint8 int8 int16 int32 int64.
    """

def ScalarSummary(tags: _Value, values: _Value, *, T: _DType = ...) -> _Tensor:
    """tags: string, values: T -> summary: string. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64.
    """

def ScaleAndTranslate(images: _Value, size: _Value, scale: _Value, translation: _Value, *, T: _DType = ...,
        kernel_type: str | bytes = "lanczos3", antialias: bool = True) -> _Tensor:
    """images: T, size: int32, scale: float32, translation: float32 -> resized_images: float32. T: int8 uint8 int16
    uint16 int32 int64 bfloat16 float16 float32 float64.
    """

def ScaleAndTranslateGrad(grads: _Value, original_image: _Value, scale: _Value, translation: _Value, *, T: _DType = ...,
        kernel_type: str | bytes = "lanczos3", antialias: bool = True) -> _Tensor:
    """grads: T, original_image: T, scale: float32, translation: float32 -> output: T. T: float32."""

def ScatterNd(indices: _Value, updates: _Value, shape: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        bad_indices_policy: str | bytes = "") -> _Tensor:
    """indices: Tindices, updates: T, shape: Tindices -> output: T. Tindices: int16 int32 int64."""

def ScatterNdNonAliasingAdd(input: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        bad_indices_policy: str | bytes = "") -> _Tensor:
    """input: T, indices: Tindices, updates: T -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64
    bfloat16 uint16 complex128 float16 uint32 uint64 bool. Tindices: int32 int64.
    """

def SegmentMax(data: _Value, segment_ids: _Value, *, T: _DType = ..., Tindices: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64. Tindices: int32 int64.
    """

def SegmentMaxV2(data: _Value, segment_ids: _Value, num_segments: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        Tnumsegments: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T. T: float32 float64 int32 uint8 int16
    int8 int64 bfloat16 uint16 float16 uint32 uint64. Tindices: int32 int64. Tnumsegments: int32 int64.
    """

def SegmentMean(data: _Value, segment_ids: _Value, *, T: _DType = ..., Tindices: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16
    uint16 complex128 float16 uint32 uint64. Tindices: int32 int64.
    """

def SegmentMin(data: _Value, segment_ids: _Value, *, T: _DType = ..., Tindices: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices -> output: T. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16
    float16 uint32 uint64. Tindices: int32 int64.
    """

def SegmentMinV2(data: _Value, segment_ids: _Value, num_segments: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        Tnumsegments: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T. T: float32 float64 int32 uint8 int16
    int8 int64 bfloat16 uint16 float16 uint32 uint64. Tindices: int32 int64. Tnumsegments: int32 int64.
    """

def SegmentProd(data: _Value, segment_ids: _Value, *, T: _DType = ..., Tindices: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16
    uint16 complex128 float16 uint32 uint64. Tindices: int32 int64.
    """

def SegmentProdV2(data: _Value, segment_ids: _Value, num_segments: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        Tnumsegments: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T. T: float32 float64 int32 uint8 int16
    int8 complex64 int64 bfloat16 uint16 complex128 float16 uint32 uint64. Tindices: int32 int64. Tnumsegments: int32
    int64.
    """

def SegmentSum(data: _Value, segment_ids: _Value, *, T: _DType = ..., Tindices: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16
    uint16 complex128 float16 uint32 uint64. Tindices: int32 int64.
    """

def SegmentSumV2(data: _Value, segment_ids: _Value, num_segments: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        Tnumsegments: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T. T: float32 float64 int32 uint8 int16
    int8 complex64 int64 bfloat16 uint16 complex128 float16 uint32 uint64. Tindices: int32 int64. Tnumsegments: int32
    int64.
    """

def Select(condition: _Value, t: _Value, e: _Value, *, T: _DType = ...) -> _Tensor:
    """condition: bool, t: T, e: T -> output: T."""

def SelectV2(condition: _Value, t: _Value, e: _Value, *, T: _DType = ...) -> _Tensor:
    """condition: bool, t: T, e: T -> output: T."""

def SelfAdjointEig(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float64 float32."""

class _SelfAdjointEigV2Outputs(_NamedTuple):
    e: _Tensor
    v: _Tensor

def SelfAdjointEigV2(input: _Value, *, compute_v: bool = True, T: _DType = ...) -> _SelfAdjointEigV2Outputs:
    """input: T -> e: T, v: T. T: float64 float32 float16 complex64 complex128."""

def Selu(features: _Value, *, T: _DType = ...) -> _Tensor:
    """features: T -> activations: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float64
    float16.
    """

def SeluGrad(gradients: _Value, outputs: _Value, *, T: _DType = ...) -> _Tensor:
    """gradients: T, outputs: T -> backprops: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16
    float64 float16.
    """

class _SentenceFragmentsOutputs(_NamedTuple):
    fragment_start: _Tensor
    fragment_end: _Tensor
    fragment_properties: _Tensor
    terminal_punc_token: _Tensor
    output_row_lengths: _Tensor

def SentenceFragments(row_lengths: _Value, token_start: _Value, token_end: _Value, token_word: _Value,
        token_properties: _Value, *, input_encoding: str | bytes, errors: str | bytes = "replace",
        replacement_char: int = 65533, replace_control_characters: bool = False) -> _SentenceFragmentsOutputs:
    """row_lengths: int64, token_start: int64, token_end: int64, token_word: string, token_properties: int64 ->
    fragment_start: int64, fragment_end: int64, fragment_properties: int64, terminal_punc_token: int64,
    output_row_lengths: int64.
    """

class _SentenceFragmentsV2Outputs(_NamedTuple):
    fragment_start: _Tensor
    fragment_end: _Tensor
    fragment_properties: _Tensor
    terminal_punc_token: _Tensor
    output_row_lengths: _Tensor

def SentenceFragmentsV2(doc: _Value) -> _SentenceFragmentsV2Outputs:
    """doc: string -> fragment_start: int64, fragment_end: int64, fragment_properties: int64, terminal_punc_token:
    int64, output_row_lengths: int64.
    """

def SerializeManySparse(sparse_indices: _Value, sparse_values: _Value, sparse_shape: _Value, *, T: _DType = ...,
        out_type: _DType = "string") -> _Tensor:
    """sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type. T: float16 bfloat16
    float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128 string. out_type: string
    variant.
    """

def SerializeSparse(sparse_indices: _Value, sparse_values: _Value, sparse_shape: _Value, *, T: _DType = ...,
        out_type: _DType = "string") -> _Tensor:
    """sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type. T: float16 bfloat16
    float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128 string. out_type: string
    variant.
    """

def SerializeTensor(tensor: _Value, *, T: _DType = ...) -> _Tensor:
    """tensor: T -> serialized: string. T: float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32
    uint64 bool complex64 complex128 string.
    """

def SetSize(set_indices: _Value, set_values: _Value, set_shape: _Value, *, validate_indices: bool = True,
        T: _DType = ...) -> _Tensor:
    """set_indices: int64, set_values: T, set_shape: int64 -> size: int32. T: int8 int16 int32 int64 uint8 uint16
    string.
    """

def Shape(input: _Value, *, T: _DType = ..., out_type: _DType = "int32") -> _Tensor:
    """input: T -> output: out_type. out_type: int32 int64."""

def ShapeN(input: _Sequence[_Value], *, T: _DType = ..., out_type: _DType = "int32") -> list[_Tensor]:
    """input: N * T -> output: N * out_type. out_type: int32 int64."""

def ShardedFilename(basename: _Value, shard: _Value, num_shards: _Value) -> _Tensor:
    """basename: string, shard: int32, num_shards: int32 -> filename: string."""

def ShardedFilespec(basename: _Value, num_shards: _Value) -> _Tensor:
    """basename: string, num_shards: int32 -> filename: string."""

def Sigmoid(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def SigmoidGrad(y: _Value, dy: _Value, *, T: _DType = ...) -> _Tensor:
    """y: T, dy: T -> z: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

def Sign(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 int8 int16 int32 int64 complex64 complex128. Accelerated for
    float32 bfloat16 float64 float16.
    """

def Sin(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def Sinh(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def Size(input: _Value, *, T: _DType = ..., out_type: _DType = "int32") -> _Tensor:
    """input: T -> output: out_type. out_type: int32 int64."""

def Slice(input: _Value, begin: _Value, size: _Value, *, T: _DType = ..., Index: _DType = ...) -> _Tensor:
    """input: T, begin: Index, size: Index -> output: T. Index: int32 int64."""

def Snapshot(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T."""

def SobolSample(dim: _Value, num_results: _Value, skip: _Value, *, dtype: _DType = "float32") -> _Tensor:
    """dim: int32, num_results: int32, skip: int32 -> samples: dtype. dtype: float32 float64."""

def Softmax(logits: _Value, *, T: _DType = ...) -> _Tensor:
    """logits: T -> softmax: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float64 float16.
    """

class _SoftmaxCrossEntropyWithLogitsOutputs(_NamedTuple):
    loss: _Tensor
    backprop: _Tensor

def SoftmaxCrossEntropyWithLogits(features: _Value, labels: _Value, *,
        T: _DType = ...) -> _SoftmaxCrossEntropyWithLogitsOutputs:
    """features: T, labels: T -> loss: T, backprop: T. T: float16 bfloat16 float32 float64. Accelerated for float32
    bfloat16 float16.
    """

def Softplus(features: _Value, *, T: _DType = ...) -> _Tensor:
    """features: T -> activations: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float64
    float16.
    """

def SoftplusGrad(gradients: _Value, features: _Value, *, T: _DType = ...) -> _Tensor:
    """gradients: T, features: T -> backprops: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16
    float64 float16.
    """

def Softsign(features: _Value, *, T: _DType = ...) -> _Tensor:
    """features: T -> activations: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16 float64
    float16.
    """

def SoftsignGrad(gradients: _Value, features: _Value, *, T: _DType = ...) -> _Tensor:
    """gradients: T, features: T -> backprops: T. T: float16 bfloat16 float32 float64. Accelerated for float32 bfloat16
    float64 float16.
    """

def SpaceToBatch(input: _Value, paddings: _Value, *, T: _DType = ..., Tpaddings: _DType = ...,
        block_size: int) -> _Tensor:
    """input: T, paddings: Tpaddings -> output: T. Tpaddings: int32 int64."""

def SpaceToBatchND(input: _Value, block_shape: _Value, paddings: _Value, *, T: _DType = ..., Tblock_shape: _DType = ...,
        Tpaddings: _DType = ...) -> _Tensor:
    """input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T. Tblock_shape: int32 int64. Tpaddings:
    int32 int64.
    """

def SpaceToDepth(input: _Value, *, T: _DType = ..., block_size: int, data_format: str | bytes = "NHWC") -> _Tensor:
    """input: T -> output: T."""

class _SparseAddOutputs(_NamedTuple):
    sum_indices: _Tensor
    sum_values: _Tensor
    sum_shape: _Tensor

def SparseAdd(a_indices: _Value, a_values: _Value, a_shape: _Value, b_indices: _Value, b_values: _Value,
        b_shape: _Value, thresh: _Value, *, T: _DType = ..., Treal: _DType = ...) -> _SparseAddOutputs:
    """a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, thresh: Treal ->
    sum_indices: int64, sum_values: T, sum_shape: int64. T: float32 float64 int64 int32 int16 int8 complex64 complex128.
    Treal: float32 float64 int64 int32 int16 int8.
    """

class _SparseAddGradOutputs(_NamedTuple):
    a_val_grad: _Tensor
    b_val_grad: _Tensor

def SparseAddGrad(backprop_val_grad: _Value, a_indices: _Value, b_indices: _Value, sum_indices: _Value, *,
        T: _DType = ...) -> _SparseAddGradOutputs:
    """backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 -> a_val_grad: T, b_val_grad: T. T:
    float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128.
    """

def SparseBincount(indices: _Value, values: _Value, dense_shape: _Value, size: _Value, weights: _Value, *,
        Tidx: _DType = ..., T: _DType = ..., binary_output: bool = False) -> _Tensor:
    """indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T -> output: T. Tidx: int32 int64. T:
    int32 int64 float32 float64.
    """

class _SparseConcatOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_shape: _Tensor

def SparseConcat(indices: _Sequence[_Value], values: _Sequence[_Value], shapes: _Sequence[_Value], *, concat_dim: int,
        T: _DType = ...) -> _SparseConcatOutputs:
    """indices: N * int64, values: N * T, shapes: N * int64 -> output_indices: int64, output_values: T, output_shape:
    int64.
    """

class _SparseCountSparseOutputOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_dense_shape: _Tensor

def SparseCountSparseOutput(indices: _Value, values: _Value, dense_shape: _Value, weights: _Value, *, T: _DType = ...,
        minlength: int = -1, maxlength: int = -1, binary_output: bool,
        output_type: _DType = ...) -> _SparseCountSparseOutputOutputs:
    """indices: int64, values: T, dense_shape: int64, weights: output_type -> output_indices: int64, output_values:
    output_type, output_dense_shape: int64. T: int32 int64. output_type: int32 int64 float32 float64.
    """

class _SparseCrossOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_shape: _Tensor

def SparseCross(indices: _Sequence[_Value], values: _Sequence[_Value], shapes: _Sequence[_Value],
        dense_inputs: _Sequence[_Value], *, hashed_output: bool, num_buckets: int, hash_key: int, out_type: _DType,
        internal_type: _DType) -> _SparseCrossOutputs:
    """indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types -> output_indices: int64,
    output_values: out_type, output_shape: int64. sparse_types: int64 string. dense_types: int64 string. out_type: int64
    string. internal_type: int64 string.
    """

class _SparseCrossHashedOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_shape: _Tensor

def SparseCrossHashed(indices: _Sequence[_Value], values: _Sequence[_Value], shapes: _Sequence[_Value],
        dense_inputs: _Sequence[_Value], num_buckets: _Value, strong_hash: _Value,
        salt: _Value) -> _SparseCrossHashedOutputs:
    """indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types, num_buckets: int64,
    strong_hash: bool, salt: int64 -> output_indices: int64, output_values: int64, output_shape: int64. sparse_types:
    int64 string. dense_types: int64 string.
    """

class _SparseCrossV2Outputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_shape: _Tensor

def SparseCrossV2(indices: _Sequence[_Value], values: _Sequence[_Value], shapes: _Sequence[_Value],
        dense_inputs: _Sequence[_Value], sep: _Value) -> _SparseCrossV2Outputs:
    """indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types, sep: string ->
    output_indices: int64, output_values: string, output_shape: int64. sparse_types: int64 string. dense_types: int64
    string.
    """

def SparseDenseCwiseAdd(sp_indices: _Value, sp_values: _Value, sp_shape: _Value, dense: _Value, *,
        T: _DType = ...) -> _Tensor:
    """sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T. T: float32 float64 int32 uint8 int16
    int8 complex64 int64 bfloat16 uint16 complex128 float16 uint32 uint64.
    """

def SparseDenseCwiseDiv(sp_indices: _Value, sp_values: _Value, sp_shape: _Value, dense: _Value, *,
        T: _DType = ...) -> _Tensor:
    """sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T. T: float32 float64 int32 uint8 int16
    int8 complex64 int64 bfloat16 uint16 complex128 float16 uint32 uint64.
    """

def SparseDenseCwiseMul(sp_indices: _Value, sp_values: _Value, sp_shape: _Value, dense: _Value, *,
        T: _DType = ...) -> _Tensor:
    """sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T. T: float32 float64 int32 uint8 int16
    int8 complex64 int64 bfloat16 uint16 complex128 float16 uint32 uint64.
    """

class _SparseFillEmptyRowsOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    empty_row_indicator: _Tensor
    reverse_index_map: _Tensor

def SparseFillEmptyRows(indices: _Value, values: _Value, dense_shape: _Value, default_value: _Value, *,
        T: _DType = ...) -> _SparseFillEmptyRowsOutputs:
    """indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, output_values: T,
    empty_row_indicator: bool, reverse_index_map: int64.
    """

class _SparseFillEmptyRowsGradOutputs(_NamedTuple):
    d_values: _Tensor
    d_default_value: _Tensor

def SparseFillEmptyRowsGrad(reverse_index_map: _Value, grad_values: _Value, *,
        T: _DType = ...) -> _SparseFillEmptyRowsGradOutputs:
    """reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T. T: float32 float64 float16 bfloat16
    int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128.
    """

def SparseMatMul(a: _Value, b: _Value, *, transpose_a: bool = False, transpose_b: bool = False,
        a_is_sparse: bool = False, b_is_sparse: bool = False, Ta: _DType = ..., Tb: _DType = ...) -> _Tensor:
    """a: Ta, b: Tb -> product: float32. Ta: float32 bfloat16. Tb: float32 bfloat16. Accelerated for float32."""

def SparseMatrixAdd(a: _Value, b: _Value, alpha: _Value, beta: _Value, *, T: _DType = ...) -> _Tensor:
    """a: variant, b: variant, alpha: T, beta: T -> c: variant. T: float32 float64 complex64 complex128."""

def SparseMatrixMatMul(a: _Value, b: _Value, *, T: _DType = ..., transpose_a: bool = False, transpose_b: bool = False,
        adjoint_a: bool = False, adjoint_b: bool = False, transpose_output: bool = False,
        conjugate_output: bool = False) -> _Tensor:
    """a: variant, b: T -> output: T. T: float32 float64 complex64 complex128."""

def SparseMatrixMul(a: _Value, b: _Value, *, T: _DType = ...) -> _Tensor:
    """a: variant, b: T -> output: variant. T: float32 float64 complex64 complex128."""

def SparseMatrixNNZ(sparse_matrix: _Value) -> _Tensor:
    """sparse_matrix: variant -> nnz: int32."""

def SparseMatrixSoftmax(logits: _Value, *, type: _DType) -> _Tensor:
    """logits: variant -> softmax: variant. type: float32 float64."""

def SparseMatrixSoftmaxGrad(softmax: _Value, grad_softmax: _Value, *, type: _DType) -> _Tensor:
    """softmax: variant, grad_softmax: variant -> gradient: variant. type: float32 float64."""

def SparseMatrixSparseMatMul(a: _Value, b: _Value, *, type: _DType, transpose_a: bool = False,
        transpose_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False) -> _Tensor:
    """a: variant, b: variant -> c: variant. type: float32 float64 complex64 complex128."""

def SparseMatrixTranspose(input: _Value, *, conjugate: bool = False, type: _DType) -> _Tensor:
    """input: variant -> output: variant. type: float32 float64 complex64 complex128."""

def SparseMatrixZeros(dense_shape: _Value, *, type: _DType) -> _Tensor:
    """dense_shape: int64 -> sparse_matrix: variant. type: float32 float64 complex64 complex128."""

def SparseReduceMax(input_indices: _Value, input_values: _Value, input_shape: _Value, reduction_axes: _Value, *,
        keep_dims: bool = False, T: _DType = ...) -> _Tensor:
    """input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output: T. T: float32 float64
    float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64.
    """

class _SparseReduceMaxSparseOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_shape: _Tensor

def SparseReduceMaxSparse(input_indices: _Value, input_values: _Value, input_shape: _Value, reduction_axes: _Value, *,
        keep_dims: bool = False, T: _DType = ...) -> _SparseReduceMaxSparseOutputs:
    """input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output_indices: int64,
    output_values: T, output_shape: int64. T: float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16
    uint32 uint64.
    """

def SparseReduceSum(input_indices: _Value, input_values: _Value, input_shape: _Value, reduction_axes: _Value, *,
        keep_dims: bool = False, T: _DType = ...) -> _Tensor:
    """input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output: T. T: float32 float64
    float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128.
    """

class _SparseReduceSumSparseOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_shape: _Tensor

def SparseReduceSumSparse(input_indices: _Value, input_values: _Value, input_shape: _Value, reduction_axes: _Value, *,
        keep_dims: bool = False, T: _DType = ...) -> _SparseReduceSumSparseOutputs:
    """input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> output_indices: int64,
    output_values: T, output_shape: int64. T: float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16
    uint32 uint64 complex64 complex128.
    """

class _SparseReorderOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor

def SparseReorder(input_indices: _Value, input_values: _Value, input_shape: _Value, *,
        T: _DType = ...) -> _SparseReorderOutputs:
    """input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, output_values: T."""

class _SparseReshapeOutputs(_NamedTuple):
    output_indices: _Tensor
    output_shape: _Tensor

def SparseReshape(input_indices: _Value, input_shape: _Value, new_shape: _Value) -> _SparseReshapeOutputs:
    """input_indices: int64, input_shape: int64, new_shape: int64 -> output_indices: int64, output_shape: int64."""

def SparseSegmentMean(data: _Value, indices: _Value, segment_ids: _Value, *, T: _DType = ..., Tidx: _DType = ...,
        Tsegmentids: _DType = ..., sparse_gradient: bool = False) -> _Tensor:
    """data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T. T: bfloat16 float16 float32 float64. Tidx: int32
    int64. Tsegmentids: int32 int64.
    """

def SparseSegmentMeanGrad(grad: _Value, indices: _Value, segment_ids: _Value, output_dim0: _Value, *, T: _DType = ...,
        Tidx: _DType = ..., Tsegmentids: _DType = ...) -> _Tensor:
    """grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T. T: bfloat16 float16 float32
    float64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

class _SparseSegmentMeanGradV2Outputs(_NamedTuple):
    output: _Tensor
    sorted_unique_indices: _Tensor

def SparseSegmentMeanGradV2(grad: _Value, indices: _Value, segment_ids: _Value, dense_output_dim0: _Value, *,
        T: _DType = ..., Tidx: _DType = ..., Tsegmentids: _DType = ...) -> _SparseSegmentMeanGradV2Outputs:
    """grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32 -> output: T, sorted_unique_indices:
    Tidx. T: bfloat16 float16 float32 float64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

def SparseSegmentMeanWithNumSegments(data: _Value, indices: _Value, segment_ids: _Value, num_segments: _Value, *,
        T: _DType = ..., Tidx: _DType = ..., Tnumsegments: _DType = ..., Tsegmentids: _DType = ...,
        sparse_gradient: bool = False) -> _Tensor:
    """data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T. T: bfloat16 float16
    float32 float64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

def SparseSegmentSqrtN(data: _Value, indices: _Value, segment_ids: _Value, *, T: _DType = ..., Tidx: _DType = ...,
        Tsegmentids: _DType = ..., sparse_gradient: bool = False) -> _Tensor:
    """data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T. T: bfloat16 float16 float32 float64. Tidx: int32
    int64. Tsegmentids: int32 int64.
    """

def SparseSegmentSqrtNGrad(grad: _Value, indices: _Value, segment_ids: _Value, output_dim0: _Value, *, T: _DType = ...,
        Tidx: _DType = ..., Tsegmentids: _DType = ...) -> _Tensor:
    """grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T. T: bfloat16 float16 float32
    float64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

class _SparseSegmentSqrtNGradV2Outputs(_NamedTuple):
    output: _Tensor
    sorted_unique_indices: _Tensor

def SparseSegmentSqrtNGradV2(grad: _Value, indices: _Value, segment_ids: _Value, dense_output_dim0: _Value, *,
        T: _DType = ..., Tidx: _DType = ..., Tsegmentids: _DType = ...) -> _SparseSegmentSqrtNGradV2Outputs:
    """grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32 -> output: T, sorted_unique_indices:
    Tidx. T: bfloat16 float16 float32 float64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

def SparseSegmentSqrtNWithNumSegments(data: _Value, indices: _Value, segment_ids: _Value, num_segments: _Value, *,
        T: _DType = ..., Tidx: _DType = ..., Tnumsegments: _DType = ..., Tsegmentids: _DType = ...,
        sparse_gradient: bool = False) -> _Tensor:
    """data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T. T: bfloat16 float16
    float32 float64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

def SparseSegmentSum(data: _Value, indices: _Value, segment_ids: _Value, *, T: _DType = ..., Tidx: _DType = ...,
        Tsegmentids: _DType = ..., sparse_gradient: bool = False) -> _Tensor:
    """data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T. T: float32 float64 int32 uint8 int16 int8 int64
    bfloat16 uint16 float16 uint32 uint64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

def SparseSegmentSumGrad(grad: _Value, indices: _Value, segment_ids: _Value, output_dim0: _Value, *, T: _DType = ...,
        Tidx: _DType = ..., Tsegmentids: _DType = ...) -> _Tensor:
    """grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T. T: bfloat16 float16 float32
    float64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

class _SparseSegmentSumGradV2Outputs(_NamedTuple):
    output: _Tensor
    sorted_unique_indices: _Tensor

def SparseSegmentSumGradV2(grad: _Value, indices: _Value, segment_ids: _Value, dense_output_dim0: _Value, *,
        T: _DType = ..., Tidx: _DType = ..., Tsegmentids: _DType = ...) -> _SparseSegmentSumGradV2Outputs:
    """grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32 -> output: T, sorted_unique_indices:
    Tidx. T: bfloat16 float16 float32 float64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

def SparseSegmentSumWithNumSegments(data: _Value, indices: _Value, segment_ids: _Value, num_segments: _Value, *,
        T: _DType = ..., Tidx: _DType = ..., Tnumsegments: _DType = ..., Tsegmentids: _DType = ...,
        sparse_gradient: bool = False) -> _Tensor:
    """data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T. T: float32 float64
    int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64. Tidx: int32 int64. Tsegmentids: int32 int64.
    """

class _SparseSliceOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor
    output_shape: _Tensor

def SparseSlice(indices: _Value, values: _Value, shape: _Value, start: _Value, size: _Value, *,
        T: _DType = ...) -> _SparseSliceOutputs:
    """indices: int64, values: T, shape: int64, start: int64, size: int64 -> output_indices: int64, output_values: T,
    output_shape: int64.
    """

def SparseSliceGrad(backprop_val_grad: _Value, input_indices: _Value, input_start: _Value, output_indices: _Value, *,
        T: _DType = ...) -> _Tensor:
    """backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> val_grad: T. T: float32
    float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128.
    """

def SparseSoftmax(sp_indices: _Value, sp_values: _Value, sp_shape: _Value, *, T: _DType = ...) -> _Tensor:
    """sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T. T: float16 float32 float64."""

class _SparseSoftmaxCrossEntropyWithLogitsOutputs(_NamedTuple):
    loss: _Tensor
    backprop: _Tensor

def SparseSoftmaxCrossEntropyWithLogits(features: _Value, labels: _Value, *, T: _DType = ...,
        Tlabels: _DType = ...) -> _SparseSoftmaxCrossEntropyWithLogitsOutputs:
    """features: T, labels: Tlabels -> loss: T, backprop: T. T: float16 bfloat16 float32 float64. Tlabels: int32 int64.
    Accelerated for float32 bfloat16 float16.
    """

class _SparseSparseMaximumOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor

def SparseSparseMaximum(a_indices: _Value, a_values: _Value, a_shape: _Value, b_indices: _Value, b_values: _Value,
        b_shape: _Value, *, T: _DType = ...) -> _SparseSparseMaximumOutputs:
    """a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64 -> output_indices:
    int64, output_values: T. T: float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64.
    """

class _SparseSparseMinimumOutputs(_NamedTuple):
    output_indices: _Tensor
    output_values: _Tensor

def SparseSparseMinimum(a_indices: _Value, a_values: _Value, a_shape: _Value, b_indices: _Value, b_values: _Value,
        b_shape: _Value, *, T: _DType = ...) -> _SparseSparseMinimumOutputs:
    """a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64 -> output_indices:
    int64, output_values: T. T: float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64.
    """

class _SparseSplitOutputs(_NamedTuple):
    output_indices: list[_Tensor]
    output_values: list[_Tensor]
    output_shape: list[_Tensor]

def SparseSplit(split_dim: _Value, indices: _Value, values: _Value, shape: _Value, *, num_split: int,
        T: _DType = ...) -> _SparseSplitOutputs:
    """split_dim: int64, indices: int64, values: T, shape: int64 -> output_indices: num_split * int64, output_values:
    num_split * T, output_shape: num_split * int64.
    """

def SparseTensorDenseAdd(a_indices: _Value, a_values: _Value, a_shape: _Value, b: _Value, *, T: _DType = ...,
        Tindices: _DType = ...) -> _Tensor:
    """a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T. T: float32 float64 int32 uint8 int16 int8
    complex64 int64 bfloat16 uint16 complex128 float16 uint32 uint64. Tindices: int32 int64.
    """

def SparseTensorDenseMatMul(a_indices: _Value, a_values: _Value, a_shape: _Value, b: _Value, *, T: _DType = ...,
        Tindices: _DType = ..., adjoint_a: bool = False, adjoint_b: bool = False) -> _Tensor:
    """a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T. Tindices: int32 int64."""

def SparseTensorToCSRSparseMatrix(indices: _Value, values: _Value, dense_shape: _Value, *, T: _DType = ...) -> _Tensor:
    """indices: int64, values: T, dense_shape: int64 -> sparse_matrix: variant. T: float32 float64 complex64 complex128.
    """

def SparseToDense(sparse_indices: _Value, output_shape: _Value, sparse_values: _Value, default_value: _Value, *,
        validate_indices: bool = True, T: _DType = ..., Tindices: _DType = ...) -> _Tensor:
    """sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T. Tindices: int32
    int64.
    """

class _SparseToSparseSetOperationOutputs(_NamedTuple):
    result_indices: _Tensor
    result_values: _Tensor
    result_shape: _Tensor

def SparseToSparseSetOperation(set1_indices: _Value, set1_values: _Value, set1_shape: _Value, set2_indices: _Value,
        set2_values: _Value, set2_shape: _Value, *, set_operation: str | bytes, validate_indices: bool = True,
        T: _DType = ...) -> _SparseToSparseSetOperationOutputs:
    """set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, set2_values: T, set2_shape: int64 ->
    result_indices: int64, result_values: T, result_shape: int64. T: int8 int16 int32 int64 uint8 uint16 string.
    """

def Spence(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64. Accelerated for float32 bfloat16 float64 float16."""

def Split(split_dim: _Value, value: _Value, *, num_split: int, T: _DType = ...) -> list[_Tensor]:
    """split_dim: int32, value: T -> output: num_split * T."""

class _SplitMergeTokenizeWithOffsetsOutputs(_NamedTuple):
    output_values: _Tensor
    output_row_splits: _Tensor
    start_values: _Tensor
    limit_values: _Tensor

def SplitMergeTokenizeWithOffsets(input_values: _Value, labels: _Value, row_splits: _Value, *,
        force_split_at_break_character: bool = True) -> _SplitMergeTokenizeWithOffsetsOutputs:
    """input_values: string, labels: int32, row_splits: int32 -> output_values: string, output_row_splits: int64,
    start_values: int64, limit_values: int64.
    """

def SplitV(value: _Value, size_splits: _Value, split_dim: _Value, *, num_split: int, T: _DType = ...,
        Tlen: _DType = ...) -> list[_Tensor]:
    """value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T. Tlen: int8 int32 int64."""

def Sqrt(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    complex64 float16.
    """

def SqrtGrad(y: _Value, dy: _Value, *, T: _DType = ...) -> _Tensor:
    """y: T, dy: T -> z: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

def Square(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64
    complex128. Accelerated for float32 bfloat16 float64 float16.
    """

def SquaredDifference(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 int32 int64 complex64 complex128. Accelerated for float32
    bfloat16 float64 float16.
    """

def Squeeze(input: _Value, *, T: _DType = ..., squeeze_dims: _Sequence[int] = ...) -> _Tensor:
    """input: T -> output: T."""

def StackCloseV2(handle: _Value) -> None:
    """handle: resource -> nothing."""

def StackPopV2(handle: _Value, *, elem_type: _DType) -> _Tensor:
    """handle: resource -> elem: elem_type."""

def StackPushV2(handle: _Value, elem: _Value, *, T: _DType = ..., swap_memory: bool = False) -> _Tensor:
    """handle: resource, elem: T -> output: T."""

def StackV2(max_size: _Value, *, elem_type: _DType, stack_name: str | bytes = "") -> _Tensor:
    """max_size: int32 -> handle: resource."""

def Stage(values: _Sequence[_Value], *, capacity: int = 0, memory_limit: int = 0, container: str | bytes = "",
        shared_name: str | bytes = "") -> None:
    """values: dtypes -> nothing."""

def StageClear(*, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType], container: str | bytes = "",
        shared_name: str | bytes = "") -> None:
    """nothing -> nothing."""

def StagePeek(index: _Value, *, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType],
        container: str | bytes = "", shared_name: str | bytes = "") -> list[_Tensor]:
    """index: int32 -> values: dtypes."""

def StageSize(*, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType], container: str | bytes = "",
        shared_name: str | bytes = "") -> _Tensor:
    """nothing -> size: int32."""

def StatefulRandomBinomial(resource: _Value, algorithm: _Value, shape: _Value, counts: _Value, probs: _Value, *,
        S: _DType = ..., T: _DType = ..., dtype: _DType = "int64") -> _Tensor:
    """resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype. S: int32 int64. T: float16
    float32 float64 int32 int64. dtype: float16 float32 float64 int32 int64.
    """

def StatefulStandardNormal(resource: _Value, shape: _Value, *, dtype: _DType = "float32",
        shape_dtype: _DType = ...) -> _Tensor:
    """resource: resource, shape: shape_dtype -> output: dtype. dtype: float16 bfloat16 float32 float64. shape_dtype:
    int32 int64.
    """

def StatefulStandardNormalV2(resource: _Value, algorithm: _Value, shape: _Value, *, dtype: _DType = "float32",
        shape_dtype: _DType = ...) -> _Tensor:
    """resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype. dtype: float16 bfloat16 float32
    float64. shape_dtype: int32 int64.
    """

def StatefulTruncatedNormal(resource: _Value, algorithm: _Value, shape: _Value, *, dtype: _DType = "float32",
        shape_dtype: _DType = ...) -> _Tensor:
    """resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype. dtype: float16 bfloat16 float32
    float64. shape_dtype: int32 int64.
    """

def StatefulUniform(resource: _Value, algorithm: _Value, shape: _Value, *, dtype: _DType = "float32",
        shape_dtype: _DType = ...) -> _Tensor:
    """resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype. dtype: float16 bfloat16 float32
    float64. shape_dtype: int32 int64.
    """

def StatefulUniformFullInt(resource: _Value, algorithm: _Value, shape: _Value, *, dtype: _DType = "uint64",
        shape_dtype: _DType = ...) -> _Tensor:
    """resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype. dtype: int32 int64 uint32 uint64.
    shape_dtype: int32 int64.
    """

def StatefulUniformInt(resource: _Value, algorithm: _Value, shape: _Value, minval: _Value, maxval: _Value, *,
        dtype: _DType = ..., shape_dtype: _DType = ...) -> _Tensor:
    """resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype -> output: dtype. dtype:
    int32 int64 uint32 uint64. shape_dtype: int32 int64.
    """

def StatelessMultinomial(logits: _Value, num_samples: _Value, seed: _Value, *, T: _DType = ..., Tseed: _DType = ...,
        output_dtype: _DType = "int64") -> _Tensor:
    """logits: T, num_samples: int32, seed: Tseed -> output: output_dtype. T: float32 float64 int32 uint8 int16 int8
    int64 bfloat16 uint16 float16 uint32 uint64. Tseed: int32 int64. output_dtype: int32 int64.
    """

def StatelessParameterizedTruncatedNormal(shape: _Value, seed: _Value, means: _Value, stddevs: _Value, minvals: _Value,
        maxvals: _Value, *, S: _DType = ..., Tseed: _DType = ..., dtype: _DType = ...) -> _Tensor:
    """shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype. S: int32
    int64. Tseed: int32 int64. dtype: float16 float32 float64.
    """

def StatelessRandomBinomial(shape: _Value, seed: _Value, counts: _Value, probs: _Value, *, S: _DType = ...,
        Tseed: _DType = ..., T: _DType = ..., dtype: _DType = "int64") -> _Tensor:
    """shape: S, seed: Tseed, counts: T, probs: T -> output: dtype. S: int32 int64. Tseed: int32 int64. T: float16
    float32 float64 int32 int64. dtype: float16 float32 float64 int32 int64.
    """

def StatelessRandomGammaV2(shape: _Value, seed: _Value, alpha: _Value, *, dtype: _DType = ..., T: _DType = ...,
        Tseed: _DType = ...) -> _Tensor:
    """shape: T, seed: Tseed, alpha: dtype -> output: dtype. dtype: float16 float32 float64. T: int32 int64. Tseed:
    int32 int64.
    """

def StatelessRandomGammaV3(shape: _Value, key: _Value, counter: _Value, alg: _Value, alpha: _Value, *,
        dtype: _DType = ..., shape_dtype: _DType = ...) -> _Tensor:
    """shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype -> output: dtype. dtype: float16
    float32 float64. shape_dtype: int32 int64.
    """

def StatelessRandomGetAlg() -> _Tensor:
    """nothing -> alg: int32."""

class _StatelessRandomGetKeyCounterOutputs(_NamedTuple):
    key: _Tensor
    counter: _Tensor

def StatelessRandomGetKeyCounter(seed: _Value, *, Tseed: _DType = ...) -> _StatelessRandomGetKeyCounterOutputs:
    """seed: Tseed -> key: uint64, counter: uint64. Tseed: int32 int64."""

class _StatelessRandomGetKeyCounterAlgOutputs(_NamedTuple):
    key: _Tensor
    counter: _Tensor
    alg: _Tensor

def StatelessRandomGetKeyCounterAlg(seed: _Value, *, Tseed: _DType = ...) -> _StatelessRandomGetKeyCounterAlgOutputs:
    """seed: Tseed -> key: uint64, counter: uint64, alg: int32. Tseed: int32 int64."""

def StatelessRandomNormal(shape: _Value, seed: _Value, *, dtype: _DType = "float32", T: _DType = ...,
        Tseed: _DType = ...) -> _Tensor:
    """shape: T, seed: Tseed -> output: dtype. dtype: float16 bfloat16 float32 float64. T: int32 int64. Tseed: int32
    int64.
    """

def StatelessRandomNormalV2(shape: _Value, key: _Value, counter: _Value, alg: _Value, *, dtype: _DType = "float32",
        Tshape: _DType = ...) -> _Tensor:
    """shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype. dtype: float16 bfloat16 float32
    float64. Tshape: int32 int64.
    """

def StatelessRandomPoisson(shape: _Value, seed: _Value, lam: _Value, *, Rtype: _DType = ..., dtype: _DType,
        T: _DType = ..., Tseed: _DType = ...) -> _Tensor:
    """shape: T, seed: Tseed, lam: Rtype -> output: dtype. Rtype: float16 float32 float64 int32 int64. dtype: float16
    float32 float64 int32 int64. T: int32 int64. Tseed: int32 int64.
    """

def StatelessRandomUniform(shape: _Value, seed: _Value, *, dtype: _DType = "float32", T: _DType = ...,
        Tseed: _DType = ...) -> _Tensor:
    """shape: T, seed: Tseed -> output: dtype. dtype: float16 bfloat16 float32 float64. T: int32 int64. Tseed: int32
    int64.
    """

def StatelessRandomUniformFullInt(shape: _Value, seed: _Value, *, dtype: _DType = "uint64", T: _DType = ...,
        Tseed: _DType = ...) -> _Tensor:
    """shape: T, seed: Tseed -> output: dtype. dtype: int32 int64 uint32 uint64. T: int32 int64. Tseed: int32 int64
    uint32 uint64.
    """

def StatelessRandomUniformFullIntV2(shape: _Value, key: _Value, counter: _Value, alg: _Value, *,
        dtype: _DType = "uint64", Tshape: _DType = ...) -> _Tensor:
    """shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype. dtype: int32 int64 uint32 uint64.
    Tshape: int32 int64.
    """

def StatelessRandomUniformInt(shape: _Value, seed: _Value, minval: _Value, maxval: _Value, *, dtype: _DType = ...,
        T: _DType = ..., Tseed: _DType = ...) -> _Tensor:
    """shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype. dtype: int32 int64. T: int32 int64. Tseed:
    int32 int64.
    """

def StatelessRandomUniformIntV2(shape: _Value, key: _Value, counter: _Value, alg: _Value, minval: _Value,
        maxval: _Value, *, dtype: _DType = ..., Tshape: _DType = ...) -> _Tensor:
    """shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype -> output: dtype. dtype:
    int32 int64 uint32 uint64. Tshape: int32 int64.
    """

def StatelessRandomUniformV2(shape: _Value, key: _Value, counter: _Value, alg: _Value, *, dtype: _DType = "float32",
        Tshape: _DType = ...) -> _Tensor:
    """shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype. dtype: float16 bfloat16 float32
    float64. Tshape: int32 int64.
    """

class _StatelessSampleDistortedBoundingBoxOutputs(_NamedTuple):
    begin: _Tensor
    size: _Tensor
    bboxes: _Tensor

def StatelessSampleDistortedBoundingBox(image_size: _Value, bounding_boxes: _Value, min_object_covered: _Value,
        seed: _Value, *, T: _DType = ..., Tseed: _DType = ..., aspect_ratio_range: _Sequence[float] = ...,
        area_range: _Sequence[float] = ..., max_attempts: int = 100,
        use_image_if_no_bounding_boxes: bool = False) -> _StatelessSampleDistortedBoundingBoxOutputs:
    """image_size: T, bounding_boxes: float32, min_object_covered: float32, seed: Tseed -> begin: T, size: T, bboxes:
    float32. T: uint8 int8 int16 int32 int64. Tseed: int32 int64.
    """

def StatelessShuffle(value: _Value, key: _Value, counter: _Value, alg: _Value, *, T: _DType = ...) -> _Tensor:
    """value: T, key: uint64, counter: uint64, alg: int32 -> output: T."""

def StatelessTruncatedNormal(shape: _Value, seed: _Value, *, dtype: _DType = "float32", T: _DType = ...,
        Tseed: _DType = ...) -> _Tensor:
    """shape: T, seed: Tseed -> output: dtype. dtype: float16 bfloat16 float32 float64. T: int32 int64. Tseed: int32
    int64.
    """

def StatelessTruncatedNormalV2(shape: _Value, key: _Value, counter: _Value, alg: _Value, *, dtype: _DType = "float32",
        Tshape: _DType = ...) -> _Tensor:
    """shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype. dtype: float16 bfloat16 float32
    float64. Tshape: int32 int64.
    """

def StaticRegexFullMatch(input: _Value, *, pattern: str | bytes) -> _Tensor:
    """input: string -> output: bool."""

def StaticRegexReplace(input: _Value, *, pattern: str | bytes, rewrite: str | bytes,
        replace_global: bool = True) -> _Tensor:
    """input: string -> output: string."""

def StopGradient(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T."""

def StridedSlice(input: _Value, begin: _Value, end: _Value, strides: _Value, *, T: _DType = ..., Index: _DType = ...,
        begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0,
        shrink_axis_mask: int = 0) -> _Tensor:
    """input: T, begin: Index, end: Index, strides: Index -> output: T. Index: int16 int32 int64."""

def StridedSliceGrad(shape: _Value, begin: _Value, end: _Value, strides: _Value, dy: _Value, *, T: _DType = ...,
        Index: _DType = ..., begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0,
        shrink_axis_mask: int = 0) -> _Tensor:
    """shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T. Index: int32 int64."""

def StringFormat(inputs: _Sequence[_Value], *, template: str | bytes = "%s", placeholder: str | bytes = "%s",
        summarize: int = 3) -> _Tensor:
    """inputs: T -> output: string."""

def StringJoin(inputs: _Sequence[_Value], *, separator: str | bytes = "") -> _Tensor:
    """inputs: N * string -> output: string."""

def StringLength(input: _Value, *, unit: str | bytes = "BYTE") -> _Tensor:
    """input: string -> output: int32."""

def StringLower(input: _Value, *, encoding: str | bytes = "") -> _Tensor:
    """input: string -> output: string."""

class _StringNGramsOutputs(_NamedTuple):
    ngrams: _Tensor
    ngrams_splits: _Tensor

def StringNGrams(data: _Value, data_splits: _Value, *, separator: str | bytes, ngram_widths: _Sequence[int],
        left_pad: str | bytes, right_pad: str | bytes, pad_width: int, preserve_short_sequences: bool,
        Tsplits: _DType = ...) -> _StringNGramsOutputs:
    """data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits. Tsplits: int32 int64."""

class _StringSplitOutputs(_NamedTuple):
    indices: _Tensor
    values: _Tensor
    shape: _Tensor

def StringSplit(input: _Value, delimiter: _Value, *, skip_empty: bool = True) -> _StringSplitOutputs:
    """input: string, delimiter: string -> indices: int64, values: string, shape: int64."""

class _StringSplitV2Outputs(_NamedTuple):
    indices: _Tensor
    values: _Tensor
    shape: _Tensor

def StringSplitV2(input: _Value, sep: _Value, *, maxsplit: int = -1) -> _StringSplitV2Outputs:
    """input: string, sep: string -> indices: int64, values: string, shape: int64."""

def StringStrip(input: _Value) -> _Tensor:
    """input: string -> output: string."""

def StringToHashBucket(string_tensor: _Value, *, num_buckets: int) -> _Tensor:
    """string_tensor: string -> output: int64."""

def StringToHashBucketFast(input: _Value, *, num_buckets: int) -> _Tensor:
    """input: string -> output: int64."""

def StringToHashBucketStrong(input: _Value, *, num_buckets: int, key: _Sequence[int]) -> _Tensor:
    """input: string -> output: int64."""

def StringToNumber(string_tensor: _Value, *, out_type: _DType = "float32") -> _Tensor:
    """string_tensor: string -> output: out_type. out_type: float32 float64 int32 int64 uint32 uint64."""

def StringUpper(input: _Value, *, encoding: str | bytes = "") -> _Tensor:
    """input: string -> output: string."""

def Sub(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 uint8 uint16 uint32 uint64 int8 int16 int32 int64
    complex64 complex128. Accelerated for float32 bfloat16 float64 float16.
    """

def Substr(input: _Value, pos: _Value, len: _Value, *, T: _DType = ..., unit: str | bytes = "BYTE") -> _Tensor:
    """input: string, pos: T, len: T -> output: string. T: int32 int64."""

def Sum(input: _Value, reduction_indices: _Value, *, keep_dims: bool = False, T: _DType = ...,
        Tidx: _DType = ...) -> _Tensor:
    """input: T, reduction_indices: Tidx -> output: T. T: float32 float64 int32 uint8 int16 int8 complex64 int64
    bfloat16 uint16 complex128 float16 uint32 uint64. Tidx: int32 int64. Accelerated for float32 float16.
    """

class _SvdOutputs(_NamedTuple):
    s: _Tensor
    u: _Tensor
    v: _Tensor

def Svd(input: _Value, *, compute_uv: bool = True, full_matrices: bool = False, T: _DType = ...) -> _SvdOutputs:
    """input: T -> s: T, u: T, v: T. T: float64 float32 complex64 complex128."""

class _TakeManySparseFromTensorsMapOutputs(_NamedTuple):
    sparse_indices: _Tensor
    sparse_values: _Tensor
    sparse_shape: _Tensor

def TakeManySparseFromTensorsMap(sparse_handles: _Value, *, dtype: _DType, container: str | bytes = "",
        shared_name: str | bytes = "") -> _TakeManySparseFromTensorsMapOutputs:
    """sparse_handles: int64 -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64."""

def Tan(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def Tanh(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16 float64
    float16.
    """

def TanhGrad(y: _Value, dy: _Value, *, T: _DType = ...) -> _Tensor:
    """y: T, dy: T -> z: T. T: bfloat16 float16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

def TensorArrayCloseV3(handle: _Value) -> None:
    """handle: resource -> nothing."""

class _TensorArrayConcatV3Outputs(_NamedTuple):
    value: _Tensor
    lengths: _Tensor

def TensorArrayConcatV3(handle: _Value, flow_in: _Value, *, dtype: _DType,
        element_shape_except0: _Shape = ...) -> _TensorArrayConcatV3Outputs:
    """handle: resource, flow_in: float32 -> value: dtype, lengths: int64."""

def TensorArrayGatherV3(handle: _Value, indices: _Value, flow_in: _Value, *, dtype: _DType,
        element_shape: _Shape = ...) -> _Tensor:
    """handle: resource, indices: int32, flow_in: float32 -> value: dtype."""

class _TensorArrayGradV3Outputs(_NamedTuple):
    grad_handle: _Tensor
    flow_out: _Tensor

def TensorArrayGradV3(handle: _Value, flow_in: _Value, *, source: str | bytes) -> _TensorArrayGradV3Outputs:
    """handle: resource, flow_in: float32 -> grad_handle: resource, flow_out: float32."""

class _TensorArrayGradWithShapeOutputs(_NamedTuple):
    grad_handle: _Tensor
    flow_out: _Tensor

def TensorArrayGradWithShape(handle: _Value, flow_in: _Value, shape_to_prepend: _Value, *,
        source: str | bytes) -> _TensorArrayGradWithShapeOutputs:
    """handle: resource, flow_in: float32, shape_to_prepend: int32 -> grad_handle: resource, flow_out: float32."""

def TensorArrayReadV3(handle: _Value, index: _Value, flow_in: _Value, *, dtype: _DType) -> _Tensor:
    """handle: resource, index: int32, flow_in: float32 -> value: dtype."""

def TensorArrayScatterV3(handle: _Value, indices: _Value, value: _Value, flow_in: _Value, *,
        T: _DType = ...) -> _Tensor:
    """handle: resource, indices: int32, value: T, flow_in: float32 -> flow_out: float32."""

def TensorArraySizeV3(handle: _Value, flow_in: _Value) -> _Tensor:
    """handle: resource, flow_in: float32 -> size: int32."""

def TensorArraySplitV3(handle: _Value, value: _Value, lengths: _Value, flow_in: _Value, *, T: _DType = ...) -> _Tensor:
    """handle: resource, value: T, lengths: int64, flow_in: float32 -> flow_out: float32."""

class _TensorArrayV3Outputs(_NamedTuple):
    handle: _Tensor
    flow: _Tensor

def TensorArrayV3(size: _Value, *, dtype: _DType, element_shape: _Shape = ..., dynamic_size: bool = False,
        clear_after_read: bool = True, identical_element_shapes: bool = False,
        tensor_array_name: str | bytes = "") -> _TensorArrayV3Outputs:
    """size: int32 -> handle: resource, flow: float32."""

def TensorArrayWriteV3(handle: _Value, index: _Value, value: _Value, flow_in: _Value, *, T: _DType = ...) -> _Tensor:
    """handle: resource, index: int32, value: T, flow_in: float32 -> flow_out: float32."""

class _TensorListConcatOutputs(_NamedTuple):
    tensor: _Tensor
    lengths: _Tensor

def TensorListConcat(input_handle: _Value, *, element_dtype: _DType,
        element_shape: _Shape = ...) -> _TensorListConcatOutputs:
    """input_handle: variant -> tensor: element_dtype, lengths: int64."""

def TensorListConcatLists(input_a: _Value, input_b: _Value, *, element_dtype: _DType) -> _Tensor:
    """input_a: variant, input_b: variant -> output: variant."""

class _TensorListConcatV2Outputs(_NamedTuple):
    tensor: _Tensor
    lengths: _Tensor

def TensorListConcatV2(input_handle: _Value, element_shape: _Value, leading_dims: _Value, *, element_dtype: _DType,
        shape_type: _DType = ...) -> _TensorListConcatV2Outputs:
    """input_handle: variant, element_shape: shape_type, leading_dims: int64 -> tensor: element_dtype, lengths: int64.
    shape_type: int32 int64.
    """

def TensorListElementShape(input_handle: _Value, *, shape_type: _DType) -> _Tensor:
    """input_handle: variant -> element_shape: shape_type. shape_type: int32 int64."""

def TensorListFromTensor(tensor: _Value, element_shape: _Value, *, element_dtype: _DType = ...,
        shape_type: _DType = ...) -> _Tensor:
    """tensor: element_dtype, element_shape: shape_type -> output_handle: variant. shape_type: int32 int64."""

def TensorListGather(input_handle: _Value, indices: _Value, element_shape: _Value, *, element_dtype: _DType) -> _Tensor:
    """input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype."""

def TensorListGetItem(input_handle: _Value, index: _Value, element_shape: _Value, *, element_dtype: _DType) -> _Tensor:
    """input_handle: variant, index: int32, element_shape: int32 -> item: element_dtype."""

def TensorListLength(input_handle: _Value) -> _Tensor:
    """input_handle: variant -> length: int32."""

class _TensorListPopBackOutputs(_NamedTuple):
    output_handle: _Tensor
    tensor: _Tensor

def TensorListPopBack(input_handle: _Value, element_shape: _Value, *,
        element_dtype: _DType) -> _TensorListPopBackOutputs:
    """input_handle: variant, element_shape: int32 -> output_handle: variant, tensor: element_dtype."""

def TensorListPushBack(input_handle: _Value, tensor: _Value, *, element_dtype: _DType = ...) -> _Tensor:
    """input_handle: variant, tensor: element_dtype -> output_handle: variant."""

def TensorListPushBackBatch(input_handles: _Value, tensor: _Value, *, element_dtype: _DType = ...) -> _Tensor:
    """input_handles: variant, tensor: element_dtype -> output_handles: variant."""

def TensorListReserve(element_shape: _Value, num_elements: _Value, *, element_dtype: _DType,
        shape_type: _DType = ...) -> _Tensor:
    """element_shape: shape_type, num_elements: int32 -> handle: variant. shape_type: int32 int64."""

def TensorListResize(input_handle: _Value, size: _Value) -> _Tensor:
    """input_handle: variant, size: int32 -> output_handle: variant."""

def TensorListScatter(tensor: _Value, indices: _Value, element_shape: _Value, *, element_dtype: _DType = ...,
        shape_type: _DType = ...) -> _Tensor:
    """tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant. shape_type: int32
    int64.
    """

def TensorListScatterIntoExistingList(input_handle: _Value, tensor: _Value, indices: _Value, *,
        element_dtype: _DType = ...) -> _Tensor:
    """input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant."""

def TensorListScatterV2(tensor: _Value, indices: _Value, element_shape: _Value, num_elements: _Value, *,
        element_dtype: _DType = ..., shape_type: _DType = ...) -> _Tensor:
    """tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 -> output_handle: variant.
    shape_type: int32 int64.
    """

def TensorListSetItem(input_handle: _Value, index: _Value, item: _Value, *, element_dtype: _DType = ...,
        resize_if_index_out_of_bounds: bool = False) -> _Tensor:
    """input_handle: variant, index: int32, item: element_dtype -> output_handle: variant."""

def TensorListSplit(tensor: _Value, element_shape: _Value, lengths: _Value, *, element_dtype: _DType = ...,
        shape_type: _DType = ...) -> _Tensor:
    """tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant. shape_type: int32
    int64.
    """

def TensorListStack(input_handle: _Value, element_shape: _Value, *, element_dtype: _DType,
        num_elements: int = -1) -> _Tensor:
    """input_handle: variant, element_shape: int32 -> tensor: element_dtype."""

def TensorMapErase(input_handle: _Value, key: _Value, *, key_dtype: _DType = ..., value_dtype: _DType) -> _Tensor:
    """input_handle: variant, key: key_dtype -> output_handle: variant."""

def TensorMapHasKey(input_handle: _Value, key: _Value, *, key_dtype: _DType = ...) -> _Tensor:
    """input_handle: variant, key: key_dtype -> has_key: bool."""

def TensorMapInsert(input_handle: _Value, key: _Value, value: _Value, *, key_dtype: _DType = ...,
        value_dtype: _DType = ...) -> _Tensor:
    """input_handle: variant, key: key_dtype, value: value_dtype -> output_handle: variant."""

def TensorMapLookup(input_handle: _Value, key: _Value, *, key_dtype: _DType = ..., value_dtype: _DType) -> _Tensor:
    """input_handle: variant, key: key_dtype -> value: value_dtype."""

def TensorMapSize(input_handle: _Value) -> _Tensor:
    """input_handle: variant -> size: int32."""

def TensorMapStackKeys(input_handle: _Value, *, key_dtype: _DType) -> _Tensor:
    """input_handle: variant -> keys: key_dtype."""

def TensorScatterAdd(tensor: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        bad_indices_policy: str | bytes = "") -> _Tensor:
    """tensor: T, indices: Tindices, updates: T -> output: T. Tindices: int32 int64."""

def TensorScatterMax(tensor: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        bad_indices_policy: str | bytes = "") -> _Tensor:
    """tensor: T, indices: Tindices, updates: T -> output: T. Tindices: int32 int64."""

def TensorScatterMin(tensor: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        bad_indices_policy: str | bytes = "") -> _Tensor:
    """tensor: T, indices: Tindices, updates: T -> output: T. Tindices: int32 int64."""

def TensorScatterSub(tensor: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        bad_indices_policy: str | bytes = "") -> _Tensor:
    """tensor: T, indices: Tindices, updates: T -> output: T. Tindices: int32 int64."""

def TensorScatterUpdate(tensor: _Value, indices: _Value, updates: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        bad_indices_policy: str | bytes = "") -> _Tensor:
    """tensor: T, indices: Tindices, updates: T -> output: T. Tindices: int16 int32 int64 uint16."""

def TensorStridedSliceUpdate(input: _Value, begin: _Value, end: _Value, strides: _Value, value: _Value, *,
        T: _DType = ..., Index: _DType = ..., begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0,
        new_axis_mask: int = 0, shrink_axis_mask: int = 0) -> _Tensor:
    """input: T, begin: Index, end: Index, strides: Index, value: T -> output: T. Index: int32 int64."""

def TensorSummaryV2(tag: _Value, tensor: _Value, serialized_summary_metadata: _Value, *, T: _DType = ...) -> _Tensor:
    """tag: string, tensor: T, serialized_summary_metadata: string -> summary: string. T: float16 bfloat16 float32
    float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128 string.
    """

class _ThreadUnsafeUnigramCandidateSamplerOutputs(_NamedTuple):
    sampled_candidates: _Tensor
    true_expected_count: _Tensor
    sampled_expected_count: _Tensor

def ThreadUnsafeUnigramCandidateSampler(true_classes: _Value, *, num_true: int, num_sampled: int, unique: bool,
        range_max: int, seed: int = 0, seed2: int = 0) -> _ThreadUnsafeUnigramCandidateSamplerOutputs:
    """true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32.
    """

def Tile(input: _Value, multiples: _Value, *, T: _DType = ..., Tmultiples: _DType = ...) -> _Tensor:
    """input: T, multiples: Tmultiples -> output: T. Tmultiples: int32 int64."""

def TileGrad(input: _Value, multiples: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T, multiples: int32 -> output: T. T: float32 float64 int16 int32 int64 float16 bfloat16 complex64
    complex128.
    """

def Timestamp() -> _Tensor:
    """nothing -> ts: float64."""

def ToBool(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: bool."""

class _TokenizerFromLogitsOutputs(_NamedTuple):
    output_values: _Tensor
    row_splits: _Tensor
    start_values: _Tensor
    limit_values: _Tensor

def TokenizerFromLogits(strings: _Value, logits: _Value,
        force_split_at_break_character: _Value) -> _TokenizerFromLogitsOutputs:
    """strings: string, logits: float32, force_split_at_break_character: bool -> output_values: string, row_splits:
    int64, start_values: int64, limit_values: int64.
    """

class _TopKOutputs(_NamedTuple):
    values: _Tensor
    indices: _Tensor

def TopK(input: _Value, *, k: int, sorted: bool = True, T: _DType = ...) -> _TopKOutputs:
    """input: T -> values: T, indices: int32. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16
    uint32 uint64.
    """

class _TopKV2Outputs(_NamedTuple):
    values: _Tensor
    indices: _Tensor

def TopKV2(input: _Value, k: _Value, *, sorted: bool = True, T: _DType = ..., Tk: _DType = ...,
        index_type: _DType = "int32") -> _TopKV2Outputs:
    """input: T, k: Tk -> values: T, indices: index_type. T: float32 float64 int32 uint8 int16 int8 int64 bfloat16
    uint16 float16 uint32 uint64. Tk: int16 int32 int64. index_type: int16 int32 int64.
    """

def Transpose(x: _Value, perm: _Value, *, T: _DType = ..., Tperm: _DType = ...) -> _Tensor:
    """x: T, perm: Tperm -> y: T. Tperm: int32 int64. Accelerated for float32 bfloat16 float16 float64 int8 int16 int32
    int64 uint8 uint16 uint32 uint64 bool complex64 complex128.
    """

def TridiagonalMatMul(superdiag: _Value, maindiag: _Value, subdiag: _Value, rhs: _Value, *, T: _DType = ...) -> _Tensor:
    """superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T. T: float64 float32 complex64 complex128."""

def TridiagonalSolve(diagonals: _Value, rhs: _Value, *, partial_pivoting: bool = True, perturb_singular: bool = False,
        T: _DType = ...) -> _Tensor:
    """diagonals: T, rhs: T -> output: T. T: float64 float32 complex64 complex128."""

def TruncateDiv(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: bfloat16 float16 float32 float64 uint8 int8 uint16 int16 int32 uint32 uint64 int64
    complex64 complex128.
    """

def TruncateMod(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: int32 int64 bfloat16 float16 float32 float64."""

def TruncatedNormal(shape: _Value, *, seed: int = 0, seed2: int = 0, dtype: _DType, T: _DType = ...) -> _Tensor:
    """shape: T -> output: dtype. dtype: float16 bfloat16 float32 float64. T: int32 int64."""

def Unbatch(batched_tensor: _Value, batch_index: _Value, id: _Value, *, timeout_micros: int,
        container: str | bytes = "", shared_name: str | bytes = "", T: _DType = ...) -> _Tensor:
    """batched_tensor: T, batch_index: int64, id: int64 -> unbatched_tensor: T."""

def UnbatchGrad(original_input: _Value, batch_index: _Value, grad: _Value, id: _Value, *, container: str | bytes = "",
        shared_name: str | bytes = "", T: _DType = ...) -> _Tensor:
    """original_input: T, batch_index: int64, grad: T, id: int64 -> batched_grad: T."""

class _UnicodeDecodeOutputs(_NamedTuple):
    row_splits: _Tensor
    char_values: _Tensor

def UnicodeDecode(input: _Value, *, input_encoding: str | bytes, errors: str | bytes = "replace",
        replacement_char: int = 65533, replace_control_characters: bool = False,
        Tsplits: _DType = "int64") -> _UnicodeDecodeOutputs:
    """input: string -> row_splits: Tsplits, char_values: int32. Tsplits: int32 int64."""

class _UnicodeDecodeWithOffsetsOutputs(_NamedTuple):
    row_splits: _Tensor
    char_values: _Tensor
    char_to_byte_starts: _Tensor

def UnicodeDecodeWithOffsets(input: _Value, *, input_encoding: str | bytes, errors: str | bytes = "replace",
        replacement_char: int = 65533, replace_control_characters: bool = False,
        Tsplits: _DType = "int64") -> _UnicodeDecodeWithOffsetsOutputs:
    """input: string -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64. Tsplits: int32 int64."""

def UnicodeEncode(input_values: _Value, input_splits: _Value, *, errors: str | bytes = "replace",
        output_encoding: str | bytes, replacement_char: int = 65533, Tsplits: _DType = ...) -> _Tensor:
    """input_values: int32, input_splits: Tsplits -> output: string. Tsplits: int32 int64."""

def UnicodeScript(input: _Value) -> _Tensor:
    """input: int32 -> output: int32."""

class _UnicodeScriptTokenizeWithOffsetsOutputs(_NamedTuple):
    output_values: _Tensor
    output_values_inner_splits: _Tensor
    output_offset_starts: _Tensor
    output_offset_limits: _Tensor
    output_outer_splits: _Tensor

def UnicodeScriptTokenizeWithOffsets(input_values: _Value, input_splits: _Value, *, Tsplits: _DType = ...,
        keep_whitespace: bool = False) -> _UnicodeScriptTokenizeWithOffsetsOutputs:
    """input_values: int32, input_splits: Tsplits -> output_values: int32, output_values_inner_splits: Tsplits,
    output_offset_starts: int64, output_offset_limits: int64, output_outer_splits: Tsplits. Tsplits: int32 int64.
    """

def UnicodeTranscode(input: _Value, *, input_encoding: str | bytes, output_encoding: str | bytes,
        errors: str | bytes = "replace", replacement_char: int = 65533,
        replace_control_characters: bool = False) -> _Tensor:
    """input: string -> output: string."""

class _UniformCandidateSamplerOutputs(_NamedTuple):
    sampled_candidates: _Tensor
    true_expected_count: _Tensor
    sampled_expected_count: _Tensor

def UniformCandidateSampler(true_classes: _Value, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
        seed: int = 0, seed2: int = 0) -> _UniformCandidateSamplerOutputs:
    """true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32.
    """

def UniformDequantize(input: _Value, scales: _Value, zero_points: _Value, *, Tin: _DType = ..., Tout: _DType,
        quantization_axis: int = -1, quantization_min_val: int, quantization_max_val: int) -> _Tensor:
    """input: Tin, scales: float32, zero_points: int32 -> output: Tout. Tin: qint8 quint8 qint32. Tout: float32."""

def UniformQuantize(input: _Value, scales: _Value, zero_points: _Value, *, Tin: _DType = ..., Tout: _DType,
        quantization_axis: int = -1, quantization_min_val: int, quantization_max_val: int) -> _Tensor:
    """input: Tin, scales: float32, zero_points: int32 -> output: Tout. Tin: float32. Tout: qint8 quint8 qint32."""

def UniformQuantizedAdd(lhs: _Value, rhs: _Value, lhs_scales: _Value, lhs_zero_points: _Value, rhs_scales: _Value,
        rhs_zero_points: _Value, output_scales: _Value, output_zero_points: _Value, *, lhs_quantization_axis: int = -1,
        lhs_quantization_min_val: int, lhs_quantization_max_val: int, rhs_quantization_axis: int = -1,
        rhs_quantization_min_val: int, rhs_quantization_max_val: int, output_quantization_axis: int = -1,
        output_quantization_min_val: int, output_quantization_max_val: int, T: _DType = ...) -> _Tensor:
    """lhs: T, rhs: T, lhs_scales: float32, lhs_zero_points: int32, rhs_scales: float32, rhs_zero_points: int32,
    output_scales: float32, output_zero_points: int32 -> output: T. T: qint32.
    """

def UniformQuantizedClipByValue(operand: _Value, min: _Value, max: _Value, scales: _Value, zero_points: _Value, *,
        T: _DType = ..., quantization_axis: int = -1, quantization_min_val: int, quantization_max_val: int) -> _Tensor:
    """operand: T, min: T, max: T, scales: float32, zero_points: int32 -> output: T. T: qint32."""

def UniformQuantizedConvolution(lhs: _Value, rhs: _Value, lhs_scales: _Value, lhs_zero_points: _Value,
        rhs_scales: _Value, rhs_zero_points: _Value, output_scales: _Value, output_zero_points: _Value, *,
        Tin: _DType = ..., Tout: _DType, window_strides: _Sequence[int] = ..., padding: str | bytes,
        explicit_padding: _Sequence[int] = ..., lhs_dilation: _Sequence[int] = ..., rhs_dilation: _Sequence[int] = ...,
        batch_group_count: int = 1, feature_group_count: int = 1, dimension_numbers: str | bytes = "",
        lhs_quantization_axis: int = -1, lhs_quantization_min_val: int, lhs_quantization_max_val: int,
        rhs_quantization_axis: int = -1, rhs_quantization_min_val: int, rhs_quantization_max_val: int,
        output_quantization_axis: int = -1, output_quantization_min_val: int,
        output_quantization_max_val: int) -> _Tensor:
    """lhs: Tin, rhs: Tin, lhs_scales: float32, lhs_zero_points: int32, rhs_scales: float32, rhs_zero_points: int32,
    output_scales: float32, output_zero_points: int32 -> output: Tout. Tin: qint8. Tout: qint32.
    """

def UniformQuantizedConvolutionHybrid(lhs: _Value, rhs: _Value, rhs_scales: _Value, rhs_zero_points: _Value, *,
        Tlhs: _DType = ..., Trhs: _DType = ..., Tout: _DType, window_strides: _Sequence[int] = ...,
        padding: str | bytes, explicit_padding: _Sequence[int] = ..., lhs_dilation: _Sequence[int] = ...,
        rhs_dilation: _Sequence[int] = ..., batch_group_count: int = 1, feature_group_count: int = 1,
        dimension_numbers: str | bytes = "", rhs_quantization_axis: int = -1, rhs_quantization_min_val: int,
        rhs_quantization_max_val: int) -> _Tensor:
    """lhs: Tlhs, rhs: Trhs, rhs_scales: float32, rhs_zero_points: int32 -> output: Tout. Tlhs: float32. Trhs: qint8.
    Tout: float32.
    """

def UniformQuantizedDot(lhs: _Value, rhs: _Value, lhs_scales: _Value, lhs_zero_points: _Value, rhs_scales: _Value,
        rhs_zero_points: _Value, output_scales: _Value, output_zero_points: _Value, *, Tin: _DType = ..., Tout: _DType,
        lhs_quantization_axis: int = -1, lhs_quantization_min_val: int, lhs_quantization_max_val: int,
        rhs_quantization_axis: int = -1, rhs_quantization_min_val: int, rhs_quantization_max_val: int,
        output_quantization_axis: int = -1, output_quantization_min_val: int,
        output_quantization_max_val: int) -> _Tensor:
    """lhs: Tin, rhs: Tin, lhs_scales: float32, lhs_zero_points: int32, rhs_scales: float32, rhs_zero_points: int32,
    output_scales: float32, output_zero_points: int32 -> output: Tout. Tin: qint8. Tout: qint32.
    """

def UniformQuantizedDotHybrid(lhs: _Value, rhs: _Value, rhs_scales: _Value, rhs_zero_points: _Value, *,
        Tlhs: _DType = ..., Trhs: _DType = ..., Tout: _DType, rhs_quantization_axis: int = -1,
        rhs_quantization_min_val: int, rhs_quantization_max_val: int) -> _Tensor:
    """lhs: Tlhs, rhs: Trhs, rhs_scales: float32, rhs_zero_points: int32 -> output: Tout. Tlhs: float32. Trhs: qint8.
    Tout: float32.
    """

def UniformRequantize(input: _Value, input_scales: _Value, input_zero_points: _Value, output_scales: _Value,
        output_zero_points: _Value, *, Tin: _DType = ..., Tout: _DType, input_quantization_axis: int = -1,
        input_quantization_min_val: int, input_quantization_max_val: int, output_quantization_axis: int = -1,
        output_quantization_min_val: int, output_quantization_max_val: int) -> _Tensor:
    """input: Tin, input_scales: float32, input_zero_points: int32, output_scales: float32, output_zero_points: int32 ->
    output: Tout. Tin: qint8 qint32. Tout: qint8.
    """

class _UniqueOutputs(_NamedTuple):
    y: _Tensor
    idx: _Tensor

def Unique(x: _Value, *, T: _DType = ..., out_idx: _DType = "int32") -> _UniqueOutputs:
    """x: T -> y: T, idx: out_idx. out_idx: int32 int64."""

class _UniqueV2Outputs(_NamedTuple):
    y: _Tensor
    idx: _Tensor

def UniqueV2(x: _Value, axis: _Value, *, T: _DType = ..., Taxis: _DType = ...,
        out_idx: _DType = "int32") -> _UniqueV2Outputs:
    """x: T, axis: Taxis -> y: T, idx: out_idx. Taxis: int32 int64. out_idx: int32 int64."""

class _UniqueWithCountsOutputs(_NamedTuple):
    y: _Tensor
    idx: _Tensor
    count: _Tensor  # type: ignore

def UniqueWithCounts(x: _Value, *, T: _DType = ..., out_idx: _DType = "int32") -> _UniqueWithCountsOutputs:
    """x: T -> y: T, idx: out_idx, count: out_idx. out_idx: int32 int64."""

class _UniqueWithCountsV2Outputs(_NamedTuple):
    y: _Tensor
    idx: _Tensor
    count: _Tensor  # type: ignore

def UniqueWithCountsV2(x: _Value, axis: _Value, *, T: _DType = ..., Taxis: _DType = ...,
        out_idx: _DType = "int32") -> _UniqueWithCountsV2Outputs:
    """x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx. Taxis: int32 int64. out_idx: int32 int64."""

def Unpack(value: _Value, *, num: int, T: _DType = ..., axis: int = 0) -> list[_Tensor]:
    """value: T -> output: num * T."""

def UnravelIndex(indices: _Value, dims: _Value, *, Tidx: _DType = ...) -> _Tensor:
    """indices: Tidx, dims: Tidx -> output: Tidx. Tidx: int32 int64."""

def UnsortedSegmentJoin(inputs: _Value, segment_ids: _Value, num_segments: _Value, *, separator: str | bytes = "",
        Tindices: _DType = ..., Tnumsegments: _DType = ...) -> _Tensor:
    """inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string. Tindices: int32 int64.
    Tnumsegments: int32 int64.
    """

def UnsortedSegmentMax(data: _Value, segment_ids: _Value, num_segments: _Value, *, T: _DType = ...,
        Tindices: _DType = ..., Tnumsegments: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T. T: float32 float64 int32 uint8 int16
    int8 int64 bfloat16 uint16 float16 uint32 uint64. Tindices: int32 int64. Tnumsegments: int32 int64.
    """

def UnsortedSegmentMin(data: _Value, segment_ids: _Value, num_segments: _Value, *, T: _DType = ...,
        Tindices: _DType = ..., Tnumsegments: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T. T: float32 float64 int32 uint8 int16
    int8 int64 bfloat16 uint16 float16 uint32 uint64. Tindices: int32 int64. Tnumsegments: int32 int64.
    """

def UnsortedSegmentProd(data: _Value, segment_ids: _Value, num_segments: _Value, *, T: _DType = ...,
        Tindices: _DType = ..., Tnumsegments: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T. T: float32 float64 int32 uint8 int16
    int8 complex64 int64 bfloat16 uint16 complex128 float16 uint32 uint64. Tindices: int32 int64. Tnumsegments: int32
    int64.
    """

def UnsortedSegmentSum(data: _Value, segment_ids: _Value, num_segments: _Value, *, T: _DType = ...,
        Tindices: _DType = ..., Tnumsegments: _DType = ...) -> _Tensor:
    """data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T. T: float32 float64 int32 uint8 int16
    int8 complex64 int64 bfloat16 uint16 complex128 float16 uint32 uint64. Tindices: int16 int32 int64. Tnumsegments:
    int32 int64.
    """

def Unstage(*, capacity: int = 0, memory_limit: int = 0, dtypes: _Sequence[_DType], container: str | bytes = "",
        shared_name: str | bytes = "") -> list[_Tensor]:
    """nothing -> values: dtypes."""

def UpperBound(sorted_inputs: _Value, values: _Value, *, T: _DType = ..., out_type: _DType = "int32") -> _Tensor:
    """sorted_inputs: T, values: T -> output: out_type. out_type: int32 int64."""

def VarIsInitializedOp(resource: _Value) -> _Tensor:
    """resource: resource -> is_initialized: bool."""

def VariableShape(input: _Value, *, out_type: _DType = "int32") -> _Tensor:
    """input: resource -> output: out_type. out_type: int32 int64."""

def Where(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> index: int64. T: float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128
    float16 uint32 uint64 bool.
    """

class _WhitespaceTokenizeWithOffsetsOutputs(_NamedTuple):
    output_values: _Tensor
    output_values_inner_splits: _Tensor
    output_offset_starts: _Tensor
    output_offset_limits: _Tensor
    output_outer_splits: _Tensor

def WhitespaceTokenizeWithOffsets(input_values: _Value, input_splits: _Value, *,
        Tsplits: _DType = ...) -> _WhitespaceTokenizeWithOffsetsOutputs:
    """input_values: int32, input_splits: Tsplits -> output_values: int32, output_values_inner_splits: Tsplits,
    output_offset_starts: int64, output_offset_limits: int64, output_outer_splits: Tsplits. Tsplits: int32 int64.
    """

def Xdivy(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: float16 bfloat16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

class _XlaBroadcastHelperOutputs(_NamedTuple):
    lhs_output: _Tensor
    rhs_output: _Tensor

def XlaBroadcastHelper(lhs: _Value, rhs: _Value, broadcast_dims: _Value, *, T: _DType = ...,
        Tindices: _DType = ...) -> _XlaBroadcastHelperOutputs:
    """lhs: T, rhs: T, broadcast_dims: Tindices -> lhs_output: T, rhs_output: T. T: float32 float64 float16 bfloat16
    int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128 qint8 quint8 qint32. Tindices: int32 int64.
    """

def XlaClusterOutput(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> outputs: T."""

def XlaConcatND(inputs: _Sequence[_Value], *, T: _DType = ..., num_concats: _Sequence[int],
        paddings: _Sequence[int] = ...) -> _Tensor:
    """inputs: N * T -> output: T. T: float32 float64 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64
    bool complex64 complex128 qint8 quint8 qint32.
    """

def XlaConv(lhs: _Value, rhs: _Value, window_strides: _Value, padding: _Value, lhs_dilation: _Value,
        rhs_dilation: _Value, feature_group_count: _Value, *, T: _DType = ..., Tindices: _DType = ...,
        dimension_numbers: str | bytes, precision_config: str | bytes) -> _Tensor:
    """lhs: T, rhs: T, window_strides: Tindices, padding: Tindices, lhs_dilation: Tindices, rhs_dilation: Tindices,
    feature_group_count: Tindices -> output: T. T: float32 float64 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32
    int64 uint64 complex64 complex128. Tindices: int32 int64.
    """

def XlaConvV2(lhs: _Value, rhs: _Value, window_strides: _Value, padding: _Value, lhs_dilation: _Value,
        rhs_dilation: _Value, feature_group_count: _Value, *, LhsT: _DType = ..., RhsT: _DType = ...,
        Tindices: _DType = ..., dimension_numbers: str | bytes, precision_config: str | bytes,
        preferred_element_type: _DType, batch_group_count: int = 1) -> _Tensor:
    """lhs: LhsT, rhs: RhsT, window_strides: Tindices, padding: Tindices, lhs_dilation: Tindices, rhs_dilation:
    Tindices, feature_group_count: Tindices -> output: preferred_element_type. LhsT: float32 float64 float16 bfloat16
    int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128. RhsT: float32 float64 float16 bfloat16 int8
    uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128. preferred_element_type: float32 float64 float16
    bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128. Tindices: int32 int64.
    """

def XlaDequantize(input: _Value, *, min_range: float, max_range: float, mode: str | bytes,
        transpose_output: bool) -> _Tensor:
    """input: uint32 -> output: bfloat16."""

def XlaDot(lhs: _Value, rhs: _Value, *, T: _DType = ..., dimension_numbers: str | bytes,
        precision_config: str | bytes) -> _Tensor:
    """lhs: T, rhs: T -> output: T. T: float32 float64 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64
    uint64 complex64 complex128.
    """

def XlaDotV2(lhs: _Value, rhs: _Value, *, LhsT: _DType = ..., RhsT: _DType = ..., dimension_numbers: str | bytes,
        precision_config: str | bytes, preferred_element_type: _DType) -> _Tensor:
    """lhs: LhsT, rhs: RhsT -> output: preferred_element_type. LhsT: float32 float64 float16 bfloat16 int8 uint8 int16
    uint16 int32 uint32 int64 uint64 complex64 complex128. RhsT: float32 float64 float16 bfloat16 int8 uint8 int16
    uint16 int32 uint32 int64 uint64 complex64 complex128. preferred_element_type: float32 float64 float16 bfloat16 int8
    uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128.
    """

def XlaDynamicSlice(input: _Value, start_indices: _Value, size_indices: _Value, *, T: _DType = ...,
        Tindices: _DType = ...) -> _Tensor:
    """input: T, start_indices: Tindices, size_indices: Tindices -> output: T. T: float32 float64 float16 bfloat16 int8
    uint8 int16 uint16 int32 uint32 int64 uint64 bool complex64 complex128 qint8 quint8 qint16 quint16 qint32. Tindices:
    int32 int64.
    """

def XlaDynamicUpdateSlice(input: _Value, update: _Value, indices: _Value, *, T: _DType = ...,
        Tindices: _DType = ...) -> _Tensor:
    """input: T, update: T, indices: Tindices -> output: T. T: float32 float64 float16 bfloat16 int8 uint8 int16 uint16
    int32 uint32 int64 uint64 bool complex64 complex128 qint8 quint8 qint16 quint16 qint32. Tindices: int32 int64.
    """

def XlaEinsum(a: _Value, b: _Value, *, equation: str | bytes, T: _DType = ...) -> _Tensor:
    """a: T, b: T -> product: T. T: complex64 bfloat16 float32."""

def XlaGather(operand: _Value, start_indices: _Value, slice_sizes: _Value, *, dimension_numbers: str | bytes,
        indices_are_sorted: bool, T: _DType = ..., Tindices: _DType = ...) -> _Tensor:
    """operand: T, start_indices: Tindices, slice_sizes: Tindices -> output: T. T: float32 float64 float16 bfloat16 int8
    uint8 int16 uint16 int32 uint32 int64 uint64 bool complex64 complex128 qint8 quint8 qint16 quint16 qint32. Tindices:
    int32 int64.
    """

class _XlaKeyValueSortOutputs(_NamedTuple):
    sorted_keys: _Tensor
    sorted_values: _Tensor

def XlaKeyValueSort(keys: _Value, values: _Value, *, K: _DType = ..., V: _DType = ...) -> _XlaKeyValueSortOutputs:
    """keys: K, values: V -> sorted_keys: K, sorted_values: V. K: float32 float64 float16 bfloat16 int8 uint8 int16
    uint16 int32 uint32 int64 uint64. V: float32 float64 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64
    uint64 bool complex64 complex128 qint8 quint8 qint16 quint16 qint32.
    """

def XlaOptimizationBarrier(input: _Sequence[_Value]) -> list[_Tensor]:
    """input: T -> output: T."""

def XlaPad(input: _Value, padding_value: _Value, padding_low: _Value, padding_high: _Value, padding_interior: _Value, *,
        T: _DType = ..., Tindices: _DType = ...) -> _Tensor:
    """input: T, padding_value: T, padding_low: Tindices, padding_high: Tindices, padding_interior: Tindices -> output:
    T. T: float32 float64 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool complex64 complex128
    qint8 quint8 qint16 quint16 qint32. Tindices: int32 int64.
    """

def XlaReducePrecision(operand: _Value, *, T: _DType = ..., exponent_bits: int, mantissa_bits: int) -> _Tensor:
    """operand: T -> output: T. T: bfloat16 float16 float32 float64."""

def XlaReplicaId() -> _Tensor:
    """nothing -> id: int32."""

class _XlaRngBitGeneratorOutputs(_NamedTuple):
    output_key: _Tensor
    output: _Tensor

def XlaRngBitGenerator(algorithm: _Value, initial_state: _Value, shape: _Value, *, dtype: _DType = "uint64",
        Tshape: _DType = ...) -> _XlaRngBitGeneratorOutputs:
    """algorithm: int32, initial_state: uint64, shape: Tshape -> output_key: uint64, output: dtype. dtype: uint8 int8
    int32 int64 uint32 uint64. Tshape: int32 int64.
    """

class _XlaSelfAdjointEigOutputs(_NamedTuple):
    w: _Tensor
    v: _Tensor

def XlaSelfAdjointEig(a: _Value, *, lower: bool, max_iter: int, epsilon: float,
        T: _DType = ...) -> _XlaSelfAdjointEigOutputs:
    """a: T -> w: T, v: T. T: float64 float32 float16."""

def XlaSetBound(input: _Value, bound: _Value) -> _Tensor:
    """input: int32, bound: int32 -> output: int32."""

def XlaSetDynamicDimensionSize(input: _Value, dim_index: _Value, size: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T, dim_index: int32, size: int32 -> output: T. T: float32 float64 float16 bfloat16 int8 uint8 int16 uint16
    int32 uint32 int64 uint64 bool complex64 complex128 qint8 quint8 qint16 quint16 qint32.
    """

def XlaSharding(input: _Value, *, T: _DType = ..., sharding: str | bytes = "",
        unspecified_dims: _Sequence[int] = ...) -> _Tensor:
    """input: T -> output: T."""

def XlaSort(input: _Value, *, T: _DType = ...) -> _Tensor:
    """input: T -> output: T. T: float32 float64 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64
    bool.
    """

def XlaSplitND(input: _Value, *, T: _DType = ..., N: int, num_splits: _Sequence[int],
        paddings: _Sequence[int] = ...) -> list[_Tensor]:
    """input: T -> outputs: N * T. T: float32 float64 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64
    bool complex64 complex128 qint8 quint8 qint32.
    """

def XlaSpmdFullToShardShape(input: _Value, *, T: _DType = ..., manual_sharding: str | bytes, dim: int = -1,
        unspecified_dims: _Sequence[int] = ...) -> _Tensor:
    """input: T -> output: T."""

def XlaSpmdShardToFullShape(input: _Value, *, T: _DType = ..., manual_sharding: str | bytes, full_shape: _Shape,
        dim: int = -1, unspecified_dims: _Sequence[int] = ...) -> _Tensor:
    """input: T -> output: T."""

class _XlaSvdOutputs(_NamedTuple):
    s: _Tensor
    u: _Tensor
    v: _Tensor

def XlaSvd(a: _Value, *, max_iter: int, epsilon: float, precision_config: str | bytes,
        T: _DType = ...) -> _XlaSvdOutputs:
    """a: T -> s: T, u: T, v: T. T: float64 float32."""

def Xlog1py(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: float16 bfloat16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

def Xlogy(x: _Value, y: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, y: T -> z: T. T: float16 bfloat16 float32 float64 complex64 complex128. Accelerated for float32 bfloat16
    float64 float16.
    """

def ZerosLike(x: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T -> y: T."""

def Zeta(x: _Value, q: _Value, *, T: _DType = ...) -> _Tensor:
    """x: T, q: T -> z: T. T: float32 float64."""
