// Folds products and sums with constants, including batch norm, into the weights and the bias of
// the contraction before them; other runs of them become one Mul and one AddV2.
//
//   (conv(x, W) + b) * s + t  =  conv(x, W * s) + (b * s + t)      s per output channel
//   ((x * a + b) * c + d)     =  x * (a * c) + (b * c + d)
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/affine.h"
#include "graph_rewrite/contraction.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/weight_only.h"
#include "kernels/contraction/magnitude_simd.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

// out[o, a, i] = in[o, a, i] * factor[a]; `out` may be `in`.
void Scale(const float* in, float* out, int64_t outer, int64_t axis, int64_t inner,
           const float* factor, int threads) {
  const int64_t row = axis * inner;
  if (row == 0 || outer == 0) return;
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 18) / row);  // a megabyte
  ParallelFor(threads, outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const float* src = in + o * row;
      float* dst = out + o * row;
      if (inner == 1) {
        for (int64_t a = 0; a < axis; ++a) dst[a] = src[a] * factor[a];
        continue;
      }
      for (int64_t a = 0; a < axis; ++a) {
        for (int64_t i = 0; i < inner; ++i) dst[a * inner + i] = src[a * inner + i] * factor[a];
      }
    }
  });
}

// Whether all weights times any of the factors are finite.
bool StayFinite(const Tensor& weights, const std::vector<float>& factors, int threads) {
  const auto largest = [](const float* x, int64_t n) {
    const uint32_t bits =
        LargestMagnitude(reinterpret_cast<const uint32_t*>(x), static_cast<size_t>(n));
    return std::bit_cast<float>(bits);  // NaN is larger than infinity
  };
  const float factor = largest(factors.data(), std::ssize(factors));
  std::atomic<bool> finite = true;
  constexpr int64_t kGrain = int64_t{1} << 18;
  ParallelFor(threads, weights.num_elements(), kGrain, [&](int64_t begin, int64_t end) {
    const float most = largest(weights.data<float>() + begin, end - begin);
    if (!std::isfinite(most * factor)) finite = false;
  });
  return finite;
}

// Multiplies the contraction's weights. Everything that can fail comes before the first edit.
absl::Status ScaleWeights(RuleContext& context, NodeId contraction, const WeightAxes& axes,
                          const Values& scale) {
  const size_t slot = static_cast<size_t>(axes.input);
  const Endpoint w = context.node(contraction).inputs[slot];
  const Tensor* old = context.Constant(w);
  const Shape shape = old->shape();
  int64_t outer = 1, axis = 1, inner = 1;
  for (int d = 0; d < shape.rank(); ++d) {
    (d < axes.first ? outer : d < axes.last ? axis : inner) *= shape.dim(d);
  }
  if (axes.first ==
      axes.last) {  // one factor for all: rows of a suitable length, to split the work
    outer = axis = 1;
    inner = shape.num_elements();
    for (int d = 0; d + 1 < shape.rank(); ++d) outer *= shape.dim(d);
    inner = outer == 0 ? 0 : inner / outer;
  }
  std::vector<float> factor;
  for (double v : scale.v) factor.push_back(static_cast<float>(v));
  const bool sole = context.rw.uses(w.node).size() == 1 && !context.rw.IsKept(w.node);
  const int threads = context.services.threads;
  if (!StayFinite(*old, factor, threads)) {
    return WhyNot("weights and factors together leave the range of float");
  }
  if (sole) {
    AttrValue value = context.rw.TakeAttr(w.node, "value");
    Tensor t = *value.get_if<Tensor>();
    value = AttrValue();
    if (t.OwnsAlone()) {
      Scale(t.data<float>(), t.data<float>(), outer, axis, inner, factor.data(), threads);
      context.rw.SetAttr(w.node, "value", std::move(t));
      return absl::OkStatus();
    }
    auto fresh = Tensor::Allocate(DType::kFloat, shape);
    if (!fresh.ok()) {
      context.rw.SetAttr(w.node, "value", std::move(t));
      return fresh.status();
    }
    Scale(t.data<float>(), fresh->data<float>(), outer, axis, inner, factor.data(), threads);
    context.rw.SetAttr(w.node, "value", *std::move(fresh));
    return absl::OkStatus();
  }
  auto fresh = Tensor::Allocate(DType::kFloat, shape);
  if (!fresh.ok()) return fresh.status();
  Scale(old->data<float>(), fresh->data<float>(), outer, axis, inner, factor.data(), threads);
  const NodeId c = context.AddConst(context.node(w).name + "/scaled", *std::move(fresh));
  context.rw.SetInput(contraction, axes.input, {c, 0});
  return absl::OkStatus();
}

// The replacement for the run: base * scale + shift, without the parts that do nothing.
struct Plan {
  NodeId contraction = kNoNode;  // it takes the scale; or kNoNode
  WeightAxes axes;
  std::optional<Tensor> scale, shift;
  bool bias = false;  // shift as a BiasAdd of a vector
  int ops() const { return scale.has_value() + shift.has_value(); }
};

// Whether an operand can be omitted without changing the shape.
bool Covered(RuleContext& context, const Values& c, Endpoint base) {
  return BroadcastsInto(c.shape, context.shapes.shape(base));
}

bool IsPlainContraction(RuleContext& context, Endpoint e) {
  const Node& n = context.node(e);
  return e.port == 0 && IsContraction(n.op) && !IsFusedContraction(n.op);
}

absl::StatusOr<Plan> MakePlan(RuleContext& context, const Affine& run, std::string* why) {
  Plan plan;
  std::optional<Values> scale = run.scale, shift = run.shift;
  if (scale && scale->AllAre(1.0) && Covered(context, *scale, run.base)) scale.reset();
  if (shift && shift->AllAre(0.0) && Covered(context, *shift, run.base)) shift.reset();
  const bool contraction =
      IsPlainContraction(context, run.base) && context.OnlyReader(run.base.node) == run.nodes[0];
  if (scale && contraction) {
    if (!Covered(context, *scale, run.base)) {
      *why = "the factors may broaden the result";
    } else if (auto axes = FactorAxes(context, run.base.node, scale->shape); axes.ok()) {
      plan.contraction = run.base.node;
      plan.axes = *axes;
    } else {
      *why = std::string(axes.status().message());
    }
  } else if (scale && IsPlainContraction(context, run.base)) {
    context.OnlyReader(run.base.node, why);
  }
  if (scale && plan.contraction == kNoNode) {
    auto t = scale->ToFloat();
    if (!t.ok()) return t.status();
    plan.scale = *std::move(t);
  }
  if (shift) {
    auto t = shift->ToFloat();
    if (!t.ok()) return t.status();
    // A sum per channel right after the contraction is its bias.
    if (contraction && !plan.scale) {
      const Shape& out = context.shapes.shape(run.base);
      const int axis = ChannelAxis(context, run.base.node);
      if (axis >= 0 && t->num_elements() == out.dim(axis) &&
          PerAxis(t->shape(), out.rank(), axis) == t->num_elements()) {
        plan.bias = true;
        t = t->Reshaped(Shape({t->num_elements()}));
        if (!t.ok()) return t.status();
      }
    }
    plan.shift = *std::move(t);
  }
  return plan;
}

// Whether the plan is better than the existing nodes.
bool Pays(RuleContext& context, const Affine& run, const Plan& plan) {
  if (plan.contraction != kNoNode) return true;
  size_t now = 0;
  bool batch_norm = false;
  for (NodeId id : run.nodes) {
    const std::string& op = context.node(id).op;
    batch_norm = batch_norm || op.rfind("FusedBatchNorm", 0) == 0;
    ++now;
  }
  const size_t then = static_cast<size_t>(plan.ops());
  if (batch_norm || then < now) return true;
  if (then > now) return false;
  if (plan.bias) return context.node(run.nodes[0]).op != "BiasAdd";
  // RealDiv and Sub become Mul and AddV2, which more rules know.
  return !run.plain && context.node(run.nodes.back()).op != "BiasAdd";
}

Node Binary(const Node& like, const char* op, Endpoint x) {
  Node n;
  n.name = like.name;
  n.op = op;
  n.device = like.device;
  n.inputs = {x};
  n.attrs["T"] = DType::kFloat;
  return n;
}

Outcome FoldAffine(RuleContext& context, NodeId last) {
  if (ExpandsSmallWeights(context, last)) {
    return Outcome::Skip(0, "it expands constant weights", last);
  }
  auto run = CollectAffine(context, last);
  if (!run.ok()) return Outcome::Skip(0, std::string(run.status().message()), last);
  std::string why;
  auto plan = MakePlan(context, *run, &why);
  if (!plan.ok()) return Outcome::Skip(1, std::string(plan.status().message()), last);
  if (!Pays(context, *run, *plan)) {
    return Outcome::Skip(why.empty() ? 1 : 2, why.empty() ? "it cannot be simplified" : why, last);
  }
  if (plan->contraction != kNoNode) {
    absl::Status s = ScaleWeights(context, plan->contraction, plan->axes, *run->scale);
    if (!s.ok()) return Outcome::Skip(2, std::string(s.message()), last);
  }
  const Node like = context.node(last);
  Endpoint result = run->base;
  auto add = [&](Node n, const char* hint, Tensor value) {
    n.inputs.push_back({context.AddConst(absl::StrCat(like.name, hint), std::move(value)), 0});
    result = {context.rw.AddNode(std::move(n)), 0};
  };
  if (plan->scale) add(Binary(like, "Mul", result), "/scale", *std::move(plan->scale));
  if (plan->shift) {
    Node n = Binary(like, plan->bias ? "BiasAdd" : "AddV2", result);
    if (plan->bias) {
      const std::string* format = context.node(run->base).attr<std::string>("data_format");
      const bool first = format != nullptr && (*format)[1] == 'C';
      n.attrs["data_format"] = std::string(first ? "NCHW" : "NHWC");
    }
    add(std::move(n), plan->bias ? "/bias" : "/shift", *std::move(plan->shift));
  }
  context.rw.ReplaceAllUses({last, 0}, result);
  context.rw.ReplaceControlUses(last, result.node);
  const bool take_name = result != run->base || plan->contraction != kNoNode;
  context.RemoveIfDead(last);
  if (take_name && context.graph().FindNode(like.name) == nullptr) {
    context.rw.Rename(result.node, like.name);
  }
  return Outcome::Fired();
}

const RuleRegistration fold_affine({
    .name = "FoldAffine",
    .doc = "batch norm and other products and sums with constants are folded into weights and bias",
    .phase = Phase::kFold,
    .anchors = "Mul|AddV2|Add|Sub|RealDiv|BiasAdd|FusedBatchNorm|FusedBatchNormV2|FusedBatchNormV3",
    .apply = FoldAffine,
});

}  // namespace
}  // namespace tenon
