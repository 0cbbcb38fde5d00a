// A mutex over std::mutex with the one extra feature of absl::Mutex that the project uses: waiting
// for a condition. ThreadSanitizer sees it (the distribution's abseil is not instrumented).
//
//   MutexLock lock(&mutex_);
//   mutex_.Await([&] { return ready; });
#ifndef TENON_ENV_MUTEX_H_
#define TENON_ENV_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace tenon {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    if (waiting_ > 0) changed_.notify_all();
    mutex_.unlock();
  }
  // Releases the mutex until `condition` holds; the condition is checked again whenever a thread
  // unlocks. The caller holds the mutex before and after.
  template <typename Condition>
  void Await(const Condition& condition) {
    if (condition()) return;
    std::unique_lock<std::mutex> lock(mutex_, std::adopt_lock);
    ++waiting_;
    changed_.wait(lock, condition);
    --waiting_;
    lock.release();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;  // guarded by mutex_
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

}  // namespace tenon

#endif  // TENON_ENV_MUTEX_H_
