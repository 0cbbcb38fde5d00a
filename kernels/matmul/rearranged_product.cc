#include "kernels/matmul/rearranged_product.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/layout/transpose.h"
#include "kernels/reduction/reduce.h"

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

// A transpose or sum of an input into scratch memory, or of the product from there into the output.
struct Move {
  std::unique_ptr<Kernel> kernel;  // null: none
  size_t offset = 0;               // of its result in the scratch memory
  size_t own_scratch = 0;          // offset, too
};

// The memory of what is moved.
class ScratchLayout {
 public:
  size_t Take(size_t bytes) { return std::exchange(bytes_, bytes_ + RoundUp(bytes, kAlignment)); }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

struct MovedTensors {
  const char* how = "";  // with a "+"
  Move a = {}, b = {}, out = {};
};

class RearrangedProduct final : public Kernel {
 public:
  RearrangedProduct(std::unique_ptr<Kernel> product, MovedTensors moves, FusedPass fused,
                    int inputs, size_t inner_scratch)
      : product_(std::move(product)),
        moves_(std::move(moves)),
        fused_(std::move(fused)),
        inputs_(inputs),
        inner_scratch_(inner_scratch) {}

  absl::Status Run(RunContext& r) const override {
    char* const scratch = static_cast<char*>(r.scratch());
    std::vector<const void*> inputs(static_cast<size_t>(inputs_));
    for (int i = 0; i < inputs_; ++i) inputs[static_cast<size_t>(i)] = r.input(i);
    const Move* const operands[] = {&moves_.a, &moves_.b};
    for (size_t i = 0; i < 2; ++i) {
      if (operands[i]->kernel == nullptr) continue;
      void* const moved = scratch + operands[i]->offset;
      RunContext move(&inputs[i], &moved, scratch + operands[i]->own_scratch);
      TENON_RETURN_IF_ERROR(operands[i]->kernel->Run(move));
      inputs[i] = moved;
    }
    const Move& out = moves_.out;
    void* result = out.kernel == nullptr ? r.output(0) : scratch + out.offset;
    RunContext inner(inputs.data(), &result, scratch + inner_scratch_);
    TENON_RETURN_IF_ERROR(product_->Run(inner));
    if (out.kernel == nullptr) return absl::OkStatus();
    const void* const from = result;
    void* const to = r.output(0);
    RunContext move(&from, &to, nullptr);
    TENON_RETURN_IF_ERROR(out.kernel->Run(move));
    fused_.Run(r, to);
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat(moves_.how, product_->Implementation());
  }
  double Flops() const override { return product_->Flops(); }
  size_t HeldBytes() const override { return product_->HeldBytes(); }

 private:
  std::unique_ptr<Kernel> product_;
  const MovedTensors moves_;
  FusedPass fused_;  // after the output is transposed
  const int inputs_;
  const size_t inner_scratch_;
};

// The product `to` of what is moved.
absl::StatusOr<std::unique_ptr<Kernel>> PrepareMoved(PrepareContext& p, const LabeledProduct& to,
                                                     MovedTensors moves,
                                                     const ScratchLayout& scratch,
                                                     const FusedOps& fused,
                                                     const PrepareProductFn& prepare) {
  const bool a = moves.a.kernel != nullptr, b = moves.b.kernel != nullptr;
  const bool out = moves.out.kernel != nullptr;
  // The node as the inner kernel sees it: a constant that is moved is none.
  std::vector<TensorSpec> inputs;
  std::vector<Constant*> constants;
  for (int i = 0; i < p.num_inputs(); ++i) {
    inputs.push_back({p.input_dtype(i), p.input_shape(i), nullptr});
    constants.push_back(p.constant(i));
  }
  if (a) constants[0] = nullptr;
  if (b) constants[1] = nullptr;
  const TensorSpec output{p.output_dtype(0), ShapeOf(to.out), nullptr};
  PrepareContext inner(p.node(), inputs, constants, absl::MakeConstSpan(&output, 1), p.services());
  const FusedOps inside = out ? FusedOps() : fused;
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, prepare(inner, to, inside));
  for (const int input : inner.unread()) p.InputNotRead(input);
  if (!out) {
    for (const auto& [input, target] : inner.in_place()) {
      if (input >= 2) p.AllowInPlace(input, target);  // not a moved copy
    }
  }
  p.RequestScratch(scratch.bytes() + inner.scratch_bytes());
  FusedPass after;
  if (out) after = FusedPass(p, fused, p.output_shape(0).rank() - 1);
  return std::make_unique<RearrangedProduct>(std::move(kernel), std::move(moves), std::move(after),
                                             p.num_inputs(), scratch.bytes());
}

// `t` without the labels that are in neither of the others.
LabeledTensor Summed(const LabeledTensor& t, const LabeledTensor& other, const LabeledTensor& out) {
  return InOrder(t,
                 {LabelsOf(t, [&](int label) { return IsIn(other, label) || IsIn(out, label); })});
}

absl::StatusOr<Move> SumOf(const PrepareContext& p, const LabeledTensor& from,
                           const LabeledTensor& to, ScratchLayout& scratch) {
  std::vector<bool> axes;
  for (const LabeledTensor::Dim& d : from.dims) axes.push_back(!IsIn(to, d.label));
  TENON_ASSIGN_OR_RETURN(SumWithScratch made,
                         VectorSumOf(ShapeOf(from), axes, DType::kFloat, p.services().threads));
  const size_t offset = scratch.Take(static_cast<size_t>(CountOf(to)) * sizeof(float));
  return Move{std::move(made.sum), offset, scratch.Take(made.scratch_bytes)};
}

bool HasDiagonal(const LabeledProduct& p) {
  return p.a.HasRepeatedLabel() || p.b.HasRepeatedLabel() || p.out.HasRepeatedLabel();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RearrangedProductKernel(PrepareContext& p,
                                                                const LabeledProduct& product,
                                                                const FusedOps& fused,
                                                                ElementType type,
                                                                const PrepareProductFn& prepare) {
  if (!product.has_b || HasDiagonal(product) || SumsAlone(product.a, product.b, product.out) ||
      SumsAlone(product.b, product.a, product.out)) {
    return Unimplemented("one operand, a diagonal, or a sum over one operand alone");
  }
  std::optional<Rearrangement> plan = BestRearrangement(p, product, type);
  if (!plan.has_value()) return Unimplemented("no order makes it a product of matrices");

  ScratchLayout scratch;
  const auto move = [&](const LabeledTensor& from,
                        const LabeledTensor& to) -> absl::StatusOr<Move> {
    TENON_ASSIGN_OR_RETURN(auto transpose, TransposeOf(ShapeOf(from), Permutation(from, to),
                                                       SizeOf(type), p.services().threads));
    return Move{std::move(transpose), scratch.Take(static_cast<size_t>(CountOf(to)) * SizeOf(type)),
                0};
  };
  const LabeledProduct& to = plan->product;
  MovedTensors moves{.how = "transpose+"};
  if (plan->moves.a) {
    TENON_ASSIGN_OR_RETURN(moves.a, move(product.a, to.a));
  }
  if (plan->moves.b) {
    TENON_ASSIGN_OR_RETURN(moves.b, move(product.b, to.b));
  }
  if (plan->moves.out) {
    TENON_ASSIGN_OR_RETURN(moves.out, move(to.out, product.out));
  }
  return PrepareMoved(p, to, std::move(moves), scratch, fused, prepare);
}

absl::StatusOr<std::unique_ptr<Kernel>> SummedOperandKernel(PrepareContext& p,
                                                            const LabeledProduct& product,
                                                            const FusedOps& fused,
                                                            const PrepareProductFn& prepare) {
  if (p.input_dtype(0) != DType::kFloat || !product.has_b || HasDiagonal(product)) {
    return Unimplemented("not two float operands without diagonals");
  }
  LabeledProduct to = product;
  to.a = Summed(product.a, product.b, product.out);
  to.b = Summed(product.b, product.a, product.out);
  const bool a = to.a.dims.size() < product.a.dims.size();
  const bool b = to.b.dims.size() < product.b.dims.size();
  if (!a && !b) return Unimplemented("no sum over one operand alone");
  ScratchLayout scratch;
  MovedTensors moves{.how = "sum+"};
  if (a) {
    TENON_ASSIGN_OR_RETURN(moves.a, SumOf(p, product.a, to.a, scratch));
  }
  if (b) {
    TENON_ASSIGN_OR_RETURN(moves.b, SumOf(p, product.b, to.b, scratch));
  }
  return PrepareMoved(p, to, std::move(moves), scratch, fused, prepare);
}

}  // namespace tenon
