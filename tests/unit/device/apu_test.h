// Sessions with the sample plug-in (tests/plugin/apu).
#ifndef TENON_TESTS_UNIT_DEVICE_APU_TEST_H_
#define TENON_TESTS_UNIT_DEVICE_APU_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/devices/registry.h"
#include "runtime/session/session.h"
#include "tests/unit/device/apu_counts.h"

namespace tenon {

class ApuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status loaded = DeviceRegistry::Global().Load(ApuPath());
    ASSERT_TRUE(loaded.ok()) << loaded;
  }

  static std::unique_ptr<Session> MakeSession(Graph graph, const std::string& device) {
    SessionOptions options;
    options.device = device;
    options.threads = 1;
    auto session = Session::Create(std::move(graph), options);
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }
  static std::vector<Tensor> Run(Session& session, const std::vector<Tensor>& inputs) {
    auto outputs = session.Run(inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return outputs.ok() ? *std::move(outputs) : std::vector<Tensor>();
  }
  static Tensor Floats(std::vector<float> values) { return Tensor::Vector<float>(values); }
};

}  // namespace tenon

#endif  // TENON_TESTS_UNIT_DEVICE_APU_TEST_H_
