#include "tools/serve/scheduler.h"

#include <algorithm>
#include <future>

#include "absl/strings/str_cat.h"
#include "tools/serve/batch.h"
#include "tools/serve/long_work.h"
#include "tools/serve/metrics.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

using std::chrono::duration;
using std::chrono::nanoseconds;

double Microseconds(Clock::duration time) { return duration<double, std::micro>(time).count(); }

uint64_t Nanoseconds(Clock::duration time) {
  return static_cast<uint64_t>(
      std::max<int64_t>(0, std::chrono::duration_cast<nanoseconds>(time).count()));
}

// Why a job need not run; OK if it must.
absl::Status Expired(const Job& job) {
  if (job.cancelled && job.cancelled()) return absl::CancelledError("the client is gone");
  if (Clock::now() >= job.deadline) {
    return absl::DeadlineExceededError("the deadline passed while the request waited");
  }
  return absl::OkStatus();
}

nanoseconds TimeLeft(Clock::time_point deadline) {
  if (deadline == Clock::time_point::max()) return nanoseconds(0);  // no limit
  const auto left = std::chrono::duration_cast<nanoseconds>(deadline - Clock::now());
  return left.count() > 0 ? left : nanoseconds(-1);
}

// Whether a run is known to be so short that handing it to another thread is not worth it.
bool IsShort(const Job& job) {
  constexpr float kMicroseconds = 500;
  constexpr size_t kBytes = 64 << 10;  // of inputs: the mean says nothing of unusually large ones
  if (job.runnable->mean_us > kMicroseconds) return false;
  size_t bytes = 0;
  for (const auto& [name, tensor] : job.inputs) bytes += tensor.bytes();
  return bytes <= kBytes;
}

// `rows`, or up to an eighth more: a number that other batches have too. Each number of rows costs
// a plan with its compiled kernels, which takes as long as many runs and stays in memory.
int64_t CommonRows(int64_t rows) {
  int64_t step = 1;
  while (rows / step > 16) step *= 2;
  return (rows + step - 1) / step * step;
}

// One run for `requests` jobs like `job`.
void Count(const Job& job, int requests, int64_t rows, Clock::duration took) {
  ServableCounts& counts = job.servable->counts();
  ++counts.runs;
  counts.compute_ns += Nanoseconds(took);
  counts.rows += static_cast<uint64_t>(std::max<int64_t>(rows, 1));
  counts.last_ms = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                             std::chrono::system_clock::now().time_since_epoch())
                                             .count());
  job.runnable->Took(static_cast<float>(Microseconds(took)));
  job.runnable->metrics->Ran(requests, rows, Microseconds(took));
}

void Finish(Job& job, absl::StatusOr<std::vector<Tensor>> result) {
  ServableCounts& counts = job.servable->counts();
  const Clock::time_point start = Clock::now();
  const uint64_t time = Nanoseconds(start - job.submitted);
  if (result.ok()) {
    ++counts.succeeded;
    counts.success_ns += time;
  } else {
    ++counts.failed;
    counts.fail_ns += time;
  }
  job.done(std::move(result));
  job.runnable->metrics->Answered(Microseconds(Clock::now() - start));
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options)
    : options_(options), free_threads_(std::max(1, options.threads)) {
  for (int i = 0; i < std::max(1, options.threads); ++i) {
    workers_.emplace_back([this] { Work(); });
  }
}

Scheduler::~Scheduler() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

int Scheduler::Threads(const Job& job) const {
  return std::clamp(job.servable->threads(), 1, std::max(1, options_.threads));
}

int64_t Scheduler::RowsTogether(const Job& job) const {
  int64_t rows = 0;
  for (const auto& other : queue_) {
    if (other->may_batch && rows + other->rows <= options_.batching.max_rows &&
        Agree(job, *other, options_.batching.pad_lengths)) {
      rows += other->rows;
    }
  }
  return rows;
}

size_t Scheduler::FirstReady(Clock::time_point* due) const {
  *due = Clock::time_point::max();
  if (options_.batching.timeout.count() == 0 || ending_) return 0;
  const Clock::time_point now = Clock::now();
  std::vector<const Job*> waiting;  // one of each kind
  for (size_t i = 0; i < queue_.size(); ++i) {
    const Job& job = *queue_[i];
    const Clock::time_point until = job.submitted + options_.batching.timeout;
    if (!job.may_batch || now >= until) return i;
    const bool known = std::any_of(waiting.begin(), waiting.end(), [&](const Job* other) {
      return Agree(*other, job, options_.batching.pad_lengths);
    });
    if (known) continue;
    if (RowsTogether(job) >= options_.batching.max_rows) return i;
    waiting.push_back(&job);
    *due = std::min(*due, until);
  }
  return queue_.size();
}

void Scheduler::Submit(std::unique_ptr<Job> job) {
  job->submitted = Clock::now();
  if (job->arrived != Clock::time_point()) {
    job->runnable->metrics->Parsed(Microseconds(job->submitted - job->arrived));
  }
  job->rows = job->runnable->free_rows ? RowsOf(job->inputs) : 0;
  job->may_batch = options_.batching.enabled && job->rows > 0 &&
                   job->rows < options_.batching.max_rows &&
                   job->servable->RowsApart(*job->runnable, job->inputs);
  const int threads = Threads(*job);
  // Jobs that may share a run are queued, so that they meet.
  const bool brief = !job->may_batch && IsShort(*job);
  bool ending, here = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending = ending_;
    here = brief && !ending && queue_.empty() && threads <= free_threads_;
    if (here) {
      free_threads_ -= threads;
    } else if (!ending && static_cast<int64_t>(queue_.size()) < options_.max_queued) {
      queue_.push_back(std::move(job));
      Metrics::Get().QueueLength(static_cast<int64_t>(queue_.size()));
    }
  }
  if (job == nullptr) {
    wake_.notify_one();
    return;
  }
  if (!here) {
    return Finish(*job,
                  ending ? absl::UnavailableError("the server is shutting down")
                         : absl::ResourceExhaustedError(absl::StrCat(
                               options_.max_queued, " requests are waiting: the queue is full")));
  }
  constexpr float kLongMicroseconds = 250;
  if (job->runnable->mean_us > kLongMicroseconds) AboutToTakeLong();
  Jobs jobs;
  jobs.push_back(std::move(job));
  Run(std::move(jobs));
  bool waiting;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_threads_ += threads;
    waiting = !queue_.empty();
  }
  if (waiting) wake_.notify_one();
}

absl::StatusOr<std::vector<Tensor>> Scheduler::RunAndWait(std::unique_ptr<Job> job) {
  std::promise<absl::StatusOr<std::vector<Tensor>>> promise;
  auto result = promise.get_future();
  job->done = [&promise](absl::StatusOr<std::vector<Tensor>> outputs) {
    promise.set_value(std::move(outputs));
  };
  Submit(std::move(job));
  return result.get();
}

void Scheduler::Gather(Jobs& batch, int64_t& rows) {
  for (auto it = queue_.begin(); it != queue_.end() && rows < options_.batching.max_rows;) {
    if ((*it)->may_batch && rows + (*it)->rows <= options_.batching.max_rows &&
        Agree(*batch.front(), **it, options_.batching.pad_lengths)) {
      rows += (*it)->rows;
      batch.push_back(std::move(*it));
      it = queue_.erase(it);
    } else {
      ++it;
    }
  }
}

std::vector<std::unique_ptr<Job>> Scheduler::Take(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    Clock::time_point due;
    const size_t first = FirstReady(&due);
    if (first < queue_.size() && Threads(*queue_[first]) <= free_threads_) {
      Jobs batch;
      batch.push_back(std::move(queue_[first]));
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(first));
      int64_t rows = batch.front()->rows;
      if (batch.front()->may_batch) Gather(batch, rows);
      return batch;
    }
    if (ending_ && queue_.empty()) return {};
    if (first < queue_.size() || due == Clock::time_point::max()) {
      wake_.wait(lock);  // for threads, or for a job
    } else {
      wake_.wait_until(lock, due);
    }
  }
}

void Scheduler::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    Jobs batch = Take(lock);
    if (batch.empty()) return;
    const int threads = Threads(*batch.front());
    free_threads_ -= threads;
    if (!queue_.empty()) wake_.notify_one();  // this one may have taken another's wake-up
    Metrics::Get().QueueLength(static_cast<int64_t>(queue_.size()));
    lock.unlock();
    ++RunsOfWorkers();
    Run(std::move(batch));
    --RunsOfWorkers();
    lock.lock();
    free_threads_ += threads;
    // A job that needs more threads than were free may have waited for these.
    if (queue_.size() > 1) wake_.notify_one();
  }
}

void Scheduler::Run(Jobs batch) {
  const Clock::time_point start = Clock::now();
  Jobs jobs;
  int64_t rows = 0;
  for (auto& job : batch) {
    const auto waited = start - job->submitted;
    job->runnable->metrics->Queued(Microseconds(waited));
    job->servable->counts().queue_ns += Nanoseconds(waited);
    const absl::Status expired = Expired(*job);
    if (expired.ok()) {
      rows += job->rows;
      jobs.push_back(std::move(job));
    } else {
      Finish(*job, expired);
    }
  }
  if (jobs.empty()) return;
  if (RunTogether(jobs, rows, start)) return;
  // What fails together may work alone: then only the request that is wrong gets the error.
  for (auto& job : jobs) RunAlone(*job);
}

bool Scheduler::RunTogether(const Jobs& jobs, int64_t rows, Clock::time_point start) {
  Job& first = *jobs.front();
  Servable& servable = *first.servable;
  Runnable& runnable = *first.runnable;
  const auto& allowed = options_.batching.allowed_rows;
  int64_t padded = rows;
  if (first.may_batch && !allowed.empty()) {
    const auto next = std::lower_bound(allowed.begin(), allowed.end(), rows);
    if (next != allowed.end()) padded = *next;
  } else if (jobs.size() > 1) {
    padded = std::max(rows, std::min(CommonRows(rows), options_.batching.max_rows));
  }
  const bool join = jobs.size() > 1 || padded > rows;
  absl::StatusOr<std::vector<Tensor>> outputs = absl::InternalError("not run");
  std::vector<std::vector<Tensor>> parts;
  try {
    if (join) {
      const auto joined = Join(jobs, padded);
      if (!joined.ok()) return false;
      // Padded lengths are another shape than those that were looked at.
      if (options_.batching.pad_lengths && !servable.RowsApart(runnable, *joined)) return false;
      outputs = servable.Run(runnable, *joined, first.outputs, nanoseconds(0));
    } else {
      outputs = servable.Run(runnable, first.inputs, first.outputs, TimeLeft(first.deadline));
    }
    const auto took = Clock::now() - start;
    Count(first, static_cast<int>(jobs.size()), rows, took);
    if (join) {
      if (!outputs.ok()) return false;
      auto apart = TakeApart(*outputs, jobs, padded);
      if (!apart.ok()) return false;
      parts = *std::move(apart);
    }
  } catch (const Error&) {
    return false;
  }
  if (!join) Finish(first, std::move(outputs));
  for (size_t j = 0; j < parts.size(); ++j) Finish(*jobs[j], std::move(parts[j]));
  return true;
}

void Scheduler::RunAlone(Job& job) {
  const absl::Status expired = Expired(job);
  if (!expired.ok()) return Finish(job, expired);
  const Clock::time_point start = Clock::now();
  auto outputs = job.servable->Run(*job.runnable, job.inputs, job.outputs, TimeLeft(job.deadline));
  Count(job, 1, job.rows, Clock::now() - start);
  Finish(job, std::move(outputs));
}

}  // namespace tenon::serve
