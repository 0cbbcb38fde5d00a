#include "ops/rename.h"

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

}  // namespace

const char* NativeName(const OpInfo& op, const Node& node, std::string* why) {
  const OpRow& row = op.row;
  if (row.native == nullptr || row.accelerated == nullptr) {
    if (why != nullptr) *why = absl::StrCat(row.name, " has no accelerated kernel");
    return nullptr;
  }
  const DType dtype = MainDType(op, node);
  for (absl::string_view accepted : absl::StrSplit(row.native_types, ' ')) {
    if (accepted == Name(dtype)) return row.native;
  }
  if (why != nullptr) {
    *why = absl::StrCat("the accelerated kernel of ", row.name, " does not take ", Name(dtype));
  }
  return nullptr;
}

}  // namespace tenon
