"""Differences from TensorFlow that are known and stay.

Mostly TensorFlow's result is not defined (memory that it does not write, conversions that
C++ leaves open), or it is plainly wrong.
"""

from __future__ import annotations

import re

import numpy as np
from mutate import Call


def _not_finite(call: Call) -> bool:
  return any(v.dtype.kind in "fcV" and not np.isfinite(v.astype(np.complex128)).all()
             for v in call.values)


def _complex(call: Call) -> bool:
  return any(v.dtype.kind == "c" for v in call.values)


def _half(call: Call) -> bool:
  return any(v.dtype == np.float16 for v in call.values)


def _double(call: Call) -> bool:
  return any(v.dtype == np.float64 for v in call.values)


def _integer(call: Call) -> bool:
  return call.values[0].dtype.kind in "iu"


def _dilated(call: Call) -> bool:
  return any(d != 1 for d in call.case.attributes.get("dilations", []))


def _empty(call: Call) -> bool:
  return call.values[0].size == 0


def _no_indices(call: Call) -> bool:
  return call.values[1].size == 0


def _longer(call: Call) -> bool:
  """Whether a recurrent layer's input has more steps than are computed."""
  return bool(call.values[1].shape[0] > call.values[0])


def _any(_: Call) -> bool:
  return True


# Op, kind of difference, calls that it is known for, and why it is left alone.
_KNOWN = [
    (r"AdjustHue", "values", _any, "turns by many circles, which TensorFlow subtracts one by one"),
    (r"AudioSpectrogram|AvgPool3D|I?R?FFT[23]?D?|LRN(Grad)?|MaxPool3D|ScaleAndTranslateGrad|"
     r"NonMaxSuppression.*|FusedBatchNormGrad(V2|V3)?|QuantizedResizeBilinear|ScaleAndTranslate|"
     r"RGBToHSV|ResourceApplyAdaMax|(Batch)?MatrixDeterminant", "values", _not_finite,
     "infinities and NaN in sums and comparisons of several elements"),
    (r"Batch", "values", _any, "TensorFlow draws the ids of batches at random"),
    (r"(Batch)?Cholesky", "values", _any,
     "of a matrix that has no factor TensorFlow leaves parts unwritten"),
    (r"(Batch)?CholeskyGrad|(Batch)?MatrixSolveLs|Matrix(Exponential|Logarithm|SquareRoot)", "values", _any,
     "ill-conditioned matrices and those that are not finite"),
    (r"(Batch)?MatrixBandPart", "values", _any,
     "TensorFlow takes the lower half of numbers beyond int32"),
    (r"(Xla)?Conv.*|Depthwise.*", "values", _not_finite, "filters that are not finite: docs/NUMERICS.md"),
    (r"DepthwiseConv2dNativeBackprop.*", "values", _dilated, "TensorFlow ignores dilations"),
    (r"(Conv|FusedBatchNormGradV3)", "type", _any,
     "sizes of 0: TensorFlow leaves out another dimension"),
    (r"CTCBeamSearchDecoder", "type", _any, "prefixes that are as probable as others"),
    (r"CTCBeamSearchDecoder", "values", _any, "prefixes that are as probable as others"),
    (r"CTCLoss(V2)?", "values", _any, "TensorFlow computes doubles partly in float"),
    (r"DataFormatDimMap|Roll", "refused", _any, "positions outside of the format or of int32"),
    (r"Div(NoNan)?|RealDiv|Inv|Reciprocal(Grad)?|Xdivy|Log1p|Expm1|SigmoidGrad|EuclideanNorm|"
     r"(Batch)?MatrixTriangularSolve", "values", _complex, "complex numbers divided by 0, infinities and NaN"),
    (r"DrawBoundingBoxes(V2)?|QuantizeV2", "values", _not_finite,
     "NaN and infinities converted to integers"),
    (r"DeserializeSparse", "values", _any, "positions outside of the shape"),
    (r"(SelfAdjoint)?Eig(V2)?|BatchSelfAdjointEig(V2)?|(Batch)?Svd", "values", _any,
     "a vector's sign or phase; equal eigenvalues"),
    (r"(SelfAdjoint)?Eig(V2)?|Svd", "type", _any, "vectors that are not asked for"),
    (r"Empty", "values", _any, "TensorFlow leaves memory as it was"),
    (r"Erf", "values", _double, "TensorFlow's result at infinities is NaN"),
    (r"Spence", "values", _not_finite, "TensorFlow's result at infinities is NaN"),
    (r"Roll", "values", _any, "TensorFlow takes the lower half of shifts beyond int32"),
    (r"QuantizedInstanceNorm", "values", _empty, "the range of no elements"),
    (r"TensorSummaryV2", "values", _any, "metadata in another form than protocol buffers write"),
    (r"(Approx)?TopK(V2)?|NthElement", "values", _not_finite, "NaN, which TensorFlow orders differently each time"),
    (r"UniformQuantized(Add|Dot)", "values", _any, "integers overflow"),
    (r"Xla(SelfAdjointEig|Svd)", "values", _any,
     "so few iterations that TensorFlow's do not converge"),
    (r"Expint", "values", _not_finite, "TensorFlow's result at infinity is NaN"),
    (r"I?RFFT[23]?D?", "values", _empty, "without frequencies TensorFlow writes nothing"),
    (r"Fresnel(Cos|Sin)", "values", _any,
     "arguments so large that their square's rounding is whole periods"),
    (r"FusedBatchNorm(V2|V3)?", "values", _any, "what inference reserves for a gradient"),
    (r"LRN(Grad)?", "values", _any, "powers of negative numbers"),
    (r"BlockLSTM(V2)?", "values", _longer, "TensorFlow does not write the steps after the last one"),
    (r"(Block)?LSTM.*|ReciprocalGrad|SigmoidGrad|TanhGrad", "values", _half,
     "products that overflow"),
    (r"Add(Many)?SparseToTensorsMap", "values", _any, "handles count on from call to call"),
    (r"Resource(Sparse)?Apply(Centered)?RMSProp", "values", _half,
     "a mean square that is nearly that of the mean"),
    (r"Resource(Sparse)?Apply(Centered)?RMSProp", "values", _not_finite,
     "infinities and NaN in a variance"),
    (r"Resource(Sparse)?ApplyAdagradDA", "values", _any, "a negative step"),
    (r"Qr", "values", _any, "vectors of a matrix without full rank"),
    (r"QuantizedConcat(V2)?", "values", _any,
     "an empty input, whose range TensorFlow takes for the next one's"),
    (r"ListDiff", "type", _any, "TensorFlow tells bfloat16's zeros apart"),
    (r"QuantizedAvgPool", "values", _any,
     "the accelerated kernel rounds, as TensorFlow's does with oneDNN"),
    (r"QuantizedBatchNorm.*|RequantizationRangePerChannel", "values", _any, "integers overflow"),
    (r"(Stateless)?RandomPoisson(V2)?", "values", _any,
     "rates that are negative or infinite have no distribution: NaN"),
    (r"Resource(Sparse)?ApplyFtrl(V2)?", "values", _any, "negative regularization, NaN"),
    (r"Round", "values", _integer, "TensorFlow rounds every integer to 0"),
    (r"SparseAddGrad|SparseSoftmax", "values", _any, "indices that are not in order"),
    (r"SparseCross", "type", _any, "indices that are not in order"),
    (r"SparseAdd", "refused", _any,
     "a threshold of another dtype, which TensorFlow reads as if it were of the values'"),
    (r"SparseSegment.*Grad(V2)?", "values", _no_indices,
     "without indices TensorFlow leaves memory as it was"),
    (r"Sparse.*", "refused", _any, "positions outside of the shape"),
    (r"XlaConvV2", "values", _any, "negative floats converted to unsigned integers"),
]


def reason(call: Call, kind: str) -> str:
  """Why such a difference of the call is known; empty if it is not."""
  return next((why for op, of, holds, why in _KNOWN
               if of == kind and re.fullmatch(op, call.case.op) and holds(call)), "")
