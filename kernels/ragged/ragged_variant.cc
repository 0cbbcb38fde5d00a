#include "kernels/ragged/ragged_variant.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "graph/object.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/list_math.h"
#include "kernels/lists/tensor_list.h"
#include "kernels/ragged/nested_splits.h"

namespace tenon {
namespace {

struct RaggedVariant final : Summand {
  DType splits_type = DType::kInvalid;
  NestedSplits splits;
  std::shared_ptr<const Tensor> values;

  absl::StatusOr<ObjectPtr> Plus(const ObjectPtr& other) const override {
    const auto* const ragged = dynamic_cast<const RaggedVariant*>(other.get());
    if (ragged == nullptr || ragged->splits != splits ||
        ragged->values->dtype() != values->dtype()) {
      return InvalidArgument("ragged tensors of other rows or dtypes cannot be added");
    }
    auto sum = std::make_shared<RaggedVariant>(*this);
    TENON_ASSIGN_OR_RETURN(sum->values, AddItems(values, ragged->values));
    return ObjectPtr(std::move(sum));
  }
  absl::StatusOr<ObjectPtr> Zeros() const override {
    auto zeros = std::make_shared<RaggedVariant>(*this);
    TENON_ASSIGN_OR_RETURN(zeros->values, ZerosLikeItem(values));
    return ObjectPtr(std::move(zeros));
  }
};

int64_t ElementsPerRow(const Shape& values) {
  int64_t n = 1;
  for (int d = 1; d < values.rank(); ++d) n *= values.dim(d);
  return n;
}

// Row `row` of a ragged tensor, which has one dimension less.
std::shared_ptr<RaggedVariant> RowOf(const RaggedVariant& all, size_t row) {
  auto part = std::make_shared<RaggedVariant>();
  part->splits_type = all.splits_type;
  auto begin = static_cast<size_t>(all.splits[0][row]);
  auto end = static_cast<size_t>(all.splits[0][row + 1]);
  for (size_t i = 1; i < all.splits.size(); ++i) {
    const std::vector<int64_t>& from = all.splits[i];
    std::vector<int64_t> splits;
    for (size_t k = begin; k <= end; ++k) splits.push_back(from[k] - from[begin]);
    part->splits.push_back(std::move(splits));
    const auto last = static_cast<size_t>(from[end]);
    begin = static_cast<size_t>(from[begin]);
    end = last;
  }
  part->values = RowsOf(all.values, static_cast<int64_t>(begin), static_cast<int64_t>(end - begin),
                        /*single=*/false);
  return part;
}

// What is expected of the elements of a variant tensor.
struct Elements {
  int64_t count = 0;
  size_t splits = 0;
  DType splits_type = DType::kInvalid, values_type = DType::kInvalid;
};

absl::StatusOr<std::vector<const RaggedVariant*>> Read(const RunContext& run, const Elements& e) {
  std::vector<const RaggedVariant*> all;
  for (int64_t i = 0; i < e.count; ++i) {
    const auto* part = dynamic_cast<const RaggedVariant*>(run.input<ObjectPtr>(0)[i].get());
    if (part == nullptr) return InvalidArgument("element ", i, " is not a ragged tensor");
    if (part->splits.size() != e.splits) {
      return InvalidArgument("element ", i, " has ", part->splits.size(), " row splits; expected ",
                             e.splits);
    }
    if (part->values->dtype() != e.values_type) {
      return InvalidArgument("element ", i, " has values of ", Name(part->values->dtype()),
                             "; expected ", Name(e.values_type));
    }
    if (!part->splits.empty() && part->splits_type != e.splits_type) {
      return InvalidArgument("element ", i, " has row splits of ", Name(part->splits_type),
                             "; expected ", Name(e.splits_type));
    }
    if (part->values->shape().rank() < 1) return InvalidArgument("element ", i, " is a scalar");
    all.push_back(part);
  }
  return all;
}

absl::Status WriteSplits(RunContext& run, int output, DType dtype,
                         const std::vector<int64_t>& splits) {
  TENON_ASSIGN_OR_RETURN(void* out,
                         run.AllocateOutput(output, Shape({static_cast<int64_t>(splits.size())})));
  VisitTypes(TypeList<int32_t, int64_t>{}, dtype, [&]<typename T>() {
    for (size_t i = 0; i < splits.size(); ++i) static_cast<T*>(out)[i] = static_cast<T>(splits[i]);
  });
  return absl::OkStatus();
}

absl::Status WriteValues(RunContext& run, int output, DType dtype,
                         const std::vector<const RaggedVariant*>& parts) {
  // Of no elements, the values' inner dimensions are not known.
  Shape shape = parts.empty() ? Shape({0}) : parts[0]->values->shape();
  int64_t rows = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Shape& s = parts[i]->values->shape();
    if (s.rank() != shape.rank() || ElementsPerRow(s) != ElementsPerRow(shape)) {
      return InvalidArgument("values of element ", i, " have shape ", s.ToString(),
                             ", those of the first one ", shape.ToString());
    }
    rows += s.dim(0);
  }
  shape.set_dim(0, rows);
  TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(output, shape));
  int64_t at = 0;
  for (const RaggedVariant* part : parts) {
    const int64_t n = part->values->num_elements();
    WriteItem(part->values, dtype, n, ElementAddress(out, dtype, at));
    at += n;
  }
  return absl::OkStatus();
}

// Row splits of the ragged tensor that stacks `parts` along the dimensions of `outer`.
NestedSplits Stacked(const std::vector<const RaggedVariant*>& parts, const Shape& outer,
                     size_t inner) {
  NestedSplits all;
  int64_t rows = 1;
  for (int d = 0; d + 1 < outer.rank(); ++d) {
    rows *= outer.dim(d);
    std::vector<int64_t> splits;
    for (int64_t i = 0; i <= rows; ++i) splits.push_back(i * outer.dim(d + 1));
    all.push_back(std::move(splits));
  }
  std::vector<int64_t> sizes = {0};
  for (const RaggedVariant* part : parts) {
    const int64_t size =
        inner == 0 ? part->values->shape().dim(0) : std::ssize(part->splits[0]) - 1;
    sizes.push_back(sizes.back() + size);
  }
  all.push_back(std::move(sizes));
  for (size_t i = 0; i < inner; ++i) {
    std::vector<int64_t> splits = {0};
    for (const RaggedVariant* part : parts) {
      const int64_t before = splits.back();
      for (size_t k = 1; k < part->splits[i].size(); ++k) {
        splits.push_back(before + part->splits[i][k]);
      }
    }
    all.push_back(std::move(splits));
  }
  return all;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RaggedToVariantKernel(PrepareContext& p) {
  const int count = p.num_inputs() - 1;
  std::vector<int64_t> sizes;
  for (int i = 0; i < count; ++i) sizes.push_back(p.input_shape(i).dim(0));
  const DType splits_type = count == 0 ? DType::kInvalid : p.input_dtype(0);
  const DType dtype = p.input_dtype(count);
  const Shape shape = p.input_shape(count);
  const bool batched = p.attrs().Bool("batched_input", false);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    auto all = std::make_shared<RaggedVariant>();
    all->splits_type = splits_type;
    const int64_t rows = shape.rank() == 0 ? 1 : shape.dim(0);
    TENON_ASSIGN_OR_RETURN(all->splits,
                           ReadSplits(run, splits_type, sizes, rows, /*complete=*/batched));
    TENON_ASSIGN_OR_RETURN(all->values, Keep(dtype, shape, run.input(count)));
    if (!batched) {
      *run.output<ObjectPtr>(0) = std::move(all);
      return absl::OkStatus();
    }
    for (size_t row = 0; row + 1 < all->splits[0].size(); ++row) {
      run.output<ObjectPtr>(0)[row] = RowOf(*all, row);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RaggedFromVariantKernel(PrepareContext& p) {
  const Shape outer = p.input_shape(0);
  const int splits = p.num_outputs() - 1;
  Elements e{.count = outer.num_elements(), .values_type = p.output_dtype(splits)};
  TENON_ASSIGN_OR_RETURN(e.splits_type, p.attrs().Type("Tsplits"));
  e.splits = static_cast<size_t>(splits - outer.rank());
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::vector<const RaggedVariant*> parts, Read(run, e));
    const NestedSplits all = outer.rank() == 0 ? parts[0]->splits : Stacked(parts, outer, e.splits);
    for (size_t i = 0; i < all.size(); ++i) {
      TENON_RETURN_IF_ERROR(WriteSplits(run, static_cast<int>(i), e.splits_type, all[i]));
    }
    return WriteValues(run, splits, e.values_type, parts);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RaggedToVariantGradientKernel(PrepareContext& p) {
  const int64_t parts = p.input_shape(0).num_elements();
  const bool has_splits = p.input_shape(1).rank() > 0;
  const int64_t num_splits = has_splits ? p.input_shape(1).num_elements() : 0;
  const int64_t rank = p.input_shape(2).num_elements();
  const DType splits_type = p.input_dtype(1);
  TENON_ASSIGN_OR_RETURN(const DType dtype, p.attrs().Type("Tvalues"));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::vector<int64_t> splits = IntegersAt(splits_type, run.input(1), num_splits);
    const bool rise =
        !splits.empty() && splits[0] == 0 && std::is_sorted(splits.begin(), splits.end());
    if (has_splits && !rise) {
      return InvalidArgument("row splits must rise from 0");
    }
    const int32_t* const dims = run.input<int32_t>(2);
    for (int64_t d = 0; d < rank; ++d) {
      if (dims[d] < 0) return InvalidArgument("dense_values_shape[", d, "] is ", dims[d]);
    }
    const Shape shape(std::vector<int64_t>(dims, dims + rank));
    TENON_ASSIGN_OR_RETURN(const int64_t elements, shape.CheckedElements());
    // Values in order; null: zeros.
    std::vector<std::shared_ptr<const Tensor>> values;
    std::vector<int64_t> sizes;
    int64_t total = 0;
    for (int64_t i = 0; i < parts; ++i) {
      const auto* part = dynamic_cast<const RaggedVariant*>(run.input<ObjectPtr>(0)[i].get());
      if (part != nullptr && part->values->dtype() != dtype) {
        return InvalidArgument("element ", i, " has values of ", Name(part->values->dtype()),
                               "; expected ", Name(dtype));
      }
      if (part == nullptr && (i + 1 >= num_splits || rank == 0)) {
        return InvalidArgument("element ", i, " is missing, and there are no row splits for it");
      }
      values.push_back(part == nullptr ? nullptr : part->values);
      const size_t row = static_cast<size_t>(i);
      int64_t size = 0;
      if (part != nullptr) {
        size = part->values->num_elements();
      } else if (__builtin_mul_overflow(splits[row + 1] - splits[row], ElementsPerRow(shape),
                                        &size)) {
        return InvalidArgument("row ", i, " is too long");
      }
      if (__builtin_add_overflow(total, size, &total)) {
        return InvalidArgument("there are too many values");
      }
      sizes.push_back(size);
    }
    // One tensor keeps its own shape.
    Shape out_shape = shape;
    if (parts == 1) {
      if (values[0] != nullptr) {
        out_shape = values[0]->shape();
      } else {
        out_shape.set_dim(0, splits[1]);
      }
    } else if (total != elements) {
      return InvalidArgument("gradients of ", total, " values for values of shape ",
                             shape.ToString());
    }
    TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(0, out_shape));
    int64_t at = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      WriteItem(values[i], dtype, sizes[i], ElementAddress(out, dtype, at));
      at += sizes[i];
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
