// ParseExample, ParseExampleV2, ParseSingleExample: features of serialized tf.train.Example
// messages as tensors. Dense ones have a shape (of which only the first size may be left open, and
// is padded); sparse and ragged ones hold as many values as there are.
#include <algorithm>

#include "kernels/example_proto/example.h"
#include "kernels/example_proto/feature_column.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The inputs and attributes that an op has, and how many outputs of each kind.
struct Signature {
  enum class Op { kParseExample, kParseExampleV2, kParseSingleExample };
  Op op;
  std::vector<DType> sparse, dense, ragged, splits;
  std::vector<Shape> dense_shapes;

  bool v2() const { return op == Op::kParseExampleV2; }
  bool single() const { return op == Op::kParseSingleExample; }
  // Places of inputs.
  int sparse_keys() const { return 2; }
  int dense_keys() const { return v2() ? 3 : 2 + static_cast<int>(sparse.size()); }
  int ragged_keys() const { return 4; }
  int defaults() const {
    if (single()) return 1;
    return v2() ? 5 : dense_keys() + static_cast<int>(dense.size());
  }
  // Places of outputs.
  int sparse_output(size_t i, int part) const {
    return static_cast<int>(i + static_cast<size_t>(part) * sparse.size());
  }
  int dense_output(size_t i) const { return static_cast<int>(3 * sparse.size() + i); }
  int ragged_output(size_t i) const { return dense_output(dense.size() + i); }
  int splits_output(size_t i) const { return ragged_output(ragged.size() + i); }
};

absl::StatusOr<Signature> SignatureOf(const AttrReader& attrs, Signature::Op op) {
  const Node& node = attrs.node();
  Signature s;
  s.op = op;
  s.sparse = ListAttr<DType>(node, "sparse_types");
  s.dense = ListAttr<DType>(node, "Tdense");
  s.dense_shapes = ListAttr<Shape>(node, "dense_shapes");
  s.ragged = ListAttr<DType>(node, "ragged_value_types");
  s.splits = ListAttr<DType>(node, "ragged_split_types");
  const char* count = op == Signature::Op::kParseExample ? "Nsparse" : "num_sparse";
  if (attrs.Int(count, 0) != std::ssize(s.sparse)) {
    return InvalidArgument(count, " is ", attrs.Int(count, 0), " for ", s.sparse.size(),
                           " sparse_types");
  }
  if (op == Signature::Op::kParseExample && attrs.Int("Ndense", 0) != std::ssize(s.dense)) {
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

absl::Status CheckInputs(const ShapeContext& c, const Signature& s) {
  const Shape& serialized = c.input(0);
  if (s.single()) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  } else if (!s.v2()) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  } else if (serialized.has_rank() && serialized.rank() > 1) {
    return InvalidArgument("serialized must be a scalar or a vector, but has shape ",
                           serialized.ToString());
  }
  if (!s.single()) {
    const Shape& names = c.input(1);
    if (names.IsComplete() && names.num_elements() > 0 && !names.CompatibleWith(serialized)) {
      return InvalidArgument("names of shape ", names.ToString(), " for examples of shape ",
                             serialized.ToString());
    }
  }
  auto expect_keys = [&](int input, size_t count) -> absl::Status {
    const Shape& keys = c.input(input);
    if (keys.CompatibleWith(Shape({static_cast<int64_t>(count)}))) return absl::OkStatus();
    return InvalidArgument("input ", input, " must have ", count, " keys, but has shape ",
                           keys.ToString());
  };
  if (s.v2()) {
    TENON_RETURN_IF_ERROR(expect_keys(s.sparse_keys(), s.sparse.size()));
    TENON_RETURN_IF_ERROR(expect_keys(s.dense_keys(), s.dense.size()));
    TENON_RETURN_IF_ERROR(expect_keys(s.ragged_keys(), s.ragged.size()));
  } else if (!s.single()) {
    for (int i = s.sparse_keys(); i < s.defaults(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  }
  for (size_t i = 0; i < s.dense.size(); ++i) {
    const Shape& value = c.input(s.defaults() + static_cast<int>(i));
    if (!value.IsComplete()) continue;
    const bool fits = VariableLength(s.dense_shapes[i])
                          ? value.num_elements() == 1
                          : value.num_elements() == 0 || value == s.dense_shapes[i];
    if (fits) continue;
    return InvalidArgument("a default of shape ", value.ToString(), " for a dense shape of ",
                           s.dense_shapes[i].ToString());
  }
  return absl::OkStatus();
}

template <Signature::Op op>
absl::Status ExampleShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Signature s, SignatureOf(c.attrs(), op));
  TENON_RETURN_IF_ERROR(CheckInputs(c, s));
  const Shape& batch = c.input(0);
  if (!batch.has_rank()) return absl::OkStatus();
  const int64_t rank = batch.rank() + 1;
  for (size_t i = 0; i < s.sparse.size(); ++i) {
    c.set_output(s.sparse_output(i, 0), Shape({-1, rank}));
    c.set_output(s.sparse_output(i, 1), Shape({-1}));
    c.set_output(s.sparse_output(i, 2), Shape({rank}));
  }
  for (size_t i = 0; i < s.dense.size(); ++i) {
    Shape out = Batched(batch, s.dense_shapes[i]);
    if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
    c.set_output(s.dense_output(i), std::move(out));
  }
  for (size_t i = 0; i < s.ragged.size(); ++i) {
    c.set_output(s.ragged_output(i), Shape({-1}));
    const int64_t splits = rank == 1 ? 0 : batch.dim(0) < 0 ? -1 : batch.dim(0) + 1;
    c.set_output(s.splits_output(i), Shape({splits}));
  }
  return absl::OkStatus();
}

struct Keys {
  std::vector<std::string> sparse, dense, ragged;
};

class Parser {
 public:
  Parser(Signature s, const Shape& batch, std::vector<Shape> defaults, Keys keys)
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
        keys.push_back(s_.v2() ? run.input<std::string>(input)[i]
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

  // Values in one step along the first dimension of a dense shape.
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

  const Signature s_;
  const Shape batch_;
  const std::vector<Shape> defaults_;
  const Keys keys_;  // where they are attributes
};

template <Signature::Op op>
absl::StatusOr<std::unique_ptr<Kernel>> Parse(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(Signature s, SignatureOf(p.attrs(), op));
  if (!AreFeatures(s.sparse) || !AreFeatures(s.dense) || !AreFeatures(s.ragged)) {
    return InvalidArgument("features are float, int64 or string");
  }
  Keys keys;
  if (s.single()) {
    keys.sparse = ListAttr<std::string>(p.node(), "sparse_keys");
    keys.dense = ListAttr<std::string>(p.node(), "dense_keys");
    if (keys.sparse.size() != s.sparse.size() || keys.dense.size() != s.dense.size()) {
      return InvalidArgument("not as many keys as types");
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

const OpRegistration parse_example_op({
    .name = "ParseExample",
    .inputs = "serialized: string, names: string, sparse_keys: Nsparse * string, "
              "dense_keys: Ndense * string, dense_defaults: Tdense",
    .outputs = "sparse_indices: Nsparse * int64, sparse_values: sparse_types, "
               "sparse_shapes: Nsparse * int64, dense_values: Tdense",
    .attrs = "Nsparse: int; Ndense: int; sparse_types: list(type); Tdense: list(type); "
             "dense_shapes: list(shape)",
    .shape = ExampleShape<Signature::Op::kParseExample>,
    .reference = Parse<Signature::Op::kParseExample>,
});

const OpRegistration parse_example_v2_op({
    .name = "ParseExampleV2",
    .inputs = "serialized: string, names: string, sparse_keys: string, dense_keys: string, "
              "ragged_keys: string, dense_defaults: Tdense",
    .outputs = "sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
               "sparse_shapes: num_sparse * int64, dense_values: Tdense, "
               "ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types",
    .attrs = "Tdense: list(type); num_sparse: int; sparse_types: list(type); "
             "ragged_value_types: list(type); ragged_split_types: list(type); "
             "dense_shapes: list(shape)",
    .shape = ExampleShape<Signature::Op::kParseExampleV2>,
    .reference = Parse<Signature::Op::kParseExampleV2>,
});

const OpRegistration parse_single_example_op({
    .name = "ParseSingleExample",
    .inputs = "serialized: string, dense_defaults: Tdense",
    .outputs = "sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
               "sparse_shapes: num_sparse * int64, dense_values: Tdense",
    .attrs = "num_sparse: int; sparse_keys: list(string); dense_keys: list(string); "
             "sparse_types: list(type); Tdense: list(type); dense_shapes: list(shape)",
    .shape = ExampleShape<Signature::Op::kParseSingleExample>,
    .reference = Parse<Signature::Op::kParseSingleExample>,
});

}  // namespace
}  // namespace tenon
