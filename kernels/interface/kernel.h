// Kernel = Prepare + Run.
//
// Prepare (a KernelFactory) gets dtypes, complete shapes, attributes and constant inputs. It
// chooses layouts and primitives, prepacks constants, and returns an immutable Kernel that any
// number of threads may Run concurrently, each with its own memory. Plans, eager calls and the
// TensorFlow plug-in use the same two functions; the session cache keeps the prepared kernels.
//
//   absl::StatusOr<std::unique_ptr<Kernel>> Square(PrepareContext& p) {
//     const int64_t n = p.output_shape(0).num_elements();
//     p.AllowInPlace(0, 0);
//     return MakeKernel([n](RunContext& r) {
//       const float* x = r.input<float>(0);
//       float* y = r.output<float>(0);
//       for (int64_t i = 0; i < n; ++i) y[i] = x[i] * x[i];
//       return absl::OkStatus();
//     });
//   }
#ifndef TENON_KERNELS_INTERFACE_KERNEL_H_
#define TENON_KERNELS_INTERFACE_KERNEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attr_reader.h"
#include "graph/tensor_spec.h"
#include "kernels/interface/constant.h"

namespace tenon {

struct Flags;          // env/flags.h
class PrimitiveCache;  // primitive_cache/cache.h

// Runs that one thread finishes before another would have woken up.
struct SmallRuns {
  double flops = 0;
  int64_t bytes = 0;  // read and written, weights included
};

// Services that kernels share for a session's lifetime. They outlive every kernel.
struct Services {
  const Flags* flags = nullptr;
  PrimitiveCache* cache = nullptr;  // null: nothing is cached
  int threads = 1;                  // threads per op
  // Plans, and those of loops' bodies, that take less than both use one thread.
  SmallRuns small_runs = {};
};

// Allocates outputs whose shape depends on data (NonMaxSuppression, Where, Unique).
class OutputAllocator {
 public:
  virtual ~OutputAllocator() = default;
  virtual absl::StatusOr<void*> Allocate(int output, const Shape& shape) = 0;
};

// The memory of one execution: plain row-major elements, 64-byte aligned outputs and scratch.
// Strings are arrays of constructed std::string.
class RunContext {
 public:
  RunContext(const void* const* inputs, void* const* outputs, void* scratch,
             OutputAllocator* allocator = nullptr)
      : inputs_(inputs), outputs_(outputs), scratch_(scratch), allocator_(allocator) {}

  template <typename T = void>
  const T* input(int i) const {
    return static_cast<const T*>(inputs_[i]);
  }
  template <typename T = void>
  T* output(int i) const {
    return static_cast<T*>(outputs_[i]);
  }
  void* scratch() const { return scratch_; }

  // Only for outputs whose shape the shape function left unknown.
  absl::StatusOr<void*> AllocateOutput(int i, const Shape& shape) {
    return allocator_->Allocate(i, shape);
  }

 private:
  const void* const* inputs_;
  void* const* outputs_;
  void* scratch_;
  OutputAllocator* allocator_;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual absl::Status Run(RunContext& context) const = 0;
  // The implementation, for `tenon bench --profile`: "brgconv:avx512_core", "reference" ...
  virtual std::string Implementation() const { return "reference"; }
  // Floating-point operations of one Run (a multiply-add counts as two); 0: not counted.
  virtual double Flops() const { return 0; }
  // Bytes held beyond sizeof (prepacked weights are held by their Constant, not counted here).
  virtual size_t HeldBytes() const { return 0; }
};

// Computes a node's output specs from its inputs, by its op's shape function.
using InferOutputsFn = absl::StatusOr<std::vector<TensorSpec>> (*)(
    const Node& node, absl::Span<const TensorSpec> inputs);

// What Prepare knows, and what it requests.
class PrepareContext {
 public:
  // `constants[i]` may be null. Output shapes come from the op's shape function. `infer_outputs` is
  // for kernels that read a value only at Run (kernels/interface/late_kernel.h).
  PrepareContext(const Node& node, absl::Span<const TensorSpec> inputs,
                 absl::Span<Constant* const> constants, absl::Span<const TensorSpec> outputs,
                 const Services& services, InferOutputsFn infer_outputs = nullptr);
  ~PrepareContext();

  const AttrReader& attrs() const { return attrs_; }
  const Node& node() const { return attrs_.node(); }
  const Services& services() const { return services_; }
  InferOutputsFn infer_outputs() const { return infer_outputs_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  DType input_dtype(int i) const { return inputs_[static_cast<size_t>(i)].dtype; }
  const Shape& input_shape(int i) const { return inputs_[static_cast<size_t>(i)].shape; }
  DType output_dtype(int i) const { return outputs_[static_cast<size_t>(i)].dtype; }
  // Complete, except for outputs whose shape depends on data.
  const Shape& output_shape(int i) const { return outputs_[static_cast<size_t>(i)].shape; }

  // A weight that does not change during the session, or null. Prefer this for prepacking.
  Constant* constant(int i) const {
    return i < static_cast<int>(constants_.size()) ? constants_[static_cast<size_t>(i)] : nullptr;
  }
  // The value of a small input that is known now (axis, paddings, shape ...), or null. In eager
  // calls every input's value is known. Reading a value here makes it part of the kernel's
  // identity: the kernel is used only for that value (see value_inputs()).
  const Tensor* value(int i);

  // ---- requests ----
  void RequestScratch(size_t bytes) { scratch_bytes_ = bytes; }
  // Output `o` may overwrite input `i` while it is read (same bytes, elementwise access).
  void AllowInPlace(int input, int output);
  // Run never reads input i: the kernel holds a prepacked form (constant(i) is not null), or has
  // used its value in Prepare. The plan then passes null and may release the plain copy.
  void InputNotRead(int i);

  size_t scratch_bytes() const { return scratch_bytes_; }
  absl::Span<const std::pair<int, int>> in_place() const { return in_place_; }
  absl::Span<const int> unread() const { return unread_; }
  absl::Span<const int> value_inputs() const { return value_inputs_; }

 private:
  AttrReader attrs_;
  absl::Span<const TensorSpec> inputs_;
  absl::Span<Constant* const> constants_;
  absl::Span<const TensorSpec> outputs_;
  const Services& services_;
  InferOutputsFn infer_outputs_;
  size_t scratch_bytes_ = 0;
  absl::InlinedVector<std::pair<int, int>, 2> in_place_;
  absl::InlinedVector<int, 2> unread_;
  absl::InlinedVector<int, 2> value_inputs_;
};

// Unimplemented means "not for these dtypes and shapes": the caller tries the next kernel.
using KernelFactory = absl::StatusOr<std::unique_ptr<Kernel>> (*)(PrepareContext&);

// A kernel from a function object `absl::Status(RunContext&)`.
template <typename F>
absl::StatusOr<std::unique_ptr<Kernel>> MakeKernel(F run,
                                                   const char* implementation = "reference") {
  class FunctionKernel final : public Kernel {
   public:
    FunctionKernel(F f, const char* implementation)
        : run_(std::move(f)), implementation_(implementation) {}
    absl::Status Run(RunContext& context) const override { return run_(context); }
    std::string Implementation() const override { return implementation_; }

   private:
    F run_;
    const char* implementation_;
  };
  return std::unique_ptr<Kernel>(new FunctionKernel(std::move(run), implementation));
}

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_KERNEL_H_
