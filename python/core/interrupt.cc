#include "python/core/interrupt.h"

#include <nanobind/nanobind.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

namespace nb = nanobind;

namespace tenon::python {
namespace {

std::atomic<tenon_cancel*> running = nullptr;  // the main thread's run
struct sigaction pythons;                      // its handler, which notes the signal for later

void OnInterrupt(int signal) {
  if (tenon_cancel* const cancel = running.load()) tenon_cancel_request(cancel);
  pythons.sa_handler(signal);
}

bool RaisesKeyboardInterrupt() {
  // Not `signal`, whose functions make enumerations of what they return: that takes longer than a
  // small model's run.
  struct Names {
    nb::object getsignal = nb::module_::import_("_signal").attr("getsignal");
    nb::object number = nb::int_(SIGINT);
    nb::object raises = nb::module_::import_("_signal").attr("default_int_handler");
  };
  static Names* const names = new Names;
  return names->getsignal(names->number).is(names->raises);
}

pthread_t main_thread;
bool main_known = false;  // whether main_thread says which it is

// Asks the kernel once in each process: a system call takes as long as everything else here.
bool IsMainThread() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { main_known = false; });
  if (registered == 0 && main_known) return pthread_equal(pthread_self(), main_thread) != 0;
  if (gettid() != getpid()) return false;
  main_thread = pthread_self();
  main_known = true;
  return true;
}

// Puts our handler before Python's, where it stays. False if there is another one than Python's.
bool PutHandler() {
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) != 0) return false;
  if ((now.sa_flags & SA_SIGINFO) != 0) return false;
  if (now.sa_handler == OnInterrupt) return true;
  if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) return false;
  pythons = now;
  struct sigaction ours = now;
  ours.sa_handler = OnInterrupt;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

// The same; asks the kernel once in a millisecond. If the program sets a handler anew in that time,
// a run that starts in the rest of it cannot be interrupted.
bool HandlerIsOurs() {
  using Clock = std::chrono::steady_clock;
  constexpr auto kTrusted = std::chrono::milliseconds(1);
  static Clock::time_point asked;
  static bool is_ours = false;
  if (const Clock::time_point now = Clock::now(); !is_ours || now - asked > kTrusted) {
    is_ours = PutHandler();
    asked = now;
  }
  return is_ours;
}

}  // namespace

Interrupt::Interrupt(tenon_cancel* cancel) {
  if (!IsMainThread() || !RaisesKeyboardInterrupt() || !HandlerIsOurs()) return;
  running = cancel;
  set_ = true;
}

Interrupt::~Interrupt() {
  if (set_) running = nullptr;
}

}  // namespace tenon::python
