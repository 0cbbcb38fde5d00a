#include "kernels/sparse/sets.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/segments.h"
#include "kernels/sparse/coordinates.h"

namespace tenon {
namespace {

// Calls f<T>() with the element type of sets of a dtype: int64_t for integers, or std::string.
template <typename F>
auto DispatchElements(DType dtype, F&& f) {
  const bool integers = IsInteger(dtype) && dtype != DType::kUint64;
  return DispatchType(TypeList<int64_t, std::string>{}, integers ? DType::kInt64 : dtype, f);
}

template <typename T>
std::vector<T> ElementsAt(DType dtype, const void* data, int64_t n) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return IntegersAt(dtype, data, n);
  } else {
    return {static_cast<const T*>(data), static_cast<const T*>(data) + n};
  }
}

void Store(const std::string& v, DType, void* to, int64_t i) {
  static_cast<std::string*>(to)[i] = v;
}
void Store(int64_t v, DType dtype, void* to, int64_t i) {
  VisitTypes(Ints{}, dtype, [&]<typename T>() { static_cast<T*>(to)[i] = static_cast<T>(v); });
}

using Place = std::vector<int64_t>;

// In order, without repetitions.
template <typename T>
using Set = std::vector<T>;
template <typename T>
using Sets = std::map<Place, Set<T>>;

template <typename T>
void MakeSet(Set<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Coordinates may be unchecked and out of order only if the op says so; they must never be out of
// bounds.
template <typename T>
absl::Status AddSparse(const Coordinates& at, const std::vector<T>& values, const int64_t* shape,
                       bool expect_order, Sets<T>& sets) {
  TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
  for (int64_t i = 0; i < at.n; ++i) {
    if (expect_order && i > 0 && CompareCoordinates(at[i - 1], at[i], at.rank) >= 0) {
      return InvalidArgument("indices[", i, "] is out of order or repeated");
    }
    sets[Place(at[i], at[i] + at.rank - 1)].push_back(values[static_cast<size_t>(i)]);
  }
  for (auto& [place, set] : sets) MakeSet(set);
  return absl::OkStatus();
}

template <typename T>
void AddDense(const Shape& shape, const std::vector<T>& values, Sets<T>& sets) {
  const int64_t size = shape.dim(shape.rank() - 1), n = shape.num_elements();
  Place place(static_cast<size_t>(shape.rank() - 1), 0);
  for (int64_t at = 0; at < n; at += size) {
    Set<T>& set = sets[place];
    set.assign(values.begin() + at, values.begin() + at + size);
    MakeSet(set);
    for (int d = shape.rank() - 2; d >= 0; --d) {
      const size_t k = static_cast<size_t>(d);
      if (++place[k] < shape.dim(d)) break;
      place[k] = 0;
    }
  }
}

template <typename T>
Set<T> Combine(SetOperationKind operation, const Set<T>& a, const Set<T>& b) {
  Set<T> out;
  const auto to = std::back_inserter(out);
  switch (operation) {
    case SetOperationKind::kMinus:
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case SetOperationKind::kReverseMinus:
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), to);
      break;
    case SetOperationKind::kIntersection:
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case SetOperationKind::kUnion:
      std::set_union(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
  }
  return out;
}

// One operand: a dense tensor, or three inputs.
struct Operand {
  bool dense;
  int first;
  Shape shape;  // of a dense one; otherwise of the indices

  int64_t rank() const { return dense ? shape.rank() : shape.dim(1); }
  int64_t dim(const RunContext& run, int64_t d) const {
    return dense ? shape.dim(static_cast<int>(d)) : run.input<int64_t>(first + 2)[d];
  }
  template <typename T>
  absl::Status Read(const RunContext& run, DType dtype, bool expect_order, Sets<T>& sets) const {
    if (!dense) {
      return AddSparse({run.input<int64_t>(first), shape.dim(0), shape.dim(1)},
                       ElementsAt<T>(dtype, run.input(first + 1), shape.dim(0)),
                       run.input<int64_t>(first + 2), expect_order, sets);
    }
    if (shape.num_elements() > 0)
      AddDense(shape, ElementsAt<T>(dtype, run.input(first), shape.num_elements()), sets);
    return absl::OkStatus();
  }
};

template <typename T>
absl::Status WriteSets(RunContext& run, DType dtype, const Sets<T>& sets, int64_t rank) {
  int64_t count = 0, largest = 0;
  for (const auto& [place, set] : sets) {
    count += std::ssize(set);
    largest = std::max(largest, std::ssize(set));
  }
  TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(0, Shape({count, rank})));
  TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(1, Shape({count})));
  int64_t* at = static_cast<int64_t*>(indices);
  int64_t i = 0;
  for (const auto& [place, set] : sets) {
    int64_t k = 0;
    for (const T& v : set) {
      at = std::copy(place.begin(), place.end(), at);
      *at++ = k++;
      Store(v, dtype, values, i++);
    }
  }
  run.output<int64_t>(2)[rank - 1] = largest;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SetSizeKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const bool validate = p.attrs().Bool("validate_indices", true);
  const Shape planned = p.output_shape(0);
  const DType dtype = p.input_dtype(1);
  return DispatchElements(dtype, [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int64_t* dims = run.input<int64_t>(2);
      Shape shape;
      for (int64_t d = 0; d + 1 < rank; ++d) {
        if (dims[d] < 0) return InvalidArgument("a size of ", dims[d], " in set_shape");
        shape.push_back(dims[d]);
      }
      TENON_ASSIGN_OR_RETURN(const int64_t count, shape.CheckedElements());
      Sets<T> sets;
      TENON_RETURN_IF_ERROR(AddSparse({run.input<int64_t>(0), n, rank},
                                      ElementsAt<T>(dtype, run.input(1), n), dims, validate, sets));
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

absl::StatusOr<SetOperationKind> ReadSetOperation(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const std::string name, attrs.String("set_operation"));
  const std::string lower = absl::AsciiStrToLower(name);
  if (lower == "a-b") return SetOperationKind::kMinus;
  if (lower == "b-a") return SetOperationKind::kReverseMinus;
  if (lower == "intersection") return SetOperationKind::kIntersection;
  if (lower == "union") return SetOperationKind::kUnion;
  return InvalidArgument("set_operation must be a-b, b-a, intersection or union, but is '", name,
                         "'");
}

absl::StatusOr<std::unique_ptr<Kernel>> SetOperationKernel(PrepareContext& p,
                                                           SetOperands operands) {
  TENON_ASSIGN_OR_RETURN(const SetOperationKind operation, ReadSetOperation(p.attrs()));
  const bool dense_a = operands != SetOperands::kSparseSparse;
  const Operand a = {dense_a, 0, p.input_shape(0)};
  const Operand b = {operands == SetOperands::kDenseDense, dense_a ? 1 : 3,
                     p.input_shape(dense_a ? 1 : 3)};
  const bool validate = p.attrs().Bool("validate_indices", true);
  const DType dtype = p.output_dtype(1);
  return DispatchElements(dtype, [&]<typename T>() {
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
      TENON_RETURN_IF_ERROR(a.Read(run, dtype, validate, of_a));
      TENON_RETURN_IF_ERROR(b.Read(run, dtype, validate, of_b));
      for (const auto& [place, set] : of_a) out[place] = Combine(operation, set, of_b[place]);
      for (const auto& [place, set] : of_b) {
        if (!of_a.contains(place)) out[place] = Combine(operation, {}, set);
      }
      return WriteSets(run, dtype, out, a.rank());
    });
  });
}

}  // namespace tenon
