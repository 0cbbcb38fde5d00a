// tenon._core: what the package `tenon` stands on, over the C interface.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <csignal>
#include <string>
#include <vector>

#include "python/core/eager.h"
#include "python/core/generator.h"
#include "python/core/inspect.h"
#include "python/core/quantize.h"
#include "python/core/reports.h"
#include "python/core/session.h"
#include "python/core/status.h"
#include "python/core/tensor.h"
#include "tenon/tenon.h"
#include "tools/command_line.h"

namespace nb = nanobind;

namespace {

// The command line in this process. Ctrl-C ends the process, as it would end the program.
int CommandLine(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::signal(SIGINT, SIG_DFL);
  nb::gil_scoped_release release;
  return tenon::CommandLine(static_cast<int>(words.size()), argv.data());
}

}  // namespace

NB_MODULE(_core, module) {
  // Models and tensors may live as long as the interpreter, in a caller's module.
  nb::set_leak_warnings(false);
  module.attr("version") = tenon_version();
  tenon::python::AddErrors();
  tenon::python::AddTensor(module);
  tenon::python::AddSession(module);
  tenon::python::AddGenerator(module);
  tenon::python::AddEager(module);
  tenon::python::AddReports(module);
  tenon::python::AddInspect(module);
  tenon::python::AddQuantize(module);
  module.def("command_line", CommandLine, nb::arg("words"));
}
