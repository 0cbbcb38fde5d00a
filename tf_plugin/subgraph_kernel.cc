#include "tf_plugin/subgraph_kernel.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "proto/import/model.h"
#include "proto/process/process_graph.h"
#include "tf_plugin/bound_session.h"
#include "tf_plugin/c_api.h"
#include "tf_plugin/process.h"
#include "tf_plugin/step_config.h"
#include "tf_plugin/thread_use.h"

namespace tenon::plugin {
namespace {

// The graph of the node, with inputs and outputs in the node's order.
absl::StatusOr<Graph> ReadGraph(const Node& node, size_t num_inputs) {
  const auto* bytes = node.attr<std::string>("graph");
  const auto* feeds = node.attr<std::vector<std::string>>("feeds");
  const auto* fetches = node.attr<std::vector<std::string>>("fetches");
  if (bytes == nullptr || feeds == nullptr || fetches == nullptr) {
    return InvalidArgument("has no graph");
  }
  LoadOptions options;
  options.fetches = *fetches;
  TENON_ASSIGN_OR_RETURN(Model model, ParseModel(*bytes, options));
  const Graph& graph = model.graph;
  bool in_order = graph.inputs().size() == num_inputs && feeds->size() == num_inputs;
  for (size_t i = 0; in_order && i < num_inputs; ++i) {
    in_order = graph.inputs()[i].name == (*feeds)[i];
  }
  if (!in_order || graph.outputs().size() != fetches->size()) {
    return Internal("its graph has other inputs and outputs than the node");
  }
  return std::move(model.graph);
}

class SubgraphKernel {
 public:
  static absl::StatusOr<std::unique_ptr<SubgraphKernel>> Create(
      TF_OpKernelConstruction* construction);
  absl::Status Compute(TF_OpKernelContext* context);

 private:
  SubgraphKernel(Process& process, Graph graph, std::vector<int> stable)
      : process_(process), sessions_(process, std::move(graph), std::move(stable)) {}

  Process& process_;
  BoundSessions sessions_;
  StepThreads threads_;
};

absl::StatusOr<std::unique_ptr<SubgraphKernel>> SubgraphKernel::Create(
    TF_OpKernelConstruction* construction) {
  const StatusPtr status(TF_NewStatus());
  const BufferPtr def(TF_OpKernelConstruction_GetNodeDef(construction, status.get()));
  TENON_RETURN_IF_ERROR(FromTf(status.get()));
  TENON_ASSIGN_OR_RETURN(Process* const process, Process::Get());
  TENON_ASSIGN_OR_RETURN(const Node node, ParseNodeDef(Bytes(*def)));
  const auto* types = node.attr<std::vector<DType>>("Tin");
  TENON_ASSIGN_OR_RETURN(Graph graph, ReadGraph(node, types == nullptr ? 0 : types->size()));
  std::vector<int> stable;
  if (const auto* inputs = node.attr<std::vector<int64_t>>(kStableInputsAttr)) {
    for (const int64_t i : *inputs) {
      if (i >= 0 && i < static_cast<int64_t>(types->size())) stable.push_back(static_cast<int>(i));
    }
  }
  return std::unique_ptr<SubgraphKernel>(
      new SubgraphKernel(*process, std::move(graph), std::move(stable)));
}

// Passes the tensor's memory on to TensorFlow.
absl::Status SetOutput(TF_OpKernelContext* context, int i, Tensor result, TF_Status* status) {
  const auto dtype = static_cast<TF_DataType>(result.dtype());
  const auto& dims = result.shape().dims();
  const size_t bytes = result.bytes();
  if (bytes == 0) {
    const TensorPtr empty(
        TF_AllocateOutput(context, i, dtype, dims.data(), result.shape().rank(), 0, status));
    return FromTf(status);
  }
  auto* const owner = new Tensor(std::move(result));
  const TensorPtr tensor(TF_NewTensor(
      dtype, owner->shape().dims().data(), owner->shape().rank(), owner->raw(), bytes,
      [](void*, size_t, void* held) { delete static_cast<Tensor*>(held); }, owner));
  TF_SetOutput(context, i, tensor.get(), status);
  return FromTf(status);
}

absl::Status SubgraphKernel::Compute(TF_OpKernelContext* context) {
  const StatusPtr status(TF_NewStatus());
  std::vector<TensorPtr> handles(static_cast<size_t>(TF_NumInputs(context)));
  for (size_t i = 0; i < handles.size(); ++i) {
    TF_Tensor* handle = nullptr;
    TF_GetInput(context, static_cast<int>(i), &handle, status.get());
    TENON_RETURN_IF_ERROR(FromTf(status.get()));
    handles[i].reset(handle);
  }
  const int threads = threads_.Of(context, process_);
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<BoundSession> bound,
                         sessions_.For(handles, threads));
  // A list may keep one until the run ends.
  const auto kept = std::make_shared<const std::vector<TensorPtr>>(std::move(handles));
  std::vector<Tensor> fed;
  for (const int i : bound->fed) {
    Tensor view = ViewOf((*kept)[static_cast<size_t>(i)].get());
    fed.push_back(Tensor::FromExternal(view.dtype(), view.shape(), view.raw(), kept));
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                         bound->session->Run(fed, {.threads = &CountedRuns()}));
  for (size_t i = 0; i < outputs.size(); ++i) {
    TENON_RETURN_IF_ERROR(
        SetOutput(context, static_cast<int>(i), std::move(outputs[i]), status.get()));
  }
  return absl::OkStatus();
}

}  // namespace

void* CreateSubgraphKernel(TF_OpKernelConstruction* construction) {
  return CreateKernel<SubgraphKernel>(construction);
}
void ComputeSubgraphKernel(void* kernel, TF_OpKernelContext* context) {
  ComputeKernel<SubgraphKernel>(kernel, context);
}
void DeleteSubgraphKernel(void* kernel) { delete static_cast<SubgraphKernel*>(kernel); }

}  // namespace tenon::plugin
