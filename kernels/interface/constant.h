// A constant of a session's graph (a weight), and the forms that kernels derived from it: packed
// into a oneDNN layout, transposed, converted. Derived forms are built once and shared by all plans
// of the session; once every reader has a derived form, the plain copy can be freed.
#ifndef TENON_KERNELS_INTERFACE_CONSTANT_H_
#define TENON_KERNELS_INTERFACE_CONSTANT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "env/mutex.h"
#include "graph/tensor.h"

namespace tenon {

// A form made from a constant. Immutable.
class DerivedConstant {
 public:
  virtual ~DerivedConstant() = default;
  virtual size_t bytes() const = 0;
  // Whether Plain() can restore the plain value, bit for bit. A constant whose forms have all lost
  // information keeps its plain copy.
  virtual bool CanUnpack() const { return false; }
  virtual absl::StatusOr<Tensor> Plain() const;
};

class Constant {
 public:
  explicit Constant(Tensor plain);
  ~Constant();

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }

  // The plain value; after a release, it is rebuilt from a derived form (and kept again).
  absl::StatusOr<Tensor> Plain() ABSL_LOCKS_EXCLUDED(mutex_);

  // The form under `key` (a layout, described so that equal keys mean equal bytes); `make` creates
  // it from the plain value the first time. Other threads that ask in the meantime wait.
  using Make =
      std::function<absl::StatusOr<std::shared_ptr<const DerivedConstant>>(const Tensor& plain)>;
  absl::StatusOr<std::shared_ptr<const DerivedConstant>> Derive(const std::string& key,
                                                                const Make& make)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Frees the plain copy if a derived form can restore it. Returns true if it was freed.
  bool ReleasePlain() ABSL_LOCKS_EXCLUDED(mutex_);
  bool holds_plain() const ABSL_LOCKS_EXCLUDED(mutex_);
  size_t derived_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::StatusOr<Tensor> PlainLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DType dtype_;
  const Shape shape_;
  mutable Mutex mutex_;
  Tensor plain_ ABSL_GUARDED_BY(mutex_);
  HashMap<std::string, std::shared_ptr<const DerivedConstant>> derived_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_CONSTANT_H_
