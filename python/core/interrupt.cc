#include "python/core/interrupt.h"

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <atomic>

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
  struct Names {
    nb::object getsignal = nb::module_::import_("signal").attr("getsignal");
    nb::object number = nb::int_(SIGINT);
    nb::object raises = nb::module_::import_("signal").attr("default_int_handler");
  };
  static Names* const names = new Names;
  return names->getsignal(names->number).is(names->raises);
}

}  // namespace

Interrupt::Interrupt(tenon_cancel* cancel) {
  if (gettid() != getpid() || !RaisesKeyboardInterrupt()) return;
  struct sigaction ours = {};
  ours.sa_handler = OnInterrupt;
  sigemptyset(&ours.sa_mask);
  struct sigaction old;
  if (sigaction(SIGINT, nullptr, &old) != 0) return;
  if ((old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN ||
      old.sa_handler == OnInterrupt) {
    return;
  }
  ours.sa_flags = old.sa_flags;
  pythons = old;
  running = cancel;
  installed_ = sigaction(SIGINT, &ours, nullptr) == 0;
}

Interrupt::~Interrupt() {
  if (!installed_) return;
  sigaction(SIGINT, &pythons, nullptr);
  running = nullptr;
}

}  // namespace tenon::python
