#include "kernels/example_proto/parse_example.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/example_proto/example.h"
#include "kernels/example_proto/feature_column.h"

namespace tenon {
namespace {

struct Keys {
  std::vector<std::string> sparse, dense, ragged;
};

class Parser {
 public:
  Parser(ExampleSignature s, const Shape& batch, std::vector<Shape> defaults, Keys keys)
      : s_(std::move(s)), batch_(batch), defaults_(std::move(defaults)), keys_(std::move(keys)) {}

  absl::Status Run(RunContext& run) const {
    const Keys keys = s_.single() ? keys_ : KeysOf(run);
    const int64_t examples = batch_.num_elements();
    std::vector<Column> sparse(s_.sparse.size()), dense(s_.dense.size()), ragged(s_.ragged.size());
    for (int64_t e = 0; e < examples; ++e) {
      FeatureMap features;
      const absl::string_view bytes = run.input<std::string>(0)[e];
      absl::Status status = ParseExample(bytes, features);
      if (status.ok()) status = AppendOpen(s_.sparse, keys.sparse, features, sparse);
      if (status.ok()) status = AppendOpen(s_.ragged, keys.ragged, features, ragged);
      for (size_t i = 0; status.ok() && i < dense.size(); ++i) {
        status = AppendDense(run, i, keys.dense[i], features, dense[i]);
      }
      if (!status.ok()) return Annotate(status, absl::StrCat("example ", e));
    }
    for (size_t i = 0; i < sparse.size(); ++i)
      TENON_RETURN_IF_ERROR(WriteSparse(run, i, sparse[i]));
    for (size_t i = 0; i < dense.size(); ++i) TENON_RETURN_IF_ERROR(WriteDense(run, i, dense[i]));
    for (size_t i = 0; i < ragged.size(); ++i)
      TENON_RETURN_IF_ERROR(WriteRagged(run, i, ragged[i]));
    return absl::OkStatus();
  }

 private:
  Keys KeysOf(RunContext& run) const {
    auto list = [&](int input, size_t n) {
      std::vector<std::string> keys;
      for (size_t i = 0; i < n; ++i) {
        const int k = static_cast<int>(i);
        keys.push_back(s_.vectors() ? run.input<std::string>(input)[i]
                                    : *run.input<std::string>(input + k));
      }
      return keys;
    };
    return {list(s_.sparse_keys(), s_.sparse.size()), list(s_.dense_keys(), s_.dense.size()),
            list(s_.ragged_keys(), s_.ragged.size())};
  }

  // Features of any length, sparse or ragged.
  static absl::Status AppendOpen(const std::vector<DType>& dtypes,
                                 const std::vector<std::string>& keys, const FeatureMap& features,
                                 std::vector<Column>& columns) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (const Feature* f = FindFeature(features, keys[i])) {
        TENON_RETURN_IF_ERROR(AppendFeature(keys[i], dtypes[i], *f, columns[i]).status());
      } else {
        AppendNothing(columns[i]);
      }
    }
    return absl::OkStatus();
  }

  absl::Status AppendDense(RunContext& run, size_t i, const std::string& key,
                           const FeatureMap& features, Column& column) const {
    const Shape& shape = s_.dense_shapes[i];
    const bool variable = VariableLength(shape);
    const Feature* f = FindFeature(features, key);
    if (f != nullptr) {
      TENON_ASSIGN_OR_RETURN(const int64_t n, AppendFeature(key, s_.dense[i], *f, column));
      const int64_t row = Row(shape);
      if (variable ? row == 0 ? n == 0 : n % row == 0 : n == shape.num_elements()) {
        return absl::OkStatus();
      }
      return InvalidArgument("feature '", key, "' has ", n, " values for a shape of ",
                             shape.ToString());
    }
    if (!variable && defaults_[i].num_elements() == 0 && shape.num_elements() > 0) {
      return InvalidArgument("feature '", key, "' is missing and has no default");
    }
    if (!variable) {
      VisitTypes(FeatureTypes{}, s_.dense[i], [&]<typename T>() {
        const T* value = run.input<T>(s_.defaults() + static_cast<int>(i));
        column.values<T>().insert(column.values<T>().end(), value, value + shape.num_elements());
      });
    }
    AppendNothing(column);
    return absl::OkStatus();
  }

  // The number of values per step along the first dimension of a dense shape.
  static int64_t Row(const Shape& shape) {
    int64_t row = 1;
    for (int d = 1; d < shape.rank(); ++d) row *= shape.dim(d);
    return row;
  }

  absl::Status WriteSparse(RunContext& run, size_t i, Column& column) const {
    const int64_t count = column.ends.empty() ? 0 : column.ends.back(), rank = batch_.rank() + 1;
    TENON_ASSIGN_OR_RETURN(void* indices,
                           run.AllocateOutput(s_.sparse_output(i, 0), Shape({count, rank})));
    int64_t* at = static_cast<int64_t*>(indices);
    int64_t begin = 0;
    for (size_t e = 0; e < column.ends.size(); ++e) {
      for (int64_t k = 0; k < column.ends[e] - begin; ++k) {
        if (rank == 2) *at++ = static_cast<int64_t>(e);
        *at++ = k;
      }
      begin = column.ends[e];
    }
    TENON_RETURN_IF_ERROR(WriteValues(run, s_.sparse_output(i, 1), s_.sparse[i], column));
    int64_t* shape = run.output<int64_t>(s_.sparse_output(i, 2));
    if (rank == 2) *shape++ = batch_.dim(0);
    *shape = column.longest();
    return absl::OkStatus();
  }

  absl::Status WriteDense(RunContext& run, size_t i, Column& column) const {
    const Shape& shape = s_.dense_shapes[i];
    absl::Status status;
    VisitTypes(FeatureTypes{}, s_.dense[i], [&]<typename T>() {
      std::vector<T>& values = column.values<T>();
      if (!VariableLength(shape)) {
        std::move(values.begin(), values.end(), run.output<T>(s_.dense_output(i)));
        return;
      }
      const int64_t longest = column.longest(), row = Row(shape);
      Shape padded = shape;
      padded.set_dim(0, row == 0 ? 0 : longest / row);
      padded = Batched(batch_, padded);
      if (status = padded.CheckedElements().status(); !status.ok()) return;
      absl::StatusOr<void*> memory = run.AllocateOutput(s_.dense_output(i), padded);
      if (status = memory.status(); !status.ok()) return;
      T* out = static_cast<T*>(*memory);
      const T& padding = *run.input<T>(s_.defaults() + static_cast<int>(i));
      int64_t begin = 0;
      for (const int64_t end : column.ends) {
        T* rest = std::move(values.begin() + begin, values.begin() + end, out);
        out += longest;
        std::fill(rest, out, padding);
        begin = end;
      }
    });
    return status;
  }

  absl::Status WriteRagged(RunContext& run, size_t i, Column& column) const {
    TENON_RETURN_IF_ERROR(WriteValues(run, s_.ragged_output(i), s_.ragged[i], column));
    if (batch_.rank() == 0) return absl::OkStatus();
    WriteSplits(s_.splits[i], column.ends, run.output(s_.splits_output(i)));
    return absl::OkStatus();
  }

  const ExampleSignature s_;
  const Shape batch_;
  const std::vector<Shape> defaults_;
  const Keys keys_;  // if they are attributes
};

}  // namespace

absl::StatusOr<ExampleSignature> ReadExampleSignature(const AttrReader& attrs, KeyForm keys) {
  const Node& node = attrs.node();
  ExampleSignature s;
  s.keys = keys;
  s.sparse = ListAttr<DType>(node, "sparse_types");
  s.dense = ListAttr<DType>(node, "Tdense");
  s.dense_shapes = ListAttr<Shape>(node, "dense_shapes");
  s.ragged = ListAttr<DType>(node, "ragged_value_types");
  s.splits = ListAttr<DType>(node, "ragged_split_types");
  const bool scalars = keys == KeyForm::kScalars;
  const char* count = scalars ? "Nsparse" : "num_sparse";
  if (attrs.Int(count, 0) != std::ssize(s.sparse)) {
    return InvalidArgument(count, " is ", attrs.Int(count, 0), " for ", s.sparse.size(),
                           " sparse_types");
  }
  if (scalars && attrs.Int("Ndense", 0) != std::ssize(s.dense)) {
    return InvalidArgument("Ndense is ", attrs.Int("Ndense", 0), " for ", s.dense.size(),
                           " types in Tdense");
  }
  if (s.dense.size() != s.dense_shapes.size() || s.ragged.size() != s.splits.size()) {
    return InvalidArgument("a list of types and one of shapes or splits differ in length");
  }
  for (const Shape& shape : s.dense_shapes) {
    if (!shape.has_rank()) return InvalidArgument("a dense shape of unknown rank");
    for (int d = 1; d < shape.rank(); ++d) {
      if (shape.dim(d) < 0) {
        return InvalidArgument("only the first size of a dense shape may be unknown, but one is ",
                               shape.ToString());
      }
    }
  }
  return s;
}

bool VariableLength(const Shape& shape) { return shape.rank() > 0 && shape.dim(0) < 0; }

absl::StatusOr<std::unique_ptr<Kernel>> ParseExampleKernel(PrepareContext& p, KeyForm form) {
  TENON_ASSIGN_OR_RETURN(ExampleSignature s, ReadExampleSignature(p.attrs(), form));
  if (!AreFeatures(s.sparse) || !AreFeatures(s.dense) || !AreFeatures(s.ragged)) {
    return InvalidArgument("features are float, int64 or string");
  }
  Keys keys;
  if (s.single()) {
    keys.sparse = ListAttr<std::string>(p.node(), "sparse_keys");
    keys.dense = ListAttr<std::string>(p.node(), "dense_keys");
    if (keys.sparse.size() != s.sparse.size() || keys.dense.size() != s.dense.size()) {
      return InvalidArgument("the numbers of keys and types differ");
    }
  }
  std::vector<Shape> defaults;
  for (size_t i = 0; i < s.dense.size(); ++i) {
    defaults.push_back(p.input_shape(s.defaults() + static_cast<int>(i)));
  }
  auto parser = std::make_shared<const Parser>(std::move(s), p.input_shape(0), std::move(defaults),
                                               std::move(keys));
  return MakeKernel([parser](RunContext& run) { return parser->Run(run); });
}

}  // namespace tenon
