#include "tf_plugin/node_kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/spread_team.h"
#include "env/status.h"
#include "env/thread_budget.h"
#include "proto/messages/attr_proto.h"
#include "proto/process/process_graph.h"
#include "tf_plugin/c_api.h"
#include "tf_plugin/names.h"
#include "tf_plugin/process.h"
#include "tf_plugin/step_config.h"
#include "tf_plugin/thread_use.h"

namespace tenon::plugin {
namespace {

constexpr size_t kMaxKeptScratch = size_t{64} << 20;

// TensorFlow's own ops run between ours, and our threads sleep; waking one takes tens of
// microseconds.
constexpr SmallCalls kSmallCalls = {
    .bytes = size_t{256} << 10, .flops = 9e6, .contraction_bytes = size_t{2} << 20};

// One per thread that TensorFlow calls from.
TF_Status* ThreadStatus() {
  thread_local const StatusPtr status(TF_NewStatus());
  return status.get();
}

// Scratch that the thread keeps unless it is very large.
class Scratch {
 public:
  explicit Scratch(size_t bytes) {
    if (bytes == 0) return;
    thread_local Tensor kept;
    Tensor& use = bytes <= kMaxKeptScratch ? kept : own_;
    if (use.bytes() < bytes) {
      use = Tensor();
      auto made = Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(bytes)}));
      if (made.ok()) use = *std::move(made);
    }
    failed_ = use.bytes() < bytes;
    memory_ = use.raw();
  }
  bool failed() const { return failed_; }
  void* memory() const { return memory_; }

 private:
  Tensor own_;
  bool failed_ = false;
  void* memory_ = nullptr;
};

class Outputs final : public OutputAllocator {
 public:
  Outputs(TF_OpKernelContext* context, const std::vector<TensorSpec>& specs)
      : context_(context), specs_(specs) {}

  absl::StatusOr<void*> Allocate(int output, const Shape& shape) override {
    return Allocate(output, shape, /*over=*/-1);
  }
  // Reuses the memory of input `over` (-1: none) if nobody else needs it.
  absl::StatusOr<void*> Allocate(int output, const Shape& shape, int over) {
    TF_Status* status = ThreadStatus();
    const TensorSpec& spec = specs_[static_cast<size_t>(output)];
    int forwarded = -1;
    const TensorPtr tensor(
        over >= 0 ? TF_ForwardInputOrAllocateOutput(context_, &over, 1, output, shape.dims().data(),
                                                    shape.rank(), &forwarded, status)
                  : TF_AllocateOutput(
                        context_, output, static_cast<TF_DataType>(spec.dtype), shape.dims().data(),
                        shape.rank(),
                        static_cast<size_t>(shape.num_elements()) * SizeOf(spec.dtype), status));
    TENON_RETURN_IF_ERROR(FromTf(status));
    return TF_TensorData(tensor.get());
  }

 private:
  TF_OpKernelContext* const context_;
  const std::vector<TensorSpec>& specs_;
};

using Handles = absl::InlinedVector<TensorPtr, 4>;
using Pointers = absl::InlinedVector<const void*, 8>;

class NodeKernel {
 public:
  static absl::StatusOr<std::unique_ptr<NodeKernel>> Create(TF_OpKernelConstruction* construction);
  absl::Status Compute(TF_OpKernelContext* context);

 private:
  // The last call's kernel, if it depends only on the inputs' shapes: most calls of a node are
  // alike, and checking that is cheaper than a cache lookup.
  struct Last {
    int64_t generation = 0;  // of the cache
    int threads = 0;
    absl::InlinedVector<int64_t, 16> shapes;
    std::shared_ptr<const EagerKernel> kernel;
  };

  std::shared_ptr<const EagerKernel> SameAsLast(const Handles& handles, int threads);
  void Keep(const std::shared_ptr<const EagerKernel>& kernel, int64_t generation, int threads,
            absl::Span<const Tensor> inputs);
  absl::StatusOr<std::shared_ptr<const EagerKernel>> Find(Handles& handles, int threads);
  absl::Status Run(TF_OpKernelContext* context, const EagerKernel& kernel, const Pointers& inputs);

  Process* process_ = nullptr;
  std::shared_ptr<const CallSite> site_;
  Mutex mutex_;
  std::vector<StableInput> stable_ ABSL_GUARDED_BY(mutex_);
  bool has_stable_ = false;
  StepThreads threads_;
  Last last_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::unique_ptr<NodeKernel>> NodeKernel::Create(
    TF_OpKernelConstruction* construction) {
  const StatusPtr status(TF_NewStatus());
  const BufferPtr def(TF_OpKernelConstruction_GetNodeDef(construction, status.get()));
  TENON_RETURN_IF_ERROR(FromTf(status.get()));
  auto kernel = std::make_unique<NodeKernel>();
  TENON_ASSIGN_OR_RETURN(kernel->process_, Process::Get());
  TENON_ASSIGN_OR_RETURN(Node node, ParseNodeDef(Bytes(*def)));
  const OpInfo* row = NamesInTensorFlow().row(node.op);
  if (row == nullptr) row = RowOfOneDnn(node.op);
  if (row == nullptr) return NotFound("there is no op '", node.op, "'");
  node.op = row->row.name;
  if (auto it = node.attrs.find(kStableInputsAttr); it != node.attrs.end()) {
    if (const auto* inputs = it->second.get_if<std::vector<int64_t>>()) {
      MutexLock lock(&kernel->mutex_);
      for (const int64_t i : *inputs) kernel->stable_.emplace_back(static_cast<int>(i));
      kernel->has_stable_ = !inputs->empty();
    }
    node.attrs.erase(it);
  }
  // TensorFlow's version of the op may have attributes that the row does not.
  for (auto it = node.attrs.begin(); it != node.attrs.end();) {
    it = row->signature.FindAttr(it->first) == nullptr ? node.attrs.erase(it) : std::next(it);
  }
  TypeEmptyLists(*row, node);
  TENON_ASSIGN_OR_RETURN(kernel->site_, kernel->process_->calls().NodeSite(node, kSmallCalls));
  return kernel;
}

std::shared_ptr<const EagerKernel> NodeKernel::SameAsLast(const Handles& handles, int threads) {
  MutexLock lock(&mutex_);
  if (last_.kernel == nullptr || last_.threads != threads ||
      last_.generation != process_->calls().generation()) {
    return nullptr;
  }
  const int64_t* known = last_.shapes.data();
  const int64_t* const end = known + last_.shapes.size();
  for (const TensorPtr& handle : handles) {
    const int rank = TF_NumDims(handle.get());
    if (end - known < 1 + rank || *known++ != rank) return nullptr;
    for (int d = 0; d < rank; ++d) {
      if (*known++ != TF_Dim(handle.get(), d)) return nullptr;
    }
  }
  return known == end ? last_.kernel : nullptr;
}

void NodeKernel::Keep(const std::shared_ptr<const EagerKernel>& kernel, int64_t generation,
                      int threads, absl::Span<const Tensor> inputs) {
  MutexLock lock(&mutex_);
  last_.generation = generation;
  last_.threads = threads;
  last_.kernel = kernel;
  last_.shapes.clear();
  for (const Tensor& t : inputs) {
    last_.shapes.push_back(t.shape().rank());
    last_.shapes.insert(last_.shapes.end(), t.shape().dims().begin(), t.shape().dims().end());
  }
}

absl::StatusOr<std::shared_ptr<const EagerKernel>> NodeKernel::Find(Handles& handles, int threads) {
  const size_t n = handles.size();
  absl::InlinedVector<Tensor, 8> inputs;
  for (const TensorPtr& handle : handles) inputs.push_back(ViewOf(handle.get()));
  std::vector<std::shared_ptr<Constant>> constants;
  if (has_stable_) {
    MutexLock lock(&mutex_);
    for (StableInput& stable : stable_) {
      const size_t i = static_cast<size_t>(stable.input());
      if (i >= n) continue;
      auto constant = stable.Update(process_->constants(), handles[i], inputs[i]);
      if (constant == nullptr) continue;
      constants.resize(n);
      constants[i] = std::move(constant);
    }
  }
  const int64_t generation = process_->calls().generation();
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const EagerKernel> kernel,
                         process_->calls().Kernel(*site_, inputs, constants, threads));
  if (!has_stable_ && kernel->by_shapes) Keep(kernel, generation, threads, inputs);
  if (!constants.empty()) {
    const std::vector<int>& unread = kernel->prepared.unread;
    MutexLock lock(&mutex_);
    for (StableInput& stable : stable_) {
      const size_t i = static_cast<size_t>(stable.input());
      if (i < n && constants[i] != nullptr &&
          std::find(unread.begin(), unread.end(), stable.input()) == unread.end()) {
        stable.GiveUp();
      }
    }
  }
  return kernel;
}

absl::Status NodeKernel::Compute(TF_OpKernelContext* context) {
  TF_Status* status = ThreadStatus();
  Handles handles(static_cast<size_t>(TF_NumInputs(context)));
  Pointers pointers;
  for (size_t i = 0; i < handles.size(); ++i) {
    TF_Tensor* handle = nullptr;
    TF_GetInput(context, static_cast<int>(i), &handle, status);
    TENON_RETURN_IF_ERROR(FromTf(status));
    handles[i].reset(handle);
    pointers.push_back(TF_TensorData(handle));
  }
  const int threads = threads_.Of(context, *process_);
  std::shared_ptr<const EagerKernel> kernel = SameAsLast(handles, threads);
  if (kernel == nullptr) {
    TENON_ASSIGN_OR_RETURN(kernel, Find(handles, threads));
  }
  handles.clear();  // the context still holds the inputs; those that nobody else needs can now be
                    // reused
  return Run(context, *kernel, pointers);
}

absl::Status NodeKernel::Run(TF_OpKernelContext* context, const EagerKernel& kernel,
                             const Pointers& inputs) {
  const PreparedKernel& prepared = kernel.prepared;
  Outputs outputs(context, prepared.outputs);
  absl::InlinedVector<void*, 4> out(prepared.outputs.size(), nullptr);
  for (size_t o = 0; o < out.size(); ++o) {
    const Shape& shape = prepared.outputs[o].shape;
    if (!shape.IsComplete()) continue;
    const auto over = std::find_if(
        prepared.in_place.begin(), prepared.in_place.end(),
        [&](const std::pair<int, int>& pair) { return pair.second == static_cast<int>(o); });
    TENON_ASSIGN_OR_RETURN(out[o],
                           outputs.Allocate(static_cast<int>(o), shape,
                                            over == prepared.in_place.end() ? -1 : over->first));
  }
  const Scratch scratch(prepared.scratch_bytes);
  if (scratch.failed()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", prepared.scratch_bytes, " bytes of scratch"));
  }
  RunContext run(inputs.data(), out.data(), scratch.memory(), &outputs);
  const ThreadsInUse threads(kernel.threads);
  const CountedThreads counted(kernel.threads);
  SpreadNowAndThen(kernel.threads);
  return prepared.kernel->Run(run);
}

}  // namespace

void* CreateNodeKernel(TF_OpKernelConstruction* construction) {
  return CreateKernel<NodeKernel>(construction);
}
void ComputeNodeKernel(void* kernel, TF_OpKernelContext* context) {
  ComputeKernel<NodeKernel>(kernel, context);
}
void DeleteNodeKernel(void* kernel) { delete static_cast<NodeKernel*>(kernel); }

}  // namespace tenon::plugin
