#include "kernels/matmul/one_operand.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/layout/transpose.h"
#include "kernels/reduction/reduce.h"

namespace tenon {
namespace {

// One after the other, the first of the input and the last into the output.
struct Stage {
  std::unique_ptr<Kernel> kernel;
  size_t result_bytes = 0, scratch_bytes = 0;
};
using Stages = std::vector<Stage>;

constexpr size_t kAlignment = 64;

class StagedKernel final : public Kernel {
 public:
  StagedKernel(PrepareContext& p, Stages stages, const FusedOps& fused)
      : stages_(std::move(stages)), fused_(p, fused, p.output_shape(0).rank() - 1) {
    size_t scratch = 0;
    for (const Stage& s : stages_) {
      results_.push_back(scratch);
      if (&s != &stages_.back()) scratch += RoundUp(s.result_bytes, kAlignment);
      own_.push_back(scratch);
      scratch += RoundUp(s.scratch_bytes, kAlignment);
    }
    p.RequestScratch(scratch);
  }

  absl::Status Run(RunContext& r) const override {
    char* const scratch = static_cast<char*>(r.scratch());
    const void* from = r.input(0);
    for (size_t i = 0; i < stages_.size(); ++i) {
      void* to = i + 1 == stages_.size() ? r.output(0) : scratch + results_[i];
      RunContext stage(&from, &to, scratch + own_[i]);
      TENON_RETURN_IF_ERROR(stages_[i].kernel->Run(stage));
      from = to;
    }
    fused_.Run(r, r.output(0));
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    std::string all;
    for (const Stage& s : stages_) {
      if (!all.empty()) all += "+";
      all += s.kernel->Implementation();
    }
    return all;
  }

 private:
  const Stages stages_;
  std::vector<size_t> results_, own_;  // offsets in the scratch memory
  const FusedPass fused_;
};

Shape ShapeOf(const Shape& in, const std::vector<int64_t>& axes) {
  Shape::Dims dims;
  for (const int64_t axis : axes) dims.push_back(in.dim(static_cast<int>(axis)));
  return Shape(absl::MakeConstSpan(dims));
}

class Maker {
 public:
  Maker(const PrepareContext& p) : dtype_(p.input_dtype(0)), threads_(p.services().threads) {}

  absl::StatusOr<Stage> Transpose(const Shape& in, const std::vector<int64_t>& perm) const {
    TENON_ASSIGN_OR_RETURN(auto kernel, TransposeOf(in, perm, SizeOf(dtype_), threads_));
    return Stage{std::move(kernel), static_cast<size_t>(in.num_elements()) * SizeOf(dtype_), 0};
  }
  // Over the axes that are not `kept`, which are in order.
  absl::StatusOr<Stage> Sum(const Shape& in, const std::vector<int64_t>& kept) const {
    if (dtype_ != DType::kFloat) return Unimplemented("sums of other types than float");
    std::vector<bool> axes(static_cast<size_t>(in.rank()), true);
    for (const int64_t axis : kept) axes[static_cast<size_t>(axis)] = false;
    TENON_ASSIGN_OR_RETURN(SumWithScratch made, VectorSumOf(in, axes, dtype_, threads_));
    const auto results = static_cast<size_t>(ShapeOf(in, kept).num_elements());
    return Stage{std::move(made.sum), results * sizeof(float), made.scratch_bytes};
  }

 private:
  const DType dtype_;
  const int threads_;
};

// The sum comes first if its axes are adjacent, since a transpose of fewer elements is faster.
absl::StatusOr<Stages> StagesOf(const PrepareContext& p, const LabeledProduct& product) {
  const Maker make(p);
  const Shape& in = p.input_shape(0);
  std::vector<int64_t> order, summed;  // axes of the input: the output's, and the others
  for (const LabeledTensor::Dim& d : product.out.dims) {
    const LabeledTensor::Dim* own = product.a.Find(d.label);
    if (own == nullptr || own->extent != d.extent) return Unimplemented("it broadcasts");
    order.push_back(own - &product.a.dims[0]);
  }
  for (const LabeledTensor::Dim& d : product.a.dims) {
    if (product.out.Find(d.label) == nullptr) summed.push_back(&d - &product.a.dims[0]);
  }
  Stages stages;
  if (summed.empty()) {
    TENON_ASSIGN_OR_RETURN(stages.emplace_back(), make.Transpose(in, order));
    return stages;
  }
  std::vector<int64_t> kept = order;
  std::sort(kept.begin(), kept.end());
  if (absl::StatusOr<Stage> sum = make.Sum(in, kept); sum.ok()) {
    stages.push_back(*std::move(sum));
    if (kept == order) return stages;
    std::vector<int64_t> perm;
    for (const int64_t axis : order) {
      perm.push_back(std::lower_bound(kept.begin(), kept.end(), axis) - kept.begin());
    }
    TENON_ASSIGN_OR_RETURN(stages.emplace_back(), make.Transpose(ShapeOf(in, kept), perm));
    return stages;
  }
  std::vector<int64_t> perm = order, first(order.size());
  perm.insert(perm.end(), summed.begin(), summed.end());
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<int64_t>(i);
  TENON_ASSIGN_OR_RETURN(Stage sum, make.Sum(ShapeOf(in, perm), first));
  TENON_ASSIGN_OR_RETURN(stages.emplace_back(), make.Transpose(in, perm));
  stages.push_back(std::move(sum));
  return stages;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> OneOperandKernel(PrepareContext& p,
                                                         const LabeledProduct& product,
                                                         const FusedOps& fused) {
  if (product.has_b || product.a.HasRepeatedLabel() || product.out.HasRepeatedLabel() ||
      product.a.conjugate) {
    return Unimplemented("two operands, or a diagonal");
  }
  if (p.input_shape(0).num_elements() == 0) return Unimplemented("no elements");
  TENON_ASSIGN_OR_RETURN(Stages stages, StagesOf(p, product));
  return std::make_unique<StagedKernel>(p, std::move(stages), fused);
}

}  // namespace tenon
