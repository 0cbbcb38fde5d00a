#include "ops/rename.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

// The value of the row's first type attribute; for a row without any, the dtype of its first input.
DType MainDType(const OpInfo& op, const Node& node) {
  for (const AttrSpec& attr : op.signature.attrs) {
    if (attr.kind != "type") continue;
    const DType* dtype = node.attr<DType>(attr.name);
    return dtype == nullptr ? DType::kInvalid : *dtype;
  }
  return op.signature.inputs.empty() ? DType::kInvalid : op.signature.inputs.front().dtype;
}

// Whether the row's first type attribute may be half. Not for ops of rewrites, which stand for
// several: each of those would have rounded its result.
bool TakesHalf(const OpInfo& op) {
  if (op.row.internal) return false;
  for (const AttrSpec& attr : op.signature.attrs) {
    if (attr.kind != "type") continue;
    const auto it = op.signature.types.find(attr.name);
    return it != op.signature.types.end() && absl::c_linear_search(it->second, DType::kHalf);
  }
  return false;
}

}  // namespace

std::vector<DType> NativeTypes(const OpInfo& op) {
  std::vector<DType> types;
  for (absl::string_view text : absl::StrSplit(op.row.native_types, ' ')) {
    if (const std::optional<DType> dtype = DTypeFromName(text)) types.push_back(*dtype);
  }
  const auto has = [&](DType dtype) { return absl::c_linear_search(types, dtype); };
  if (has(DType::kFloat) && !has(DType::kHalf) && TakesHalf(op)) types.push_back(DType::kHalf);
  return types;
}

const char* NativeName(const OpInfo& op, const Node& node, std::string* why) {
  const OpRow& row = op.row;
  if (row.native == nullptr || row.accelerated == nullptr) {
    if (why != nullptr) *why = absl::StrCat(row.name, " has no accelerated kernel");
    return nullptr;
  }
  const DType dtype = MainDType(op, node);
  if (absl::c_linear_search(NativeTypes(op), dtype)) return row.native;
  if (why != nullptr) {
    *why = absl::StrCat("the accelerated kernel of ", row.name, " does not take ", Name(dtype));
  }
  return nullptr;
}

}  // namespace tenon
