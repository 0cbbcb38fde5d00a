#include "tools/serve/grpc_queue.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "tools/serve/long_work.h"

namespace tenon::serve {
namespace {

using Clock = std::chrono::steady_clock;

// A helper leaves if nothing comes for so long, or if it waited so often in a row, while another
// thread waits, too.
constexpr std::chrono::milliseconds kPatience(2);
constexpr int kMostNeedless = 4;
// Events in a row that the leader did not wait for, after which a helper is called. A single client
// causes four for each request.
constexpr int kBehind = 16;

// Polls in vain in a row, after which only one wait in as many begins with polling.
constexpr int kMostVainPolls = 8;

// A deadline that has passed: look, and do not wait.
gpr_timespec AtOnce() { return gpr_time_0(GPR_CLOCK_MONOTONIC); }

}  // namespace

QueueThreads::QueueThreads(std::unique_ptr<grpc::ServerCompletionQueue> queue, int threads,
                           std::chrono::microseconds poll)
    : queue_(std::move(queue)), poll_(poll) {
  const auto start = [this](void (QueueThreads::*work)()) {
    threads_.emplace_back([this, work] {
      LongWorkHook() = [this] {
        if (waiting_ == 0) CallHelper();
      };
      (this->*work)();
    });
  };
  start(&QueueThreads::Lead);
  for (int i = 1; i < std::max(2, threads); ++i) start(&QueueThreads::Help);
}

QueueThreads::~QueueThreads() {
  queue_->Shutdown();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void QueueThreads::CallHelper() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (wanted_ >= resting_) return;
    ++wanted_;
  }
  wake_.notify_one();
}

void QueueThreads::Handle(void* tag, bool ok) { static_cast<QueueEvent*>(tag)->Happened(ok); }

bool QueueThreads::Next(void** tag, bool* ok) {
  ++waiting_;
  const bool more = queue_->Next(tag, ok);
  --waiting_;
  return more;
}

grpc::CompletionQueue::NextStatus QueueThreads::Poll(void** tag, bool* ok) {
  // Helpers that are there would be woken by each look.
  if (poll_.count() == 0 || waiting_ > 0) return grpc::CompletionQueue::TIMEOUT;
  if (RunsOfWorkers() > 0) return grpc::CompletionQueue::TIMEOUT;
  // If it was in vain for long, nobody asks that fast; it is tried again now and then.
  if (vain_polls_ >= kMostVainPolls && ++skipped_polls_ % kMostVainPolls != 0) {
    return grpc::CompletionQueue::TIMEOUT;
  }
  const Clock::time_point until = Clock::now() + poll_;
  while (RunsOfWorkers() == 0 && Clock::now() < until) {
    sched_yield();
    const auto got = queue_->AsyncNext(tag, ok, AtOnce());
    if (got != grpc::CompletionQueue::TIMEOUT) {
      vain_polls_ = 0;
      return got;
    }
  }
  vain_polls_ = std::min(vain_polls_ + 1, kMostVainPolls);
  return grpc::CompletionQueue::TIMEOUT;
}

void QueueThreads::Lead() {
  int behind = 0;
  void* tag;
  bool ok;
  for (;;) {
    auto got = queue_->AsyncNext(&tag, &ok, AtOnce());
    if (got == grpc::CompletionQueue::GOT_EVENT) {
      if (++behind >= kBehind) {
        behind = 0;
        CallHelper();
      }
    } else if (got == grpc::CompletionQueue::TIMEOUT) {
      behind = 0;
      got = Poll(&tag, &ok);
      if (got == grpc::CompletionQueue::TIMEOUT && !Next(&tag, &ok)) return;
    }
    if (got == grpc::CompletionQueue::SHUTDOWN) return;
    Handle(tag, ok);
  }
}

void QueueThreads::Help() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++resting_;
    wake_.wait(lock, [this] { return wanted_ > 0 || ending_; });
    --resting_;
    if (ending_) return;
    --wanted_;
    lock.unlock();
    void* tag;
    bool ok;
    for (int needless = 0; needless < kMostNeedless;) {
      auto got = queue_->AsyncNext(&tag, &ok, AtOnce());
      if (got == grpc::CompletionQueue::TIMEOUT) {
        needless = waiting_ > 0 ? needless + 1 : 0;
        ++waiting_;
        got = queue_->AsyncNext(&tag, &ok, std::chrono::system_clock::now() + kPatience);
        --waiting_;
        // Unless all others are busy, it is not needed.
        if (got == grpc::CompletionQueue::TIMEOUT && waiting_ == 0) continue;
      }
      if (got != grpc::CompletionQueue::GOT_EVENT) break;
      Handle(tag, ok);
    }
    lock.lock();
  }
}

}  // namespace tenon::serve
