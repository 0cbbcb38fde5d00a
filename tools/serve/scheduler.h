// Runs models so that all runs under way together have a fixed number of threads, and puts what
// waits into batches.
//
// Each worker takes the oldest job as soon as there are threads for it. If batching is on, it takes
// along other waiting jobs for the same signature, as far as their inputs agree in all but the
// rows. A batch therefore forms by itself while the workers are busy; a job never waits for others,
// unless the parameters say so: then it stays in the queue meanwhile. A short job that need not
// wait runs on the thread that submits it: handing it over would cost more than the run.
#ifndef TENON_TOOLS_SERVE_SCHEDULER_H_
#define TENON_TOOLS_SERVE_SCHEDULER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/serve/servable.h"

namespace tenon::serve {

using Clock = std::chrono::steady_clock;

struct BatchingOptions {
  bool enabled = false;
  int64_t max_rows = 1000;               // of a batch
  std::chrono::microseconds timeout{0};  // how long a job may wait for others
  std::vector<int64_t> allowed_rows;     // a batch is padded to one of these; empty: any
  // Inputs may differ in other free dimensions too: the shorter ones are filled up with their first
  // element.
  bool pad_lengths = false;
};

struct SchedulerOptions {
  int threads = 1;            // of all runs together; each takes what its model takes
  int64_t max_queued = 1000;  // jobs beyond are refused with RESOURCE_EXHAUSTED
  BatchingOptions batching;
};

// A request to run one signature.
struct Job {
  std::shared_ptr<Servable> servable;
  Runnable* runnable = nullptr;
  std::vector<std::pair<std::string, Tensor>> inputs;  // sorted by name
  std::vector<std::string> outputs;
  Clock::time_point deadline = Clock::time_point::max();
  // Whether nobody waits for the result any more; may be empty.
  std::function<bool()> cancelled;
  // Called once, on a worker, or in Submit if the job is refused. Outputs are in the job's order.
  std::function<void(absl::StatusOr<std::vector<Tensor>>)> done;
  Clock::time_point arrived;  // when the request was there; unset: not known

  Clock::time_point submitted;
  int64_t rows = 0;  // of all inputs; 0: they differ, or the model's rows are not free
  bool may_batch = false;
};

class Scheduler {
 public:
  explicit Scheduler(const SchedulerOptions& options);
  // Runs what is queued, then ends.
  ~Scheduler();

  void Submit(std::unique_ptr<Job> job);
  // Submits and waits.
  absl::StatusOr<std::vector<Tensor>> RunAndWait(std::unique_ptr<Job> job);

 private:
  using Jobs = std::vector<std::unique_ptr<Job>>;

  // The threads that a run takes.
  int Threads(const Job& job) const;
  // The oldest job that need not wait for others any more, queue_.size() if there is none. `due`
  // gets the time when this may change by itself. Under the lock, as the next ones.
  size_t FirstReady(Clock::time_point* due) const;
  // The rows of a job and of those that fit to it, at most as many as a batch has.
  int64_t RowsTogether(const Job& job) const;
  // Waits for a job that can run, with threads for it, and takes it with those that fit to it.
  // Empty: the scheduler ends.
  std::vector<std::unique_ptr<Job>> Take(std::unique_lock<std::mutex>& lock);
  void Work();
  // Moves jobs that fit to the first one of `batch` from the queue to `batch`.
  void Gather(Jobs& batch, int64_t& rows);
  void Run(Jobs batch);
  // One run for all; false if each has to run alone.
  bool RunTogether(const Jobs& jobs, int64_t rows, Clock::time_point start);
  void RunAlone(Job& job);

  const SchedulerOptions options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Job>> queue_;
  int free_threads_;
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_SCHEDULER_H_
