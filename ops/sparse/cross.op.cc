// SparseCross, SparseCrossV2, SparseCrossHashed: feature crosses of sparse and dense columns, as
// texts joined by a separator or as buckets of joined hashes.
#include <algorithm>

#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"
#include "kernels/sparse/feature_cross.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

// Inputs: indices [n, 2] of each sparse column, their values, their shapes, dense columns, and what
// the op has besides.
struct Layout {
  int sparse = 0;
  int dense = 0;

  int values(int i) const { return sparse + i; }
  int shapes(int i) const { return 2 * sparse + i; }
  int denses(int i) const { return 3 * sparse + i; }
  int others() const { return 3 * sparse + dense; }
};

absl::StatusOr<Layout> LayoutOf(const AttrReader& attrs) {
  Layout layout;
  const auto* sparse = attrs.node().attr<std::vector<DType>>("sparse_types");
  const auto* dense = attrs.node().attr<std::vector<DType>>("dense_types");
  layout.sparse = sparse == nullptr ? 0 : static_cast<int>(sparse->size());
  layout.dense = dense == nullptr ? 0 : static_cast<int>(dense->size());
  if (attrs.Int("N", 0) != layout.sparse) {
    return InvalidArgument("N is ", attrs.Int("N", 0), " for ", layout.sparse, " sparse_types");
  }
  return layout;
}

absl::Status CrossShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(c.attrs()));
  for (int i = 0; i < layout.sparse; ++i) {
    TENON_RETURN_IF_ERROR(ExpectSparse(c, i, layout.sparse));
    if (!c.input(i).CompatibleWith(Shape({-1, 2})) ||
        !c.input(layout.shapes(i)).CompatibleWith(Shape({2}))) {
      return InvalidArgument("sparse column ", i, " must have two dimensions");
    }
  }
  for (int i = 0; i < layout.dense; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(layout.denses(i), 2));
  }
  c.set_output(0, Shape({-1, 2}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({2}));
  return absl::OkStatus();
}

absl::Status HashedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CrossShape(c));
  TENON_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(c.attrs()));
  TENON_RETURN_IF_ERROR(c.ExpectRank(layout.others(), 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(layout.others() + 1, 0));
  if (c.input(layout.others() + 2).CompatibleWith(Shape({2}))) return absl::OkStatus();
  return InvalidArgument("salt must have 2 elements, but has shape ",
                         c.input(layout.others() + 2).ToString());
}

absl::Status JoinedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CrossShape(c));
  TENON_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(c.attrs()));
  return c.ExpectRank(layout.others(), 0);
}

class Crosser {
 public:
  static absl::StatusOr<Crosser> Make(PrepareContext& p) {
    Crosser crosser;
    TENON_ASSIGN_OR_RETURN(crosser.layout_, LayoutOf(p.attrs()));
    const int all = crosser.layout_.others();
    for (int i = 0; i < all; ++i) {
      crosser.shapes_.push_back(p.input_shape(i));
      crosser.dtypes_.push_back(p.input_dtype(i));
    }
    crosser.texts_ = p.output_dtype(1) == DType::kString;
    return crosser;
  }
  const Layout& layout() const { return layout_; }

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

  // The same in all columns.
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

  Layout layout_;
  std::vector<Shape> shapes_;
  std::vector<DType> dtypes_;
  bool texts_ = false;
};

absl::StatusOr<std::unique_ptr<Kernel>> Cross(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Crosser crosser, Crosser::Make(p));
  CrossValue value;
  value.start = static_cast<uint64_t>(p.attrs().Int("hash_key", 0));
  value.buckets = static_cast<uint64_t>(p.attrs().Int("num_buckets", 0));
  if (p.attrs().Int("num_buckets", 0) < 0) return InvalidArgument("num_buckets is negative");
  TENON_ASSIGN_OR_RETURN(const DType internal, p.attrs().Type("internal_type"));
  const Layout& layout = crosser.layout();
  for (int i = 0; i < layout.sparse + layout.dense; ++i) {
    const int input = i < layout.sparse ? layout.values(i) : layout.denses(i - layout.sparse);
    if (internal == DType::kString && p.input_dtype(input) == DType::kInt64) {
      return InvalidArgument("column ", i, " is int64, internal_type is string");
    }
  }
  return MakeKernel([crosser, value](RunContext& run) { return crosser.Run(run, value); });
}

absl::StatusOr<std::unique_ptr<Kernel>> JoinedCross(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Crosser crosser, Crosser::Make(p));
  return MakeKernel([crosser](RunContext& run) {
    CrossValue value;
    value.separator = *run.input<std::string>(crosser.layout().others());
    return crosser.Run(run, value);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> HashedCross(PrepareContext& p) {
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

const OpRegistration sparse_cross_op({
    .name = "SparseCross",
    .inputs = "indices: N * int64, values: sparse_types, shapes: N * int64, "
              "dense_inputs: dense_types",
    .outputs = "output_indices: int64, output_values: out_type, output_shape: int64",
    .attrs = "N: int; hashed_output: bool; num_buckets: int; hash_key: int; "
             "sparse_types: list(type); dense_types: list(type); out_type: type; "
             "internal_type: type",
    .types = "sparse_types: int64 string; dense_types: int64 string; out_type: int64 string; "
             "internal_type: int64 string",
    .shape = CrossShape,
    .reference = Cross,
});

const OpRegistration sparse_cross_v2_op({
    .name = "SparseCrossV2",
    .inputs = "indices: N * int64, values: sparse_types, shapes: N * int64, "
              "dense_inputs: dense_types, sep: string",
    .outputs = "output_indices: int64, output_values: string, output_shape: int64",
    .attrs = "N: int; sparse_types: list(type); dense_types: list(type)",
    .types = "sparse_types: int64 string; dense_types: int64 string",
    .shape = JoinedShape,
    .reference = JoinedCross,
});

const OpRegistration sparse_cross_hashed_op({
    .name = "SparseCrossHashed",
    .inputs = "indices: N * int64, values: sparse_types, shapes: N * int64, "
              "dense_inputs: dense_types, num_buckets: int64, strong_hash: bool, salt: int64",
    .outputs = "output_indices: int64, output_values: int64, output_shape: int64",
    .attrs = "N: int; sparse_types: list(type); dense_types: list(type)",
    .types = "sparse_types: int64 string; dense_types: int64 string",
    .shape = HashedShape,
    .reference = HashedCross,
});

}  // namespace
}  // namespace tenon
