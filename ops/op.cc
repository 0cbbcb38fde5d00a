#include "ops/op.h"

#include <algorithm>

#include "env/containers.h"
#include "env/status.h"
#include "ops/signature.h"

namespace tenon {
namespace {

struct Table {
  OrderedMap<std::string, std::unique_ptr<OpInfo>> by_name;
  HashMap<std::string, const OpInfo*> by_native_name;
  std::vector<std::string> errors;
};

// Filled during static initialization (on one thread), read-only after that.
Table& TheTable() {
  static Table* const table = new Table;
  return *table;
}

// The tensors that an argument represents.
absl::Status ExpandArg(const ArgSpec& arg, const Node& node, std::vector<DType>& out) {
  auto missing = [&](const std::string& attr) {
    return InvalidArgument(NodeLabel(node), ": attribute '", attr,
                           "' is missing or of another kind");
  };
  if (!arg.type_list_attr.empty()) {
    const auto* list = node.attr<std::vector<DType>>(arg.type_list_attr);
    if (list == nullptr) {
      // An empty list carries no element type in a model file.
      const auto* empty = node.attr<std::vector<int64_t>>(arg.type_list_attr);
      if (empty != nullptr && empty->empty()) return absl::OkStatus();
      return missing(arg.type_list_attr);
    }
    out.insert(out.end(), list->begin(), list->end());
    return absl::OkStatus();
  }
  DType dtype = arg.dtype;
  if (!arg.type_attr.empty()) {
    const DType* attr = node.attr<DType>(arg.type_attr);
    if (attr == nullptr) return missing(arg.type_attr);
    dtype = *attr;
  }
  int64_t count = 1;
  if (!arg.number_attr.empty()) {
    const int64_t* n = node.attr<int64_t>(arg.number_attr);
    if (n == nullptr || *n < 0 || *n > (1 << 20)) return missing(arg.number_attr);
    count = *n;
  }
  out.insert(out.end(), static_cast<size_t>(count), dtype);
  return absl::OkStatus();
}

bool KindMatches(absl::string_view kind, const AttrValue& v) {
  if (kind == "int") return v.get_if<int64_t>() != nullptr;
  if (kind == "float") return v.get_if<float>() != nullptr;
  if (kind == "bool") return v.get_if<bool>() != nullptr;
  if (kind == "string") return v.get_if<std::string>() != nullptr;
  if (kind == "type") return v.get_if<DType>() != nullptr;
  if (kind == "shape") return v.get_if<Shape>() != nullptr;
  if (kind == "tensor") return v.get_if<Tensor>() != nullptr;
  if (kind == "func") return v.get_if<FuncRef>() != nullptr;
  if (const auto* ints = v.get_if<std::vector<int64_t>>())
    return kind == "list(int)" || ints->empty();
  if (kind == "list(float)") return v.get_if<std::vector<float>>() != nullptr;
  if (kind == "list(bool)") return v.get_if<std::vector<bool>>() != nullptr;
  if (kind == "list(string)") return v.get_if<std::vector<std::string>>() != nullptr;
  if (kind == "list(type)") return v.get_if<std::vector<DType>>() != nullptr;
  if (kind == "list(shape)") return v.get_if<std::vector<Shape>>() != nullptr;
  if (kind == "list(tensor)") return v.get_if<std::vector<Tensor>>() != nullptr;
  if (kind == "list(func)") return v.get_if<std::vector<FuncRef>>() != nullptr;
  return false;
}

}  // namespace

OpRegistration::OpRegistration(const OpRow& row) {
  Table& table = TheTable();
  absl::StatusOr<OpSignature> signature = ParseSignature(row);
  if (!signature.ok()) {
    table.errors.push_back(absl::StrCat(row.name, ": ", signature.status().message()));
    return;
  }
  auto info = std::make_unique<OpInfo>(OpInfo{row, *std::move(signature)});
  auto [it, fresh] = table.by_name.emplace(row.name, std::move(info));
  if (!fresh) {
    table.errors.push_back(absl::StrCat(row.name, ": registered twice"));
    return;
  }
  if (row.native != nullptr && !table.by_native_name.emplace(row.native, it->second.get()).second) {
    table.errors.push_back(absl::StrCat(row.native, ": native name used twice"));
  }
}

OpLookup FindOp(absl::string_view name) {
  const Table& table = TheTable();
  OpLookup found;
  if (auto it = table.by_name.find(name); it != table.by_name.end()) {
    found.info = it->second.get();
  } else if (auto native = table.by_native_name.find(name); native != table.by_native_name.end()) {
    found.info = native->second;
    found.native = true;
  }
  return found;
}

const OpRow& FactsOf(absl::string_view name) {
  static constexpr OpRow kUnknown;
  const OpLookup op = FindOp(name);
  return op ? op.info->row : kUnknown;
}

bool IsBroadcastBinary(const OpInfo& op) {
  const std::vector<ArgSpec>&in = op.signature.inputs, &out = op.signature.outputs;
  return op.row.elementwise && op.row.shape == BroadcastBinaryShape && in.size() == 2 &&
         out.size() == 1 && !out[0].type_attr.empty() && in[0].type_attr == out[0].type_attr &&
         in[1].type_attr == out[0].type_attr;
}

std::vector<const OpInfo*> AllOps() {
  std::vector<const OpInfo*> ops;
  for (const auto& [name, info] : TheTable().by_name) ops.push_back(info.get());
  return ops;
}

std::vector<std::string> OpTableErrors() { return TheTable().errors; }

absl::StatusOr<std::vector<DType>> OutputDTypes(const OpInfo& op, const Node& node) {
  std::vector<DType> dtypes;
  for (const ArgSpec& arg : op.signature.outputs)
    TENON_RETURN_IF_ERROR(ExpandArg(arg, node, dtypes));
  return dtypes;
}

absl::StatusOr<std::vector<std::pair<std::string, int>>> OutputArgs(const OpInfo& op,
                                                                    const Node& node) {
  std::vector<std::pair<std::string, int>> args;
  for (const ArgSpec& arg : op.signature.outputs) {
    std::vector<DType> dtypes;
    TENON_RETURN_IF_ERROR(ExpandArg(arg, node, dtypes));
    args.emplace_back(arg.name, static_cast<int>(dtypes.size()));
  }
  return args;
}

absl::StatusOr<std::vector<DType>> InputDTypes(const OpInfo& op, const Node& node) {
  std::vector<DType> dtypes;
  for (const ArgSpec& arg : op.signature.inputs)
    TENON_RETURN_IF_ERROR(ExpandArg(arg, node, dtypes));
  return dtypes;
}

absl::Status CompleteAttrs(const OpInfo& op, Node& node) {
  for (const AttrSpec& spec : op.signature.attrs) {
    auto it = node.attrs.find(spec.name);
    if (it == node.attrs.end()) {
      if (!spec.has_default) {
        return InvalidArgument(NodeLabel(node), " lacks attribute '", spec.name, "'");
      }
      it = node.attrs.emplace(spec.name, spec.default_value).first;
    }
    if (!KindMatches(spec.kind, it->second)) {
      return InvalidArgument(NodeLabel(node), ": attribute '", spec.name, "' is not of kind ",
                             spec.kind);
    }
    if (auto allowed = op.signature.types.find(spec.name); allowed != op.signature.types.end()) {
      const DType* one = it->second.get_if<DType>();
      const auto* list = it->second.get_if<std::vector<DType>>();
      const absl::Span<const DType> dtypes = list != nullptr
                                                 ? absl::MakeConstSpan(*list)
                                                 : absl::MakeConstSpan(one, one != nullptr ? 1 : 0);
      for (const DType dtype : dtypes) {
        if (std::find(allowed->second.begin(), allowed->second.end(), dtype) !=
            allowed->second.end()) {
          continue;
        }
        return InvalidArgument(NodeLabel(node), ": ", spec.name, "=", Name(dtype),
                               " is not a dtype of this op");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon
