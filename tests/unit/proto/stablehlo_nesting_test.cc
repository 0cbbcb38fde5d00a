// StableHLO modules that nest regions, attributes, types or calls deeper than any exporter: errors,
// on a small stack too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "proto/import/call_module.h"
#include "proto/stablehlo/module.h"
#include "proto/stablehlo/op_attributes.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

constexpr int kFar = 100'000;

void OnASmallStack(const std::function<void()>& f) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 512 << 10);
  pthread_t thread;
  const auto run = [](void* arg) -> void* {
    (*static_cast<const std::function<void()>*>(arg))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attr, run, const_cast<std::function<void()>*>(&f)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attr);
}

// ---- MLIR's bytecode, written ----

std::string Number(uint64_t value) {
  if (value < 128) return std::string(1, static_cast<char>(value << 1 | 1));
  std::string out(1, '\0');
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> 8 * i);
  return out;
}
std::string WithFlag(uint64_t value, bool flag = false) { return Number(value << 1 | flag); }
std::string Section(int id, const std::string& bytes) {
  return std::string(1, static_cast<char>(id)) + Number(bytes.size()) + bytes;
}

constexpr char kAttributes = 1, kResults = 2, kOperands = 4, kRegions = 16, kProperties = 64;
// Op names, by their number; the first is of the builtin dialect, the others of VHLO.
enum OpName { kModule, kFunc, kWhile, kCall, kReturn };

std::string OpHead(OpName name, int parts) {
  return Number(name) + std::string(1, static_cast<char>(parts)) + Number(0);
}
// One region of one block, with so many ops, which follow, and values of its own.
std::string Region(uint64_t ops, uint64_t values = 0) {
  return WithFlag(1) + Number(1) + Number(values) + WithFlag(ops);
}

struct Bytecode {
  std::vector<std::string> strings = {"builtin",  "vhlo",    "module",   "func_v1",
                                      "while_v1", "call_v1", "return_v1"};
  std::vector<std::string> attributes, types, properties;  // all of VHLO
  std::string ops;
  uint64_t top_ops = 1;

  uint64_t AddString(const std::string& text) {
    strings.push_back(text);
    return strings.size() - 1;
  }
  std::string Write() const {
    std::string sizes = Number(strings.size()), texts;
    for (auto s = strings.rbegin(); s != strings.rend(); ++s) sizes += Number(s->size() + 1);
    for (const std::string& s : strings) texts += s + '\0';
    std::string dialects = Number(2) + WithFlag(0) + WithFlag(1) + Number(5);
    dialects += Number(0) + Number(1) + WithFlag(2);
    dialects += Number(1) + Number(4);
    for (int name = 3; name <= 6; ++name) dialects += WithFlag(static_cast<uint64_t>(name));
    std::string entries, entry_sizes = Number(attributes.size()) + Number(types.size());
    for (const auto* table : {&attributes, &types}) {
      if (table->empty()) continue;
      entry_sizes += Number(1) + Number(table->size());
      for (const std::string& entry : *table) {
        entries += entry;
        entry_sizes += WithFlag(entry.size(), true);
      }
    }
    std::string lists = Number(properties.size());
    for (const std::string& list : properties) lists += Number(list.size()) + list;
    const std::string ir = WithFlag(top_ops) + ops;
    // Version 6 of the format, and no producer.
    return "ML\xefR" + Number(6) + '\0' + Section(0, sizes + texts) + Section(1, dialects) +
           Section(2, entries) + Section(3, entry_sizes) + Section(8, lists) + Section(4, ir);
  }
};

absl::Status Read(const Bytecode& code) { return stablehlo::ReadModule(code.Write()).status(); }

void ExpectTooDeep(const absl::Status& status, const char* says) {
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(says)) << status;
}

// A module of `while`s, each in the region of the one before.
Bytecode Regions(int levels) {
  Bytecode code;
  code.ops = OpHead(kModule, kRegions) + Region(1);
  for (int i = 1; i < levels; ++i) code.ops += OpHead(kWhile, kRegions) + Region(1);
  code.ops += OpHead(kWhile, 0);
  return code;
}

TEST(StableHloNesting, Regions) {
  OnASmallStack([] {
    EXPECT_TRUE(Read(Regions(60)).ok()) << Read(Regions(60));
    ExpectTooDeep(Read(Regions(65)), "regions are nested too deeply");
    ExpectTooDeep(Read(Regions(kFar)), "regions are nested too deeply");
  });
}

// A `while` whose region returns the result of the `while` itself; another op may read it after.
TEST(StableHloNesting, ARegionDoesNotReadTheResultsOfItsOp) {
  for (const bool inside : {false, true}) {
    Bytecode code;
    code.types.push_back(Number(4));
    const std::string read = OpHead(kReturn, kOperands) + Number(1) + Number(0);
    code.ops = OpHead(kModule, kRegions) + Region(inside ? 1 : 2, 1) +
               OpHead(kWhile, kResults | kRegions) + Number(1) + Number(0) + Region(1) +
               (inside ? read : OpHead(kReturn, 0) + read);
    const absl::Status status = Read(code);
    EXPECT_EQ(status.ok(), !inside) << status;
    if (inside) {
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("reads a value 0 that is not defined before it"));
    }
  }
}

// Arrays of one array, whose innermost is empty.
Bytecode Attributes(int levels) {
  Bytecode code;
  for (int i = 1; i <= levels; ++i) {
    code.attributes.push_back(
        Number(1) + (i < levels ? Number(1) + Number(static_cast<uint64_t>(i)) : Number(0)));
  }
  code.ops = OpHead(kModule, kAttributes) + Number(0);
  return code;
}

TEST(StableHloNesting, Attributes) {
  OnASmallStack([] {
    EXPECT_TRUE(Read(Attributes(32)).ok()) << Read(Attributes(32));
    ExpectTooDeep(Read(Attributes(40)), "attributes are nested too deeply");
    ExpectTooDeep(Read(Attributes(kFar)), "attributes are nested too deeply");
  });
}

// Complex numbers of complex numbers; the innermost part is a float.
Bytecode Types(int levels) {
  Bytecode code;
  for (int i = 1; i < levels; ++i) {
    code.types.push_back(Number(1) + Number(static_cast<uint64_t>(i)));
  }
  code.types.push_back(Number(4));
  code.ops = OpHead(kModule, kResults) + Number(1) + Number(0);
  return code;
}

TEST(StableHloNesting, Types) {
  OnASmallStack([] {
    ExpectTooDeep(Read(Types(40)), "types are nested too deeply");
    ExpectTooDeep(Read(Types(kFar)), "types are nested too deeply");
  });
}

// Functions without arguments or results, each of which calls the next.
Bytecode Calls(int levels) {
  Bytecode code;
  code.types.push_back(Number(8) + Number(0) + Number(0));
  code.attributes = {Number(1) + Number(0), Number(17) + Number(0)};  // nothing; the type
  std::string functions;
  for (int i = 0; i < levels; ++i) {
    const uint64_t name = code.AddString(i == 0 ? "main" : "f" + std::to_string(i));
    code.attributes.push_back(Number(14) + Number(name));  // number i + 2
    std::string list;
    for (absl::string_view key : absl::StrSplit(stablehlo::AttributesOf("func_v1"), ' ')) {
      list += Number(key == "sym_name"        ? static_cast<uint64_t>(i) + 2
                     : key == "function_type" ? 1
                                              : 0);
    }
    code.properties.push_back(list);
    const bool last = i + 1 == levels;
    functions += OpHead(kFunc, kProperties | kRegions) + Number(code.properties.size() - 1) +
                 Region(last ? 1 : 2);
    if (!last) {
      code.properties.push_back(Number(static_cast<uint64_t>(i) + 3));
      functions += OpHead(kCall, kProperties) + Number(code.properties.size() - 1);
    }
    functions += OpHead(kReturn, 0);
  }
  code.ops = OpHead(kModule, kRegions) + Region(static_cast<uint64_t>(levels)) + functions;
  return code;
}

absl::Status Lowered(const Bytecode& code) {
  Node node;
  node.name = "call";
  node.op = "XlaCallModule";
  node.attrs["version"] = int64_t{10};
  node.attrs["module"] = code.Write();
  return LowerCallModule(node, "main").status();
}

TEST(StableHloNesting, Calls) {
  OnASmallStack([] {
    EXPECT_TRUE(Lowered(Calls(60)).ok()) << Lowered(Calls(60));
    ExpectTooDeep(Lowered(Calls(70)), "calls are nested too deeply");
    ExpectTooDeep(Lowered(Calls(kFar)), "calls are nested too deeply");
  });
}

}  // namespace
}  // namespace tenon
