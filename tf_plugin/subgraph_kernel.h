// The TensorFlow kernel of a node `_TenonSubgraph` (subgraphs.h): a part of a graph, run by a
// session that is made at the first call, when the weights are known.
#ifndef TENON_TF_PLUGIN_SUBGRAPH_KERNEL_H_
#define TENON_TF_PLUGIN_SUBGRAPH_KERNEL_H_

#include "tensorflow/c/kernels.h"

namespace tenon::plugin {

// The functions for TF_NewKernelBuilder: create, compute, delete.
void* CreateSubgraphKernel(TF_OpKernelConstruction* construction);
void ComputeSubgraphKernel(void* kernel, TF_OpKernelContext* context);
void DeleteSubgraphKernel(void* kernel);

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_SUBGRAPH_KERNEL_H_
