// Every function of the sample plug-in (tests/plugin/apu) that can fail while it is loaded, or
// during a run, fails in turn. APU_WITHOUT=block_host_until_done (device_test_events) tests the
// functions that a run calls then instead: those of events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "graph/text.h"
#include "tests/unit/device/apu_test.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

struct Fault {
  const char* function;   // as APU_FAIL
  bool in_warm_run;       // whether a run that is not the first calls it
  const char* says = "";  // what the error has to mention besides the node
  enum { kAlways, kWithBlock, kWithEvents } called = kAlways;
};
void PrintTo(const Fault& f, std::ostream* out) { *out << f.function; }

constexpr char kGraph[] = R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?>}
%before = Neg(%x) {T=float}
%on_apu = Relu(%before) {T=float}
%after = Neg(%on_apu) {T=float}
%again = Relu(%after) {T=float}
%y = AddV2(%again, %on_apu) {T=float}
out y = %y
)";

class DeviceFaults : public ApuTest, public ::testing::WithParamInterface<Fault> {
 protected:
  void SetUp() override {
    ApuTest::SetUp();
    const char* const without = std::getenv("APU_WITHOUT");
    const bool events = without != nullptr && *without != '\0';
    if (GetParam().called == (events ? Fault::kWithBlock : Fault::kWithEvents)) {
      GTEST_SKIP() << "not called by " << (events ? "a device without it" : "this device");
    }
    auto graph = ParseGraph(kGraph);
    ASSERT_TRUE(graph.ok()) << graph.status();
    session_ = MakeSession(*std::move(graph), "APU:0");
  }
  void ExpectRight() {
    const auto out = Run(*session_, {Floats({-1, 2, -3})});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_THAT(out[0].flat<float>(), ElementsAre(1, 0, 3));
  }
  void ExpectError() {
    const ApuFails failing(GetParam().function);
    const absl::Status status = session_->Run(std::vector<Tensor>{Floats({-1, 2, -3})}).status();
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(absl::StrContains(status.message(), "APU:0") ||
                absl::StrContains(status.message(), "node '"))
        << status;
    EXPECT_TRUE(absl::StrContains(status.message(), GetParam().says)) << status;
  }

  std::unique_ptr<Session> session_;
};

TEST_P(DeviceFaults, InTheFirstRun) {
  const ApuCounts since;
  ExpectError();
  ExpectError();
  ExpectRight();
  EXPECT_EQ(since("blocks_in_use"), 0);
  session_.reset();
  EXPECT_EQ(since("streams_in_use"), 0);
  EXPECT_EQ(since("events_in_use"), 0);
}

TEST_P(DeviceFaults, InALaterRun) {
  if (!GetParam().in_warm_run) GTEST_SKIP() << "later runs do not call it";
  const ApuCounts since;
  ExpectRight();
  ExpectError();
  ExpectRight();
  ExpectError();
  EXPECT_EQ(since("blocks_in_use"), 0);
  ExpectRight();
  session_.reset();
  EXPECT_EQ(since("streams_in_use"), 0);
  EXPECT_EQ(since("events_in_use"), 0);
  EXPECT_EQ(since("kernels_made"), since("kernels_deleted"));
}

INSTANTIATE_TEST_SUITE_P(
    Functions, DeviceFaults,
    ::testing::Values(
        Fault{"create", false, "no APU is free"},
        Fault{"create_stream", false, "create_stream: the APU is on fire"},
        Fault{"allocate", true, "has no 12 bytes"}, Fault{"memcpy_htod", true, "on fire"},
        Fault{"memcpy_dtoh", true, "on fire"},
        Fault{"block_host_until_done", true, "on fire", Fault::kWithBlock},
        Fault{"block_host_until_done,synchronize_all_activity", true, "on fire", Fault::kWithBlock},
        Fault{"create_event", true, "on fire", Fault::kWithEvents},
        Fault{"record_event", true, "on fire", Fault::kWithEvents},
        Fault{"block_host_for_event", true, "on fire", Fault::kWithEvents},
        Fault{"create_event,synchronize_all_activity", true, "on fire", Fault::kWithEvents},
        Fault{"block_host_for_event,synchronize_all_activity", true, "on fire", Fault::kWithEvents},
        Fault{"kernel", true, "lost its way"}),
    [](const auto& info) {
      return absl::StrReplaceAll(info.param.function, {{",", "_"}});
    });

// A copy of the plug-in, which the process has not loaded yet.
class DeviceLoadFaults : public ApuTest {
 protected:
  DeviceLoadFaults()
      : copy_(std::filesystem::path(::testing::TempDir()) / absl::StrCat("apu_", getpid(), ".so")) {
    std::filesystem::copy_file(ApuPath(), copy_, std::filesystem::copy_options::overwrite_existing);
  }
  ~DeviceLoadFaults() override { std::filesystem::remove(copy_); }

  const std::filesystem::path copy_;
};

TEST_F(DeviceLoadFaults, NothingOfThePluginRemains) {
  DeviceRegistry& plugins = DeviceRegistry::Global();
  const size_t devices = plugins.devices().size();
  const int kernels = plugins.CountKernels("APU");
  const auto expect = [&](const char* says) {
    SCOPED_TRACE(says);
    const absl::Status status = plugins.Load(copy_.string());
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(says));
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(copy_.string()));
    EXPECT_EQ(plugins.devices().size(), devices);
    EXPECT_EQ(plugins.CountKernels("APU"), kernels);
    for (const char* counter : {"devices_in_use", "executors_in_use"}) {
      EXPECT_EQ(ApuCount(counter, copy_), 0) << counter;
    }
  };
  const Fault faults[] = {
      {"init", false, "SE_InitPlugin: the APU is switched off"},
      {"version", false, "of the device interface, Tenon"},
      {"size", false, "SP_Platform has struct_size 0"},
      {"get_device_count", false, "get_device_count: the APU is on fire"},
      {"create_device", false, "create_device: the APU is on fire"},
      {"create_stream_executor", false, "create_stream_executor: the APU is on fire"},
      {"executor_size", false, "SP_StreamExecutor has struct_size 8"},
      {"executor_functions", false, "SP_StreamExecutor has no memcpy_htod"}};
  for (const Fault& fault : faults) {
    const ApuFails failing(fault.function);
    expect(fault.says);
  }
  expect("device APU:0 is already there");
  auto graph = ParseGraph(kGraph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto session = MakeSession(*std::move(graph), "APU:0");
  const auto out = Run(*session, {Floats({-1, 2, -3})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(out[0].flat<float>(), ElementsAre(1, 0, 3));
}

}  // namespace
}  // namespace tenon
