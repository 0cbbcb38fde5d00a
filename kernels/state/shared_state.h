// State that ops refer to by name, without a handle: maps of sparse tensors, staging areas. All
// nodes of a session, or all eager calls, that state one name share it.
#ifndef TENON_KERNELS_STATE_SHARED_STATE_H_
#define TENON_KERNELS_STATE_SHARED_STATE_H_

#include <initializer_list>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "env/containers.h"
#include "env/mutex.h"
#include "graph/attr_reader.h"
#include "graph/object.h"

namespace tenon {

// States of one kind, and the ops that share them by name. Registers itself during static
// initialization.
class SharedKind {
 public:
  SharedKind(const char* name, ObjectPtr (*make)(), std::initializer_list<const char*> ops);

  const char* const name;
  ObjectPtr (*const make)();
};

template <typename T>
ObjectPtr NewState() {
  return std::make_shared<T>();
}

class SharedStates {
 public:
  // Gives a node of such an op its state, under the name in its attributes container and
  // shared_name, or else its own; other nodes stay as they are.
  absl::Status Attach(Node& node);

 private:
  Mutex mutex_;
  HashMap<std::string, ObjectPtr> states_ ABSL_GUARDED_BY(mutex_);
};

// A node's attribute that holds its state.
inline constexpr char kSharedStateAttr[] = "_shared_state";

// The node's state; one of its own for a node that no SharedStates saw.
template <typename T>
std::shared_ptr<T> SharedStateOf(const AttrReader& attrs) {
  const Tensor* held = attrs.node().attr<Tensor>(kSharedStateAttr);
  if (held != nullptr && held->dtype() == DType::kResource && held->num_elements() == 1) {
    if (auto state = ObjectAs<T>(held->data<ObjectPtr>()[0])) return state;
  }
  return std::make_shared<T>();
}

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_SHARED_STATE_H_
