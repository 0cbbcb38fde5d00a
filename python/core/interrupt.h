// Ctrl-C during a run.
#ifndef TENON_PYTHON_CORE_INTERRUPT_H_
#define TENON_PYTHON_CORE_INTERRUPT_H_

#include "tenon/tenon.h"

namespace tenon::python {

// While it lives, Ctrl-C also asks a run to stop, if this is the main thread
// and Python would raise KeyboardInterrupt. Made and destroyed with the GIL.
class Interrupt {
 public:
  explicit Interrupt(tenon_cancel* cancel);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  bool set_ = false;
};

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_INTERRUPT_H_
