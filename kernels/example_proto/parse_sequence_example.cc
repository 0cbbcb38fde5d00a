#include "kernels/example_proto/parse_sequence_example.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/example_proto/feature_column.h"

namespace tenon {
namespace {

absl::Status ReadGroup(const AttrReader& attrs, const std::string& prefix, FeatureGroup& g) {
  const Node& node = attrs.node();
  const bool context = prefix == "context";
  g.sparse = ListAttr<DType>(node, prefix + "_sparse_types");
  g.dense = ListAttr<DType>(node, context ? "Tcontext_dense" : "feature_list_dense_types");
  g.shapes = ListAttr<Shape>(node, prefix + "_dense_shapes");
  g.ragged = ListAttr<DType>(node, prefix + "_ragged_value_types");
  g.splits = ListAttr<DType>(node, prefix + "_ragged_split_types");
  if (attrs.Int("N" + prefix + "_sparse", 0) != std::ssize(g.sparse) ||
      attrs.Int("N" + prefix + "_dense", std::ssize(g.dense)) != std::ssize(g.dense) ||
      g.dense.size() != g.shapes.size() || g.ragged.size() != g.splits.size()) {
    return InvalidArgument("counts, types and shapes of ", prefix, " features differ");
  }
  if (!AreFeatures(g.sparse) || !AreFeatures(g.dense) || !AreFeatures(g.ragged)) {
    return InvalidArgument("features are float, int64 or string");
  }
  for (const Shape& shape : g.shapes) {
    if (shape.IsComplete()) {
      TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
    } else {
      return InvalidArgument("a dense feature of shape ", shape.ToString());
    }
  }
  return absl::OkStatus();
}

// A feature of lists: values by step, and the number of steps up to each example's end.
struct Steps {
  Column column;
  std::vector<int64_t> ends;

  int64_t longest() const {
    int64_t most = 0, before = 0;
    for (const int64_t end : ends) most = std::max(most, end - std::exchange(before, end));
    return most;
  }
};

struct Keys {
  std::vector<std::string> of[2][3];  // [context, lists][sparse, dense, ragged]
  std::vector<std::string> may_miss;  // dense lists that count as empty if they are missing
};

class Parser {
 public:
  Parser(SequenceSignature s, const Shape& batch, std::vector<int64_t> defaults, Keys keys,
         int64_t may_miss)
      : s_(std::move(s)),
        batch_(batch),
        defaults_(std::move(defaults)),
        keys_(std::move(keys)),
        may_miss_(may_miss) {}

  absl::Status Run(RunContext& run) const {
    const Keys keys = s_.key_form == KeyForm::kAttributes ? keys_ : KeysOf(run);
    std::vector<Column> context[3];
    std::vector<Steps> lists[3];
    for (const int kind : {0, 1, 2}) {
      context[kind].resize(static_cast<size_t>(s_.context.count(kind)));
      lists[kind].resize(static_cast<size_t>(s_.lists.count(kind)));
    }
    for (int64_t e = 0; e < batch_.num_elements(); ++e) {
      SequenceExample example;
      absl::Status status = ParseSequenceExample(run.input<std::string>(0)[e], example);
      if (status.ok()) status = AppendContext(run, keys, example, context);
      if (status.ok()) status = AppendLists(keys, example, lists);
      if (!status.ok()) return Annotate(status, absl::StrCat("example ", e));
    }
    TENON_RETURN_IF_ERROR(WriteContext(run, context));
    return WriteLists(run, lists);
  }

 private:
  Keys KeysOf(RunContext& run) const {
    Keys keys;
    for (const bool list : {false, true}) {
      for (int kind = 0; kind < (s_.single() ? 2 : 3); ++kind) {
        for (int i = 0; i < s_.group(list).count(kind); ++i) {
          const int at = s_.keys(list, kind);
          keys.of[list][kind].push_back(s_.single() ? *run.input<std::string>(at + i)
                                                    : run.input<std::string>(at)[i]);
        }
      }
    }
    for (int64_t i = 0; i < may_miss_; ++i) {
      if (s_.single()) {
        keys.may_miss.push_back(run.input<std::string>(s_.missing())[i]);
      } else if (run.input<bool>(s_.missing())[i]) {
        keys.may_miss.push_back(keys.of[1][1][static_cast<size_t>(i)]);
      }
    }
    return keys;
  }

  const std::vector<DType>& dtypes(bool list, int kind) const {
    const FeatureGroup& g = s_.group(list);
    return kind == 0 ? g.sparse : kind == 1 ? g.dense : g.ragged;
  }

  absl::Status AppendContext(RunContext& run, const Keys& keys, const SequenceExample& example,
                             std::vector<Column>* columns) const {
    for (const int kind : {0, 1, 2}) {
      for (size_t i = 0; i < columns[kind].size(); ++i) {
        Column& column = columns[kind][i];
        const std::string& key = keys.of[0][kind][i];
        const DType dtype = dtypes(false, kind)[i];
        const Feature* f = FindFeature(example.context, key);
        if (f != nullptr) {
          TENON_ASSIGN_OR_RETURN(const int64_t n, AppendFeature(key, dtype, *f, column));
          const Shape* shape = kind == 1 ? &s_.context.shapes[i] : nullptr;
          if (shape == nullptr || n == shape->num_elements()) continue;
          return InvalidArgument("feature '", key, "' has ", n, " values for a shape of ",
                                 shape->ToString());
        }
        if (kind == 1) {
          const int64_t n = s_.context.shapes[i].num_elements();
          if (defaults_[i] == 0 && n > 0) {
            return InvalidArgument("feature '", key, "' is missing and has no default");
          }
          VisitTypes(FeatureTypes{}, dtype, [&]<typename T>() {
            const T* value = run.input<T>(s_.defaults() + static_cast<int>(i));
            column.values<T>().insert(column.values<T>().end(), value, value + n);
          });
        }
        AppendNothing(column);
      }
    }
    return absl::OkStatus();
  }

  absl::Status AppendLists(const Keys& keys, const SequenceExample& example,
                           std::vector<Steps>* lists) const {
    for (const int kind : {0, 1, 2}) {
      for (size_t i = 0; i < lists[kind].size(); ++i) {
        Steps& steps = lists[kind][i];
        const std::string& key = keys.of[1][kind][i];
        const DType dtype = dtypes(true, kind)[i];
        const auto found = example.lists.find(key);
        if (found == example.lists.end()) {
          const auto& ok = keys.may_miss;
          if (kind == 1 && std::find(ok.begin(), ok.end(), key) == ok.end()) {
            return InvalidArgument("feature list '", key, "' is missing");
          }
        } else {
          for (const Feature& f : found->second) {
            if (f.dtype == DType::kInvalid && kind != 1) {
              AppendNothing(steps.column);
              continue;
            }
            TENON_ASSIGN_OR_RETURN(const int64_t n, AppendFeature(key, dtype, f, steps.column));
            if (kind != 1 || n == s_.lists.shapes[i].num_elements()) continue;
            return InvalidArgument("a step of feature list '", key, "' has ", n,
                                   " values for a shape of ", s_.lists.shapes[i].ToString());
          }
        }
        steps.ends.push_back(std::ssize(steps.column.ends));
      }
    }
    return absl::OkStatus();
  }

  absl::Status WriteContext(RunContext& run, std::vector<Column>* columns) const {
    for (size_t i = 0; i < columns[0].size(); ++i) {
      Steps steps;  // one step per example
      steps.column = std::move(columns[0][i]);
      TENON_RETURN_IF_ERROR(WriteSparse(run, false, static_cast<int>(i), steps));
    }
    for (size_t i = 0; i < columns[1].size(); ++i) {
      VisitTypes(FeatureTypes{}, s_.context.dense[i], [&]<typename T>() {
        auto& values = columns[1][i].values<T>();
        std::move(values.begin(), values.end(),
                  run.output<T>(s_.dense_output(false, static_cast<int>(i))));
      });
    }
    for (size_t i = 0; i < columns[2].size(); ++i) {
      const int k = static_cast<int>(i);
      TENON_RETURN_IF_ERROR(
          WriteValues(run, s_.ragged_output(false, 0, k), s_.context.ragged[i], columns[2][i]));
      WriteOuterSplits(run, false, k, columns[2][i].ends);
    }
    return absl::OkStatus();
  }

  absl::Status WriteLists(RunContext& run, std::vector<Steps>* lists) const {
    for (size_t i = 0; i < lists[0].size(); ++i) {
      TENON_RETURN_IF_ERROR(WriteSparse(run, true, static_cast<int>(i), lists[0][i]));
    }
    for (size_t i = 0; i < lists[1].size(); ++i) {
      TENON_RETURN_IF_ERROR(WriteDenseList(run, static_cast<int>(i), lists[1][i]));
    }
    for (size_t i = 0; i < lists[2].size(); ++i) {
      const int k = static_cast<int>(i);
      Steps& steps = lists[2][i];
      TENON_RETURN_IF_ERROR(
          WriteValues(run, s_.ragged_output(true, 0, k), s_.lists.ragged[i], steps.column));
      TENON_ASSIGN_OR_RETURN(void* inner,
                             run.AllocateOutput(s_.ragged_output(true, 2, k),
                                                Shape({std::ssize(steps.column.ends) + 1})));
      WriteSplits(s_.lists.splits[i], steps.column.ends, inner);
      WriteOuterSplits(run, true, k, steps.ends);
    }
    return absl::OkStatus();
  }

  void WriteOuterSplits(RunContext& run, bool list, int i, const std::vector<int64_t>& ends) const {
    WriteSplits(s_.group(list).splits[static_cast<size_t>(i)],
                batch_.rank() == 0 ? std::vector<int64_t>() : ends,
                run.output(s_.ragged_output(list, 1, i)));
  }

  // Indices are [example,] [step,] position.
  absl::Status WriteSparse(RunContext& run, bool list, int i, Steps& steps) const {
    const int64_t rank = batch_.rank() + (list ? 2 : 1);
    const std::vector<int64_t>& ends = steps.column.ends;
    TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(s_.sparse_output(list, 0, i),
                                                             Shape({steps.column.count(), rank})));
    int64_t* at = static_cast<int64_t*>(indices);
    int64_t begin = 0;
    size_t step = 0;
    for (int64_t e = 0; e < batch_.num_elements(); ++e) {
      const size_t first = step;
      const size_t last = list ? static_cast<size_t>(steps.ends[static_cast<size_t>(e)]) : step + 1;
      for (; step < last; ++step) {
        for (int64_t k = 0; k < ends[step] - begin; ++k) {
          if (batch_.rank() == 1) *at++ = e;
          if (list) *at++ = static_cast<int64_t>(step - first);
          *at++ = k;
        }
        begin = ends[step];
      }
    }
    int64_t* shape = run.output<int64_t>(s_.sparse_output(list, 2, i));
    if (batch_.rank() == 1) *shape++ = batch_.dim(0);
    if (list) *shape++ = steps.longest();
    *shape = steps.column.longest();
    return WriteValues(run, s_.sparse_output(list, 1, i),
                       s_.group(list).sparse[static_cast<size_t>(i)], steps.column);
  }

  absl::Status WriteDenseList(RunContext& run, int i, Steps& steps) const {
    const Shape& shape = s_.lists.shapes[static_cast<size_t>(i)];
    const int64_t longest = steps.longest(), row = shape.num_elements();
    const Shape padded = Batched(Batched(batch_, Shape({longest})), shape);
    TENON_RETURN_IF_ERROR(padded.CheckedElements().status());
    TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(s_.dense_output(true, i), padded));
    int64_t* lengths = s_.single() ? nullptr : run.output<int64_t>(s_.lengths_output(i));
    VisitTypes(FeatureTypes{}, s_.lists.dense[static_cast<size_t>(i)], [&]<typename T>() {
      T* out = static_cast<T*>(memory);
      auto from = steps.column.values<T>().begin();
      int64_t before = 0;
      for (const int64_t end : steps.ends) {
        const int64_t count = end - std::exchange(before, end);
        if (lengths != nullptr) *lengths++ = count;
        T* rest = std::move(from, from + count * row, out);
        from += count * row;
        out += longest * row;
        std::fill(rest, out, T());
      }
    });
    return absl::OkStatus();
  }

  const SequenceSignature s_;
  const Shape batch_;
  const std::vector<int64_t> defaults_;  // elements of each
  const Keys keys_;                      // if they are attributes
  const int64_t may_miss_;               // elements of that input
};

}  // namespace

absl::StatusOr<SequenceSignature> ReadSequenceSignature(const AttrReader& attrs, KeyForm keys) {
  SequenceSignature s{.key_form = keys, .context = {}, .lists = {}};
  TENON_RETURN_IF_ERROR(ReadGroup(attrs, "context", s.context));
  TENON_RETURN_IF_ERROR(ReadGroup(attrs, "feature_list", s.lists));
  return s;
}

absl::StatusOr<std::unique_ptr<Kernel>> ParseSequenceExampleKernel(PrepareContext& p,
                                                                   KeyForm form) {
  TENON_ASSIGN_OR_RETURN(SequenceSignature s, ReadSequenceSignature(p.attrs(), form));
  Keys keys;
  if (form == KeyForm::kAttributes) {
    const char* const names[2][2] = {{"context_sparse_keys", "context_dense_keys"},
                                     {"feature_list_sparse_keys", "feature_list_dense_keys"}};
    for (const bool list : {false, true}) {
      for (const int kind : {0, 1}) {
        keys.of[list][kind] = ListAttr<std::string>(p.node(), names[list][kind]);
        if (std::ssize(keys.of[list][kind]) != s.group(list).count(kind)) {
          return InvalidArgument(names[list][kind], " has ", keys.of[list][kind].size(),
                                 " keys for ", s.group(list).count(kind), " features");
        }
      }
    }
    keys.may_miss = ListAttr<std::string>(p.node(), "feature_list_dense_missing_assumed_empty");
  }
  std::vector<int64_t> defaults;
  for (int i = 0; i < s.context.count(1); ++i) {
    defaults.push_back(p.input_shape(s.defaults() + i).num_elements());
  }
  const int64_t may_miss =
      form == KeyForm::kAttributes ? 0 : p.input_shape(s.missing()).num_elements();
  auto parser = std::make_shared<const Parser>(std::move(s), p.input_shape(0), std::move(defaults),
                                               std::move(keys), may_miss);
  return MakeKernel([parser](RunContext& run) { return parser->Run(run); });
}

}  // namespace tenon
