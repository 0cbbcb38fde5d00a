// The entry points that libFuzzer's main calls. The environment variable TENON_FUZZ_TARGET names
// the target; without it, the program lists all.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets/target.h"

namespace {

const tenon::FuzzTarget* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("TENON_FUZZ_TARGET");
  if (name != nullptr) target = tenon::FindFuzzTarget(name);
  if (target != nullptr) return 0;
  for (const tenon::FuzzTarget* t : tenon::AllFuzzTargets()) std::puts(t->name);
  std::exit(name == nullptr ? 0 : 1);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return target->run(data, size);
}
