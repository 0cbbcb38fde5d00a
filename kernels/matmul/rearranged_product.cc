#include "kernels/matmul/rearranged_product.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "kernels/layout/transpose.h"

namespace tenon {
namespace {

using Labels = std::vector<int>;

constexpr size_t kAlignment = 64;

bool IsIn(const LabeledTensor& t, int label) { return t.Find(label) != nullptr; }

// Whether `t` has a label that neither of the others has.
bool SumsAlone(const LabeledTensor& t, const LabeledTensor& other, const LabeledTensor& out) {
  return std::any_of(t.dims.begin(), t.dims.end(), [&](const LabeledTensor::Dim& d) {
    return !IsIn(other, d.label) && !IsIn(out, d.label);
  });
}

// The labels of `t` for which holds(label), outermost first in memory.
template <typename Holds>
Labels LabelsOf(const LabeledTensor& t, Holds holds) {
  std::vector<LabeledTensor::Dim> dims(t.dims.begin(), t.dims.end());
  std::stable_sort(dims.begin(), dims.end(),
                   [](const auto& x, const auto& y) { return x.stride > y.stride; });
  Labels labels;
  for (const LabeledTensor::Dim& d : dims) {
    if (holds(d.label)) labels.push_back(d.label);
  }
  return labels;
}

// `t`, dense, with its dimensions in the order of all these labels.
LabeledTensor InOrder(const LabeledTensor& t, std::initializer_list<Labels> parts) {
  Labels labels;
  for (const Labels& part : parts) labels.insert(labels.end(), part.begin(), part.end());
  LabeledTensor result;
  result.conjugate = t.conjugate;
  int64_t stride = 1;
  for (size_t i = labels.size(); i-- > 0;) {
    const int64_t extent = t.Find(labels[i])->extent;
    result.dims.insert(result.dims.begin(), {labels[i], extent, stride});
    stride *= extent;
  }
  return result;
}

// The position in `from` of each dimension of `to`.
std::vector<int64_t> Permutation(const LabeledTensor& from, const LabeledTensor& to) {
  std::vector<int64_t> perm;
  for (const LabeledTensor::Dim& d : to.dims) perm.push_back(from.Find(d.label) - &from.dims[0]);
  return perm;
}

Shape ShapeOf(const LabeledTensor& t) {
  Shape::Dims dims;
  for (const LabeledTensor::Dim& d : t.dims) dims.push_back(d.extent);
  return Shape(absl::MakeConstSpan(dims));
}

// Which tensors are transposed.
struct Moves {
  bool a = false, b = false, out = false;
};

// The product with these tensors in orders in which it is one of matrices. An output that is
// transposed is first [batch, rows, columns], or [batch, columns, rows] if `columns_first`.
LabeledProduct Moved(const LabeledProduct& p, Moves moves, bool columns_first) {
  const auto in_both = [&p](int label) { return IsIn(p.a, label) && IsIn(p.b, label); };
  const auto in_out = [&p](int label) { return IsIn(p.out, label); };
  LabeledProduct q = p;
  const Labels batch = LabelsOf(p.out, [&](int label) { return in_both(label); });
  if (moves.out) {
    const Labels rows = LabelsOf(moves.a ? p.out : p.a, [&](int label) {
      return in_out(label) && IsIn(p.a, label) && !IsIn(p.b, label);
    });
    const Labels columns = LabelsOf(moves.b ? p.out : p.b, [&](int label) {
      return in_out(label) && IsIn(p.b, label) && !IsIn(p.a, label);
    });
    q.out = columns_first ? InOrder(p.out, {batch, columns, rows})
                          : InOrder(p.out, {batch, rows, columns});
  }
  const auto own_of = [&](const LabeledTensor& t) {
    return LabelsOf(q.out, [&](int label) { return IsIn(t, label) && !in_both(label); });
  };
  const Labels contracted =
      LabelsOf(moves.a ? p.b : p.a, [&](int label) { return in_both(label) && !in_out(label); });
  if (moves.a) q.a = InOrder(p.a, {batch, own_of(p.a), contracted});
  if (moves.b) q.b = InOrder(p.b, {batch, contracted, own_of(p.b)});
  return q;
}

// Whether both operands have rows or columns that are adjacent in memory.
bool HasMatrices(const LoweredProduct& lowered) {
  const auto has_matrix = [](const TensorDesc& d) {
    const size_t rank = d.dims.size();
    return d.strides[rank - 1] == 1 || d.strides[rank - 2] == 1;
  };
  return has_matrix(lowered.problem.src) && has_matrix(lowered.problem.weights);
}

struct Rearrangement {
  Moves moves;
  LabeledProduct product;
  int64_t cost = 0;
};

int64_t CountOf(const LabeledTensor& t) { return ShapeOf(t).num_elements(); }

// The rearrangement that transposes the fewest elements. Those of a constant count more, because
// its weights are then not packed.
std::optional<Rearrangement> BestRearrangement(const PrepareContext& context,
                                               const LabeledProduct& p, ElementType type) {
  constexpr int64_t kConstantCost = 8;
  const auto cost = [&](int input, const LabeledTensor& t) {
    return CountOf(t) * (context.constant(input) == nullptr ? 1 : kConstantCost);
  };
  std::optional<Rearrangement> best;
  for (int bits = 1; bits < 16; ++bits) {
    const Moves moves{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    const bool columns_first = (bits & 8) != 0;
    if (columns_first && !moves.out) continue;
    Rearrangement plan{moves, Moved(p, moves, columns_first)};
    plan.cost = (moves.a ? cost(0, p.a) : 0) + (moves.b ? cost(1, p.b) : 0) +
                (moves.out ? CountOf(p.out) : 0);
    if (best.has_value() && best->cost <= plan.cost) continue;
    const absl::StatusOr<LoweredProduct> lowered = LowerProduct(plan.product, type);
    if (lowered.ok() && HasMatrices(*lowered)) best = std::move(plan);
  }
  return best;
}

// A transpose of an input into scratch memory, or from there into the output.
struct Move {
  std::unique_ptr<Kernel> transpose;  // null: none
  size_t offset = 0;                  // in the scratch memory
};

class RearrangedProduct final : public Kernel {
 public:
  RearrangedProduct(std::unique_ptr<Kernel> product, Move a, Move b, Move out, FusedPass fused,
                    int inputs, size_t inner_scratch)
      : product_(std::move(product)),
        out_(std::move(out)),
        fused_(std::move(fused)),
        inputs_(inputs),
        inner_scratch_(inner_scratch) {
    operands_[0] = std::move(a);
    operands_[1] = std::move(b);
  }

  absl::Status Run(RunContext& r) const override {
    char* const scratch = static_cast<char*>(r.scratch());
    std::vector<const void*> inputs(static_cast<size_t>(inputs_));
    for (int i = 0; i < inputs_; ++i) inputs[static_cast<size_t>(i)] = r.input(i);
    for (size_t i = 0; i < 2; ++i) {
      if (operands_[i].transpose == nullptr) continue;
      void* const moved = scratch + operands_[i].offset;
      RunContext move(&inputs[i], &moved, nullptr);
      TENON_RETURN_IF_ERROR(operands_[i].transpose->Run(move));
      inputs[i] = moved;
    }
    void* result = out_.transpose == nullptr ? r.output(0) : scratch + out_.offset;
    RunContext inner(inputs.data(), &result, scratch + inner_scratch_);
    TENON_RETURN_IF_ERROR(product_->Run(inner));
    if (out_.transpose == nullptr) return absl::OkStatus();
    const void* const from = result;
    void* const to = r.output(0);
    RunContext move(&from, &to, nullptr);
    TENON_RETURN_IF_ERROR(out_.transpose->Run(move));
    fused_.Run(r, to);
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat("transpose+", product_->Implementation());
  }
  double Flops() const override { return product_->Flops(); }
  size_t HeldBytes() const override { return product_->HeldBytes(); }

 private:
  std::unique_ptr<Kernel> product_;
  Move operands_[2];
  Move out_;
  FusedPass fused_;  // after the output is transposed
  const int inputs_;
  const size_t inner_scratch_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RearrangedProductKernel(PrepareContext& p,
                                                                const LabeledProduct& product,
                                                                const FusedOps& fused,
                                                                ElementType type,
                                                                const PrepareProductFn& prepare) {
  if (!product.has_b || product.a.HasRepeatedLabel() || product.b.HasRepeatedLabel() ||
      product.out.HasRepeatedLabel() || SumsAlone(product.a, product.b, product.out) ||
      SumsAlone(product.b, product.a, product.out)) {
    return Unimplemented("one operand, a diagonal, or a sum over one operand alone");
  }
  std::optional<Rearrangement> plan = BestRearrangement(p, product, type);
  if (!plan.has_value()) return Unimplemented("no order makes it a product of matrices");

  size_t scratch = 0;
  const auto move = [&](const LabeledTensor& from,
                        const LabeledTensor& to) -> absl::StatusOr<Move> {
    Move m{nullptr, scratch};
    TENON_ASSIGN_OR_RETURN(m.transpose, TransposeOf(ShapeOf(from), Permutation(from, to),
                                                    SizeOf(type), p.services().threads));
    const size_t bytes = static_cast<size_t>(CountOf(to)) * SizeOf(type);
    scratch += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return m;
  };
  const LabeledProduct& to = plan->product;
  Move a, b, out;
  if (plan->moves.a) {
    TENON_ASSIGN_OR_RETURN(a, move(product.a, to.a));
  }
  if (plan->moves.b) {
    TENON_ASSIGN_OR_RETURN(b, move(product.b, to.b));
  }
  if (plan->moves.out) {
    TENON_ASSIGN_OR_RETURN(out, move(to.out, product.out));
  }

  // The node as the inner kernel sees it: a constant that is transposed is none.
  std::vector<TensorSpec> inputs;
  std::vector<Constant*> constants;
  for (int i = 0; i < p.num_inputs(); ++i) {
    inputs.push_back({p.input_dtype(i), p.input_shape(i), nullptr});
    constants.push_back(p.constant(i));
  }
  if (plan->moves.a) constants[0] = nullptr;
  if (plan->moves.b) constants[1] = nullptr;
  const TensorSpec output{p.output_dtype(0), ShapeOf(to.out), nullptr};
  PrepareContext inner(p.node(), inputs, constants, absl::MakeConstSpan(&output, 1), p.services());
  const FusedOps inside = plan->moves.out ? FusedOps() : fused;
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, prepare(inner, to, inside));
  for (const int input : inner.unread()) p.InputNotRead(input);
  if (!plan->moves.out) {
    for (const auto& [input, target] : inner.in_place()) {
      if (input >= 2) p.AllowInPlace(input, target);  // not a transposed copy
    }
  }
  p.RequestScratch(scratch + inner.scratch_bytes());
  FusedPass after;
  if (plan->moves.out) after = FusedPass(p, fused, p.output_shape(0).rank() - 1);
  return std::make_unique<RearrangedProduct>(std::move(kernel), std::move(a), std::move(b),
                                             std::move(out), std::move(after), p.num_inputs(),
                                             scratch);
}

}  // namespace tenon
