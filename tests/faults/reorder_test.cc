// Weights that several threads reorder: each allocation fails, of any thread.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "env/status.h"
#include "primitive_cache/dnnl_primitive.h"
#include "tests/faults/fault_sweep.h"

namespace tenon {
namespace {

TEST(ReorderFaults, OnThreeThreads) {
  using dnnl::memory;
  const memory::dims dims = {70, 60, 3, 3};
  const memory::desc from(dims, memory::data_type::f32, memory::format_tag::hwio);
  const memory::desc to(dims, memory::data_type::f32, memory::format_tag::OIhw8i8o);
  std::vector<char> plain(from.get_size()), packed(to.get_size());
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<char>(i % 61);
  std::shared_ptr<const Primitive> reorder;
  const auto run = [&] { return reorder->Execute({plain.data(), packed.data()}, nullptr); };
  ASSERT_TRUE((reorder = MakeReorder(from, to, 1), run()).ok());
  const std::vector<char> expected = packed;
  const auto check = [&]() -> absl::Status {
    TENON_RETURN_IF_ERROR(run());
    if (packed != expected) return Internal("the packed weights differ");
    reorder.reset();
    return absl::OkStatus();
  };
  const auto make = [&]() -> absl::Status {
    reorder = MakeReorder(from, to, 3);
    return absl::OkStatus();
  };
  faults::Sweep({.name = "reorder", .prepare = make, .run = run, .check = check}, 100'000);
  const auto make_guarded = [&] { return Guarded(make); };
  faults::Sweep({.name = "making a reorder",
                 .run = make_guarded,
                 .check =
                     [&] {
                       if (reorder == nullptr) TENON_RETURN_IF_ERROR(make());
                       return check();
                     }},
                100'000);
}

}  // namespace
}  // namespace tenon
