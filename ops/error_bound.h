// Error-bound classes: how rounding errors accumulate in an op's result. The bounds themselves,
// formulas in terms of dtype, lengths and sizes, are in tests/support/tolerance.cc.
#ifndef TENON_OPS_ERROR_BOUND_H_
#define TENON_OPS_ERROR_BOUND_H_

namespace tenon {

enum class ErrorBound {
  kFewRoundings,  // about four, relative to the result; the default
  kExact,         // selects input elements, or produces integers
  kOneRounding,

  // Functions of one element.
  kTranscendental,    // a library function: a few ulps of the result, or of 1 near its zeros
  kSpecialFunction,   // series and continued fractions: tens of ulps, or of 1 near zeros
  kExponential,       // little more than an exponential: a few ulps of the result
  kDigamma,           // up to ten reciprocals, then a logarithm
  kGatedInput,        // the input times a function from 0 to 1 that has an absolute error
  kSlopeOfGradient,   // the derivative, a difference from 1, times a gradient
  kExponentialSlope,  // the derivative, an exponential, times a gradient
  kColor,             // differences of channels divided by their range, or the inverse

  // Sums of products.
  kConvolution,
  kDepthwiseConvolution,
  kInvertedResidual,         // two or three convolutions
  kInputGradient,            // of a convolution
  kFilterGradient,           // of a convolution
  kDepthwiseFilterGradient,  // of a depthwise convolution
  kMatrixProduct,
  kEinsum,
  kSparseProduct,  // a sparse matrix times a dense one
  kCrossProduct,   // differences of two products
  kLinearAlgebra,  // decompositions and solutions: errors grow with the matrix
  kFourier,        // log2(n) additions of growing terms
  kLstmCell,       // gates of sums of products; the weights are input 3
  kLstmSteps,      // as many cells as steps; the weights are input 4
  kGruCell,        // gates of sums of products; the weights are input 2
  kRecurrence,     // cells of a known kind (_Recurrence)

  // Reductions.
  kSum,
  kMean,
  kProduct,
  kSumOfSquares,
  kMoments,  // the mean, and the mean of squared differences from it
  kAddN,     // one term per input
  kRunningSum,
  kRunningProduct,
  kRunningLogSum,  // logarithm of a running sum of exponentials
  kSegmentSum,     // rows of one segment: at most all rows in one sum
  kSegmentProduct,
  kScatter,  // updates of the same element are summed
  kPathSum,  // logarithm of a sum over paths, accumulated step by step
  kAveragePool,
  kPoolGradient,  // sums of gradients, the last floating input, over windows

  // Normalization and losses.
  kSoftmax,
  kLogSoftmax,
  kBatchNorm,
  kBatchNormGradient,
  kLocalNormalization,
  kLocalNormalizationGradient,
  kCrossEntropy,        // labels are a distribution
  kSparseCrossEntropy,  // labels are classes

  // Images.
  kBilinear,        // positions: an index times a scale
  kImagePositions,  // positions, with rounding errors relative to the image's size
  kFoldedPads,      // up to three elements per dimension are added

  kRandom,  // the same random bits, but another library's logarithms and sines
};

}  // namespace tenon

#endif  // TENON_OPS_ERROR_BOUND_H_
