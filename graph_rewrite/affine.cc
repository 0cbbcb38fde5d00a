#include "graph_rewrite/affine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/status.h"

namespace tenon {
namespace {

constexpr int64_t kMaxElements = 1 << 20;
constexpr int kMaxSteps = 64;

Values FromTensor(const Tensor& t) {
  Values out{t.shape(), {}};
  out.v.assign(t.data<float>(), t.data<float>() + t.num_elements());
  return out;
}

// f(a, b) with NumPy broadcasting. An error if the result would be larger than either.
template <typename F>
absl::StatusOr<Values> Combine(const Values& a, const Values& b, F f) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(a.shape, b.shape));
  const int64_t n = shape.num_elements();
  if (n > std::max<int64_t>(static_cast<int64_t>(a.v.size()), static_cast<int64_t>(b.v.size()))) {
    return WhyNot("the constants together are larger than each");
  }
  Values out{shape, std::vector<double>(static_cast<size_t>(n))};
  const int rank = shape.rank();
  auto strides = [rank](const Shape& s) {
    std::vector<int64_t> st(static_cast<size_t>(rank), 0);
    int64_t stride = 1;
    for (int d = s.rank(); d-- > 0;) {
      if (s.dim(d) != 1) st[static_cast<size_t>(d + rank - s.rank())] = stride;
      stride *= s.dim(d);
    }
    return st;
  };
  const std::vector<int64_t> sa = strides(a.shape), sb = strides(b.shape);
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  int64_t ia = 0, ib = 0;
  for (int64_t i = 0; i < n; ++i) {
    out.v[static_cast<size_t>(i)] = f(a.v[static_cast<size_t>(ia)], b.v[static_cast<size_t>(ib)]);
    for (int d = rank; d-- > 0;) {
      const size_t k = static_cast<size_t>(d);
      ia += sa[k];
      ib += sb[k];
      if (++index[k] < shape.dim(d)) break;
      ia -= sa[k] * shape.dim(d);
      ib -= sb[k] * shape.dim(d);
      index[k] = 0;
    }
  }
  return out;
}

double Times(double a, double b) { return a * b; }
double Plus(double a, double b) { return a + b; }

double LargestMagnitude(const Values& c) {
  double largest = 0;
  for (double v : c.v) largest = std::max(largest, std::abs(v));
  return largest;
}

// Whether float holds every value that is not 0 with full precision.
bool InRange(const Values& c) {
  return std::all_of(c.v.begin(), c.v.end(), [](double v) {
    const double magnitude = std::abs(v);
    return magnitude == 0 || (magnitude >= std::numeric_limits<float>::min() &&
                              magnitude <= std::numeric_limits<float>::max());
  });
}

// How much larger than the rest a number may be whose digits cancel: six of 24 bits.
constexpr double kMostTimesLarger = 64;

// Whether the sum of an earlier shift, which the scaled input may cancel, and a later one keeps the
// digits of the later one. A mask, (1 - m) * -1e9, followed by the sum with a bias is
// m * 1e9 - 1e9 + bias: float has no digits left for the bias beside 1e9.
bool KeepsDigits(const Values& earlier, const Values& later) {
  const double least = LargestMagnitude(later);
  return least == 0 || LargestMagnitude(earlier) <= kMostTimesLarger * least;
}

// Whether x * scale + shift * scale is as near to the truth as (x + shift) * scale, whose sum is
// exact for an x close to -shift: a year less 2000, a pressure less its mean. The 1 of a mask,
// (1 - m) * -1e9, is harmless.
absl::StatusOr<bool> KeepsDigitsOfSum(const Values& shift, const Values& scale) {
  TENON_ASSIGN_OR_RETURN(const Values lost, Combine(shift, scale, [](double b, double s) {
                           return b == 1 || b == -1 ? 0 : std::abs(b * s);
                         }));
  return LargestMagnitude(lost) <= kMostTimesLarger;
}

// One op as x * scale + shift.
struct Step {
  Endpoint x;
  std::optional<Values> scale, shift;
  bool plain = false;
};

const Tensor* FloatConstant(RuleContext& context, Endpoint e) {
  const Tensor* t = context.Constant(e);
  if (t == nullptr || t->dtype() != DType::kFloat || t->num_elements() > kMaxElements)
    return nullptr;
  return t;
}

// The shape that [C] has next to a tensor of `rank` with channels at `axis`.
Shape ChannelShape(int64_t channels, int rank, int axis) {
  Shape s({channels});
  for (int d = axis + 1; d < rank; ++d) s.push_back(1);
  return s;
}

absl::StatusOr<Step> BatchNormStep(RuleContext& context, const Node& n) {
  const bool* training = n.attr<bool>("is_training");
  const float* epsilon = n.attr<float>("epsilon");
  if (training == nullptr || *training || epsilon == nullptr) return WhyNot("it is training");
  for (const Use& u : context.rw.uses(n.id)) {
    if (!u.is_control() && u.port != 0) return WhyNot("its statistics are read");
  }
  for (const GraphOutput& o : context.graph().outputs()) {
    if (o.source.node == n.id && o.source.port != 0) return WhyNot("its statistics are fetched");
  }
  Values in[4];
  for (size_t i = 0; i < 4; ++i) {
    const Tensor* t = FloatConstant(context, n.inputs[i + 1]);
    if (t == nullptr || t->shape().rank() != 1) return WhyNot("its statistics are not constant");
    in[i] = FromTensor(*t);
    if (in[i].v.size() != in[0].v.size()) return WhyNot("its statistics differ in size");
  }
  const std::string* format = n.attr<std::string>("data_format");
  const int rank = format != nullptr ? static_cast<int>(format->size()) : 4;
  const int axis = format != nullptr && (*format)[1] == 'C' ? 1 : rank - 1;
  const Shape shape = ChannelShape(static_cast<int64_t>(in[0].v.size()), rank, axis);
  Step step{n.inputs[0], Values{shape, {}}, Values{shape, {}}, false};
  for (size_t c = 0; c < in[0].v.size(); ++c) {
    // y = (x - mean) * scale / sqrt(variance + epsilon) + offset
    const double s = in[0].v[c] / std::sqrt(in[3].v[c] + static_cast<double>(*epsilon));
    const double shift = in[1].v[c] - in[2].v[c] * s;
    if (!std::isfinite(s) || !std::isfinite(shift)) return WhyNot("its statistics are not finite");
    step.scale->v.push_back(s);
    step.shift->v.push_back(shift);
  }
  return step;
}

absl::StatusOr<Step> StepOf(RuleContext& context, NodeId id) {
  std::string why;
  if (!context.IsCandidate(id, context.explaining ? &why : nullptr)) return WhyNot(why);
  const Node& n = context.node(id);
  const DType* dtype = n.attr<DType>("T");
  if (dtype == nullptr || *dtype != DType::kFloat) return WhyNot("it is not float");
  if (absl::StartsWith(n.op, "FusedBatchNorm") && n.inputs.size() >= 5) {
    return BatchNormStep(context, n);
  }
  if (n.inputs.size() != 2) return WhyNot("it is no product or sum with a constant");
  if (!context.shapes.Accepts(id)) return WhyNot("its inputs do not fit");
  if (n.op == "BiasAdd") {
    const Tensor* b = FloatConstant(context, n.inputs[1]);
    if (b == nullptr) return WhyNot("its bias is not constant");
    const std::string* format = n.attr<std::string>("data_format");
    Step step{n.inputs[0], std::nullopt, FromTensor(*b), false};
    if (format != nullptr && format->substr(0, 2) == "NC") {
      const int rank = context.shapes.rank(n.inputs[0]);
      if (rank < 2) return WhyNot("its rank is not known");
      step.shift->shape = ChannelShape(b->num_elements(), rank, 1);
    }
    return step;
  }
  // op names: what each computes is spelled out below.
  const bool mul = n.op == "Mul", div = n.op == "RealDiv", sub = n.op == "Sub";
  if (!mul && !div && !sub && n.op != "AddV2" && n.op != "Add") {
    return WhyNot("it is no product or sum with a constant");
  }
  const int slot = context.Constant(n.inputs[1]) != nullptr ? 1 : 0;
  const Tensor* t = FloatConstant(context, n.inputs[static_cast<size_t>(slot)]);
  const Endpoint x = n.inputs[static_cast<size_t>(1 - slot)];
  if (t == nullptr || context.Constant(x) != nullptr) return WhyNot("neither operand is constant");
  Values c = FromTensor(*t);
  Step step{x, std::nullopt, std::nullopt, mul || n.op == "AddV2"};
  if (mul) {
    step.scale = std::move(c);
  } else if (div) {
    if (slot == 0) return WhyNot("it divides by what is not constant");
    for (double& v : c.v) {
      if (std::abs(v) < 1e-30) return WhyNot("it divides by zero, or nearly");
      if (std::abs(v) > 1e37) return WhyNot("the reciprocal is denormal");
      v = 1 / v;
    }
    step.scale = std::move(c);
  } else if (sub && slot == 0) {  // c - x
    step.scale = Values{Shape(), {-1.0}};
    step.shift = std::move(c);
  } else {
    if (sub) {
      for (double& v : c.v) v = -v;
    }
    step.shift = std::move(c);
  }
  return step;
}

}  // namespace

bool Values::AllAre(double value) const {
  return std::all_of(v.begin(), v.end(), [&](double x) { return x == value; });
}

absl::StatusOr<Tensor> Values::ToFloat() const {
  TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(DType::kFloat, shape));
  for (size_t i = 0; i < v.size(); ++i) t.data<float>()[i] = static_cast<float>(v[i]);
  return t;
}

absl::StatusOr<Affine> CollectAffine(RuleContext& context, NodeId last) {
  TENON_ASSIGN_OR_RETURN(Step step, StepOf(context, last));
  const NodeId next = context.OnlyReader(last);
  if (next != kNoNode && StepOf(context, next).ok()) {
    return WhyNot("the run of products and sums goes on behind it");
  }
  std::vector<Step> steps;  // last first
  std::optional<Values> scale_behind;
  Affine out;
  NodeId at = last;
  while (true) {
    if (step.shift && scale_behind && (!step.scale || step.scale->AllAre(-1))) {
      const absl::StatusOr<bool> keeps = KeepsDigitsOfSum(*step.shift, *scale_behind);
      if (keeps.ok() && !*keeps) break;
    }
    if (step.scale) {
      TENON_ASSIGN_OR_RETURN(
          scale_behind, scale_behind ? Combine(*step.scale, *scale_behind, Times) : *step.scale);
    }
    out.nodes.push_back(at);
    const Endpoint x = step.x;
    steps.push_back(std::move(step));
    out.base = x;
    if (x.port != 0 || context.OnlyReader(x.node) != at || steps.size() >= kMaxSteps) break;
    auto before = StepOf(context, x.node);
    if (!before.ok()) break;
    step = *std::move(before);
    at = x.node;
  }
  std::reverse(out.nodes.begin(), out.nodes.end());
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    out.plain = out.plain && it->plain;
    if (it->scale) {
      if (out.scale) {
        TENON_ASSIGN_OR_RETURN(out.scale, Combine(*out.scale, *it->scale, Times));
      } else {
        out.scale = it->scale;
      }
      if (out.shift) {
        TENON_ASSIGN_OR_RETURN(out.shift, Combine(*out.shift, *it->scale, Times));
      }
    }
    if (it->shift) {
      if (out.shift) {
        if (out.scale && !KeepsDigits(*out.shift, *it->shift)) {
          return WhyNot("one constant of the sum is so large that the other would lose its digits");
        }
        TENON_ASSIGN_OR_RETURN(out.shift, Combine(*out.shift, *it->shift, Plus));
      } else {
        out.shift = std::move(it->shift);
      }
    }
  }
  if (steps.size() > 1 &&
      ((out.scale && !InRange(*out.scale)) || (out.shift && !InRange(*out.shift)))) {
    return WhyNot("the constants together leave the range of float");
  }
  return out;
}

}  // namespace tenon
