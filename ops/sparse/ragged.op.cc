// RaggedTensorToTensor (rows of different lengths, padded) and RaggedRange (a range a row).
#include <algorithm>
#include <cmath>

#include "ops/array/axis.h"
#include "ops/op.h"
#include "ops/segment/segments.h"

namespace tenon {
namespace {

absl::Status ToTensorShape(ShapeContext& c) {
  if (c.input(2).has_rank() && c.input(1).has_rank() &&
      c.input(2).rank() > std::max(0, c.input(1).rank() - 1)) {
    return InvalidArgument("default_value of shape ", c.input(2).ToString(),
                           " for values of shape ", c.input(1).ToString());
  }
  return UnknownShape(c);
}

// For each level its rows' lengths; the first level has as many rows as the result.
using Lengths = std::vector<std::vector<int64_t>>;

absl::Status AddLevel(const std::string& type, const std::vector<int64_t>& v, int64_t rows,
                      Lengths& lengths) {
  std::vector<int64_t> level;
  if (type == "ROW_SPLITS") {
    if (v.empty() || v[0] != 0 || !std::is_sorted(v.begin(), v.end())) {
      return InvalidArgument("row splits must rise from 0");
    }
    for (size_t i = 1; i < v.size(); ++i) level.push_back(v[i] - v[i - 1]);
    if (rows >= 0 && std::ssize(level) != rows) {
      return InvalidArgument(std::ssize(level), " row splits for ", rows, " rows");
    }
  } else if (type == "VALUE_ROWIDS") {
    if (rows < 0) return InvalidArgument("VALUE_ROWIDS cannot come first");
    level.assign(static_cast<size_t>(rows), 0);
    for (size_t i = 0; i < v.size(); ++i) {
      if (v[i] < 0 || v[i] >= rows || (i > 0 && v[i] < v[i - 1])) {
        return InvalidArgument("value row ids must rise and be below ", rows, ", but one is ",
                               v[i]);
      }
      ++level[static_cast<size_t>(v[i])];
    }
  } else {
    return InvalidArgument("row partition type '", type, "'");
  }
  lengths.push_back(std::move(level));
  return absl::OkStatus();
}

int64_t Sum(const std::vector<int64_t>& v) {
  int64_t sum = 0;
  for (int64_t x : v) sum += x;
  return sum;
}

// The result's shape: what `wanted` says, else the longest row of each level.
absl::StatusOr<Shape> PaddedShape(const Lengths& lengths, const Shape& values,
                                  const std::vector<int64_t>* wanted) {
  Shape out({static_cast<int64_t>(lengths[0].size())});
  for (const std::vector<int64_t>& level : lengths) {
    out.push_back(level.empty() ? 0 : *std::max_element(level.begin(), level.end()));
  }
  const int ragged = out.rank();
  for (int i = 1; i < values.rank(); ++i) out.push_back(values.dim(i));
  if (wanted == nullptr) return out;
  if (std::ssize(*wanted) != out.rank()) {
    return InvalidArgument("shape has ", wanted->size(), " sizes for a tensor of rank ",
                           out.rank());
  }
  for (int i = 0; i < out.rank(); ++i) {
    const int64_t size = (*wanted)[static_cast<size_t>(i)];
    if (size < 0) continue;
    if (i >= ragged && size != out.dim(i)) {
      return InvalidArgument("dimension ", i, " is ", out.dim(i), ", but shape says ", size);
    }
    out.set_dim(i, size);
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Kernel>> ToTensor(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> types,
                         p.attrs().Strings("row_partition_types"));
  const int first = 3, partitions = p.num_inputs() - first;
  const bool sized = !types.empty() && types[0] == "FIRST_DIM_SIZE";
  if (std::ssize(types) != partitions || partitions < (sized ? 2 : 1)) {
    return InvalidArgument(types.size(), " row partition types for ", partitions, " tensors");
  }
  std::vector<Shape> shapes;
  for (int i = 0; i < p.num_inputs(); ++i) shapes.push_back(p.input_shape(i));
  const DType dtype = p.input_dtype(1), shape_type = p.input_dtype(0), index = p.input_dtype(first);
  if (shapes[0].rank() > 1) return InvalidArgument("shape must be a vector");
  if (shapes[1].rank() < 1) return InvalidArgument("values must not be a scalar");
  return MakeKernel([=](RunContext& run) -> absl::Status {
    auto partition = [&](int i) {
      return IntegersAt(index, run.input(first + i),
                        shapes[static_cast<size_t>(first + i)].num_elements());
    };
    Lengths lengths;
    int64_t rows = -1;
    if (sized) {
      const std::vector<int64_t> size = partition(0);
      if (size.size() != 1 || size[0] < 0) return InvalidArgument("a bad first dimension size");
      rows = size[0];
    }
    for (int i = sized ? 1 : 0; i < partitions; ++i) {
      TENON_RETURN_IF_ERROR(AddLevel(types[static_cast<size_t>(i)], partition(i), rows, lengths));
      rows = Sum(lengths.back());
    }
    const Shape& values = shapes[1];
    if (rows != values.dim(0)) {
      return InvalidArgument("the partitions have ", rows, " values, but there are ",
                             values.dim(0));
    }
    const std::vector<int64_t> wanted =
        IntegersAt(shape_type, run.input(0), shapes[0].num_elements());
    const bool unknown = shapes[0].rank() == 0;
    if (unknown && wanted[0] != -1) return InvalidArgument("a scalar shape must be -1");
    TENON_ASSIGN_OR_RETURN(const Shape out,
                           PaddedShape(lengths, values, unknown ? nullptr : &wanted));
    TENON_RETURN_IF_ERROR(out.CheckedElements().status());

    // Where each row stands in the result; -1: cut off.
    std::vector<int64_t> places;
    for (int64_t r = 0; r < std::ssize(lengths[0]); ++r) places.push_back(r < out.dim(0) ? r : -1);
    for (size_t level = 0; level < lengths.size(); ++level) {
      const int64_t size = out.dim(static_cast<int>(level) + 1);
      std::vector<int64_t> next;
      for (size_t r = 0; r < lengths[level].size(); ++r) {
        for (int64_t k = 0; k < lengths[level][r]; ++k) {
          next.push_back(places[r] >= 0 && k < size ? places[r] * size + k : -1);
        }
      }
      places = std::move(next);
    }
    const int64_t width = Product(values, 1, values.rank());
    TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, out));
    const int64_t defaults = shapes[2].num_elements();
    if (defaults == 0 || width % std::max<int64_t>(1, defaults) != 0) {
      return InvalidArgument("default_value of shape ", shapes[2].ToString(),
                             " for values of shape ", values.ToString());
    }
    VisitStorage(dtype, [&]<typename T>() {
      T* to = static_cast<T*>(memory);
      for (int64_t i = 0; i < out.num_elements(); ++i) to[i] = run.input<T>(2)[i % defaults];
      for (size_t j = 0; j < places.size(); ++j) {
        if (places[j] < 0) continue;
        std::copy_n(run.input<T>(1) + static_cast<int64_t>(j) * width, width,
                    to + places[j] * width);
      }
    });
    return absl::OkStatus();
  });
}

absl::Status RaggedRangeShape(ShapeContext& c) {
  int64_t rows = -1;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = c.input(i);
    if (!s.has_rank() || s.rank() == 0) continue;
    if (s.rank() > 1)
      return InvalidArgument("starts, limits and deltas must be scalars or vectors");
    if (rows >= 0 && s.dim(0) >= 0 && s.dim(0) != rows) {
      return InvalidArgument("starts, limits and deltas must have one size");
    }
    if (s.dim(0) >= 0) rows = s.dim(0);
  }
  c.set_output(0, Shape({-1}));
  c.set_output(1, Shape({-1}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> RaggedRange(PrepareContext& p) {
  int64_t rows = 1;
  std::vector<int64_t> steps;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = p.input_shape(i);
    steps.push_back(s.rank() == 0 ? 0 : 1);
    if (s.rank() == 1) rows = s.dim(0);
  }
  const DType splits_type = p.output_dtype(0);
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = NoKernelFor(p.input_dtype(0));
  VisitTypes(
      TypeList<bfloat16, float, double, int32_t, int64_t>{}, p.input_dtype(0), [&]<typename T>() {
        kernel = MakeKernel([=](RunContext& run) -> absl::Status {
          constexpr int64_t kMost = int64_t{1} << 40;
          std::vector<int64_t> splits = {0};
          auto at = [&](int input, int64_t r) {
            return ToCompute(run.input<T>(input)[r * steps[static_cast<size_t>(input)]]);
          };
          for (int64_t r = 0; r < rows; ++r) {
            const auto start = at(0, r), limit = at(1, r), delta = at(2, r);
            if (delta == 0) return InvalidArgument("deltas must not be 0");
            int64_t size = 0;
            if ((delta > 0 && limit > start) || (delta < 0 && limit < start)) {
              const double exact = (static_cast<double>(limit) - static_cast<double>(start)) /
                                   static_cast<double>(delta);
              if (!(exact < static_cast<double>(kMost)))
                return InvalidArgument("a range is too long");
              size = static_cast<int64_t>(std::ceil(exact));
            }
            if (splits.back() > kMost - size) return InvalidArgument("ranges that are too long");
            splits.push_back(splits.back() + size);
          }
          const int64_t count = static_cast<int64_t>(splits.size());
          TENON_ASSIGN_OR_RETURN(void* splits_out, run.AllocateOutput(0, Shape({count})));
          VisitTypes(TypeList<int32_t, int64_t>{}, splits_type, [&]<typename I>() {
            std::transform(splits.begin(), splits.end(), static_cast<I*>(splits_out),
                           [](int64_t v) { return static_cast<I>(v); });
          });
          TENON_ASSIGN_OR_RETURN(void* values_out, run.AllocateOutput(1, Shape({splits.back()})));
          T* out = static_cast<T*>(values_out);
          for (int64_t r = 0; r < rows; ++r) {
            T value = static_cast<T>(at(0, r));
            const size_t k = static_cast<size_t>(r);
            for (int64_t i = splits[k]; i < splits[k + 1]; ++i) {
              *out++ = value;
              value = static_cast<T>(WrapAdd(ToCompute(value), at(2, r)));
            }
          }
          return absl::OkStatus();
        });
      });
  return kernel;
}

const OpRegistration ragged_tensor_to_tensor_op({
    .name = "RaggedTensorToTensor",
    .inputs = "shape: Tshape, values: T, default_value: T, row_partition_tensors: "
              "num_row_partition_tensors * Tindex",
    .outputs = "result: T",
    .attrs = "T: type; Tindex: type; Tshape: type; num_row_partition_tensors: int; "
             "row_partition_types: list(string)",
    .types = "Tindex: int64 int32; Tshape: int64 int32",
    .shape = ToTensorShape,
    .reference = ToTensor,
});

const OpRegistration ragged_range_op({
    .name = "RaggedRange",
    .inputs = "starts: T, limits: T, deltas: T",
    .outputs = "rt_nested_splits: Tsplits, rt_dense_values: T",
    .attrs = "T: type = int32; Tsplits: type = int64",
    .types = "T: bfloat16 float double int32 int64; Tsplits: int32 int64",
    .shape = RaggedRangeShape,
    .reference = RaggedRange,
});

}  // namespace
}  // namespace tenon
