#include "kernels/matmul/vector_product.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "kernels/matmul/vector_product_simd.h"

namespace tenon {
namespace {

// A loop over one label, with the distances between its elements; 0 in an operand without it.
struct LabelLoop {
  int64_t extent = 1, a = 0, b = 0, out = 0;
};
using LabelLoops = absl::InlinedVector<LabelLoop, 6>;

constexpr int64_t kVector = 8;  // with fewer, vectors are not worth their ends
// Whole cache lines. With fewer rows for each thread, threads share the results of a row.
constexpr int64_t kPartResults = 64, kRowsForThread = 4;

int64_t StepOf(const LabeledTensor& t, int label) {
  const LabeledTensor::Dim* d = t.Find(label);
  return d == nullptr || d->extent == 1 ? 0 : d->stride;
}

struct VectorPlan {
  LabelLoops outer;                     // of the output
  LabelLoops sums;                      // but for the innermost one
  LabelLoop results, terms;             // the loops of a call
  bool dots = false, elements = false;  // terms or results are adjacent
};

// Each element is read from memory a few times only, so that nothing is gained by copying the
// operands to where they are matrices.
bool HasLittleReuse(const LabeledProduct& p) {
  constexpr double kMostFlops = 16;  // per element
  double elements = 0;
  for (const LabeledTensor* t : {&p.a, &p.b, &p.out}) {
    double n = 1;
    for (const LabeledTensor::Dim& d : t->dims) n *= static_cast<double>(d.extent);
    elements += n;
  }
  return p.flops() <= kMostFlops * elements;
}

void ComputeStrided(const VectorProduct& p, const float* a, const float* b, float* out) {
  for (size_t row = 0; row < p.rows; ++row, a += p.a_row, b += p.b_row, out += p.out_row) {
    for (size_t i = 0; i < p.n; ++i) {
      const float *x = a + i * p.a_step, *y = b + i * p.b_step;
      float sum = *x * *y;
      for (size_t k = 1; k < p.terms; ++k) sum += x[k * p.a_term] * y[k * p.b_term];
      float& to = out[i * p.out_step];
      to = p.add ? to + sum : sum;
    }
  }
}

// Whether the loops are one, which has the steps of `inner`.
bool Join(const LabelLoop& outer, const LabelLoop& inner) {
  return outer.a == inner.a * inner.extent && outer.b == inner.b * inner.extent &&
         outer.out == inner.out * inner.extent;
}

absl::StatusOr<VectorPlan> MakePlan(const LabeledProduct& p) {
  if (!p.has_b || p.a.HasRepeatedLabel() || p.b.HasRepeatedLabel() || p.out.HasRepeatedLabel()) {
    return Unimplemented("not two operands without diagonals");
  }
  VectorPlan plan;
  for (const LabeledTensor::Dim& d : p.out.dims) {
    if (d.extent == 1) continue;
    LabelLoop loop{d.extent, StepOf(p.a, d.label), StepOf(p.b, d.label), d.stride};
    if (!plan.outer.empty() && Join(plan.outer.back(), loop)) {
      loop.extent *= plan.outer.back().extent;
      plan.outer.pop_back();
    }
    plan.outer.push_back(loop);
  }
  for (const LabeledTensor::Dim& d : p.a.dims) {
    if (d.extent == 1 || p.out.Find(d.label) != nullptr) continue;
    plan.sums.push_back({d.extent, d.stride, StepOf(p.b, d.label), 0});
  }
  for (const LabeledTensor::Dim& d : p.b.dims) {
    if (d.extent > 1 && p.out.Find(d.label) == nullptr && StepOf(p.a, d.label) == 0) {
      return Unimplemented("sums over one operand alone");
    }
  }
  const bool alone =
      std::any_of(plan.sums.begin(), plan.sums.end(), [](const LabelLoop& s) { return s.b == 0; });
  if (alone || plan.outer.empty()) return Unimplemented("sums over one operand alone, or one sum");
  plan.results = plan.outer.back();
  plan.outer.pop_back();
  const auto adjacent = [](int64_t step) { return step == 0 || step == 1; };
  const bool elements =
      plan.results.out == 1 && adjacent(plan.results.a) && adjacent(plan.results.b);
  const auto in_order = std::find_if(plan.sums.begin(), plan.sums.end(),
                                     [](const LabelLoop& s) { return s.a == 1 && s.b == 1; });
  plan.dots = in_order != plan.sums.end() && (!elements || plan.results.extent < kVector ||
                                              in_order->extent > plan.results.extent);
  plan.elements = elements && !plan.dots;
  if (plan.dots) {
    plan.terms = *in_order;
    plan.sums.erase(in_order);
  } else if (!plan.sums.empty()) {
    plan.terms = plan.sums.back();
    plan.sums.pop_back();
  }
  return plan;
}

int64_t Count(const LabelLoops& loops) {
  int64_t n = 1;
  for (const LabelLoop& l : loops) n *= l.extent;
  return n;
}

// Element i of the loops, in row-major order.
LabelLoop At(const LabelLoops& loops, int64_t i) {
  LabelLoop at;
  for (size_t d = loops.size(); d-- > 0; i /= loops[d].extent) {
    const int64_t index = i % loops[d].extent;
    at.a += index * loops[d].a;
    at.b += index * loops[d].b;
    at.out += index * loops[d].out;
  }
  return at;
}

class VectorProductKernelImpl final : public Kernel {
 public:
  VectorProductKernelImpl(const PrepareContext& p, VectorPlan plan, const FusedOps& fused,
                          double flops)
      : plan_(std::move(plan)),
        fused_(p, fused, p.output_shape(0).rank() - 1),
        threads_(p.services().threads),
        rows_(Count(plan_.outer)),
        sums_(Count(plan_.sums)),
        parts_(rows_ < kRowsForThread * threads_ ? CeilDiv(plan_.results.extent, kPartResults) : 1),
        flops_(flops) {
    const VectorProductLoops loops = FindVectorProduct();
    compute_ = plan_.dots ? loops.dots : plan_.elements ? loops.elements : &ComputeStrided;
    const auto size = [](int64_t n) { return static_cast<size_t>(n); };
    call_.n = size(plan_.results.extent);
    call_.a_step = size(plan_.results.a);
    call_.b_step = size(plan_.results.b);
    call_.out_step = size(plan_.results.out);
    call_.a_term = size(plan_.terms.a);
    call_.b_term = size(plan_.terms.b);
    if (plan_.outer.empty()) return;
    call_.a_row = size(plan_.outer.back().a);
    call_.b_row = size(plan_.outer.back().b);
    call_.out_row = size(plan_.outer.back().out);
  }

  absl::Status Run(RunContext& r) const override {
    const double ns = 2 + flops_ / static_cast<double>(rows_ * parts_) / 8;
    ParallelFor(threads_, rows_ * parts_, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      if (parts_ == 1) {
        ComputeRows(r, begin, end);
      } else {
        for (int64_t i = begin; i < end; ++i) ComputePart(r, i / parts_, i % parts_);
      }
    });
    fused_.Run(r, r.output(0));
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return plan_.dots ? "dots" : plan_.elements ? "elements" : "strided";
  }
  double Flops() const override { return flops_; }

 private:
  // The rows of the innermost outer loop at once.
  void ComputeRows(RunContext& r, int64_t begin, int64_t end) const {
    const int64_t together = plan_.outer.empty() ? 1 : plan_.outer.back().extent;
    VectorProduct call = call_;
    for (int64_t i = begin, n = 0; i < end; i += n) {
      n = std::min(together - i % together, end - i);
      call.rows = static_cast<size_t>(n);
      Compute(r, At(plan_.outer, i), call);
    }
  }

  void ComputePart(RunContext& r, int64_t row, int64_t part) const {
    const LabelLoop &all = plan_.results, start = At(plan_.outer, row);
    const int64_t first = part * kPartResults;
    VectorProduct call = call_;
    call.n = static_cast<size_t>(std::min(kPartResults, all.extent - first));
    Compute(r, {1, start.a + first * all.a, start.b + first * all.b, start.out + first * all.out},
            call);
  }

  void Compute(RunContext& r, const LabelLoop& start, VectorProduct call) const {
    const float* const a = r.input<float>(0) + start.a;
    const float* const b = r.input<float>(1) + start.b;
    float* const out = r.output<float>(0) + start.out;
    for (int64_t s = 0; s < sums_; ++s) {
      const LabelLoop at = At(plan_.sums, s);
      // Dots have an accumulator for each lane.
      const int64_t part = plan_.dots ? plan_.terms.extent : static_cast<int64_t>(kPartTerms);
      for (int64_t k = 0; k < plan_.terms.extent; k += part) {
        call.terms = static_cast<size_t>(std::min(plan_.terms.extent - k, part));
        compute_(call, a + at.a + k * plan_.terms.a, b + at.b + k * plan_.terms.b, out);
        call.add = true;
      }
    }
  }

  const VectorPlan plan_;
  const FusedPass fused_;
  const int threads_;
  const int64_t rows_, sums_;
  const int64_t parts_;  // of a row's results, for threads
  const double flops_;
  VectorProductFn compute_ = nullptr;
  VectorProduct call_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorProductKernel(PrepareContext& p,
                                                            const LabeledProduct& product,
                                                            const FusedOps& fused,
                                                            VectorLoops loops) {
  if (p.input_dtype(0) != DType::kFloat || p.input_dtype(1) != DType::kFloat ||
      p.output_dtype(0) != DType::kFloat) {
    return Unimplemented("not of floats");
  }
  if (!HasLittleReuse(product)) return Unimplemented("a product of matrices");
  TENON_ASSIGN_OR_RETURN(VectorPlan plan, MakePlan(product));
  const bool suit = loops == VectorLoops::kAny || plan.dots ||
                    (loops == VectorLoops::kDotsOrElements && plan.elements);
  if (!suit) return Unimplemented("other loops");
  return std::make_unique<VectorProductKernelImpl>(p, std::move(plan), fused, product.flops());
}

bool IsElementwiseProduct(const LabeledProduct& product) {
  const auto has_all = [&product](const LabeledTensor& t) {
    return std::all_of(product.out.dims.begin(), product.out.dims.end(),
                       [&t](const LabeledTensor::Dim& d) {
                         const LabeledTensor::Dim* own = t.Find(d.label);
                         return d.extent == 1 || (own != nullptr && own->extent == d.extent);
                       });
  };
  const auto sums = [&product](const LabeledTensor& t) {
    return std::any_of(t.dims.begin(), t.dims.end(), [&product](const LabeledTensor::Dim& d) {
      return d.extent > 1 && product.out.Find(d.label) == nullptr;
    });
  };
  return product.has_b && !sums(product.a) && !sums(product.b) &&
         (has_all(product.a) || has_all(product.b));
}

}  // namespace tenon
