#include "runtime/eager/eager_queue.h"

#include <pthread.h>

#include <system_error>
#include <utility>

#include "env/containers.h"
#include "env/exceptions.h"
#include "env/status.h"

namespace tenon {
namespace {

std::atomic<int> fork_generation = 0;

}  // namespace

int ForkGeneration() { return fork_generation.load(std::memory_order_relaxed); }

// All queues of the process, for fork().
class EagerQueue::Registry {
 public:
  static Registry& Global() {
    static Registry* const registry = [] {
      pthread_atfork([] { Global().mutex_.Lock(); }, [] { Global().mutex_.Unlock(); },
                     [] { Global().InChild(); });
      return new Registry;
    }();
    return *registry;
  }
  void Add(EagerQueue* queue) {
    MutexLock lock(&mutex_);
    queues_.insert(queue);
  }
  void Remove(EagerQueue* queue) {
    MutexLock lock(&mutex_);
    queues_.erase(queue);
  }

 private:
  // The old pools cannot be destroyed: their threads do not exist here, and perhaps held locks.
  void InChild() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    ++fork_generation;
    for (EagerQueue* queue : queues_) queue->pool_ = new Pool(queue->num_workers_);
    mutex_.Unlock();
  }

  Mutex mutex_;
  HashSet<EagerQueue*> queues_ ABSL_GUARDED_BY(mutex_);
};

EagerQueue::EagerQueue(int workers) : num_workers_(workers) {
  Registry::Global().Add(this);
  try {
    pool_ = new Pool(workers);
  } catch (...) {
    Registry::Global().Remove(this);
    throw;
  }
}

EagerQueue::~EagerQueue() {
  Registry::Global().Remove(this);
  delete pool_;
}

void EagerQueue::Submit(std::shared_ptr<EagerCall> call, bool stateful) {
  pool_->Submit(std::move(call), stateful);
}

EagerQueue::Pool::~Pool() {
  {
    MutexLock lock(&mutex_);
    closing_ = true;
  }
  for (std::thread& worker : workers_) worker.join();
}

void EagerQueue::Pool::StartWorkers() {
  workers_.reserve(static_cast<size_t>(num_workers_));
  for (int i = 0; i < num_workers_; ++i) {
    try {
      workers_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {  // the system refuses more threads
      if (workers_.empty()) throw;
      return;
    }
  }
}

void EagerQueue::Pool::Submit(std::shared_ptr<EagerCall> call, bool stateful) {
  WaitForRoom();
  std::call_once(started_, [this] { StartWorkers(); });
  if (stateful) call->finished = std::make_shared<EagerValue>();
  ++pending_;
  call->pool = this;
  std::shared_ptr<EagerValue> before;
  if (stateful) {
    MutexLock lock(&order_mutex_);
    before = std::exchange(last_stateful_, call->finished);
  }
  // One more than there are, so that the call cannot start before all inputs were checked.
  call->missing = static_cast<int>(call->inputs.size()) + (before != nullptr ? 2 : 1);
  int there = 1;
  size_t bytes = 0;
  const auto ask = [&](EagerValue& value) {
    MutexLock lock(&value.mutex);
    if (!value.done) {
      try {
        return value.readers.push_back(call);
      } catch (...) {
        call->status = CaughtException();
      }
    }
    ++there;
    if (value.done && value.result.ok()) bytes += value.result->bytes();
  };
  for (const std::shared_ptr<EagerValue>& input : call->inputs) ask(*input);
  if (before != nullptr) ask(*before);
  Arrived(call, there, bytes);
}

void EagerQueue::Pool::WaitForRoom() {
  if (pending_ < kMaxPending && pending_bytes_ < kMaxPendingBytes) return;
  {
    MutexLock lock(&mutex_);
    if (pending_ == 0) return;
    full_ = true;
    MutexLock room(&room_mutex_);
    room_ = false;
  }
  MutexLock lock(&room_mutex_);
  room_mutex_.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return room_; });
}

void EagerQueue::Pool::Work() {
  for (;;) {
    std::shared_ptr<EagerCall> call;
    {
      MutexLock lock(&mutex_);
      mutex_.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return first_ready_ != nullptr || (closing_ && pending_ == 0);
      });
      if (first_ready_ == nullptr) return;
      call = std::move(first_ready_);
      first_ready_ = std::move(call->next_ready);
      if (first_ready_ == nullptr) last_ready_ = nullptr;
    }
    Run(*call);
    bool room = false;
    {
      MutexLock lock(&mutex_);
      --pending_;
      pending_bytes_ -= call->bytes;
      room = full_ && pending_ <= kMaxPending / 2 && pending_bytes_ <= kMaxPendingBytes / 2;
      if (room) full_ = false;
    }
    if (room) {
      MutexLock lock(&room_mutex_);
      room_ = true;
    }
  }
}

absl::StatusOr<std::vector<Tensor>> EagerQueue::Pool::Results(EagerCall& call) {
  TENON_RETURN_IF_ERROR(call.status);
  std::vector<Tensor> inputs;
  inputs.reserve(call.inputs.size());
  for (const std::shared_ptr<EagerValue>& input : call.inputs) {
    MutexLock lock(&input->mutex);
    if (!input->result.ok()) return input->result.status();
    inputs.push_back(*input->result);
  }
  call.inputs.clear();  // free tensors that nobody else reads as early as possible
  return call.run(inputs);
}

void EagerQueue::Pool::Run(EagerCall& call) {
  // Nothing above could handle an exception on this thread.
  absl::StatusOr<std::vector<Tensor>> outputs = CatchExceptions([&] { return Results(call); });
  call.inputs.clear();
  call.run = nullptr;
  if (outputs.ok() && outputs->size() != call.outputs.size()) {
    outputs = CatchExceptions([]() -> absl::StatusOr<std::vector<Tensor>> {
      return Internal("an op made another number of outputs than its signature says");
    });
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (outputs.ok()) {
      Finish(*call.outputs[i], std::move((*outputs)[i]));
    } else {
      Finish(*call.outputs[i], outputs.status());
    }
  }
  call.outputs.clear();
  if (call.finished != nullptr) Finish(*call.finished, Tensor());
}

void EagerQueue::Pool::Finish(EagerValue& value, absl::StatusOr<Tensor> result) {
  const size_t bytes = result.ok() ? result->bytes() : 0;
  std::vector<std::shared_ptr<EagerCall>> readers;
  {
    MutexLock lock(&value.mutex);
    value.result = std::move(result);
    value.done = true;
    readers.swap(value.readers);
  }
  for (const std::shared_ptr<EagerCall>& reader : readers) {
    reader->pool->Arrived(reader, 1, bytes);
  }
}

void EagerQueue::Pool::Arrived(const std::shared_ptr<EagerCall>& call, int values, size_t bytes) {
  call->bytes += bytes;
  pending_bytes_ += bytes;
  if (call->missing.fetch_sub(values) != values) return;
  MutexLock lock(&mutex_);
  (last_ready_ == nullptr ? first_ready_ : last_ready_->next_ready) = call;
  last_ready_ = call.get();
}

}  // namespace tenon
