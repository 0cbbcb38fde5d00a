// Stacks of tensors, into which a loop of TensorFlow 1 puts what its gradient will need. Unlike a
// list, a stack changes behind its handle, a resource scalar; each run has stacks of its own.
#ifndef TENON_KERNELS_LISTS_TENSOR_STACK_H_
#define TENON_KERNELS_LISTS_TENSOR_STACK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// An empty stack. Input 0 is the number of tensors that it may hold; negative: any number.
absl::StatusOr<std::unique_ptr<Kernel>> NewStackKernel(PrepareContext& p);

// Puts input 1 on top, which is also the output. InvalidArgument if the stack is full or closed, or
// of another dtype.
absl::StatusOr<std::unique_ptr<Kernel>> StackPushKernel(PrepareContext& p);

// Takes the tensor on top. InvalidArgument if the stack is empty or closed, or of another dtype.
absl::StatusOr<std::unique_ptr<Kernel>> StackPopKernel(PrepareContext& p);

// Empties the stack for good.
absl::StatusOr<std::unique_ptr<Kernel>> StackCloseKernel(PrepareContext&);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_TENSOR_STACK_H_
