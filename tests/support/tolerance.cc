#include "tests/support/tolerance.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/quantized_types.h"

namespace tenon {
namespace {

using Value = std::complex<double>;

std::vector<Value> Values(const Tensor& t) {
  std::vector<Value> out;
  if (IsQuantized(t.dtype())) {
    VisitQuantized(t.dtype(), [&]<typename T>() {
      for (const T& v : t.flat<T>()) out.emplace_back(static_cast<double>(v), 0);
    });
    return out;
  }
  VisitTypes(NumbersAndBool{}, t.dtype(), [&]<typename T>() {
    for (const T& v : t.flat<T>()) {
      if constexpr (kIsComplex<T>) {
        out.emplace_back(v.real(), v.imag());
      } else {
        out.emplace_back(static_cast<double>(v), 0);
      }
    }
  });
  return out;
}

// Root of the mean square of the finite elements; and the largest of them.
struct Size {
  double rms = 0;
  double max = 0;
};
Size SizeOfValues(const Tensor& t) {
  Size size;
  int64_t n = 0;
  for (const Value& v : Values(t)) {
    const double a = std::abs(v);
    if (!std::isfinite(a)) continue;
    size.rms += a * a;
    size.max = std::max(size.max, a);
    ++n;
  }
  if (n > 0) size.rms = std::sqrt(size.rms / static_cast<double>(n));
  return size;
}

int64_t Window(const Node& node) {
  int64_t n = 1;
  if (const auto* ksize = node.attr<std::vector<int64_t>>("ksize")) {
    for (int64_t k : *ksize) n *= k;
  }
  return n;
}

// Terms that one element of the output adds up; 0: the op is no sum of products.
int64_t ContractionLength(const Node& node, absl::Span<const Tensor> in) {
  if (in.size() < 2) return 0;
  const Shape& a = in[0].shape();
  const Shape& b = in[1].shape();
  if (absl::StrContains(node.op, "Depthwise")) return b.rank() < 2 ? 1 : b.dim(0) * b.dim(1);
  if (absl::StrContains(node.op, "Conv")) {
    return b.rank() == 0 ? 1 : b.num_elements() / std::max<int64_t>(1, b.dim(b.rank() - 1));
  }
  if (absl::StrContains(node.op, "MatMul")) {
    if (a.rank() < 2) return 1;
    const bool* transposed = node.attr<bool>("transpose_a");
    if (transposed == nullptr) transposed = node.attr<bool>("adj_x");
    return transposed != nullptr && *transposed ? a.dim(a.rank() - 2) : a.dim(a.rank() - 1);
  }
  if (absl::StrContains(node.op, "Einsum")) {
    // No more than every dimension of the smaller operand.
    return std::max<int64_t>(1, std::min(a.num_elements(), b.num_elements()));
  }
  return 0;
}

// Gradients of a convolution: which inputs are multiplied, and how many products an element of
// `golden` adds up at most (groups and padding leave some out).
struct GradientSum {
  size_t a = 0, b = 2;
  int64_t length = 1;
};
std::optional<GradientSum> ConvolutionGradient(absl::string_view op, absl::Span<const Tensor> in,
                                               const Tensor& golden) {
  if (!absl::StrContains(op, "Conv") || !absl::StrContains(op, "Backprop")) return std::nullopt;
  if (in.size() != 3) return std::nullopt;
  GradientSum sum;
  if (absl::StrContains(op, "BackpropFilter")) {
    // Every image and position of the output.
    const Shape& filter = golden.shape();
    int64_t channels = filter.dim(filter.rank() - 1);
    if (absl::StrContains(op, "Depthwise")) channels *= filter.dim(filter.rank() - 2);
    sum.length = std::max<int64_t>(1, in[2].num_elements() / std::max<int64_t>(1, channels));
    return sum;
  }
  sum.a = 1;
  const Shape& filter = in[1].shape();  // [window..., I, O]
  sum.length = 1;
  for (int i = 0; i < filter.rank(); ++i) {
    if (i != filter.rank() - 2) sum.length *= filter.dim(i);
  }
  return sum;
}

int64_t ReducedLength(absl::Span<const Tensor> in, const Tensor& out) {
  const int64_t n = out.num_elements();
  return n == 0 ? 1 : std::max<int64_t>(1, in[0].num_elements() / n);
}

// Ops that only choose among their inputs' elements.
bool Selects(absl::string_view op) {
  static const auto* const kOps =
      new absl::flat_hash_set<absl::string_view>({"Max",          "Min",
                                                  "Maximum",      "Minimum",
                                                  "MaxPool",      "MaxPoolV2",
                                                  "MaxPool3D",    "MaxPoolWithArgmax",
                                                  "Abs",          "Neg",
                                                  "Relu",         "Relu6",
                                                  "Identity",     "Reshape",
                                                  "Transpose",    "ConcatV2",
                                                  "Concat",       "Pad",
                                                  "PadV2",        "MirrorPad",
                                                  "GatherV2",     "Gather",
                                                  "GatherNd",     "SelectV2",
                                                  "Select",       "Tile",
                                                  "Slice",        "StridedSlice",
                                                  "Split",        "SplitV",
                                                  "Pack",         "Unpack",
                                                  "TopKV2",       "ResizeNearestNeighbor",
                                                  "DepthToSpace", "SpaceToDepth",
                                                  "Floor",        "Ceil",
                                                  "Round",        "Rint",
                                                  "Sign",         "ClipByValue",
                                                  "BroadcastTo",  "ReverseV2",
                                                  "Fill",         "ZerosLike",
                                                  "OnesLike",     "OneHot",
                                                  "Cast"});
  return kOps->contains(op);
}

// Sums, products and choices of rows that come together; 0: another op.
std::optional<Tolerance> SegmentTolerance(absl::string_view op, double eps,
                                          absl::Span<const Tensor> in) {
  if (!absl::StrContains(op, "Segment") && !absl::StrContains(op, "TensorScatter") &&
      !absl::StrContains(op, "NonAliasing") && !absl::StrContains(op, "Bincount")) {
    return std::nullopt;
  }
  if (absl::EndsWith(op, "Min") || absl::EndsWith(op, "Max") || absl::EndsWith(op, "Update")) {
    return Tolerance{0, 0};
  }
  double rows = 1, largest = 0;
  for (const Tensor& t : in) {
    if (t.shape().rank() > 0) rows = std::max(rows, static_cast<double>(t.shape().dim(0)));
    if (!IsInteger(t.dtype())) largest = std::max(largest, SizeOfValues(t).max);
  }
  if (absl::EndsWith(op, "Prod")) return Tolerance{(2 + rows) * eps, 0};
  return Tolerance{2 * eps, eps * rows * largest};  // at most all rows in one sum
}

// Ops computed by a library function or an approximation of one: a few ulps; near a zero of the
// function, a few of 1's.
bool Transcendental(absl::string_view op) {
  static const auto* const kOps = new absl::flat_hash_set<absl::string_view>(
      {"Exp",      "Expm1",      "Log",        "Log1p",
       "Sin",      "Cos",        "Tan",        "Asin",
       "Acos",     "Atan",       "Sinh",       "Cosh",
       "Tanh",     "Asinh",      "Acosh",      "Atanh",
       "Sigmoid",  "Erf",        "Erfc",       "Erfinv",
       "Lgamma",   "Digamma",    "Elu",        "Selu",
       "Softplus", "Softsign",   "Pow",        "Atan2",
       "Xlogy",    "Xlog1py",    "_GeluExact", "_GeluApproximate",
       "_Swish",   "_HardSwish", "_Mish"});
  return kOps->contains(op);
}

// Special functions by series, continued fractions and rational approximations in the element type
// of TensorFlow's kernel: its own error is some tens of ulps; near zeros of the function, of 1's.
bool SpecialFunction(absl::string_view op) {
  static const auto* const kOps = new absl::flat_hash_set<absl::string_view>(
      {"Igamma", "Igammac", "IgammaGradA", "Betainc", "Zeta", "Polygamma", "Ndtri", "Dawsn",
       "Expint", "FresnelCos", "FresnelSin", "Spence", "Angle"});
  return absl::StartsWith(op, "Bessel") || kOps->contains(op);
}

// Integers are exact, but where a real number is rounded to one: a rounding of that number may
// decide a tie. 32-bit sums pass through a float when they meet a bias.
Tolerance QuantizedTolerance(const Node& node, DType dtype) {
  const absl::string_view op = node.op;
  const bool rounded = absl::StrContains(op, "WithBias") || absl::StrContains(op, "Requantize") ||
                       absl::EndsWith(op, "AvgPool") || absl::EndsWith(op, "InstanceNorm");
  if (absl::StartsWith(op, "Requantize") || !rounded) return {0, 0};
  return {dtype == DType::kQint32 ? std::ldexp(1.0, -24) : 0, 1};
}

// Decompositions of n by n matrices: errors grow with n, and are relative to the largest element.
bool LinearAlgebra(absl::string_view op) {
  static const auto* const kOps = new absl::flat_hash_set<absl::string_view>(
      {"Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "MatrixSolve",
       "Lu", "MatrixTriangularSolve", "Qr", "Svd", "SelfAdjointEigV2", "TridiagonalSolve",
       "TridiagonalMatMul", "CholeskyGrad", "BandedTriangularSolve", "Eig", "MatrixSolveLs",
       "MatrixSquareRoot", "MatrixLogarithm"});
  absl::ConsumePrefix(&op, "Batch");
  return kOps->contains(op);
}

}  // namespace

double Epsilon(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kComplex64:
      return std::ldexp(1.0, -23);
    case DType::kDouble:
    case DType::kComplex128:
      return std::ldexp(1.0, -52);
    case DType::kHalf:
      return std::ldexp(1.0, -10);
    case DType::kBfloat16:
      return std::ldexp(1.0, -7);
    default:
      return 0;
  }
}

Tolerance ToleranceFor(const Node& node, absl::Span<const Tensor> inputs, const Tensor& golden) {
  if (IsQuantized(golden.dtype())) return QuantizedTolerance(node, golden.dtype());
  const double eps = Epsilon(golden.dtype());
  if (eps == 0 || inputs.empty()) return {};
  const absl::string_view op = node.op;
  // A sum of L terms of size t, rounded at each step: about eps sqrt(L) times the largest partial
  // sum, which is sqrt(L) t for terms of both signs and the result itself for terms of one.
  auto sum = [&](double length, double term) {
    const double root = std::sqrt(length);
    const double partial = std::max(SizeOfValues(golden).max, root * term);
    return Tolerance{2 * eps, 2 * eps * root * partial};
  };
  auto rms = [&](size_t i) { return SizeOfValues(inputs[i]).rms; };
  auto max = [&](size_t i) { return SizeOfValues(inputs[i]).max; };

  if (const auto gradient = ConvolutionGradient(op, inputs, golden)) {
    return sum(static_cast<double>(gradient->length), rms(gradient->a) * rms(gradient->b));
  }
  if (const int64_t length = ContractionLength(node, inputs); length > 0) {
    return sum(static_cast<double>(length), rms(0) * rms(1));
  }
  if (const auto segment = SegmentTolerance(op, eps, inputs)) return *segment;
  // The same bits; logarithms and sines of another library, of numbers up to about 6.
  if (absl::StrContains(op, "Random") || absl::EndsWith(op, "TruncatedNormal") ||
      absl::EndsWith(op, "TruncatedNormalV2")) {
    return {4 * eps, 16 * eps};
  }
  // Colors: differences of channels, divided by their range, and back; scores: an exponential.
  if (absl::StartsWith(op, "Adjust") || op == "RGBToHSV" || op == "HSVToRGB") {
    return {8 * eps, 16 * eps * std::max(1.0, SizeOfValues(golden).max)};
  }
  if (op == "NonMaxSuppressionV5") return {8 * eps, 0};
  if (op == "SparseTensorDenseMatMul") {  // at most as many products as there are elements
    return sum(std::max<double>(1, inputs[1].num_elements()), max(1) * max(3));
  }
  if (op == "CropAndResize" || op == "ResizeBicubic" ||
      op == "ResizeArea") {  // positions are rounded at the size of the image
    const double side =
        static_cast<double>(std::max(inputs[0].shape().dim(1), inputs[0].shape().dim(2)));
    return {4 * eps, eps * (8 + 4 * side) * max(0)};
  }
  if (absl::StrContains(op, "LSTM") || absl::StrContains(op, "GRUBlockCell")) {
    // Gates are sums of products, passed through functions of slope at most 1; a step's error
    // stays in the state and adds to the next one's.
    const bool all_steps = absl::StartsWith(op, "Block");
    const size_t w = all_steps ? 4 : absl::StrContains(op, "GRUBlockCell") ? 2 : 3;
    const double steps = all_steps ? static_cast<double>(inputs[1].shape().dim(0)) : 1;
    const double length = static_cast<double>(inputs[w].shape().dim(0));
    const double error = sum(length, rms(all_steps ? 1 : 0) * rms(w)).absolute;
    return {4 * eps, steps * (error + 4 * eps)};
  }
  if (op == "CTCLoss") {
    // A path's logarithm gains a term each step and is rounded at its size. TensorFlow adds
    // probabilities by exponentials in float, whatever the dtype.
    const Shape& logits = inputs[0].shape();
    const double steps = static_cast<double>(logits.dim(0));
    const double term = std::log(static_cast<double>(logits.dim(2))) + 2 * max(0);
    const double float_eps = Epsilon(DType::kFloat);
    return {2 * float_eps, 2 * float_eps + 2 * eps * std::sqrt(steps) * steps * term};
  }
  if (LinearAlgebra(op)) {
    const double n = inputs[0].shape().rank() < 2 ? 1 : inputs[0].shape().dims().back();
    return {16 * n * eps, 16 * n * eps * SizeOfValues(golden).max};
  }
  if (absl::EndsWith(op, "FFT") || absl::EndsWith(op, "FFT2D") || absl::EndsWith(op, "FFT3D")) {
    // log2(n) additions of terms that grow up to the largest.
    const double n = std::max<double>(2, golden.num_elements());
    return {2 * eps, 2 * eps * std::log2(n) * SizeOfValues(golden).max};
  }
  const double reduced = static_cast<double>(ReducedLength(inputs, golden));
  if (op == "Sum" || op == "EuclideanNorm" || op == "BiasAddGrad") return sum(reduced, rms(0));
  if (absl::StrContains(op, "QuantWithMinMaxVars") && absl::EndsWith(op, "Gradient")) {
    return sum(reduced, rms(0));
  }
  if (op == "Mean") return sum(reduced, rms(0) / reduced);
  if (op == "Prod") return {(2 + reduced) * eps, 0};
  if (absl::StrContains(op, "PoolGrad") || absl::StrContains(op, "Pool3DGrad")) {
    // Every element is in at most as many windows as a window has elements.
    const bool second = absl::StartsWith(op, "AvgPool") || absl::StrContains(op, "Argmax");
    return sum(static_cast<double>(Window(node)), rms(second ? 1 : 2));
  }
  if (op == "AvgPool" || op == "AvgPool3D") {
    const double window = static_cast<double>(Window(node));
    return sum(window, max(0) / window);
  }
  const Shape& shape = inputs[0].shape();
  double longest = 1;
  for (int64_t d : shape.dims()) longest = std::max(longest, static_cast<double>(d));
  if (op == "AddN") return sum(static_cast<double>(inputs.size()), max(0));
  if (op == "Cumsum") return sum(longest, rms(0));
  if (op == "Cumprod") return {(2 + longest) * eps, 0};
  if (op == "ScatterNd") return sum(std::max<double>(1, inputs[0].num_elements()), rms(1));
  if (op == "Softmax" || op == "LogSoftmax") {
    // exp and the sum of one row; log(sum) and the subtraction are rounded at the logits' size.
    const double row = shape.rank() == 0 ? 1 : static_cast<double>(shape.dim(shape.rank() - 1));
    const double root = std::sqrt(std::max(row, 1.0));
    if (op == "Softmax") return {(8 + 2 * root) * eps, 0};
    return {4 * eps, (2 + root) * eps * std::max(1.0, max(0))};
  }
  if (absl::StartsWith(op, "FusedBatchNorm")) {
    // x - mean cancels at the size of x, and is then scaled like the result.
    return {8 * eps, 8 * eps * std::max(SizeOfValues(golden).max, max(0))};
  }
  if (op == "ResizeBilinear") {
    // Positions are products of an index and a scale: one rounding of the largest index.
    return {4 * eps, eps * (4 + longest) * max(0)};
  }
  if (op == "Digamma") return sum(10, 1);  // reciprocals up to 10, then a logarithm
  if (op == "LRN" || op == "LRNGrad") {
    // A sum of squares to a power, by way of exp and log; the gradient is a sum of 2r + 1 terms,
    // each a product of all three inputs.
    const auto* radius = node.attr<int64_t>("depth_radius");
    const double terms = std::min(longest, radius == nullptr ? 11 : 2.0 * *radius + 1);
    if (op == "LRN") return {(8 + terms) * eps, 0};
    const auto* alpha = node.attr<float>("alpha");
    const auto* beta = node.attr<float>("beta");
    const double slope = 2 * std::abs(*alpha) * std::abs(*beta);
    return {(8 + terms) * eps, eps * (terms + 8) * (max(0) + slope * max(0) * max(1) * max(2))};
  }
  if (op == "L2Loss") return sum(reduced, rms(0) * rms(0));
  if (op == "SoftmaxCrossEntropyWithLogits" || op == "SparseSoftmaxCrossEntropyWithLogits") {
    // A logarithm of a sum over one row, subtracted from logits, and a sum of labels times that.
    const double labels = op == "SoftmaxCrossEntropyWithLogits" ? std::max(1.0, max(1)) : 1;
    return sum(longest, 8 * std::max(1.0, max(0)) * labels / std::sqrt(longest));
  }
  if (Transcendental(op)) return {8 * eps, 2 * eps};
  // The derivative is a difference from 1 (or 1.76), times the gradient.
  if (op == "TanhGrad" || op == "SigmoidGrad") return {4 * eps, 2 * eps * max(1)};
  if (op == "EluGrad" || op == "SeluGrad") return {4 * eps, 4 * eps * max(0)};
  if (op == "SoftplusGrad") return {8 * eps, 0};
  if (SpecialFunction(op)) return {32 * eps, 16 * eps};
  if (op == "CumulativeLogsumexp") return {8 * eps * longest, 8 * eps * longest};
  if (op == "MirrorPadGrad") {  // each dimension folds up to three elements into one
    return {2 * eps, eps * std::pow(3.0, shape.rank()) * max(0)};
  }
  if (op == "Cross") return {2 * eps, 2 * eps * max(0) * max(1)};  // the products cancel
  if (Selects(op)) return {0, 0};
  if (op == "Square" || op == "AddV2" || op == "Add" || op == "Sub" || op == "Mul") {
    return {eps, 0};
  }
  return {4 * eps, 0};  // a few roundings: divisions by way of a reciprocal, reciprocal roots
}

std::string Difference(const Tensor& result, const Tensor& golden, Tolerance tolerance) {
  if (result.dtype() != golden.dtype()) {
    return absl::StrCat("dtype ", Name(result.dtype()), ", expected ", Name(golden.dtype()));
  }
  if (result.shape() != golden.shape()) {
    return absl::StrCat("shape ", result.shape().ToString(), ", expected ",
                        golden.shape().ToString());
  }
  if (golden.dtype() == DType::kString || IsInteger(golden.dtype()) ||
      golden.dtype() == DType::kBool) {
    if (Identical(result, golden)) return "";
    if (golden.dtype() == DType::kString) {
      for (int64_t i = 0; i < golden.num_elements(); ++i) {
        const std::string& got = result.data<std::string>()[i];
        const std::string& want = golden.data<std::string>()[i];
        if (got == want) continue;
        return absl::StrCat("element ", i, " is \"", absl::CHexEscape(got), "\", expected \"",
                            absl::CHexEscape(want), "\"");
      }
    }
    const std::vector<Value> a = Values(result), b = Values(golden);
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i]) {
        return absl::StrCat("element ", i, " is ", a[i].real(), ", expected ", b[i].real());
      }
    }
    return "other elements";
  }
  // Beyond the dtype's normal range there is less precision, or none.
  const double tiny = golden.dtype() == DType::kDouble || golden.dtype() == DType::kComplex128
                          ? std::numeric_limits<double>::min()
                      : golden.dtype() == DType::kHalf ? std::ldexp(1.0, -24)
                                                       : std::numeric_limits<float>::min();
  const std::vector<Value> got = Values(result), want = Values(golden);
  double worst = 0;
  std::string text;
  for (size_t i = 0; i < want.size(); ++i) {
    double excess = 0;
    auto part = [&](double g, double w, double magnitude) {
      if (g == w || (std::isnan(g) && std::isnan(w))) return;
      if (!std::isfinite(g) || !std::isfinite(w)) {
        excess = std::numeric_limits<double>::infinity();
        return;
      }
      const double allowed =
          tolerance.relative * magnitude + tolerance.absolute + (tolerance.relative > 0 ? tiny : 0);
      const double error = std::abs(g - w);
      if (error > allowed) excess = std::max(excess, allowed == 0 ? 1e300 : error / allowed);
    };
    part(got[i].real(), want[i].real(), std::abs(want[i]));
    part(got[i].imag(), want[i].imag(), std::abs(want[i]));
    if (excess > worst) {
      worst = excess;
      text = absl::StrCat("element ", i, " is ", got[i].real());
      if (IsComplex(golden.dtype())) absl::StrAppend(&text, "+", got[i].imag(), "i");
      absl::StrAppend(&text, ", expected ", want[i].real());
      if (IsComplex(golden.dtype())) absl::StrAppend(&text, "+", want[i].imag(), "i");
      absl::StrAppend(&text, ": error over the tolerance by a factor of ", excess);
    }
  }
  return text;
}

}  // namespace tenon
