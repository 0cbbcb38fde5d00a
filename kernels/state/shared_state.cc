#include "kernels/state/shared_state.h"

#include "absl/strings/str_cat.h"
#include "env/status.h"

namespace tenon {
namespace {

HashMap<std::string, const SharedKind*>& KindsByOp() {
  static auto* const kinds = new HashMap<std::string, const SharedKind*>;
  return *kinds;
}

}  // namespace

SharedKind::SharedKind(const char* name, ObjectPtr (*make)(),
                       std::initializer_list<const char*> ops)
    : name(name), make(make) {
  for (const char* op : ops) KindsByOp()[op] = this;
}

absl::Status SharedStates::Attach(Node& node) {
  const auto found = KindsByOp().find(node.op);
  if (found == KindsByOp().end()) return absl::OkStatus();
  const SharedKind* const kind = found->second;
  const std::string* const shared = node.attr<std::string>("shared_name");
  const std::string* const container = node.attr<std::string>("container");
  // Lengths keep the parts of the key apart.
  const std::string where = container == nullptr ? "" : *container;
  const std::string key = absl::StrCat(kind->name, "/", where.size(), "/", where,
                                       shared != nullptr && !shared->empty() ? *shared : node.name);
  ObjectPtr state;
  {
    MutexLock lock(&mutex_);
    ObjectPtr& kept = states_[key];
    if (kept == nullptr) kept = kind->make();
    state = kept;
  }
  TENON_ASSIGN_OR_RETURN(node.attrs[kSharedStateAttr],
                         ObjectTensor(DType::kResource, std::move(state)));
  return absl::OkStatus();
}

}  // namespace tenon
