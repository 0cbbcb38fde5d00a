#include "kernels/sparse/cross.h"

#include <algorithm>
#include <vector>

#include "env/status.h"
#include "kernels/sparse/feature_cross.h"

namespace tenon {
namespace {

class Crosser {
 public:
  static absl::StatusOr<Crosser> Make(PrepareContext& p) {
    Crosser crosser;
    TENON_ASSIGN_OR_RETURN(crosser.layout_, ReadCrossLayout(p.attrs()));
    const int all = crosser.layout_.others();
    for (int i = 0; i < all; ++i) {
      crosser.shapes_.push_back(p.input_shape(i));
      crosser.dtypes_.push_back(p.input_dtype(i));
    }
    crosser.texts_ = p.output_dtype(1) == DType::kString;
    return crosser;
  }
  const CrossLayout& layout() const { return layout_; }

  absl::Status Run(RunContext& run, const CrossValue& value) const {
    TENON_ASSIGN_OR_RETURN(const int64_t rows, Rows(run));
    const std::vector<FeatureColumn> columns = Columns(run);
    int64_t total = 0, most = 0;
    TENON_RETURN_IF_ERROR(ForEachCrossedRow(columns, rows, [&](int64_t, auto, int64_t n) {
      total += n;
      most = std::max(most, n);
      return absl::OkStatus();
    }));
    const Shape indices({total, 2});
    TENON_RETURN_IF_ERROR(indices.CheckedElements().status());
    TENON_ASSIGN_OR_RETURN(void* at, run.AllocateOutput(0, indices));
    TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(1, Shape({total})));
    int64_t* index = static_cast<int64_t*>(at);
    int64_t n = 0;
    TENON_RETURN_IF_ERROR(ForEachCrossedRow(columns, rows, [&](int64_t row, auto ranges, int64_t) {
      int64_t in_row = 0;
      ForEachCross(ranges, [&](absl::Span<const int64_t> places) {
        *index++ = row;
        *index++ = in_row++;
        if (texts_) {
          static_cast<std::string*>(values)[n++] = value.Text(columns, places);
        } else {
          static_cast<int64_t*>(values)[n++] = value.Bucket(columns, places);
        }
      });
      return absl::OkStatus();
    }));
    run.output<int64_t>(2)[0] = rows;
    run.output<int64_t>(2)[1] = most;
    return absl::OkStatus();
  }

 private:
  const Shape& shape(int i) const { return shapes_[static_cast<size_t>(i)]; }

  // The number of rows, which all columns share.
  absl::StatusOr<int64_t> Rows(RunContext& run) const {
    int64_t rows = -1;
    for (int i = 0; i < layout_.sparse + layout_.dense; ++i) {
      const int64_t own = i < layout_.sparse ? run.input<int64_t>(layout_.shapes(i))[0]
                                             : shape(layout_.denses(i - layout_.sparse)).dim(0);
      if (own < 0) return InvalidArgument("column ", i, " has ", own, " rows");
      if (rows >= 0 && own != rows) {
        return InvalidArgument("column ", i, " has ", own, " rows, others have ", rows);
      }
      rows = own;
    }
    return std::max<int64_t>(rows, 0);
  }

  std::vector<FeatureColumn> Columns(RunContext& run) const {
    std::vector<FeatureColumn> columns;
    auto add = [&](int input) -> FeatureColumn& {
      FeatureColumn& column = columns.emplace_back();
      if (dtypes_[static_cast<size_t>(input)] == DType::kString) {
        column.texts = run.input<std::string>(input);
      } else {
        column.numbers = run.input<int64_t>(input);
      }
      return column;
    };
    for (int i = 0; i < layout_.sparse; ++i) {
      FeatureColumn& column = add(layout_.values(i));
      column.coordinates = run.input<int64_t>(i);
      column.entries = shape(i).dim(0);
    }
    for (int i = 0; i < layout_.dense; ++i) {
      add(layout_.denses(i)).dense = shape(layout_.denses(i)).dim(1);
    }
    return columns;
  }

  CrossLayout layout_;
  std::vector<Shape> shapes_;
  std::vector<DType> dtypes_;
  bool texts_ = false;
};

}  // namespace

absl::StatusOr<CrossLayout> ReadCrossLayout(const AttrReader& attrs) {
  CrossLayout layout;
  const auto* sparse = attrs.node().attr<std::vector<DType>>("sparse_types");
  const auto* dense = attrs.node().attr<std::vector<DType>>("dense_types");
  layout.sparse = sparse == nullptr ? 0 : static_cast<int>(sparse->size());
  layout.dense = dense == nullptr ? 0 : static_cast<int>(dense->size());
  if (attrs.Int("N", 0) != layout.sparse) {
    return InvalidArgument("N is ", attrs.Int("N", 0), " for ", layout.sparse, " sparse_types");
  }
  return layout;
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseCrossKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Crosser crosser, Crosser::Make(p));
  CrossValue value;
  value.start = static_cast<uint64_t>(p.attrs().Int("hash_key", 0));
  value.buckets = static_cast<uint64_t>(p.attrs().Int("num_buckets", 0));
  if (p.attrs().Int("num_buckets", 0) < 0) return InvalidArgument("num_buckets is negative");
  TENON_ASSIGN_OR_RETURN(const DType internal, p.attrs().Type("internal_type"));
  const CrossLayout& layout = crosser.layout();
  for (int i = 0; i < layout.sparse + layout.dense; ++i) {
    const int input = i < layout.sparse ? layout.values(i) : layout.denses(i - layout.sparse);
    if (internal == DType::kString && p.input_dtype(input) == DType::kInt64) {
      return InvalidArgument("column ", i, " is int64, internal_type is string");
    }
  }
  return MakeKernel([crosser, value](RunContext& run) { return crosser.Run(run, value); });
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseCrossTextKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Crosser crosser, Crosser::Make(p));
  return MakeKernel([crosser](RunContext& run) {
    CrossValue value;
    value.separator = *run.input<std::string>(crosser.layout().others());
    return crosser.Run(run, value);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SparseCrossHashKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Crosser crosser, Crosser::Make(p));
  return MakeKernel([crosser](RunContext& run) -> absl::Status {
    const int first = crosser.layout().others();
    const int64_t buckets = *run.input<int64_t>(first);
    const int64_t* salt = run.input<int64_t>(first + 2);
    CrossValue value;
    value.buckets = static_cast<uint64_t>(std::max<int64_t>(buckets, 0));
    value.from_start = false;
    value.strong = *run.input<bool>(first + 1);
    value.key[0] = static_cast<uint64_t>(salt[0]);
    value.key[1] = static_cast<uint64_t>(salt[1]);
    return crosser.Run(run, value);
  });
}

}  // namespace tenon
