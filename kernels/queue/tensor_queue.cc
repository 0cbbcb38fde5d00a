#include "kernels/queue/tensor_queue.h"

#include <algorithm>
#include <cstring>

#include "env/status.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/tensor_list.h"
#include "kernels/state/shared_state.h"

namespace tenon {
namespace {

// op names: the ops' rows are in a higher layer.
const SharedKind fifo_kind("queue", NewState<TensorQueue>, {"FIFOQueueV2"});
const SharedKind padding_kind("padding queue", NewState<TensorQueue>, {"PaddingFIFOQueueV2"});
const SharedKind shuffle_kind("shuffling queue", NewState<TensorQueue>, {"RandomShuffleQueueV2"});
const SharedKind priority_kind("priority queue", NewState<TensorQueue>, {"PriorityQueueV2"});

// What is waited for.
absl::Status QueueWouldWait(absl::string_view why, int64_t size) {
  return Unimplemented(why, ", which has ", size, " elements: waiting for another thread");
}

absl::StatusOr<TensorQueue*> QueueAt(const RunContext& run) {
  const ObjectPtr* handle = run.input<ObjectPtr>(0);
  auto* queue = handle == nullptr ? nullptr : dynamic_cast<TensorQueue*>(handle->get());
  if (queue == nullptr) return InvalidArgument("expected the handle of a queue");
  return queue;
}

// Components of a tuple, or, with `many`, of several at once.
absl::Status CheckComponents(const QueueForm& form, const std::vector<TensorSpec>& specs,
                             bool many) {
  if (specs.size() != form.dtypes.size()) {
    return InvalidArgument(specs.size(), " components for a queue of ", form.dtypes.size());
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    const Shape& given = specs[i].shape;
    if (specs[i].dtype != form.dtypes[i]) {
      return InvalidArgument("component ", i, " is ", Name(specs[i].dtype), ", not ",
                             Name(form.dtypes[i]));
    }
    if (many && (given.rank() == 0 || given.dim(0) != specs[0].shape.dim(0))) {
      return InvalidArgument("components of several tuples have shapes ", specs[0].shape.ToString(),
                             " and ", given.ToString());
    }
    const Shape element = many ? Shape(given.dims().subspan(1)) : given;
    if (!form.shapes.empty() && !MergeShapes(form.shapes[i], element).ok()) {
      return InvalidArgument("component ", i, " has shape ", element.ToString(), ", not ",
                             form.shapes[i].ToString());
    }
    if (i == 0 && form.order == QueueOrder::kByPriority && element.rank() != 0) {
      return InvalidArgument("a priority must be a scalar, not of shape ", element.ToString());
    }
  }
  return absl::OkStatus();
}

std::vector<TensorSpec> ComponentSpecs(const PrepareContext& p) {
  std::vector<TensorSpec> specs;
  for (int i = 1; i < p.num_inputs(); ++i) specs.push_back(InputSpec(p, i));
  return specs;
}

absl::StatusOr<StagedTuple> KeptComponents(const RunContext& run,
                                           const std::vector<TensorSpec>& specs) {
  StagedTuple tuple;
  for (size_t i = 0; i < specs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(
        auto kept, Keep(specs[i].dtype, specs[i].shape, run.input(static_cast<int>(i) + 1)));
    tuple.push_back(std::move(kept));
  }
  return tuple;
}

absl::StatusOr<std::unique_ptr<Kernel>> EnqueueComponents(PrepareContext& p, bool many) {
  if (p.num_inputs() < 2) return InvalidArgument("there are no components");
  return MakeKernel([specs = ComponentSpecs(p), many](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorQueue* const queue, QueueAt(run));
    TENON_RETURN_IF_ERROR(CheckComponents(queue->form(), specs, many));
    TENON_ASSIGN_OR_RETURN(StagedTuple kept, KeptComponents(run, specs));
    std::vector<StagedTuple> tuples;
    if (many) {
      tuples.resize(static_cast<size_t>(specs[0].shape.dim(0)));
      for (size_t row = 0; row < tuples.size(); ++row) {
        for (const auto& component : kept) {
          tuples[row].push_back(RowsOf(component, static_cast<int64_t>(row), 1, /*single=*/true));
        }
      }
    } else {
      tuples.push_back(std::move(kept));
    }
    return queue->Put(std::move(tuples));
  });
}

absl::Status CheckTaken(const QueueForm& form, const std::vector<TensorSpec>& outputs) {
  const bool same =
      std::equal(outputs.begin(), outputs.end(), form.dtypes.begin(), form.dtypes.end(),
                 [](const TensorSpec& o, DType dtype) { return o.dtype == dtype; });
  return same ? absl::OkStatus() : InvalidArgument("the queue has components of other dtypes");
}

std::vector<TensorSpec> PlannedOutputs(const PrepareContext& p) {
  std::vector<TensorSpec> specs;
  for (int i = 0; i < p.num_outputs(); ++i) {
    specs.push_back({p.output_dtype(i), p.output_shape(i), nullptr});
  }
  return specs;
}

// Copies an item to the first places along each dimension of a larger one.
void CopyToLarger(const Tensor& item, const Shape& larger, void* out) {
  const int rank = larger.rank();
  const int64_t n = item.num_elements();
  const int64_t width = rank == 0 ? 1 : item.shape().dim(rank - 1);
  void* const from = const_cast<void*>(item.raw());
  for (int64_t first = 0; first < n; first += width) {
    int64_t place = 0, left = first / std::max<int64_t>(width, 1), stride = 1;
    if (rank > 0) stride = larger.dim(rank - 1);
    for (int d = rank - 2; d >= 0; --d) {
      place += left % item.shape().dim(d) * stride;
      left /= item.shape().dim(d);
      stride *= larger.dim(d);
    }
    CopyElements(item.dtype(), ElementAddress(from, item.dtype(), first),
                 ElementAddress(out, item.dtype(), place), width);
  }
}

absl::Status WriteTogether(RunContext& run, const std::vector<StagedTuple>& tuples, int component,
                           const TensorSpec& planned, const Shape& element) {
  Shape largest = element;  // unknown dimensions become those of the largest item
  for (int d = 0; d < largest.rank(); ++d) {
    if (element.dim(d) >= 0) continue;
    int64_t most = 0;
    for (const StagedTuple& tuple : tuples) {
      most = std::max(most, tuple[static_cast<size_t>(component)]->shape().dim(d));
    }
    largest.set_dim(d, most);
  }
  std::vector<int64_t> dims = {std::ssize(tuples)};
  dims.insert(dims.end(), largest.dims().begin(), largest.dims().end());
  const Shape shape(dims);
  TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
  TENON_ASSIGN_OR_RETURN(void* const out, OutputOfShape(run, component, planned.shape, shape));
  WriteItem(nullptr, planned.dtype, shape.num_elements(), out);  // zeros
  for (size_t row = 0; row < tuples.size(); ++row) {
    const int64_t first = static_cast<int64_t>(row) * largest.num_elements();
    CopyToLarger(*tuples[row][static_cast<size_t>(component)], largest,
                 ElementAddress(out, planned.dtype, first));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> DequeueSeveral(PrepareContext& p, bool fewer) {
  return MakeKernel([outputs = PlannedOutputs(p), fewer](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorQueue* const queue, QueueAt(run));
    const QueueForm form = queue->form();
    TENON_RETURN_IF_ERROR(CheckTaken(form, outputs));
    const int64_t n = *run.input<int32_t>(1);
    if (n < 0) return InvalidArgument(n, " elements of a queue");
    if (form.shapes.empty()) {
      return InvalidArgument("the queue states no shapes, so that its elements cannot be joined");
    }
    TENON_ASSIGN_OR_RETURN(const std::vector<StagedTuple> tuples, queue->Take(n, fewer));
    for (size_t i = 0; i < outputs.size(); ++i) {
      TENON_RETURN_IF_ERROR(
          WriteTogether(run, tuples, static_cast<int>(i), outputs[i], form.shapes[i]));
    }
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status TensorQueue::Configure(const QueueForm& form) {
  MutexLock lock(&mutex_);
  if (configured_) {
    return form == form_ ? absl::OkStatus()
                         : InvalidArgument("a queue of this name has other attributes");
  }
  form_ = form;
  random_ = std::make_unique<PhiloxStream>(form.seed == 0 && form.seed2 == 0
                                               ? Philox::Unpredictable()
                                               : Philox::FromSeeds(form.seed, form.seed2));
  configured_ = true;
  return absl::OkStatus();
}

QueueForm TensorQueue::form() const {
  MutexLock lock(&mutex_);
  return form_;
}

bool TensorQueue::Later(const StagedTuple& a, const StagedTuple& b) {
  return a[0]->data<int64_t>()[0] > b[0]->data<int64_t>()[0];
}

absl::Status TensorQueue::Put(std::vector<StagedTuple> tuples) {
  MutexLock lock(&mutex_);
  if (tuples.empty()) return absl::OkStatus();
  if (closed_) return absl::FailedPreconditionError("the queue is closed");
  if (form_.capacity >= 0 && std::ssize(tuples_) + std::ssize(tuples) > form_.capacity) {
    return QueueWouldWait("no room in the queue", std::ssize(tuples_));
  }
  for (StagedTuple& tuple : tuples) {
    tuples_.push_back(std::move(tuple));
    if (form_.order == QueueOrder::kByPriority) {
      std::push_heap(tuples_.begin(), tuples_.end(), Later);  // TensorFlow's order of equal ones
    }
  }
  return absl::OkStatus();
}

StagedTuple TensorQueue::TakeOne() {
  StagedTuple tuple;
  if (form_.order == QueueOrder::kFirstInFirstOut || form_.order == QueueOrder::kPadded) {
    tuple = std::move(tuples_.front());
    tuples_.pop_front();
    return tuple;
  }
  if (form_.order == QueueOrder::kByPriority) {
    std::pop_heap(tuples_.begin(), tuples_.end(), Later);
  } else {
    std::swap(tuples_[random_->Next() % tuples_.size()], tuples_.back());
  }
  tuple = std::move(tuples_.back());
  tuples_.pop_back();
  return tuple;
}

absl::StatusOr<std::vector<StagedTuple>> TensorQueue::Take(int64_t n, bool fewer) {
  MutexLock lock(&mutex_);
  const int64_t size = std::ssize(tuples_);
  if (closed_) {
    if (size < n && (!fewer || size == 0)) {
      return absl::OutOfRangeError(
          absl::StrCat("the queue is closed and has ", size, " elements, not ", n));
    }
    n = std::min(n, size);
  } else if (n > 0 && size - form_.least < n) {
    return QueueWouldWait(absl::StrCat(n, " elements of a queue"), size);
  }
  std::vector<StagedTuple> taken;
  for (; n > 0; --n) taken.push_back(TakeOne());
  return taken;
}

absl::Status TensorQueue::Close(bool again) {
  MutexLock lock(&mutex_);
  if (closed_ && !again) return absl::FailedPreconditionError("the queue is closed");
  closed_ = true;
  return absl::OkStatus();
}

bool TensorQueue::closed() const {
  MutexLock lock(&mutex_);
  return closed_;
}

int64_t TensorQueue::size() const {
  MutexLock lock(&mutex_);
  return std::ssize(tuples_);
}

absl::StatusOr<std::unique_ptr<Kernel>> NewQueueKernel(PrepareContext& p, QueueOrder order) {
  QueueForm form;
  form.order = order;
  const AttrReader& attrs = p.attrs();
  if (const auto* dtypes = attrs.node().attr<std::vector<DType>>("component_types")) {
    form.dtypes = *dtypes;
  }
  if (const auto* shapes = attrs.node().attr<std::vector<Shape>>("shapes")) form.shapes = *shapes;
  if (order == QueueOrder::kByPriority) {
    form.dtypes.insert(form.dtypes.begin(), DType::kInt64);
    if (!form.shapes.empty() || form.dtypes.size() == 1) {
      form.shapes.insert(form.shapes.begin(), Shape());
    }
  }
  form.capacity = attrs.Int("capacity", -1);
  form.least = attrs.Int("min_after_dequeue", 0);
  form.seed = static_cast<uint64_t>(attrs.Int("seed", 0));
  form.seed2 = static_cast<uint64_t>(attrs.Int("seed2", 0));
  if (form.dtypes.empty()) return InvalidArgument("a queue needs components");
  if (form.least < 0 ||
      (order == QueueOrder::kShuffled && form.capacity >= 0 && form.least >= form.capacity)) {
    return InvalidArgument("min_after_dequeue must be less than the capacity, not ", form.least);
  }
  const bool all_shapes = form.shapes.size() == form.dtypes.size();
  if (!all_shapes && (!form.shapes.empty() || order == QueueOrder::kPadded)) {
    return InvalidArgument(form.dtypes.size(), " components and ", form.shapes.size(), " shapes");
  }
  for (const Shape& shape : form.shapes) {
    if (!shape.has_rank() || (order != QueueOrder::kPadded && !shape.IsComplete())) {
      return InvalidArgument("a component's shape is not known: ", shape.ToString());
    }
  }
  std::shared_ptr<TensorQueue> queue = SharedStateOf<TensorQueue>(attrs);
  TENON_RETURN_IF_ERROR(queue->Configure(form));
  return MakeKernel([queue = std::move(queue)](RunContext& run) {
    *run.output<ObjectPtr>(0) = queue;
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> EnqueueKernel(PrepareContext& p) {
  return EnqueueComponents(p, /*many=*/false);
}

absl::StatusOr<std::unique_ptr<Kernel>> EnqueueManyKernel(PrepareContext& p) {
  return EnqueueComponents(p, /*many=*/true);
}

absl::StatusOr<std::unique_ptr<Kernel>> DequeueKernel(PrepareContext& p) {
  return MakeKernel([outputs = PlannedOutputs(p)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorQueue* const queue, QueueAt(run));
    TENON_RETURN_IF_ERROR(CheckTaken(queue->form(), outputs));
    TENON_ASSIGN_OR_RETURN(const std::vector<StagedTuple> tuples, queue->Take(1, false));
    return WriteItems(run, "queue", tuples[0], outputs);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> DequeueManyKernel(PrepareContext& p) {
  return DequeueSeveral(p, /*fewer=*/false);
}

absl::StatusOr<std::unique_ptr<Kernel>> DequeueUpToKernel(PrepareContext& p) {
  return DequeueSeveral(p, /*fewer=*/true);
}

absl::StatusOr<std::unique_ptr<Kernel>> QueueSizeKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorQueue* const queue, QueueAt(run));
    *run.output<int32_t>(0) = static_cast<int32_t>(queue->size());
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> QueueIsClosedKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorQueue* const queue, QueueAt(run));
    *run.output<bool>(0) = queue->closed();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> QueueCloseKernel(PrepareContext& p) {
  const bool again = p.attrs().Bool("cancel_pending_enqueues", false);
  return MakeKernel([again](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(TensorQueue* const queue, QueueAt(run));
    return queue->Close(again);
  });
}

}  // namespace tenon
