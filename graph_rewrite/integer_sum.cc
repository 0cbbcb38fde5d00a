#include "graph_rewrite/integer_sum.h"

#include <algorithm>
#include <utility>

#include "graph_rewrite/dims.h"
#include "graph_rewrite/elements.h"
#include "ops/evaluate.h"

namespace tenon {
namespace {

constexpr int kMostHops = 64;
constexpr size_t kMostProducts = 16;
constexpr int64_t kMostElements = 64;  // of a tensor whose elements are followed

// Where element `index` of a node's result comes from.
struct Origin {
  Endpoint tensor;
  int64_t index = 0;
};

// Of a node that joins its `parts`, all of the same rank, along `axis`, which may be a new one.
std::optional<Origin> OriginInParts(RuleContext& context, absl::Span<const Endpoint> parts,
                                    int64_t axis, bool new_axis, int64_t index) {
  std::vector<int64_t> lengths;
  int64_t inner = 1, joined = 0;
  for (const Endpoint& part : parts) {
    const Shape& s = context.shapes.shape(part);
    if (!s.IsComplete()) return std::nullopt;
    const int64_t rank = s.rank() + (new_axis ? 1 : 0);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    lengths.push_back(new_axis ? 1 : s.dim(static_cast<int>(axis)));
    joined += lengths.back();
    inner = 1;
    for (int d = static_cast<int>(axis) + (new_axis ? 0 : 1); d < s.rank(); ++d) inner *= s.dim(d);
  }
  if (joined <= 0 || inner <= 0) return std::nullopt;
  const int64_t outer = index / (joined * inner), behind = index % inner;
  int64_t at = index / inner % joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (at < lengths[i]) return Origin{parts[i], (outer * lengths[i] + at) * inner + behind};
    at -= lengths[i];
  }
  return std::nullopt;
}

// Of a node that moves elements of input 0 about as its other inputs, which are constant, say: it
// is evaluated on the numbers of the elements.
std::optional<Origin> OriginByNumber(RuleContext& context, const Node& n, int port, int64_t index) {
  const Shape& s = context.shapes.shape(n.inputs[0]);
  if (!s.IsComplete() || s.num_elements() > kMostElements) return std::nullopt;
  Node moved = n;
  moved.attrs["T"] = DType::kInt64;
  std::vector<Tensor> inputs;
  auto numbers = Tensor::Allocate(DType::kInt64, s);
  if (!numbers.ok()) return std::nullopt;
  for (int64_t i = 0; i < s.num_elements(); ++i) numbers->data<int64_t>()[i] = i;
  inputs.push_back(*std::move(numbers));
  for (size_t i = 1; i < n.inputs.size(); ++i) {
    const Tensor* t = context.Constant(n.inputs[i]);
    if (t == nullptr) return std::nullopt;
    inputs.push_back(*t);
  }
  const auto out = Evaluate(moved, inputs, context.services);
  if (!out.ok() || static_cast<size_t>(port) >= out->size()) return std::nullopt;
  const Tensor& result = (*out)[static_cast<size_t>(port)];
  if (index >= result.num_elements()) return std::nullopt;
  return Origin{n.inputs[0], result.data<int64_t>()[index]};
}

std::optional<Origin> OriginOf(RuleContext& context, const Node& n, int port, int64_t index) {
  if (n.inputs.empty()) return std::nullopt;
  // op names: ops that keep all elements in order
  if (n.op == "Identity" || n.op == "Reshape" || n.op == "ExpandDims" || n.op == "Squeeze") {
    return Origin{n.inputs[0], index};
  }
  if (n.op == "Cast" && IsInteger(context.shapes.dtype(n.inputs[0]))) {
    const DType to = context.shapes.dtype({n.id, 0});  // wide enough for sizes
    if (to == DType::kInt32 || to == DType::kInt64) return Origin{n.inputs[0], index};
  }
  if (n.op == "Pack") {
    const int64_t* axis = n.attr<int64_t>("axis");
    return OriginInParts(context, n.inputs, axis == nullptr ? 0 : *axis, true, index);
  }
  if (n.op == "ConcatV2") {
    const std::vector<int64_t> axis = ConstantIntegers(context, n.inputs.back());
    if (axis.size() != 1) return std::nullopt;
    return OriginInParts(context, absl::MakeSpan(n.inputs).first(n.inputs.size() - 1), axis[0],
                         false, index);
  }
  // op names: ops that move elements as their other inputs say
  if (n.op == "StridedSlice" || n.op == "Slice" || n.op == "Transpose" || n.op == "Unpack") {
    return OriginByNumber(context, n, port, index);
  }
  return std::nullopt;
}

// The element of operand `slot` that element `index` of an elementwise result is computed from.
std::optional<int64_t> OperandIndex(RuleContext& context, const Node& n, size_t slot,
                                    int64_t index) {
  const Shape& out = context.shapes.shape({n.id, 0});
  const Shape& in = context.shapes.shape(n.inputs[slot]);
  if (!in.IsComplete() || !out.IsComplete()) return std::nullopt;
  if (in.num_elements() == 1) return 0;
  if (in == out) return index;
  return std::nullopt;
}

// The constant that the term is a FloorMod by; 0 if it is none.
int64_t DivisorOf(RuleContext& context, const IntegerTerm& term) {
  if (term.kind != IntegerTerm::kElement) return 0;
  const Node& n = context.node(term.tensor);
  if (n.op != "FloorMod") return 0;
  const auto at = OperandIndex(context, n, 1, term.index);
  const std::vector<int64_t> by = ConstantIntegers(context, n.inputs[1]);
  return at.has_value() && static_cast<size_t>(*at) < by.size() ? by[static_cast<size_t>(*at)] : 0;
}

// Follows the elements of one tensor.
class Tracer {
 public:
  explicit Tracer(RuleContext& context) : context_(context) {}

  // Adds `times` times the element to `sum`.
  bool Add(Endpoint e, int64_t index, int64_t times, int hops, IntegerSum& sum) {
    if (hops > kMostHops || ++steps_ > kMostSteps) return false;
    const Node& n = context_.node(e);
    if (context_.Constant(e) != nullptr) {
      const std::vector<int64_t> values = ConstantIntegers(context_, e);
      if (static_cast<size_t>(index) >= values.size()) return false;
      return sum.Add({values[static_cast<size_t>(index)], {}}, times);
    }
    if (n.op == "Shape") {
      return sum.Add(SizeSum(context_, n.inputs[0], static_cast<int>(index)), times);
    }
    // op names: ops whose result is a sum
    if (n.op == "AddV2" || n.op == "Add" || n.op == "Sub") {
      const auto a = OperandIndex(context_, n, 0, index), b = OperandIndex(context_, n, 1, index);
      if (a.has_value() && b.has_value()) {
        return Add(n.inputs[0], *a, times, hops + 1, sum) &&
               Add(n.inputs[1], *b, n.op == "Sub" ? -times : times, hops + 1, sum);
      }
    }
    if (const auto origin = OriginOf(context_, n, e.port, index)) {
      return Add(origin->tensor, origin->index, times, hops + 1, sum);
    }
    return sum.Add({0, {{IntegerTerm::kElement, e, index}}}, times);
  }

 private:
  static constexpr int kMostSteps = 512;  // a sum's operands are both followed

  RuleContext& context_;
  int steps_ = 0;
};

}  // namespace

bool IntegerSum::Add(const IntegerSum& other, int64_t times) {
  int64_t product = 0;
  if (__builtin_mul_overflow(other.constant, times, &product) ||
      __builtin_add_overflow(constant, product, &constant)) {
    return false;
  }
  for (const IntegerTerm& term : other.terms) {
    if (__builtin_mul_overflow(term.times, times, &product)) return false;
    auto same = std::find_if(terms.begin(), terms.end(),
                             [&](const IntegerTerm& t) { return t.SameNumber(term); });
    if (same == terms.end()) {
      if (terms.size() == kMostProducts) return false;
      terms.push_back(term);
      terms.back().times = product;
      same = std::prev(terms.end());
    } else if (__builtin_add_overflow(same->times, product, &same->times)) {
      return false;
    }
    if (same->times == 0) terms.erase(same);
  }
  return true;
}

std::optional<IntegerSum> ElementSum(RuleContext& context, Endpoint e, int64_t index) {
  IntegerSum sum;
  if (!Tracer(context).Add(e, index, 1, 0, sum)) return std::nullopt;
  return sum;
}

IntegerSum SizeSum(RuleContext& context, Endpoint e, int axis) {
  const Dimension d = DimensionOf(context, e, axis);
  if (d.value >= 0) return {d.value, {}};
  return {0, {{IntegerTerm::kSize, d.known() ? d.source : e, d.known() ? d.axis : axis}}};
}

bool IsMultipleOf(RuleContext& context, const IntegerSum& sum, int64_t divisor) {
  IntegerSum rest = sum;
  for (int i = 0; i < kMostHops; ++i) {
    std::erase_if(rest.terms, [&](const IntegerTerm& t) { return t.times % divisor == 0; });
    if (rest.terms.empty()) return rest.constant % divisor == 0;
    // A remainder differs from its dividend by a multiple of the divisor.
    const auto found =
        std::find_if(rest.terms.begin(), rest.terms.end(), [&](const IntegerTerm& t) {
          const int64_t by = DivisorOf(context, t);
          return by != 0 && by % divisor == 0;
        });
    if (found == rest.terms.end()) return false;
    const IntegerTerm remainder = *found;
    rest.terms.erase(found);
    const Node& n = context.node(remainder.tensor);
    const auto at = OperandIndex(context, n, 0, remainder.index);
    if (!at.has_value()) return false;
    const auto dividend = ElementSum(context, n.inputs[0], *at);
    if (!dividend.has_value() || !rest.Add(*dividend, remainder.times)) return false;
  }
  return false;
}

bool IsNotNegative(RuleContext& context, const IntegerSum& sum) {
  return sum.constant >= 0 &&
         std::all_of(sum.terms.begin(), sum.terms.end(), [&](const IntegerTerm& t) {
           return t.times > 0 && (t.kind == IntegerTerm::kSize || DivisorOf(context, t) > 0);
         });
}

}  // namespace tenon
