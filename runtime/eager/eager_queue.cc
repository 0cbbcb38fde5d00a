#include "runtime/eager/eager_queue.h"

#include <new>
#include <utility>

namespace tenon {

EagerQueue::~EagerQueue() {
  {
    MutexLock lock(&mutex_);
    closing_ = true;
  }
  for (std::thread& worker : workers_) worker.join();
}

void EagerQueue::Submit(std::shared_ptr<EagerCall> call, bool stateful) {
  WaitForRoom();
  std::call_once(started_, [this] {
    for (int i = 0; i < num_workers_; ++i) workers_.emplace_back([this] { Work(); });
  });
  ++pending_;
  std::shared_ptr<EagerValue> before;
  if (stateful) {
    call->finished = std::make_shared<EagerValue>();
    MutexLock lock(&order_mutex_);
    before = std::exchange(last_stateful_, call->finished);
  }
  // One more than there are, so that the call cannot start before all inputs were checked.
  call->missing = static_cast<int>(call->inputs.size()) + (before != nullptr ? 2 : 1);
  int there = 1;
  size_t bytes = 0;
  const auto ask = [&](EagerValue& value) {
    MutexLock lock(&value.mutex);
    if (!value.done) return value.readers.push_back(call);
    ++there;
    if (value.result.ok()) bytes += value.result->bytes();
  };
  for (const std::shared_ptr<EagerValue>& input : call->inputs) ask(*input);
  if (before != nullptr) ask(*before);
  Arrived(call, there, bytes);
}

void EagerQueue::WaitForRoom() {
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

void EagerQueue::Work() {
  for (;;) {
    std::shared_ptr<EagerCall> call;
    {
      MutexLock lock(&mutex_);
      mutex_.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return !ready_.empty() || (closing_ && pending_ == 0);
      });
      if (ready_.empty()) return;
      call = std::move(ready_.front());
      ready_.pop_front();
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

void EagerQueue::Run(EagerCall& call) {
  std::vector<Tensor> inputs;
  absl::Status status;
  inputs.reserve(call.inputs.size());
  for (const std::shared_ptr<EagerValue>& input : call.inputs) {
    MutexLock lock(&input->mutex);
    if (!input->result.ok()) {
      status = input->result.status();
      break;
    }
    inputs.push_back(*input->result);
  }
  call.inputs.clear();  // free tensors that nobody else reads as early as possible
  absl::StatusOr<std::vector<Tensor>> outputs = std::vector<Tensor>();
  if (status.ok()) {
    try {
      outputs = call.run(inputs);
    } catch (const std::bad_alloc&) {  // nothing above could handle it on this thread
      outputs = absl::ResourceExhaustedError("out of memory");
    }
  } else {
    outputs = status;
  }
  call.run = nullptr;
  inputs.clear();
  if (outputs.ok() && outputs->size() != call.outputs.size()) {
    outputs = absl::InternalError("an op made another number of outputs than its signature says");
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

void EagerQueue::Finish(EagerValue& value, absl::StatusOr<Tensor> result) {
  const size_t bytes = result.ok() ? result->bytes() : 0;
  std::vector<std::shared_ptr<EagerCall>> readers;
  {
    MutexLock lock(&value.mutex);
    value.result = std::move(result);
    value.done = true;
    readers.swap(value.readers);
  }
  for (const std::shared_ptr<EagerCall>& reader : readers) Arrived(reader, 1, bytes);
}

void EagerQueue::Arrived(const std::shared_ptr<EagerCall>& call, int values, size_t bytes) {
  call->bytes += bytes;
  pending_bytes_ += bytes;
  if (call->missing.fetch_sub(values) != values) return;
  MutexLock lock(&mutex_);
  ready_.push_back(call);
}

}  // namespace tenon
