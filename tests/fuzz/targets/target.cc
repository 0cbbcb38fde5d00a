#include "tests/fuzz/targets/target.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tenon {
namespace {

std::vector<const FuzzTarget*>& Registered() {
  static auto* const targets = new std::vector<const FuzzTarget*>;
  return *targets;
}

}  // namespace

FuzzTarget::FuzzTarget(const char* name, FuzzFunction run) : name(name), run(run) {
  Registered().push_back(this);
}

std::vector<const FuzzTarget*> AllFuzzTargets() {
  std::vector<const FuzzTarget*> targets = Registered();
  std::sort(targets.begin(), targets.end(), [](const FuzzTarget* a, const FuzzTarget* b) {
    return std::strcmp(a->name, b->name) < 0;
  });
  return targets;
}

const FuzzTarget* FindFuzzTarget(const std::string& name) {
  for (const FuzzTarget* target : Registered()) {
    if (name == target->name) return target;
  }
  return nullptr;
}

void FuzzFailure(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

}  // namespace tenon
