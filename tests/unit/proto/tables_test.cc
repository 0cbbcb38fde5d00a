// Tables in text files, and models whose tables cannot be initialized. Complete models with tables
// are in tests/models/loader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "proto/import/model.h"
#include "proto/import/table_text.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TableTextTest : public ::testing::Test {
 protected:
  TableTextTest() { text_.path = ::testing::TempDir() + "/tenon_table.txt"; }
  ~TableTextTest() override { std::filesystem::remove(text_.path); }

  void Write(const std::string& content) { std::ofstream(text_.path) << content; }
  std::string Error(DType keys, DType values) {
    return std::string(ReadTableText(text_, keys, values).status().message());
  }

  TableText text_;
};

TEST_F(TableTextTest, WholeLinesAndTheirNumbers) {
  Write("a b\n\nc\n");
  const auto table = ReadTableText(text_, DType::kString, DType::kInt64);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(table->first.flat<std::string>(), ElementsAre("a b", "", "c"));
  EXPECT_THAT(table->second.flat<int64_t>(), ElementsAre(0, 1, 2));
}

TEST_F(TableTextTest, FieldsOffsetAndSize) {
  Write("skipped\n1,2.5,x\n-3,4,y\n5,6,z\n");
  text_.delimiter = ',';
  text_.key_index = 0;
  text_.value_index = 1;
  text_.offset = 1;
  text_.vocab_size = 2;
  const auto table = ReadTableText(text_, DType::kInt32, DType::kFloat);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(table->first.flat<int32_t>(), ElementsAre(1, -3));
  EXPECT_THAT(table->second.flat<float>(), ElementsAre(2.5f, 4.f));
}

TEST_F(TableTextTest, ErrorsNameFileAndLine) {
  Write("1\t2\nx\t3\n");
  text_.key_index = 0;
  text_.value_index = 1;
  EXPECT_THAT(Error(DType::kInt64, DType::kInt64),
              HasSubstr("tenon_table.txt:2: 'x' is not int64"));
  text_.value_index = 2;
  EXPECT_THAT(Error(DType::kString, DType::kInt64), HasSubstr(":1: has 2 fields"));
  text_.value_index = TableText::kLineNumber;
  EXPECT_THAT(Error(DType::kString, DType::kString), HasSubstr("line numbers are int64"));
  text_.vocab_size = 3;
  EXPECT_THAT(Error(DType::kString, DType::kInt64), HasSubstr("has 2 lines, but 3 are wanted"));
  text_.key_index = -3;
  EXPECT_THAT(Error(DType::kString, DType::kInt64), HasSubstr("index"));
  text_.path += ".missing";
  text_.key_index = 0;
  EXPECT_THAT(Error(DType::kString, DType::kInt64), HasSubstr("cannot be read"));
}

class TableGraphTest : public ::testing::Test {
 protected:
  ~TableGraphTest() override { std::filesystem::remove(path_); }

  // A graph that looks up `keys` in an int64 table, with additional nodes.
  absl::Status LoadWith(const std::string& more, const std::string& fetch = "y") {
    std::ofstream(path_) << R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_INT64 } } }
node { name: "table" op: "HashTableV2"
  attr { key: "key_dtype" value { type: DT_INT64 } } attr { key: "value_dtype" value { type: DT_INT64 } } }
node { name: "default" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
  attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape {} int64_val: 5 } } } }
node { name: "y" op: "LookupTableFindV2" input: "table" input: "x" input: "default"
  attr { key: "Tin" value { type: DT_INT64 } } attr { key: "Tout" value { type: DT_INT64 } } }
)" << more;
    LoadOptions options;
    options.fetches = {fetch};
    return LoadModel(path_, options).status();
  }
  static std::string Const(const std::string& name, const std::string& values, int n) {
    return absl::StrCat("node { name: '", name, R"(' op: "Const"
  attr { key: "dtype" value { type: DT_INT64 } } attr { key: "value" value { tensor {
    dtype: DT_INT64 tensor_shape { dim { size: )",
                        n, " } } ", values, " } } } }\n");
  }
  static constexpr char kInitialize[] = R"(
node { name: "init" op: "InitializeTableV2" input: "table" input: "k" input: "v"
  attr { key: "Tkey" value { type: DT_INT64 } } attr { key: "Tval" value { type: DT_INT64 } } }
)";

  const std::string path_ = ::testing::TempDir() + "/tenon_table_graph.pbtxt";
};

TEST_F(TableGraphTest, InitializersInTheGraphCount) {
  EXPECT_TRUE(LoadWith(Const("k", "int64_val: 1 int64_val: 2", 2) +
                       Const("v", "int64_val: 7 int64_val: 8", 2) + kInitialize)
                  .ok());
}

TEST_F(TableGraphTest, ATableThatNothingFillsIsNamed) {
  const absl::Status status = LoadWith("");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("node 'y'"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("'table' is not initialized"));
}

TEST_F(TableGraphTest, TwoValuesForOneKey) {
  const absl::Status status = LoadWith(Const("k", "int64_val: 1 int64_val: 1", 2) +
                                       Const("v", "int64_val: 7 int64_val: 8", 2) + kInitialize);
  EXPECT_THAT(std::string(status.message()), HasSubstr("two values for the key of entry 1"));
}

TEST_F(TableGraphTest, AnEntryGivenTwiceCountsOnce) {
  std::ofstream(path_) << R"(
node { name: "table" op: "HashTableV2"
  attr { key: "key_dtype" value { type: DT_INT64 } } attr { key: "value_dtype" value { type: DT_INT64 } } }
node { name: "size" op: "LookupTableSizeV2" input: "table" }
)" << Const("k", "int64_val: 1 int64_val: 4 int64_val: 1", 3)
                       << Const("v", "int64_val: 7 int64_val: 8 int64_val: 7", 3) << kInitialize;
  LoadOptions options;
  options.fetches = {"size"};
  const auto model = LoadModel(path_, options);
  ASSERT_TRUE(model.ok()) << model.status();
  const Tensor* size = nullptr;
  for (const NodeId id : model->graph.NodeIds()) {
    if (const Tensor* value = model->graph.node(id).attr<Tensor>("value")) size = value;
  }
  ASSERT_NE(size, nullptr);
  EXPECT_EQ(size->data<int64_t>()[0], 2);
}

TEST_F(TableGraphTest, KeysAndValuesOfDifferentNumber) {
  const absl::Status status = LoadWith(Const("k", "int64_val: 1", 1) +
                                       Const("v", "int64_val: 7 int64_val: 8", 2) + kInitialize);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1 keys and 2 values"));
}

TEST_F(TableGraphTest, AnInsertionNamesAnImmutableTable) {
  const absl::Status status =
      LoadWith(Const("k", "int64_val: 1", 1) + Const("v", "int64_val: 7", 1) + kInitialize + R"(
node { name: "insert" op: "LookupTableInsertV2" input: "table" input: "k" input: "v"
  attr { key: "Tin" value { type: DT_INT64 } } attr { key: "Tout" value { type: DT_INT64 } } }
node { name: "late" op: "Identity" input: "y" input: "^insert"
  attr { key: "T" value { type: DT_INT64 } } }
)",
               "late");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("node 'insert'"));
}

// Tables of vectors: `shape` is the text of value_shape, `values` that of the imported values.
TEST_F(TableGraphTest, ShapesOfValues) {
  const auto load = [&](const std::string& shape, const std::string& values) {
    std::ofstream(path_) << R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_INT64 } } }
node { name: "t" op: "MutableHashTableOfTensorsV2"
  attr { key: "key_dtype" value { type: DT_INT64 } } attr { key: "value_dtype" value { type: DT_INT64 } })"
                         << shape << " }\n"
                         << Const("k", "int64_val: 1 int64_val: 4", 2)
                         << Const("d", "int64_val: 5 int64_val: 6", 2) << R"(
node { name: "v" op: "Const" attr { key: "dtype" value { type: DT_INT64 } } attr { key: "value" value {
  tensor { dtype: DT_INT64 )"
                         << values << R"( } } } }
node { name: "init" op: "LookupTableImportV2" input: "t" input: "k" input: "v"
  attr { key: "Tin" value { type: DT_INT64 } } attr { key: "Tout" value { type: DT_INT64 } } }
node { name: "y" op: "LookupTableFindV2" input: "t" input: "x" input: "d"
  attr { key: "Tin" value { type: DT_INT64 } } attr { key: "Tout" value { type: DT_INT64 } } }
)";
    LoadOptions options;
    options.fetches = {"y"};
    const absl::Status status = LoadModel(path_, options).status();
    return status.ok() ? "loaded" : std::string(status.message());
  };
  const auto shape = [](const std::string& dims) {
    return absl::StrCat("attr { key: 'value_shape' value { shape { ", dims, " } } }");
  };
  constexpr char kPairs[] = "tensor_shape { dim { size: 2 } dim { size: 2 } } int64_val: 7";
  EXPECT_EQ(load(shape("dim { size: 2 }"), kPairs), "loaded");
  EXPECT_THAT(load(shape("dim { size: 3 }"), kPairs), HasSubstr("shape [2,2], not [2,3]"));
  EXPECT_THAT(load(shape("dim { size: 2 }"), "tensor_shape { dim { size: 4 } } int64_val: 7"),
              HasSubstr("shape [4], not [2,2]"));
  EXPECT_THAT(load(shape(""), kPairs), HasSubstr("value_shape must be a vector's"));
  EXPECT_THAT(load("", kPairs), HasSubstr("value_shape must be a vector's"));
  EXPECT_THAT(load(shape("dim { size: 2 } dim { size: 1 }"), kPairs),
              HasSubstr("value_shape must be a vector's"));
  for (const char* size : {"-1", "-7", "9223372036854775807"}) {
    EXPECT_NE(load(shape(absl::StrCat("dim { size: ", size, " }")), kPairs), "loaded") << size;
  }
}

// A model must not choose which files of the machine are read.
TEST_F(TableGraphTest, AFileThatIsNoAssetIsNotRead) {
  const std::string secret = ::testing::TempDir() + "/tenon_table_secret.txt";
  std::ofstream(secret) << "1\n2\n";
  const absl::Status status = LoadWith(absl::StrCat(R"(
node { name: "file" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: ")",
                                                    secret, R"(" } } } }
node { name: "init" op: "InitializeTableFromTextFileV2" input: "table" input: "file"
  attr { key: "key_index" value { i: -2 } } attr { key: "value_index" value { i: -1 } } }
)"));
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("tenon_table_secret.txt"));
  std::filesystem::remove(secret);
}

TEST(Assets, StayInTheModelsFolder) {
  const std::string folder = ::testing::TempDir() + "/tenon_asset_model";
  for (const char* asset : {"../secret.txt", "a/../../secret.txt", "/etc/hostname", ""}) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/saved_model.pbtxt") << absl::StrCat(
        R"(meta_graphs {
  meta_info_def { tags: "serve" }
  graph_def {
    node {
      name: "y" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } }
    }
  }
  signature_def { key: "serving_default" value {
    outputs { key: "y" value { name: "y:0" dtype: DT_FLOAT tensor_shape { } } }
  } }
  asset_file_def { tensor_info { name: "file:0" } filename: ")",
        asset, R"(" }
})");
    const absl::Status status = LoadModel(folder, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << asset << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is not in the model's folder")) << asset;
    std::filesystem::remove_all(folder);
  }
}

}  // namespace
}  // namespace tenon
