// Fuzz targets: functions that take any bytes and must neither crash, hang, leak nor fail a check.
// Each registers itself, so a new target is one file:
//
//   int FuzzShapes(const uint8_t* data, size_t size) { ... return 0; }
//   const FuzzTarget kShapes("shapes", FuzzShapes);
//
// build/bin/fuzz (TENON_FUZZ=ON, clang) searches inputs with libFuzzer; fuzz_test replays
// tests/fuzz/corpus/NAME in any build. docs/FUZZING.md tells how to run them.
#ifndef TENON_TESTS_FUZZ_TARGETS_TARGET_H_
#define TENON_TESTS_FUZZ_TARGETS_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

using FuzzFunction = int (*)(const uint8_t* data, size_t size);

struct FuzzTarget {
  FuzzTarget(const char* name, FuzzFunction run);
  const char* name;
  FuzzFunction run;
};

// Sorted by name.
std::vector<const FuzzTarget*> AllFuzzTargets();
// Null: there is none of this name.
const FuzzTarget* FindFuzzTarget(const std::string& name);

// Prints the finding and aborts, which libFuzzer and GoogleTest report with the input.
[[noreturn]] void FuzzFailure(const std::string& what);

}  // namespace tenon

#endif  // TENON_TESTS_FUZZ_TARGETS_TARGET_H_
