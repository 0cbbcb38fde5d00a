// SetSize, DenseToDenseSetOperation, DenseToSparseSetOperation, SparseToSparseSetOperation: the
// last dimension of a tensor as a set for each place in the dimensions before.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

constexpr char kSetTypes[] = "T: int8 int16 int32 int64 uint8 uint16 string";
using SetTypes = TypeList<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, std::string>;

using Place = std::vector<int64_t>;
template <typename T>
using Sets = std::map<Place, std::set<T>>;

absl::Status ExpectSets(const ShapeContext& c, int first) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, first));
  const Shape& shape = c.input(first + 2);
  if (!shape.has_rank() || shape.dim(0) < 0 || shape.dim(0) >= 2) return absl::OkStatus();
  return InvalidArgument("sets need at least 2 dimensions, but have ", shape.dim(0));
}

// Coordinates may be unchecked and out of order only where the op says so; out of bounds, never.
template <typename T>
absl::Status AddSparse(const Coordinates& at, const T* values, const int64_t* shape,
                       bool expect_order, Sets<T>& sets) {
  TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
  for (int64_t i = 0; i < at.n; ++i) {
    if (expect_order && i > 0 && CompareCoordinates(at[i - 1], at[i], at.rank) >= 0) {
      return InvalidArgument("indices[", i, "] is out of order or repeated");
    }
    sets[Place(at[i], at[i] + at.rank - 1)].insert(values[i]);
  }
  return absl::OkStatus();
}

template <typename T>
void AddDense(const Shape& shape, const T* values, Sets<T>& sets) {
  const int64_t size = shape.dim(shape.rank() - 1), n = shape.num_elements();
  Place place(static_cast<size_t>(shape.rank() - 1), 0);
  for (int64_t at = 0; at < n; at += size) {
    sets[place].insert(values + at, values + at + size);
    for (int d = shape.rank() - 2; d >= 0; --d) {
      const size_t k = static_cast<size_t>(d);
      if (++place[k] < shape.dim(d)) break;
      place[k] = 0;
    }
  }
}

absl::Status SetSizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSets(c, 0));
  if (c.value(2) == nullptr) return absl::OkStatus();
  const int64_t* dims = c.value(2)->data<int64_t>();
  Shape out;
  for (int64_t d = 0; d + 1 < c.value(2)->num_elements(); ++d) {
    if (dims[d] < 0) return InvalidArgument("a size of ", dims[d], " in set_shape");
    out.push_back(dims[d]);
  }
  TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> SetSize(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const bool validate = p.attrs().Bool("validate_indices", true);
  const Shape planned = p.output_shape(0);
  return DispatchType(SetTypes{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int64_t* dims = run.input<int64_t>(2);
      Shape shape;
      for (int64_t d = 0; d + 1 < rank; ++d) {
        if (dims[d] < 0) return InvalidArgument("a size of ", dims[d], " in set_shape");
        shape.push_back(dims[d]);
      }
      TENON_ASSIGN_OR_RETURN(const int64_t count, shape.CheckedElements());
      Sets<T> sets;
      TENON_RETURN_IF_ERROR(
          AddSparse({run.input<int64_t>(0), n, rank}, run.input<T>(1), dims, validate, sets));
      void* memory = run.output(0);
      if (!planned.IsComplete()) {
        TENON_ASSIGN_OR_RETURN(memory, run.AllocateOutput(0, shape));
      }
      int32_t* out = static_cast<int32_t*>(memory);
      std::fill_n(out, count, 0);
      for (const auto& [place, set] : sets) {
        int64_t at = 0;
        for (size_t d = 0; d < place.size(); ++d) at = at * dims[d] + place[d];
        out[at] = static_cast<int32_t>(set.size());
      }
      return absl::OkStatus();
    });
  });
}

enum class Operands { kDenseDense, kDenseSparse, kSparseSparse };
enum class Operation { kMinus, kReverseMinus, kIntersection, kUnion };

absl::StatusOr<Operation> OperationOf(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const std::string name, attrs.String("set_operation"));
  const std::string lower = absl::AsciiStrToLower(name);
  if (lower == "a-b") return Operation::kMinus;
  if (lower == "b-a") return Operation::kReverseMinus;
  if (lower == "intersection") return Operation::kIntersection;
  if (lower == "union") return Operation::kUnion;
  return InvalidArgument("set_operation must be a-b, b-a, intersection or union, but is '", name,
                         "'");
}

template <typename T>
std::set<T> Combine(Operation operation, const std::set<T>& a, const std::set<T>& b) {
  std::set<T> out;
  const auto to = std::inserter(out, out.end());
  switch (operation) {
    case Operation::kMinus:
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case Operation::kReverseMinus:
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), to);
      break;
    case Operation::kIntersection:
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case Operation::kUnion:
      std::set_union(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
  }
  return out;
}

template <Operands operands>
absl::Status OperationShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(OperationOf(c.attrs()).status());
  constexpr bool kDenseA = operands != Operands::kSparseSparse;
  constexpr bool kDenseB = operands == Operands::kDenseDense;
  constexpr int kB = kDenseA ? 1 : 3;
  int64_t rank = -1;
  for (const auto& [dense, first] : {std::pair{kDenseA, 0}, std::pair{kDenseB, kB}}) {
    if (!dense) TENON_RETURN_IF_ERROR(ExpectSets(c, first));
    const Shape& s = c.input(dense ? first : first + 2);
    if (!s.has_rank()) continue;
    const int64_t own = dense ? s.rank() : s.dim(0);
    if (own >= 0 && own < 2)
      return InvalidArgument("sets need at least 2 dimensions, but have ", own);
    if (own >= 0 && rank >= 0 && own != rank) {
      return InvalidArgument("sets of ranks ", rank, " and ", own);
    }
    if (own >= 0) rank = own;
  }
  if (kDenseA && kDenseB && c.input(0).has_rank() && c.input(1).has_rank()) {
    for (int d = 0; d + 1 < c.input(0).rank(); ++d) {
      const int64_t a = c.input(0).dim(d), b = c.input(1).dim(d);
      if (a >= 0 && b >= 0 && a != b) {
        return InvalidArgument("sets of ", a, " and ", b, " places in dimension ", d);
      }
    }
  }
  c.set_output(0, Shape({-1, rank}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({rank}));
  return absl::OkStatus();
}

// One operand: a dense tensor, or three inputs.
struct Operand {
  bool dense;
  int first;
  Shape shape;  // of a dense one, else of the indices

  int64_t rank() const { return dense ? shape.rank() : shape.dim(1); }
  int64_t dim(const RunContext& run, int64_t d) const {
    return dense ? shape.dim(static_cast<int>(d)) : run.input<int64_t>(first + 2)[d];
  }
  template <typename T>
  absl::Status Read(const RunContext& run, bool expect_order, Sets<T>& sets) const {
    if (!dense) {
      return AddSparse({run.input<int64_t>(first), shape.dim(0), shape.dim(1)},
                       run.input<T>(first + 1), run.input<int64_t>(first + 2), expect_order, sets);
    }
    if (shape.num_elements() > 0) AddDense(shape, run.input<T>(first), sets);
    return absl::OkStatus();
  }
};

template <typename T>
absl::Status WriteSets(RunContext& run, const Sets<T>& sets, int64_t rank) {
  int64_t count = 0, largest = 0;
  for (const auto& [place, set] : sets) {
    count += std::ssize(set);
    largest = std::max(largest, std::ssize(set));
  }
  TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(0, Shape({count, rank})));
  TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(1, Shape({count})));
  int64_t* at = static_cast<int64_t*>(indices);
  T* value = static_cast<T*>(values);
  for (const auto& [place, set] : sets) {
    int64_t k = 0;
    for (const T& v : set) {
      at = std::copy(place.begin(), place.end(), at);
      *at++ = k++;
      *value++ = v;
    }
  }
  run.output<int64_t>(2)[rank - 1] = largest;
  return absl::OkStatus();
}

template <Operands operands>
absl::StatusOr<std::unique_ptr<Kernel>> SetOperation(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Operation operation, OperationOf(p.attrs()));
  const bool dense_a = operands != Operands::kSparseSparse;
  const Operand a = {dense_a, 0, p.input_shape(0)};
  const Operand b = {operands == Operands::kDenseDense, dense_a ? 1 : 3,
                     p.input_shape(dense_a ? 1 : 3)};
  const bool validate = p.attrs().Bool("validate_indices", true);
  return DispatchType(SetTypes{}, p.output_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      for (int64_t d = 0; d + 1 < a.rank(); ++d) {
        const int64_t size = a.dim(run, d);
        if (size != b.dim(run, d)) {
          return InvalidArgument("sets of ", size, " and ", b.dim(run, d), " places in dimension ",
                                 d);
        }
        run.output<int64_t>(2)[d] = size;
      }
      Sets<T> of_a, of_b, out;
      TENON_RETURN_IF_ERROR(a.Read(run, validate, of_a));
      TENON_RETURN_IF_ERROR(b.Read(run, validate, of_b));
      for (const auto& [place, set] : of_a) out[place] = Combine(operation, set, of_b[place]);
      for (const auto& [place, set] : of_b) {
        if (!of_a.contains(place)) out[place] = Combine(operation, {}, set);
      }
      return WriteSets(run, out, a.rank());
    });
  });
}

const OpRegistration set_size({
    .name = "SetSize",
    .inputs = "set_indices: int64, set_values: T, set_shape: int64",
    .outputs = "size: int32",
    .attrs = "validate_indices: bool = true; T: type",
    .types = kSetTypes,
    .shape = SetSizeShape,
    .reference = SetSize,
});

const OpRegistration dense_to_dense({
    .name = "DenseToDenseSetOperation",
    .inputs = "set1: T, set2: T",
    .outputs = "result_indices: int64, result_values: T, result_shape: int64",
    .attrs = "set_operation: string; validate_indices: bool = true; T: type",
    .types = kSetTypes,
    .shape = OperationShape<Operands::kDenseDense>,
    .reference = SetOperation<Operands::kDenseDense>,
});

const OpRegistration dense_to_sparse({
    .name = "DenseToSparseSetOperation",
    .inputs = "set1: T, set2_indices: int64, set2_values: T, set2_shape: int64",
    .outputs = "result_indices: int64, result_values: T, result_shape: int64",
    .attrs = "set_operation: string; validate_indices: bool = true; T: type",
    .types = kSetTypes,
    .shape = OperationShape<Operands::kDenseSparse>,
    .reference = SetOperation<Operands::kDenseSparse>,
});

const OpRegistration sparse_to_sparse({
    .name = "SparseToSparseSetOperation",
    .inputs = "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
              "set2_values: T, set2_shape: int64",
    .outputs = "result_indices: int64, result_values: T, result_shape: int64",
    .attrs = "set_operation: string; validate_indices: bool = true; T: type",
    .types = kSetTypes,
    .shape = OperationShape<Operands::kSparseSparse>,
    .reference = SetOperation<Operands::kSparseSparse>,
});

}  // namespace
}  // namespace tenon
