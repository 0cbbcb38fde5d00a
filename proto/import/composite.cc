#include "proto/import/composite.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

using TensorEntries = google::protobuf::RepeatedPtrField<tf::SignatureDef::TensorEntry>;

// TypeSpecProto.TypeSpecClass.
constexpr int kSparseSpec = 1, kRaggedSpec = 3;

// What component `i` of `count` is called.
std::string ComponentName(int type, int i, int count) {
  if (type == kSparseSpec && count == 3) {
    return std::string(i == 0 ? "indices" : i == 1 ? "values" : "dense_shape");
  }
  if (type != kRaggedSpec) return absl::StrCat(i);
  if (i == 0) return "values";
  return count == 2 ? "row_splits" : absl::StrCat("row_splits_", i - 1);
}

void AddTensor(const std::string& key, const tf::TensorInfo& info, TensorEntries& to) {
  tf::SignatureDef::TensorEntry& entry = *to.Add();
  entry.set_key(key);
  *entry.mutable_value() = info;
}

tf::TensorInfo Plain(const std::string& tensor, tf::DataType dtype) {
  tf::TensorInfo info;
  info.set_name(tensor);
  info.set_dtype(dtype);
  return info;
}

void Expand(TensorEntries& entries) {
  TensorEntries expanded(entries.GetArena());
  for (const auto& entry : entries) {
    const std::string& key = entry.key();
    const tf::TensorInfo& info = entry.value();
    if (info.has_coo_sparse()) {
      const auto& sparse = info.coo_sparse();
      AddTensor(key + "/indices", Plain(sparse.indices_tensor_name(), tf::DT_INT64), expanded);
      AddTensor(key + "/values", Plain(sparse.values_tensor_name(), info.dtype()), expanded);
      AddTensor(key + "/dense_shape", Plain(sparse.dense_shape_tensor_name(), tf::DT_INT64),
                expanded);
    } else if (info.has_composite_tensor()) {
      const auto& composite = info.composite_tensor();
      for (int i = 0; i < composite.components_size(); ++i) {
        AddTensor(absl::StrCat(key, "/",
                               ComponentName(composite.type_spec().type_spec_class(), i,
                                             composite.components_size())),
                  composite.components(i), expanded);
      }
    } else {
      *expanded.Add() = entry;
    }
  }
  entries.Swap(&expanded);
}

}  // namespace

void ExpandComposites(tf::MetaGraphDef& graph) {
  for (auto& entry : *graph.mutable_signature_def()) {
    Expand(*entry.mutable_value()->mutable_inputs());
    Expand(*entry.mutable_value()->mutable_outputs());
  }
}

}  // namespace tenon
