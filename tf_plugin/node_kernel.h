// The TensorFlow kernel of one node of a graph, or of an eager op with its attributes. It gets
// prepared kernels from the process's call cache, by shapes.
#ifndef TENON_TF_PLUGIN_NODE_KERNEL_H_
#define TENON_TF_PLUGIN_NODE_KERNEL_H_

#include "tensorflow/c/kernels.h"

namespace tenon::plugin {

// The functions for TF_NewKernelBuilder: create, compute, delete.
void* CreateNodeKernel(TF_OpKernelConstruction* construction);
void ComputeNodeKernel(void* kernel, TF_OpKernelContext* context);
void DeleteNodeKernel(void* kernel);

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_NODE_KERNEL_H_
