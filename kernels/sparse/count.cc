#include "kernels/sparse/count.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/reduction/segments.h"
#include "kernels/sparse/coordinates.h"

namespace tenon {
namespace {

struct CountedValue {
  int64_t row, value, at;  // at: the place among all values
  bool SameAs(const CountedValue& other) const { return row == other.row && value == other.value; }
};

// By row, then value, then place, which rises. Rows in order are sorted one by one: by counting, if
// the values are few.
void SortCounted(std::vector<CountedValue>& values, int64_t largest) {
  const auto by_row = [](const CountedValue& a, const CountedValue& b) { return a.row < b.row; };
  if (!std::is_sorted(values.begin(), values.end(), by_row)) {
    std::stable_sort(values.begin(), values.end(), by_row);
  }
  std::vector<CountedValue> row;
  std::vector<size_t> starts;
  for (auto begin = values.begin(); begin != values.end();) {
    const auto end = std::find_if(begin, values.end(),
                                  [&](const CountedValue& v) { return v.row != begin->row; });
    if (largest / 8 > end - begin) {
      std::stable_sort(begin, end, [](const CountedValue& a, const CountedValue& b) {
        return a.value < b.value;
      });
    } else {
      row.assign(begin, end);
      starts.assign(static_cast<size_t>(largest) + 2, 0);
      for (const CountedValue& v : row) ++starts[static_cast<size_t>(v.value) + 1];
      for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
      for (const CountedValue& v : row) {
        begin[static_cast<ptrdiff_t>(starts[static_cast<size_t>(v.value)]++)] = v;
      }
    }
    begin = end;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CountKernel(PrepareContext& p, CountedRows rows) {
  const CountInputs in = InputsOf(rows);
  const int64_t least = p.attrs().Int("minlength", -1), most = p.attrs().Int("maxlength", -1);
  if (least < -1 || most < -1) return InvalidArgument("a length below -1");
  const bool binary = p.attrs().Bool("binary_output", false);
  const Shape first = p.input_shape(0), values_shape = p.input_shape(in.values);
  const int64_t n = values_shape.num_elements(), rank = p.output_shape(2).dim(0);
  const bool weighted = p.input_shape(in.weights).num_elements() > 0;
  const DType value_type = p.input_dtype(in.values);
  return DispatchType(
      TypeList<int32_t, int64_t, float, double>{}, p.output_dtype(1), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const std::vector<int64_t> values = IntegersAt(value_type, run.input(in.values), n);
          const T* weights = weighted ? run.input<T>(in.weights) : nullptr;
          const int64_t* where = rows == CountedRows::kDense ? nullptr : run.input<int64_t>(0);
          int64_t batches = 1, columns = 1;
          if (rows == CountedRows::kDense && rank == 2) batches = values_shape.dim(0);
          if (rows == CountedRows::kSparse) {
            columns = first.dim(1);
            TENON_RETURN_IF_ERROR(
                CheckCoordinates({where, n, columns}, run.input<int64_t>(in.shape)));
            if (columns > 1) batches = *run.input<int64_t>(in.shape);
            if (batches < 1 || batches >= INT32_MAX) {
              return InvalidArgument("dense_shape has ", batches, " rows");
            }
          }
          if (rows == CountedRows::kSplits) {
            batches = first.dim(0) - 1;
            if (where[0] != 0 || where[batches] != n ||
                !std::is_sorted(where, where + batches + 1)) {
              return InvalidArgument("splits must rise from 0 to the ", n, " values");
            }
          }
          std::vector<CountedValue> places;
          places.reserve(static_cast<size_t>(n));
          int64_t row = 0, largest = 0;
          for (int64_t i = 0; i < n; ++i) {
            const int64_t v = values[static_cast<size_t>(i)];
            if (rows == CountedRows::kDense && rank == 2) row = i / values_shape.dim(1);
            if (rows == CountedRows::kSparse && columns > 1) row = where[i * columns];
            if (rows == CountedRows::kSplits) {
              while (where[row + 1] <= i) ++row;
            }
            if (v < 0) return InvalidArgument("values must not be negative, but one is ", v);
            if (most < 0 && v == INT64_MAX)
              return InvalidArgument("the value ", v, " is too large");
            if (most >= 0 && v >= most) continue;
            places.push_back({row, v, i});
            largest = std::max(largest, v);
          }
          SortCounted(places, largest);
          std::vector<std::pair<CountedValue, T>> counts;
          for (const CountedValue& place : places) {
            if (counts.empty() || !place.SameAs(counts.back().first))
              counts.push_back({place, T(0)});
            T& count = counts.back().second;
            count = binary ? T(1) : WrapAdd(count, weighted ? weights[place.at] : T(1));
          }
          const int64_t found = std::ssize(counts);
          TENON_ASSIGN_OR_RETURN(void* at, run.AllocateOutput(0, Shape({found, rank})));
          TENON_ASSIGN_OR_RETURN(void* to, run.AllocateOutput(1, Shape({found})));
          int64_t* index = static_cast<int64_t*>(at);
          T* count = static_cast<T*>(to);
          for (const auto& [place, value] : counts) {
            if (rank == 2) *index++ = place.row;
            *index++ = place.value;
            *count++ = value;
          }
          int64_t* shape = run.output<int64_t>(2);
          if (rank == 2) *shape++ = batches;
          *shape = most >= 0 ? most : std::max(largest + 1, least);
          return absl::OkStatus();
        });
      });
}

}  // namespace tenon
