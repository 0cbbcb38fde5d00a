#include "tests/support/tolerance.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "graph/small_numbers.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/quantized_types.h"
#include "ops/op.h"

namespace tenon {
namespace {

using Value = std::complex<double>;

// Of the elements from `begin` on, up to `most` of them.
std::vector<Value> Values(const Tensor& t, size_t begin = 0,
                          size_t most = std::numeric_limits<size_t>::max()) {
  std::vector<Value> out;
  if (IsQuantized(t.dtype())) {
    VisitQuantized(t.dtype(), [&]<typename T>() {
      for (const T& v : t.flat<T>().subspan(begin, most)) {
        out.emplace_back(static_cast<double>(v), 0);
      }
    });
    return out;
  }
  VisitTypes(NumbersAndBool{}, t.dtype(), [&]<typename T>() {
    for (const T& v : t.flat<T>().subspan(begin, most)) {
      if constexpr (kIsComplex<T>) {
        out.emplace_back(v.real(), v.imag());
      } else {
        out.emplace_back(static_cast<double>(v), 0);
      }
    }
  });
  return out;
}

// Whether Values knows the dtype: not those of small_numbers.h.
bool HasValues(DType dtype) {
  bool has = IsQuantized(dtype);
  VisitTypes(NumbersAndBool{}, dtype, [&]<typename T>() { has = true; });
  return has;
}

// Of dtypes of small_numbers.h, a byte each: the same numbers. Handles are not compared.
std::string DifferenceOfSmall(const Tensor& result, const Tensor& golden) {
  if (SizeOf(golden.dtype()) != 1) return "";
  const int mask = IsFourBits(golden.dtype()) ? 0xf : 0xff;  // the upper bits mean nothing
  const auto* const got = static_cast<const uint8_t*>(result.raw());
  const auto* const want = static_cast<const uint8_t*>(golden.raw());
  for (int64_t i = 0; i < golden.num_elements(); ++i) {
    if (((got[i] ^ want[i]) & mask) == 0) continue;
    return absl::StrCat("element ", i, " has the bits ", absl::Hex(got[i]), ", expected ",
                        absl::Hex(want[i]));
  }
  return "";
}

// The root mean square of the finite elements, and the largest of them.
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

// The error bound of an op: one formula per ErrorBound.
class Bound {
 public:
  Bound(const Node& node, absl::Span<const Tensor> inputs, const Tensor& golden)
      : node_(node), in_(inputs), golden_(golden), eps_(Epsilon(golden.dtype())) {}

  Tolerance Of(ErrorBound kind) const {
    if (node_.op == "_Attention") return Attention();
    return WithFusedOps(OfOp(kind));
  }

 private:
  Tolerance OfOp(ErrorBound kind) const {
    switch (kind) {
      case ErrorBound::kExact:
        return {0, 0};
      case ErrorBound::kOneRounding:
        return {eps_, 0};
      case ErrorBound::kFewRoundings:
        return {4 * eps_, 0};
      case ErrorBound::kTranscendental:
        return {8 * eps_, 2 * eps_};
      case ErrorBound::kSpecialFunction:
        return {32 * eps_, 16 * eps_};
      case ErrorBound::kExponential:
        return {8 * eps_, 0};
      case ErrorBound::kDigamma:
        return Sum(10.0, 1);
      case ErrorBound::kGatedInput:
        // The function is 0 or 1 where the input is larger.
        return {8 * eps_, 2 * eps_ * std::clamp(max(0), 1.0, 10.0)};
      case ErrorBound::kSlopeOfGradient:
        return {4 * eps_, 2 * eps_ * max(1)};
      case ErrorBound::kExponentialSlope:  // up to 1.76
        return {4 * eps_, 4 * eps_ * max(0)};
      case ErrorBound::kRandom:  // logarithms and sines of numbers up to about 6
        return {4 * eps_, 16 * eps_};
      case ErrorBound::kColor:
        return {8 * eps_, 16 * eps_ * std::max(1.0, size_of_result())};
      default:
        return OfProducts(kind);
    }
  }

  // A fused Mul multiplies the error, and a sum is rounded relative to its terms. `operand`: the
  // first of the chain's operands; afterwards the next chain's. `size`: of the elements.
  void FollowChain(const std::vector<std::string>* ops, size_t& operand, double& error,
                   double& size) const {
    if (ops == nullptr) return;
    for (const std::string& op : *ops) {
      if (operand >= in_.size() || op == "FusedBatchNorm") break;
      // op names: fused ops with an operand, as FindFusedOp knows them.
      const bool sum = op == "BiasAdd" || op == "Add" || op == "AddV2";
      if (op == "Mul") {
        error *= std::max(1.0, max(operand));
        size *= rms(operand++);
      } else if (sum) {
        error += eps_ * max(operand);
        size += rms(operand++);
      }
    }
  }
  Tolerance WithFusedOps(Tolerance t) const {
    const auto* args = node_.attr<int64_t>("num_args");
    if (args == nullptr) return t;
    size_t operand = in_.size() - static_cast<size_t>(*args);
    double size = 0;
    FollowChain(node_.attr<std::vector<std::string>>("fused_ops"), operand, t.absolute, size);
    return t;
  }

  // Each convolution adds the error of its sums to those of the elements that it sums.
  Tolerance InvertedResidual() const {
    const size_t stages = *node_.attr<int64_t>("num_project") == 0 ? 2 : 3;
    size_t operand = 1 + stages;
    double size = rms(0), error = 0;
    for (size_t s = 0; s < stages; ++s) {
      const Shape& filter = shape(1 + s);
      const int64_t terms = s == 1 ? filter.dim(0) * filter.dim(1) : filter.dim(2);
      const double root = std::sqrt(static_cast<double>(terms)), weight = rms(1 + s);
      size *= root * weight;
      error = 2 * (root * weight * error + eps_ * root * size);
      FollowChain(node_.attr<std::vector<std::string>>(s == 0   ? "expand_ops"
                                                       : s == 1 ? "depthwise_ops"
                                                                : "project_ops"),
                  operand, error, size);
      error += 2 * eps_ * size;  // of the activation
    }
    return {2 * eps_, error};
  }

  // A sum of L terms of size t, rounded at each step: about eps sqrt(L) times the largest partial
  // sum, which is sqrt(L) t for terms of both signs and the result itself for terms of one.
  Tolerance Sum(double length, double term) const {
    const double root = std::sqrt(length);
    const double partial = std::max(size_of_result(), root * term);
    return {2 * eps_, 2 * eps_ * root * partial};
  }
  Tolerance Sum(int64_t length, double term) const {
    return Sum(static_cast<double>(length), term);
  }
  double rms(size_t i) const { return SizeOfValues(in_[i]).rms; }
  double max(size_t i) const { return SizeOfValues(in_[i]).max; }
  double size_of_result() const { return SizeOfValues(golden_).max; }
  const Shape& shape(size_t i) const { return in_[i].shape(); }

  // For input 0.
  double longest() const {
    double longest = 1;
    for (int64_t d : shape(0).dims()) longest = std::max(longest, static_cast<double>(d));
    return longest;
  }
  // The number of elements of input 0 per element of the output.
  double reduced() const {
    const int64_t n = golden_.num_elements();
    if (n == 0) return 1;
    return static_cast<double>(std::max<int64_t>(1, in_[0].num_elements() / n));
  }
  double window() const {
    int64_t n = 1;
    if (const auto* ksize = node_.attr<std::vector<int64_t>>("ksize")) {
      for (int64_t k : *ksize) n *= k;
    }
    return static_cast<double>(n);
  }

  // ---- sums of products ----

  Tolerance OfProducts(ErrorBound kind) const {
    switch (kind) {
      case ErrorBound::kConvolution: {
        const Shape& filter = shape(1);
        const int64_t channels = filter.rank() == 0 ? 1 : filter.dim(filter.rank() - 1);
        return Product(filter.rank() == 0 ? 1
                                          : filter.num_elements() / std::max<int64_t>(1, channels));
      }
      case ErrorBound::kDepthwiseConvolution:
        return Product(shape(1).rank() < 2 ? 1 : shape(1).dim(0) * shape(1).dim(1));
      case ErrorBound::kInvertedResidual:
        return InvertedResidual();
      case ErrorBound::kInputGradient: {
        const Shape& filter = shape(1);  // [window..., I, O]
        int64_t length = 1;
        for (int i = 0; i < filter.rank(); ++i) {
          if (i != filter.rank() - 2) length *= filter.dim(i);
        }
        return Sum(length, rms(1) * rms(2));
      }
      case ErrorBound::kFilterGradient:
        return FilterGradient(golden_.shape().dim(golden_.shape().rank() - 1));
      case ErrorBound::kDepthwiseFilterGradient:
        return FilterGradient(golden_.shape().dim(golden_.shape().rank() - 1) *
                              golden_.shape().dim(golden_.shape().rank() - 2));
      case ErrorBound::kMatrixProduct: {
        const Shape& a = shape(0);
        if (a.rank() < 2) return Product(1);
        const bool* transposed = node_.attr<bool>("transpose_a");
        if (transposed == nullptr) transposed = node_.attr<bool>("adj_x");
        return Product(a.dim(transposed != nullptr && *transposed ? a.rank() - 2 : a.rank() - 1));
      }
      case ErrorBound::kEinsum:  // at most the product of the smaller operand's dimensions
        if (in_.size() < 2) return OfOp(ErrorBound::kFewRoundings);
        return Product(
            std::max<int64_t>(1, std::min(in_[0].num_elements(), in_[1].num_elements())));
      case ErrorBound::kSparseProduct:  // at most one product per stored element
        return Sum(std::max<int64_t>(1, in_[1].num_elements()), max(1) * max(3));
      case ErrorBound::kCrossProduct:
        return {2 * eps_, 2 * eps_ * max(0) * max(1)};
      case ErrorBound::kLinearAlgebra: {
        const double n = shape(0).rank() < 2 ? 1 : static_cast<double>(shape(0).dims().back());
        return {16 * n * eps_, 16 * n * eps_ * size_of_result()};
      }
      case ErrorBound::kFourier: {
        const double n = std::max(2.0, static_cast<double>(golden_.num_elements()));
        return {2 * eps_, 2 * eps_ * std::log2(n) * size_of_result()};
      }
      case ErrorBound::kLstmSteps:
        return Gates(1, 4, static_cast<double>(shape(1).dim(0)));
      case ErrorBound::kLstmCell:
        return Gates(0, 3, 1);
      case ErrorBound::kGruCell:
        return Gates(0, 2, 1);
      case ErrorBound::kRecurrence:
        return Recurrence();
      default:
        return OfReductions(kind);
    }
  }
  Tolerance Product(int64_t length) const {
    return length > 0 ? Sum(length, rms(0) * rms(1)) : Tolerance{4 * eps_, 0};
  }
  // The number of images times output positions.
  Tolerance FilterGradient(int64_t channels) const {
    return Sum(std::max<int64_t>(1, in_[2].num_elements() / std::max<int64_t>(1, channels)),
               rms(0) * rms(2));
  }
  // A score's error is the relative error of its weight. Scores are multiplied by a scale, and by
  // masks.
  Tolerance Attention() const {
    double score = Sum(shape(0).dims().back(), rms(0) * rms(1)).absolute;
    if (const float* scale = node_.attr<float>("scale")) score *= std::abs(double{*scale});
    if (const auto* steps = node_.attr<std::vector<std::string>>("steps")) {
      size_t mask = 3;
      for (const std::string& step : *steps) {
        if (step == "Mul") score *= std::max(1.0, max(mask));
        if (step == "Add" || step == "Sub") score += eps_ * max(mask);
        // op names: steps of attention, some of which are called like ops.
        if (step == "Add" || step == "Sub" || step == "Mul") ++mask;
      }
    }
    return {4 * eps_, (score + 8 * eps_) * max(2)};
  }
  // Gates are sums of products, passed through functions with slope at most 1; a step's error stays
  // in the state and adds to the next step's.
  Tolerance Gates(size_t x, size_t weights, double steps) const {
    const double error = Sum(shape(weights).dim(0), rms(x) * rms(weights)).absolute;
    return {4 * eps_, steps * (error + 4 * eps_)};
  }

  // As of Gates, but only the states are multiplied; the inputs' products are given.
  Tolerance Recurrence() const {
    const auto* sequences = node_.attr<int64_t>("N");
    const auto* time_major = node_.attr<bool>("time_major");
    const auto weights = static_cast<size_t>(sequences == nullptr ? 1 : *sequences);
    const int64_t steps = shape(0).dim(time_major == nullptr || *time_major ? 0 : 1);
    const double error = Sum(shape(weights).dim(0), size_of_result() * rms(weights)).absolute;
    const double rounding = 4 * eps_ * std::max(1.0, max(0));
    return {4 * eps_, static_cast<double>(steps) * (error + rounding)};
  }

  // ---- reductions ----

  Tolerance OfReductions(ErrorBound kind) const {
    switch (kind) {
      case ErrorBound::kSum:
        return Sum(reduced(), rms(0));
      case ErrorBound::kMean:
        return Sum(reduced(), rms(0) / reduced());
      case ErrorBound::kProduct:
        return {(2 + reduced()) * eps_, 0};
      case ErrorBound::kSumOfSquares:
        return Sum(reduced(), rms(0) * rms(0));
      case ErrorBound::kMoments:
        return Sum(reduced(), std::max(rms(0), rms(0) * rms(0)) / reduced());
      case ErrorBound::kAddN:
        return Sum(static_cast<double>(in_.size()), max(0));
      case ErrorBound::kRunningSum:
        return Sum(longest(), rms(0));
      case ErrorBound::kRunningProduct:
        return {(2 + longest()) * eps_, 0};
      case ErrorBound::kRunningLogSum:
        return {8 * eps_ * longest(), 8 * eps_ * longest()};
      case ErrorBound::kSegmentSum:
      case ErrorBound::kSegmentProduct:
        return OfSegments(kind == ErrorBound::kSegmentProduct);
      case ErrorBound::kScatter:
        return Sum(std::max<int64_t>(1, in_[0].num_elements()), rms(1));
      case ErrorBound::kPathSum: {
        // A path's logarithm gains a term in each step and is rounded relative to its size.
        // TensorFlow adds probabilities with exponentials in float for every dtype.
        const Shape& logits = shape(0);
        const double steps = static_cast<double>(logits.dim(0));
        const double term = std::log(static_cast<double>(logits.dim(2))) + 2 * max(0);
        const double float_eps = Epsilon(DType::kFloat);
        return {2 * float_eps, 2 * float_eps + 2 * eps_ * std::sqrt(steps) * steps * term};
      }
      case ErrorBound::kAveragePool:
        return Sum(window(), max(0) / window());
      case ErrorBound::kPoolGradient: {
        // An element is in at most as many windows as a window has elements.
        size_t gradient = in_.size() - 1;
        while (gradient > 0 && !IsFloating(in_[gradient].dtype())) --gradient;
        return Sum(window(), rms(gradient));
      }
      default:
        return OfNormalization(kind);
    }
  }
  Tolerance OfSegments(bool product) const {
    double rows = 1, largest = 0;
    for (const Tensor& t : in_) {
      if (t.shape().rank() > 0) rows = std::max(rows, static_cast<double>(t.shape().dim(0)));
      if (!IsInteger(t.dtype())) largest = std::max(largest, SizeOfValues(t).max);
    }
    if (product) return {(2 + rows) * eps_, 0};
    return {2 * eps_, eps_ * rows * largest};
  }

  // ---- normalization, losses, images ----

  Tolerance OfNormalization(ErrorBound kind) const {
    switch (kind) {
      case ErrorBound::kSoftmax:  // exponentials and the sum of one row
        // An exponential near the smallest normal number may be flushed.
        return {(8 + 2 * RootOfRow()) * eps_, 4.0 * std::numeric_limits<float>::min()};
      case ErrorBound::kLogSoftmax:  // log(sum) and the subtraction, relative to the logits
        return {4 * eps_, (2 + RootOfRow()) * eps_ * std::max(1.0, max(0))};
      case ErrorBound::kBatchNorm:
        // x - mean has an error relative to x, which is then scaled like the result.
        return {8 * eps_, 8 * eps_ * std::max(size_of_result(), max(0))};
      case ErrorBound::kBatchNormGradient:
        return BatchNormGradient();
      case ErrorBound::kLocalNormalization: {
        // A power multiplies the relative errors of the sum.
        const double power =
            std::max(1.0, std::abs(static_cast<double>(*node_.attr<float>("beta"))));
        return {power * (8 + Neighbors()) * eps_, 0};
      }
      case ErrorBound::kLocalNormalizationGradient: {
        // A sum of 2r + 1 terms, each a product of all three inputs.
        const double slope =
            2 * std::abs(*node_.attr<float>("alpha")) * std::abs(*node_.attr<float>("beta"));
        return {(8 + Neighbors()) * eps_,
                eps_ * (Neighbors() + 8) * (max(0) + slope * max(0) * max(1) * max(2))};
      }
      case ErrorBound::kCrossEntropy:
        return OfLoss(std::max(1.0, max(1)));
      case ErrorBound::kSparseCrossEntropy:
        return OfLoss(1);
      case ErrorBound::kBilinear:  // one rounding error of the largest index
        return {4 * eps_, eps_ * (4 + longest()) * max(0)};
      case ErrorBound::kImagePositions: {
        const double side = static_cast<double>(std::max(shape(0).dim(1), shape(0).dim(2)));
        return {4 * eps_, eps_ * (8 + 4 * side) * max(0)};
      }
      case ErrorBound::kFoldedPads:
        return {2 * eps_, eps_ * std::pow(3.0, shape(0).rank()) * max(0)};
      default:
        return {4 * eps_, 0};
    }
  }
  // With r = 1 / sqrt(variance + epsilon), centered x and n elements per channel:
  //   x: scale r (dy - sum(dy) / n - x r^2 sum(dy x) / n), scale: r sum(dy x), offset: sum(dy).
  // The sums may cancel, and the variance, an input, may be much smaller than that of x.
  Tolerance BatchNormGradient() const {
    const Tensor& variance = in_[4];
    const double channels = static_cast<double>(std::max<int64_t>(1, variance.num_elements()));
    const double n = std::max(1.0, static_cast<double>(in_[1].num_elements()) / channels);
    double smallest = std::numeric_limits<double>::infinity();
    for (const Value& v : Values(variance)) smallest = std::min(smallest, v.real());
    const float* const epsilon = node_.attr<float>("epsilon");
    const double r =
        1 / std::sqrt(std::max(smallest, 0.0) + (epsilon == nullptr ? 1e-4 : double{*epsilon}));
    const double x = max(1) + max(3), terms = Sum(n, rms(0) * (rms(1) + rms(3))).absolute;
    if (golden_.shape().rank() < 2) {  // a sum per channel
      return {8 * eps_, std::max(r * terms, Sum(n, rms(0)).absolute)};
    }
    const double size = 8 * eps_ * std::max(size_of_result(), max(0));
    return {8 * eps_, std::max(size, max(2) * r * x * r * r * terms / n)};
  }
  double RootOfRow() const {
    const Shape& s = shape(0);
    const double row = s.rank() == 0 ? 1 : static_cast<double>(s.dim(s.rank() - 1));
    return std::sqrt(std::max(row, 1.0));
  }
  // A power of a sum of squares, computed with exp and log.
  double Neighbors() const {
    const auto* radius = node_.attr<int64_t>("depth_radius");
    return std::min(longest(), radius == nullptr ? 11 : 2.0 * static_cast<double>(*radius) + 1);
  }
  // The logarithm of a sum over one row is subtracted from the logits; then the products with the
  // labels are summed.
  Tolerance OfLoss(double labels) const {
    return Sum(longest(), 8 * std::max(1.0, max(0)) * labels / std::sqrt(longest()));
  }

  const Node& node_;
  const absl::Span<const Tensor> in_;
  const Tensor& golden_;
  const double eps_;
};

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
  const OpRow& row = FactsOf(node.op);
  if (IsQuantized(golden.dtype())) {
    // Integers are exact, except that when a real number is rounded to one, its rounding error may
    // decide a tie. 32-bit sums become floats when a bias is added.
    if (!row.rounds_to_integers) return {0, 0};
    return {golden.dtype() == DType::kQint32 ? std::ldexp(1.0, -24) : 0, 1};
  }
  if (Epsilon(golden.dtype()) == 0 || inputs.empty()) return {};
  const bool moved = row.moves_elements && row.error_bound == ErrorBound::kFewRoundings;
  return Bound(node, inputs, golden).Of(moved ? ErrorBound::kExact : row.error_bound);
}

std::string Difference(const Tensor& result, const Tensor& golden, Tolerance tolerance) {
  if (result.dtype() != golden.dtype()) {
    return absl::StrCat("dtype ", Name(result.dtype()), ", expected ", Name(golden.dtype()));
  }
  if (result.shape() != golden.shape()) {
    return absl::StrCat("shape ", result.shape().ToString(), ", expected ",
                        golden.shape().ToString());
  }
  const bool text = golden.dtype() == DType::kString;
  if (!text && !HasValues(golden.dtype())) return DifferenceOfSmall(result, golden);
  if (text || IsInteger(golden.dtype()) || golden.dtype() == DType::kBool) {
    if (Identical(result, golden)) return "";
    if (text) {
      for (int64_t i = 0; i < golden.num_elements(); ++i) {
        const std::string& got = result.data<std::string>()[i];
        const std::string& want = golden.data<std::string>()[i];
        if (got == want) continue;
        return absl::StrCat("element ", i, " is \"", absl::CHexEscape(got), "\", expected \"",
                            absl::CHexEscape(want), "\"");
      }
      return "other elements";
    }
    for (size_t i = 0; i < static_cast<size_t>(golden.num_elements()); ++i) {
      const Value a = Values(result, i, 1)[0], b = Values(golden, i, 1)[0];
      if (a != b) return absl::StrCat("element ", i, " is ", a.real(), ", expected ", b.real());
    }
    return "other elements";
  }
  // Outside the dtype's normal range there is less precision, or none.
  const double tiny = golden.dtype() == DType::kDouble || golden.dtype() == DType::kComplex128
                          ? std::numeric_limits<double>::min()
                      : golden.dtype() == DType::kHalf ? std::ldexp(1.0, -24)
                                                       : std::numeric_limits<float>::min();
  // In blocks: as doubles, a large tensor may need more memory than there is.
  constexpr size_t kBlock = size_t{1} << 16;
  std::vector<Value> got, want;
  double worst = 0;
  std::string found;
  for (size_t at = 0; at < static_cast<size_t>(golden.num_elements()); ++at) {
    const size_t i = at % kBlock;
    if (i == 0) {
      got = Values(result, at, kBlock);
      want = Values(golden, at, kBlock);
    }
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
      found = absl::StrCat("element ", at, " is ", got[i].real());
      if (IsComplex(golden.dtype())) absl::StrAppend(&found, "+", got[i].imag(), "i");
      absl::StrAppend(&found, ", expected ", want[i].real());
      if (IsComplex(golden.dtype())) absl::StrAppend(&found, "+", want[i].imag(), "i");
      absl::StrAppend(&found, ": error over the tolerance by a factor of ", excess);
    }
  }
  return found;
}

}  // namespace tenon
