// Streams, events and timers. A stream is a work queue with a thread; enqueued work runs in order,
// some time later, as on a real accelerator.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "apu.h"

namespace {

// How many times an event was recorded, and how many of these the streams have reached.
struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0;
  uint64_t reached = 0;

  uint64_t Record() {
    std::lock_guard<std::mutex> lock(mutex);
    return ++recorded;
  }
  void Reach(uint64_t ticket) {
    std::lock_guard<std::mutex> lock(mutex);
    if (reached < ticket) reached = ticket;
    changed.notify_all();
  }
  uint64_t Recorded() {
    std::lock_guard<std::mutex> lock(mutex);
    return recorded;
  }
  void Wait(uint64_t ticket) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return reached >= ticket; });
  }
};

}  // namespace

// Queued work may outlive an event, so it holds the state.
struct SP_Event_st {
  std::shared_ptr<EventState> state = std::make_shared<EventState>();
};

struct SP_Timer_st {
  std::atomic<int64_t> start{0}, stop{0};
};

struct SP_Stream_st {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  bool busy = false;
  bool closed = false;
  std::thread worker{[this] { Work(); }};

  void Enqueue(std::function<void()> work) {
    std::lock_guard<std::mutex> lock(mutex);
    queue.push_back(std::move(work));
    changed.notify_all();
  }
  void WaitUntilIdle() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return queue.empty() && !busy; });
  }
  void Work() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return closed || !queue.empty(); });
      if (queue.empty()) return;
      std::function<void()> work = std::move(queue.front());
      queue.pop_front();
      busy = true;
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
  ~SP_Stream_st() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      closed = true;
      changed.notify_all();
    }
    worker.join();
  }
};

namespace apu {
namespace {

std::mutex& StreamsMutex() {
  static std::mutex mutex;
  return mutex;
}
std::set<SP_Stream>& Streams() {
  static auto* streams = new std::set<SP_Stream>;
  return *streams;
}

}  // namespace

void Enqueue(SP_Stream stream, std::function<void()> work) { stream->Enqueue(std::move(work)); }

uint64_t TimerNanoseconds(SP_Timer timer) {
  return static_cast<uint64_t>(timer->stop - timer->start);
}

namespace {

void CreateStream(const SP_Device*, SP_Stream* stream, TF_Status* status) {
  if (!Succeeds("create_stream", status)) return;
  *stream = new SP_Stream_st;
  {
    std::lock_guard<std::mutex> lock(StreamsMutex());
    Streams().insert(*stream);
  }
  ++Count(kStreamsInUse);
}

void DestroyStream(const SP_Device*, SP_Stream stream) {
  {
    std::lock_guard<std::mutex> lock(StreamsMutex());
    Streams().erase(stream);
  }
  delete stream;
  --Count(kStreamsInUse);
}

void RecordEvent(const SP_Device*, SP_Stream stream, SP_Event event, TF_Status* status) {
  if (!Succeeds("record_event", status)) return;
  stream->Enqueue(
      [state = event->state, ticket = event->state->Record()] { state->Reach(ticket); });
}

void WaitForEvent(const SP_Device*, SP_Stream stream, SP_Event event, TF_Status* status) {
  stream->Enqueue(
      [state = event->state, ticket = event->state->Recorded()] { state->Wait(ticket); });
  Ok(status);
}

void CreateStreamDependency(const SP_Device* device, SP_Stream dependent, SP_Stream other,
                            TF_Status* status) {
  SP_Event_st event;
  RecordEvent(device, other, &event, status);
  WaitForEvent(device, dependent, &event, status);
}

void GetStreamStatus(const SP_Device*, SP_Stream, TF_Status* status) { Ok(status); }

void CreateEvent(const SP_Device*, SP_Event* event, TF_Status* status) {
  if (!Succeeds("create_event", status)) return;
  *event = new SP_Event_st;
  ++Count(kEventsInUse);
}

void DestroyEvent(const SP_Device*, SP_Event event) {
  delete event;
  --Count(kEventsInUse);
}

SE_EventStatus GetEventStatus(const SP_Device*, SP_Event event) {
  std::lock_guard<std::mutex> lock(event->state->mutex);
  return event->state->reached >= event->state->recorded ? SE_EVENT_COMPLETE : SE_EVENT_PENDING;
}

// Does not wait if it fails.
void BlockHostForEvent(const SP_Device*, SP_Event event, TF_Status* status) {
  if (Succeeds("block_host_for_event", status)) event->state->Wait(event->state->Recorded());
}

void BlockHostUntilDone(const SP_Device*, SP_Stream stream, TF_Status* status) {
  if (Succeeds("block_host_until_done", status)) stream->WaitUntilIdle();
}

void SynchronizeAll(const SP_Device*, TF_Status* status) {
  if (!Succeeds("synchronize_all_activity", status)) return;
  std::lock_guard<std::mutex> lock(StreamsMutex());
  for (SP_Stream stream : Streams()) stream->WaitUntilIdle();
}

void CreateTimer(const SP_Device*, SP_Timer* timer, TF_Status* status) {
  *timer = new SP_Timer_st;
  Ok(status);
}

void DestroyTimer(const SP_Device*, SP_Timer timer) { delete timer; }

void StartTimer(const SP_Device*, SP_Stream stream, SP_Timer timer, TF_Status* status) {
  stream->Enqueue([timer] { timer->start = NowNs(); });
  Ok(status);
}

void StopTimer(const SP_Device*, SP_Stream stream, SP_Timer timer, TF_Status* status) {
  stream->Enqueue([timer] { timer->stop = NowNs(); });
  Ok(status);
}

TF_Bool HostCallback(const SP_Device*, SP_Stream stream, SE_StatusCallbackFn callback,
                     void* argument) {
  stream->Enqueue([callback, argument] {
    TF_Status* status = TF_NewStatus();
    callback(argument, status);
    TF_DeleteStatus(status);
  });
  return 1;
}

}  // namespace

void SetStreamFunctions(SP_StreamExecutor* executor) {
  executor->create_stream = CreateStream;
  executor->destroy_stream = DestroyStream;
  executor->create_stream_dependency = CreateStreamDependency;
  executor->get_stream_status = GetStreamStatus;
  executor->create_event = CreateEvent;
  executor->destroy_event = DestroyEvent;
  executor->get_event_status = GetEventStatus;
  executor->record_event = RecordEvent;
  executor->wait_for_event = WaitForEvent;
  executor->block_host_for_event = BlockHostForEvent;
  executor->block_host_until_done = BlockHostUntilDone;
  executor->synchronize_all_activity = SynchronizeAll;
  executor->create_timer = CreateTimer;
  executor->destroy_timer = DestroyTimer;
  executor->start_timer = StartTimer;
  executor->stop_timer = StopTimer;
  executor->host_callback = HostCallback;
}

}  // namespace apu
