// How rounding errors add up in an op's result: what the op is to an error bound. The bounds
// themselves, formulas of dtype, lengths and sizes, are in tests/support/tolerance.cc.
#ifndef TENON_OPS_ERROR_BOUND_H_
#define TENON_OPS_ERROR_BOUND_H_

namespace tenon {

enum class ErrorBound {
  kFewRoundings,  // about four, relative to the result: what is not said otherwise
  kExact,         // chooses among the inputs' elements, or gives integers
  kOneRounding,

  // Functions of an element.
  kTranscendental,    // a library function: a few ulps of the result, and of 1 near its zeros
  kSpecialFunction,   // series and continued fractions: some tens of ulps, and of 1 near zeros
  kExponential,       // an exponential and little more: a few ulps of the result
  kDigamma,           // up to ten reciprocals, then a logarithm
  kSlopeOfGradient,   // the derivative, a difference from 1, times a gradient
  kExponentialSlope,  // the derivative, an exponential, times a gradient
  kColor,             // differences of channels, divided by their range, and back

  // Sums of products.
  kConvolution,
  kDepthwiseConvolution,
  kInputGradient,            // of a convolution
  kFilterGradient,           // of a convolution
  kDepthwiseFilterGradient,  // of a depthwise convolution
  kMatrixProduct,
  kEinsum,
  kSparseProduct,  // a sparse matrix times a dense one
  kCrossProduct,   // differences of two products
  kLinearAlgebra,  // decompositions and solutions: errors grow with the matrix
  kFourier,        // log2(n) additions of terms that grow
  kLstmCell,       // gates of sums of products; the weights are input 3
  kLstmSteps,      // as many cells as steps; the weights are input 4
  kGruCell,        // gates of sums of products; the weights are input 2

  // Reductions.
  kSum,
  kMean,
  kProduct,
  kSumOfSquares,
  kAddN,  // one term of each input
  kRunningSum,
  kRunningProduct,
  kRunningLogSum,  // logarithm of a running sum of exponentials
  kSegmentSum,     // rows that come together: at most all of them in one sum
  kSegmentProduct,
  kScatter,  // updates that meet in one element
  kPathSum,  // logarithm of a sum over paths, which grows step by step
  kAveragePool,
  kPoolGradient,  // sums of gradients, the last floating input, over windows

  // Normalization and losses.
  kSoftmax,
  kLogSoftmax,
  kBatchNorm,
  kLocalNormalization,
  kLocalNormalizationGradient,
  kCrossEntropy,        // labels are a distribution
  kSparseCrossEntropy,  // labels are classes

  // Images.
  kBilinear,        // positions: an index times a scale
  kImagePositions,  // positions that are rounded at the size of the image
  kFoldedPads,      // up to three elements a dimension are added

  kRandom,  // the same random bits, through logarithms and sines of another library
};

}  // namespace tenon

#endif  // TENON_OPS_ERROR_BOUND_H_
