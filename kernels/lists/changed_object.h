// How ops change an object behind a variant scalar.
#ifndef TENON_KERNELS_LISTS_CHANGED_OBJECT_H_
#define TENON_KERNELS_LISTS_CHANGED_OBJECT_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "graph/object.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Makes output 0 a changed copy of the object of input 0; or that object itself, if the handle is
// handed over (AllowInPlace(0, 0) in Prepare) and no other handle refers to the object. `now` is
// the object; `change` takes a T& and returns a Status.
template <typename T, typename Change>
absl::Status ChangeObject(RunContext& run, const T& now, Change change) {
  ObjectPtr* const output = run.output<ObjectPtr>(0);
  if (output == run.input<ObjectPtr>(0) && output->use_count() == 1) {
    return change(static_cast<T&>(**output));
  }
  auto copy = std::make_shared<T>(now);
  absl::Status status = change(*copy);
  if (status.ok()) *output = std::move(copy);
  return status;
}

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_CHANGED_OBJECT_H_
