#include "env/flags.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

absl::StatusOr<Flags> WithGate(const char* value) {
  return Flags::From([value](const char* name) -> std::optional<std::string> {
    if (std::string(name) == "TF_ENABLE_ONEDNN_OPTS") return value;
    return std::nullopt;
  });
}

TEST(Flags, GateIsOnUnlessTurnedOff) {
  EXPECT_TRUE(Flags::From([](const char*) { return std::nullopt; })->onednn_opts);
  for (const char* on : {"1", "true", "True", " 1 ", ""})
    EXPECT_TRUE(WithGate(on)->onednn_opts) << on;
  for (const char* off : {"0", "false", "FALSE"}) EXPECT_FALSE(WithGate(off)->onednn_opts) << off;
}

TEST(Flags, OtherGateValuesAreErrorsThatNameTheVariable) {
  for (const char* bad : {"2", "yes", "on", "-1"}) {
    const auto flags = WithGate(bad);
    ASSERT_FALSE(flags.ok()) << bad;
    EXPECT_NE(flags.status().message().find("TF_ENABLE_ONEDNN_OPTS"), std::string::npos);
  }
}

TEST(Flags, EveryDefaultParsesToItself) {
  const Flags flags = *Flags::From([](const char*) { return std::nullopt; });
  for (const FlagRow& row : FlagTable())
    EXPECT_EQ(FlagText(row, flags), row.default_text) << row.name;
}

TEST(Flags, AStructWithoutAnEnvironmentHasTheDefaults) {
  for (const FlagRow& row : FlagTable())
    EXPECT_EQ(FlagText(row, Flags()), row.default_text) << row.name;
}

}  // namespace
}  // namespace tenon
