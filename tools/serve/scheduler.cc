#include "tools/serve/scheduler.h"

#include <algorithm>
#include <future>

#include "absl/strings/str_cat.h"
#include "tools/serve/batch.h"
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

void Finish(Job& job, absl::StatusOr<std::vector<Tensor>> result) {
  ServableCounts& counts = job.servable->counts();
  const uint64_t time = Nanoseconds(Clock::now() - job.submitted);
  if (result.ok()) {
    ++counts.succeeded;
    counts.success_ns += time;
  } else {
    ++counts.failed;
    counts.fail_ns += time;
  }
  job.done(std::move(result));
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options) : options_(options) {
  for (int i = 0; i < std::max(1, options.workers); ++i) {
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

void Scheduler::Submit(std::unique_ptr<Job> job) {
  job->submitted = Clock::now();
  job->rows = job->runnable->free_rows ? RowsOf(job->inputs) : 0;
  job->may_batch = options_.batching.enabled && job->rows > 0 &&
                   job->rows < options_.batching.max_rows &&
                   job->servable->RowsApart(*job->runnable, job->inputs);
  bool ending;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending = ending_;
    if (!ending && static_cast<int64_t>(queue_.size()) < options_.max_queued) {
      queue_.push_back(std::move(job));
      Metrics::Get().QueueLength(static_cast<int64_t>(queue_.size()));
    }
  }
  if (job == nullptr) {
    wake_.notify_one();
    return;
  }
  Finish(*job, ending ? absl::UnavailableError("the server is shutting down")
                      : absl::ResourceExhaustedError(absl::StrCat(
                            options_.max_queued, " requests are waiting: the queue is full")));
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
        Agree(*batch.front(), **it)) {
      rows += (*it)->rows;
      batch.push_back(std::move(*it));
      it = queue_.erase(it);
    } else {
      ++it;
    }
  }
}

void Scheduler::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;  // ending
    Jobs batch;
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (batch.front()->may_batch) {
      int64_t rows = batch.front()->rows;
      Gather(batch, rows);
      const auto until = batch.front()->submitted + options_.batching.timeout;
      while (!ending_ && rows < options_.batching.max_rows && Clock::now() < until) {
        wake_.wait_until(lock, until);
        Gather(batch, rows);
      }
      if (!queue_.empty()) wake_.notify_one();  // this wait may have taken another's wake-up
    }
    Metrics::Get().QueueLength(static_cast<int64_t>(queue_.size()));
    lock.unlock();
    Run(std::move(batch));
    lock.lock();
  }
}

void Scheduler::Run(Jobs batch) {
  const Clock::time_point start = Clock::now();
  Jobs jobs;
  for (auto& job : batch) {
    const auto waited = start - job->submitted;
    Metrics::Get().Queued(job->servable->name(), Microseconds(waited));
    job->servable->counts().queue_ns += Nanoseconds(waited);
    const absl::Status expired = Expired(*job);
    if (expired.ok()) {
      jobs.push_back(std::move(job));
    } else {
      Finish(*job, expired);
    }
  }
  if (jobs.empty()) return;
  const Job& first = *jobs.front();
  const std::shared_ptr<Servable> servable = first.servable;  // jobs end before its last use
  Runnable& runnable = *first.runnable;
  const auto& allowed = options_.batching.allowed_rows;
  int64_t rows = 0;
  for (const auto& job : jobs) rows += job->rows;
  int64_t padded = rows;
  if (first.may_batch) {
    const auto next = std::lower_bound(allowed.begin(), allowed.end(), rows);
    if (next != allowed.end()) padded = *next;
  }
  absl::StatusOr<std::vector<Tensor>> outputs = absl::InternalError("not run");
  const bool join = jobs.size() > 1 || padded > rows;
  try {
    outputs = join ? servable->Run(runnable, Join(jobs, padded), first.outputs, nanoseconds(0))
                   : servable->Run(runnable, first.inputs, first.outputs, TimeLeft(first.deadline));
    const auto took = Clock::now() - start;
    ServableCounts& counts = servable->counts();
    ++counts.runs;
    counts.compute_ns += Nanoseconds(took);
    counts.rows += static_cast<uint64_t>(std::max<int64_t>(rows, 1));
    counts.last_ms = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                               std::chrono::system_clock::now().time_since_epoch())
                                               .count());
    Metrics::Get().Run(servable->name(), servable->version(), runnable.signature.name,
                       static_cast<int>(jobs.size()), rows, Microseconds(took));
    if (!join) return Finish(*jobs.front(), std::move(outputs));
    if (outputs.ok()) {
      auto parts = TakeApart(*outputs, jobs, padded);
      if (parts.ok()) {
        for (size_t j = 0; j < jobs.size(); ++j) Finish(*jobs[j], std::move((*parts)[j]));
        return;
      }
      outputs = parts.status();
    }
  } catch (const Error& error) {
    outputs = ToStatus(error);
  }
  // What fails together may work alone: then only the request that is wrong gets the error.
  for (auto& job : jobs) {
    const absl::Status expired = Expired(*job);
    Finish(*job, expired.ok()
                     ? servable->Run(runnable, job->inputs, job->outputs, TimeLeft(job->deadline))
                     : expired);
  }
}

}  // namespace tenon::serve
