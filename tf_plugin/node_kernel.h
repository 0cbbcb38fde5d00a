// One TensorFlow kernel: a node of a graph, or an eager op with its attributes. Prepared kernels
// come from the process's call cache, by shapes.
#ifndef TENON_TF_PLUGIN_NODE_KERNEL_H_
#define TENON_TF_PLUGIN_NODE_KERNEL_H_

#include "tensorflow/c/kernels.h"

namespace tenon::plugin {

// For TF_NewKernelBuilder: create, compute, delete.
void* CreateNodeKernel(TF_OpKernelConstruction* construction);
void ComputeNodeKernel(void* kernel, TF_OpKernelContext* context);
void DeleteNodeKernel(void* kernel);

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_NODE_KERNEL_H_
