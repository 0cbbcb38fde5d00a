// Tables whose growth, or whose new element, gets no memory stay as they were.
#include "env/containers.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>

#include "tests/faults/allocation_hook.h"

namespace tenon {
namespace {

// Longer than what a string holds without a block of memory.
std::string Key(int i) { return "a key that is longer than a small string " + std::to_string(i); }

using Map = HashMap<std::string, std::string>;

// Sets keys 0 to `last`; of each, the nth allocation is refused. Whether any was.
bool Fill(Map& map, int last, int64_t n) {
  bool refused = false;
  for (int i = 0; i <= last; ++i) {
    const size_t before = map.size();
    try {
      faults::AllocationFault fault(n, faults::Failing::kOne);
      map[Key(i)] = Key(i);
    } catch (const std::bad_alloc&) {
      refused = true;
      // The element may be there, without the value that was to be assigned.
      EXPECT_TRUE(map.size() == before || map.at(Key(i)).empty());
    }
    for (int k = 0; k < i; ++k) EXPECT_EQ(map.at(Key(k)), Key(k));
    map[Key(i)] = Key(i);
  }
  return refused;
}

TEST(ContainerFaults, Insertions) {
  int64_t n = 1;
  while (Fill(*std::make_unique<Map>(), 70, n)) ++n;
  EXPECT_EQ(n, 4);  // the value, the key and the larger table were refused
}

TEST(ContainerFaults, CopiesAndReservations) {
  Map map;
  for (int i = 0; i < 50; ++i) map[Key(i)] = Key(i);
  int errors = 0;
  for (int64_t n = 1; n <= 200; ++n) {
    const int64_t before = faults::LiveBlocks();
    try {
      faults::AllocationFault fault(n, faults::Failing::kRest);
      Map copy = map;
      copy.reserve(1000);
    } catch (const std::bad_alloc&) {
      ++errors;
    }
    EXPECT_EQ(faults::LiveBlocks(), before) << n;
  }
  EXPECT_EQ(errors, 102);  // a table, 50 keys and values, the larger table
  EXPECT_EQ(map.size(), 50u);
}

}  // namespace
}  // namespace tenon
