#include "kernels/ragged/to_dense.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/layout/copy.h"
#include "kernels/reduction/segments.h"

namespace tenon {
namespace {

using In = RaggedToDenseInputs;

// Real data does not have more rows than this.
constexpr int64_t kMostRows = int64_t{1} << 26;

// One ragged dimension: the length of each row, in any of the encodings.
absl::StatusOr<std::vector<int64_t>> RowLengths(RowPartition type,
                                                const std::vector<int64_t>& values, int64_t rows) {
  if (type == RowPartition::kRowSplits) {
    if (values.empty()) return InvalidArgument("row splits are empty");
    if (values[0] != 0) return InvalidArgument("row splits begin with ", values[0], ", not 0");
    if (rows >= 0 && static_cast<int64_t>(values.size()) != rows + 1) {
      return InvalidArgument("there are ", values.size(), " row splits for ", rows, " rows");
    }
    std::vector<int64_t> lengths;
    for (size_t i = 1; i < values.size(); ++i) {
      if (values[i] < values[i - 1]) return InvalidArgument("row splits decrease");
      lengths.push_back(values[i] - values[i - 1]);
    }
    return lengths;
  }
  if (rows > kMostRows) return InvalidArgument("row ids for ", rows, " rows");
  std::vector<int64_t> lengths(static_cast<size_t>(rows), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= rows) {
      return InvalidArgument("row id ", values[i], " is not below ", rows);
    }
    if (i > 0 && values[i] < values[i - 1]) return InvalidArgument("row ids decrease");
    ++lengths[static_cast<size_t>(values[i])];
  }
  return lengths;
}

class ToTensor final : public Kernel {
 public:
  ToTensor(PrepareContext& p, std::vector<RowPartition> types)
      : types_(std::move(types)),
        dtype_(p.input_dtype(In::kValues)),
        index_dtype_(p.input_dtype(In::kPartitions)),
        shape_dtype_(p.input_dtype(In::kShape)),
        values_(p.input_shape(In::kValues)),
        default_(p.input_shape(In::kDefault)),
        shape_(p.input_shape(In::kShape)),
        planned_(p.output_shape(0).IsComplete()) {
    for (int i = In::kPartitions; i < p.num_inputs(); ++i) {
      partitions_.push_back(p.input_shape(i).num_elements());
    }
  }

  absl::Status Run(RunContext& run) const override {
    const bool first_size = types_[0] == RowPartition::kFirstDimSize;
    const int ragged_dims = static_cast<int>(types_.size()) + (first_size ? 0 : 1);
    TENON_ASSIGN_OR_RETURN(
        std::vector<int64_t> dims,
        RaggedToDenseDims(shape_,
                          IntegersAt(shape_dtype_, run.input(In::kShape), shape_.num_elements()),
                          ragged_dims, values_));

    std::vector<std::vector<int64_t>> lengths;  // by ragged dimension after the first
    int64_t rows = -1;
    for (size_t i = 0; i < types_.size(); ++i) {
      const std::vector<int64_t> values = IntegersAt(
          index_dtype_, run.input(In::kPartitions + static_cast<int>(i)), partitions_[i]);
      if (types_[i] == RowPartition::kFirstDimSize) {
        if (values.size() != 1 || values[0] < 0) return InvalidArgument("a bad FIRST_DIM_SIZE");
        rows = values[0];
        if (rows > kMostRows) return InvalidArgument("FIRST_DIM_SIZE is ", rows);
        if (dims[0] < 0) dims[0] = rows;
        continue;
      }
      TENON_ASSIGN_OR_RETURN(std::vector<int64_t> row_lengths, RowLengths(types_[i], values, rows));
      if (rows < 0 && dims[0] < 0) dims[0] = static_cast<int64_t>(row_lengths.size());
      int64_t longest = 0;
      rows = 0;
      for (int64_t n : row_lengths) {
        longest = std::max(longest, n);
        rows += n;
      }
      lengths.push_back(std::move(row_lengths));
      if (dims[lengths.size()] < 0) dims[lengths.size()] = longest;
    }
    if (rows > values_.dim(0)) {
      return InvalidArgument("the rows hold ", rows, " values, but there are ", values_.dim(0));
    }
    return Write(run, dims, lengths);
  }

 private:
  absl::Status Write(RunContext& run, const std::vector<int64_t>& dims,
                     const std::vector<std::vector<int64_t>>& lengths) const {
    const Shape shape(dims);
    TENON_ASSIGN_OR_RETURN(const int64_t elements, shape.CheckedElements());
    void* out = run.output(0);
    if (!planned_) {
      TENON_ASSIGN_OR_RETURN(out, run.AllocateOutput(0, shape));
    }
    int64_t inner = 1;
    for (int d = 1; d < values_.rank(); ++d) inner *= values_.dim(d);
    if (elements == 0) return absl::OkStatus();

    // The place of each row of the current dimension among the rows of the output; -1: cut off.
    // Places increase.
    std::vector<int64_t> at(lengths[0].size());
    for (size_t i = 0; i < at.size(); ++i) {
      at[i] = static_cast<int64_t>(i) < dims[0] ? static_cast<int64_t>(i) : -1;
    }
    for (size_t level = 0; level + 1 < lengths.size(); ++level) {
      const int64_t width = dims[level + 1];
      std::vector<int64_t> next;
      for (size_t row = 0; row < lengths[level].size(); ++row) {
        for (int64_t j = 0; j < lengths[level][row]; ++j) {
          next.push_back(at[row] >= 0 && j < width ? at[row] * width + j : -1);
        }
      }
      at = std::move(next);
    }
    // Whole rows of values, and the default between them.
    const int64_t width = dims[lengths.size()];
    const auto* from = static_cast<const char*>(run.input(In::kValues));
    const size_t size = SizeOf(dtype_) * static_cast<size_t>(inner);
    const auto place = [&](int64_t value) {
      return static_cast<char*>(out) + static_cast<size_t>(value) * size;
    };
    int64_t end = 0;  // of what is written
    for (size_t row = 0; row < at.size(); ++row) {
      const int64_t n = lengths.back()[row];
      if (at[row] >= 0) {
        const int64_t begin = at[row] * width, kept = std::min(n, width);
        FillDefault(run, place(end), begin - end, inner);
        CopyElements(dtype_, from, place(begin), kept * inner);
        end = begin + kept;
      }
      from += static_cast<size_t>(n) * size;
    }
    FillDefault(run, place(end), elements / inner - end, inner);
    return absl::OkStatus();
  }

  // Writes `count` values of `inner` elements, to each of which the default is broadcast.
  void FillDefault(RunContext& run, char* to, int64_t count, int64_t inner) const {
    if (count == 0) return;
    const auto* value = static_cast<const char*>(run.input(In::kDefault));
    const size_t size = SizeOf(dtype_);
    for (int64_t i = 0; i < inner; ++i) {
      int64_t rest = i, offset = 0, stride = 1;
      for (int d = 0; d < default_.rank(); ++d) {
        const int axis = default_.rank() - 1 - d;
        const int64_t n = values_.dim(values_.rank() - 1 - d);
        if (default_.dim(axis) != 1) offset += rest % n * stride;
        stride *= default_.dim(axis);
        rest /= n;
      }
      CopyElements(dtype_, value + static_cast<size_t>(offset) * size,
                   to + static_cast<size_t>(i) * size, 1);
    }
    const int64_t elements = count * inner;
    for (int64_t done = inner; done < elements;) {
      const int64_t n = std::min(done, elements - done);
      CopyElements(dtype_, to, to + static_cast<size_t>(done) * size, n);
      done += n;
    }
  }

  const std::vector<RowPartition> types_;
  const DType dtype_, index_dtype_, shape_dtype_;
  const Shape values_, default_, shape_;
  const bool planned_;
  std::vector<int64_t> partitions_;  // elements of each
};

}  // namespace

absl::StatusOr<std::vector<RowPartition>> ReadRowPartitions(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         attrs.Strings("row_partition_types"));
  std::vector<RowPartition> types;
  for (const std::string& name : names) {
    if (name == "FIRST_DIM_SIZE") {
      types.push_back(RowPartition::kFirstDimSize);
    } else if (name == "VALUE_ROWIDS") {
      types.push_back(RowPartition::kValueRowIds);
    } else if (name == "ROW_SPLITS") {
      types.push_back(RowPartition::kRowSplits);
    } else {
      return InvalidArgument("row_partition_types: '", name,
                             "' is not FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS");
    }
  }
  if (types.empty()) return InvalidArgument("row_partition_types is empty");
  for (size_t i = 0; i < types.size(); ++i) {
    if ((types[i] == RowPartition::kFirstDimSize) !=
        (i == 0 && types[0] == RowPartition::kFirstDimSize)) {
      return InvalidArgument("FIRST_DIM_SIZE must be first");
    }
  }
  if (types[0] == RowPartition::kValueRowIds) {
    return InvalidArgument("VALUE_ROWIDS needs FIRST_DIM_SIZE before it");
  }
  if (types.size() == 1 && types[0] == RowPartition::kFirstDimSize) {
    return InvalidArgument("FIRST_DIM_SIZE must not be the only one");
  }
  return types;
}

absl::StatusOr<std::unique_ptr<Kernel>> RaggedToDenseKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(std::vector<RowPartition> types, ReadRowPartitions(p.attrs()));
  if (static_cast<size_t>(p.num_inputs() - In::kPartitions) != types.size()) {
    return InvalidArgument("there are ", p.num_inputs() - In::kPartitions, " row partitions and ",
                           types.size(), " types");
  }
  const Shape& values = p.input_shape(In::kValues);
  const Shape& fill = p.input_shape(In::kDefault);
  if (fill.rank() >= values.rank()) {
    return InvalidArgument("default_value has rank ", fill.rank(), ", the values ", values.rank());
  }
  for (int d = 0; d < fill.rank(); ++d) {
    const int64_t have = fill.dim(fill.rank() - 1 - d), want = values.dim(values.rank() - 1 - d);
    if (have != want && have != 1) {
      return InvalidArgument("default_value cannot be broadcast to a value");
    }
  }
  return std::make_unique<ToTensor>(p, std::move(types));
}

absl::StatusOr<std::vector<int64_t>> RaggedToDenseDims(const Shape& shape_shape,
                                                       const std::vector<int64_t>& shape,
                                                       int ragged_dims, const Shape& values) {
  std::vector<int64_t> dims(static_cast<size_t>(ragged_dims), -1);
  for (int d = 1; d < values.rank(); ++d) dims.push_back(values.dim(d));
  if (shape_shape.rank() == 0) {
    if (shape.size() == 1 && shape[0] == -1) return dims;
    return InvalidArgument("a scalar shape must be -1");
  }
  if (shape.size() != dims.size()) {
    return InvalidArgument("shape has ", shape.size(), " dimensions, the tensor ", dims.size());
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (shape[d] < -1) return InvalidArgument("shape has the dimension ", shape[d]);
    if (shape[d] < 0) continue;
    if (d >= static_cast<size_t>(ragged_dims) && dims[d] >= 0 && dims[d] != shape[d]) {
      return InvalidArgument("shape has ", shape[d], " at dimension ", d, ", the values ", dims[d]);
    }
    dims[d] = shape[d];
  }
  return dims;
}

}  // namespace tenon
