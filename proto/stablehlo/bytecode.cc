// The sections of a bytecode file, and its ops. The format is MLIR's, versions 0 to 6.
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "env/status.h"
#include "proto/stablehlo/attributes.h"
#include "proto/stablehlo/cursor.h"
#include "proto/stablehlo/module.h"
#include "proto/stablehlo/op_attributes.h"

namespace tenon::stablehlo {
namespace {

constexpr absl::string_view kMagic = "ML\xefR";
constexpr uint64_t kNewestVersion = 6;
constexpr int kMaxRegionDepth = 64;  // of nested regions

// Versions of the format, by what they brought.
constexpr uint64_t kDialectVersions = 1;
constexpr uint64_t kRegionSections = 2;
constexpr uint64_t kUseLists = 3;
constexpr uint64_t kArgumentsWithoutLocation = 4;
constexpr uint64_t kOpProperties = 5;

enum Section : uint8_t {
  kStrings,
  kDialects,
  kEntries,
  kEntrySizes,
  kIr,
  kResources,
  kResourceOffsets,
  kVersions,
  kPropertyLists,
  kNumSections
};

// What follows an op's name and location.
enum OpPart : uint8_t {
  kHasAttributes = 1,
  kHasResults = 2,
  kHasOperands = 4,
  kHasSuccessors = 8,
  kHasRegions = 16,
  kHasUseLists = 32,
  kHasProperties = 64,
};

absl::Status Truncated(absl::string_view what) {
  return InvalidArgument("the module's ", what, " are truncated");
}

struct OpName {
  absl::string_view dialect, name;  // the name with its version
};

class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<Module> Read() {
    TENON_RETURN_IF_ERROR(ReadSections());
    TENON_RETURN_IF_ERROR(ReadStrings());
    TENON_RETURN_IF_ERROR(ReadDialects());
    TENON_RETURN_IF_ERROR(ReadProperties());
    TENON_RETURN_IF_ERROR(
        table_.Open(sections_[kEntries], sections_[kEntrySizes], dialects_, strings_));
    Cursor in(sections_[kIr]);
    scopes_.emplace_back();
    std::vector<Block> top(1);
    TENON_RETURN_IF_ERROR(ReadBlock(in, top[0], 0));
    if (!found_module_) return InvalidArgument("the bytecode has no module");
    return std::move(module_);
  }

 private:
  // Values by their number, which counts from the start of an isolated region.
  using Scope = std::vector<ValueId>;
  static constexpr ValueId kUndefined = -1;

  absl::Status ReadSection(Cursor& in, uint8_t& id, absl::string_view& data) {
    uint64_t size, alignment;
    if (!in.Byte(id) || !in.Varint(size)) return Truncated("sections");
    const bool aligned = (id & 0x80) != 0;
    id &= 0x7f;
    if (aligned) {
      if (!in.Varint(alignment)) return Truncated("sections");
      if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        return InvalidArgument("a section of the module is aligned to ", alignment, " bytes");
      }
      uint8_t padding;
      while ((static_cast<uint64_t>(in.at() - bytes_.data()) & (alignment - 1)) != 0) {
        if (!in.Byte(padding)) return Truncated("sections");
      }
    }
    if (!in.Bytes(size, data)) return Truncated("sections");
    return absl::OkStatus();
  }

  absl::Status ReadSections() {
    Cursor in(bytes_);
    absl::string_view magic, producer;
    if (!in.Bytes(kMagic.size(), magic) || magic != kMagic) {
      return InvalidArgument("the module is no MLIR bytecode");
    }
    if (!in.Varint(version_) || !in.NullTerminated(producer)) return Truncated("sections");
    if (version_ > kNewestVersion) {
      return Unimplemented("the module is bytecode of version ", version_, "; Tenon reads up to ",
                           kNewestVersion);
    }
    std::array<bool, kNumSections> seen = {};
    while (!in.done()) {
      uint8_t id;
      absl::string_view data;
      TENON_RETURN_IF_ERROR(ReadSection(in, id, data));
      if (id >= kNumSections || seen[id]) {
        return InvalidArgument("the module has a section ", id, " too many");
      }
      seen[id] = true;
      sections_[id] = data;
    }
    return absl::OkStatus();
  }

  absl::Status ReadStrings() {
    Cursor in(sections_[kStrings]);
    uint64_t n;
    if (!in.Count(n)) return Truncated("strings");
    std::vector<uint64_t> sizes(static_cast<size_t>(n));  // of the last string first
    for (uint64_t& size : sizes) {
      if (!in.Varint(size) || size == 0) return Truncated("strings");
    }
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      absl::string_view text;
      if (!in.Bytes(*size, text)) return Truncated("strings");
      strings_.push_back(text.substr(0, text.size() - 1));  // ends with a zero
    }
    return absl::OkStatus();
  }

  absl::StatusOr<absl::string_view> StringAt(uint64_t index) const {
    if (index >= strings_.size()) return InvalidArgument("the module has no string ", index);
    return strings_[static_cast<size_t>(index)];
  }

  absl::Status ReadDialects() {
    Cursor in(sections_[kDialects]);
    uint64_t n;
    if (!in.Count(n)) return Truncated("dialects");
    for (; n > 0; --n) {
      uint64_t name;
      bool versioned = false;
      const bool ok =
          version_ < kDialectVersions ? in.Varint(name) : in.VarintWithFlag(name, versioned);
      if (!ok) return Truncated("dialects");
      TENON_ASSIGN_OR_RETURN(const absl::string_view dialect, StringAt(name));
      dialects_.push_back(dialect);
      if (versioned) {
        uint8_t id;
        absl::string_view data;
        TENON_RETURN_IF_ERROR(ReadSection(in, id, data));
      }
    }
    uint64_t total;
    if (version_ >= kArgumentsWithoutLocation && !in.Varint(total)) return Truncated("dialects");
    while (!in.done()) {
      uint64_t dialect, count;
      if (!in.Varint(dialect) || !in.Count(count)) return Truncated("op names");
      if (dialect >= dialects_.size()) return InvalidArgument("there is no dialect ", dialect);
      for (; count > 0; --count) {
        uint64_t name;
        bool registered;
        const bool ok =
            version_ < kOpProperties ? in.Varint(name) : in.VarintWithFlag(name, registered);
        if (!ok) return Truncated("op names");
        TENON_ASSIGN_OR_RETURN(const absl::string_view op, StringAt(name));
        op_names_.push_back({dialects_[static_cast<size_t>(dialect)], op});
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadProperties() {
    if (sections_[kPropertyLists].empty()) return absl::OkStatus();
    Cursor in(sections_[kPropertyLists]);
    uint64_t n;
    if (!in.Count(n)) return Truncated("properties");
    for (; n > 0; --n) {
      uint64_t size;
      absl::string_view list;
      if (!in.Varint(size) || !in.Bytes(size, list)) return Truncated("properties");
      properties_.push_back(list);
    }
    return absl::OkStatus();
  }

  // ---- ops ----

  absl::StatusOr<ValueId> Define(uint64_t type) {
    TENON_ASSIGN_OR_RETURN(TypePtr decoded, table_.TypeAt(type));
    module_.value_types.push_back(std::move(decoded));
    return static_cast<ValueId>(module_.value_types.size() - 1);
  }

  // Gives a value the next number of the region.
  absl::Status Number(ValueId value) {
    Scope& scope = scopes_.back();
    if (next_ >= region_end_) return InvalidArgument("a region has more values than it says");
    scope[next_++] = value;
    return absl::OkStatus();
  }

  absl::Status SkipUseLists(Cursor& in, size_t values) {
    uint64_t n = 1;
    if (values > 1 && !in.Count(n)) return Truncated("ops");
    for (; n > 0; --n) {
      uint64_t skipped, count;
      bool pairs;
      if (values > 1 && !in.Varint(skipped)) return Truncated("ops");
      if (!in.VarintWithFlag(count, pairs)) return Truncated("ops");
      for (; count > 0; --count) {
        if (!in.Varint(skipped)) return Truncated("ops");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadBlock(Cursor& in, Block& block, int depth) {
    uint64_t ops;
    bool has_args;
    if (!in.VarintWithFlag(ops, has_args) || ops > in.left()) return Truncated("ops");
    if (has_args) TENON_RETURN_IF_ERROR(ReadArguments(in, block));
    for (; ops > 0; --ops) {
      block.ops.emplace_back();
      TENON_RETURN_IF_ERROR(ReadOp(in, block.ops.back(), depth));
    }
    return absl::OkStatus();
  }

  absl::Status ReadArguments(Cursor& in, Block& block) {
    uint64_t n;
    if (!in.Count(n)) return Truncated("ops");
    for (uint64_t i = 0; i < n; ++i) {
      uint64_t type, location;
      bool located = true;
      const bool ok =
          version_ < kArgumentsWithoutLocation ? in.Varint(type) : in.VarintWithFlag(type, located);
      if (!ok || (located && !in.Varint(location))) return Truncated("ops");
      TENON_ASSIGN_OR_RETURN(const ValueId value, Define(type));
      TENON_RETURN_IF_ERROR(Number(value));
      block.args.push_back(value);
    }
    uint8_t use_lists = 0;
    if (version_ >= kUseLists && !in.Byte(use_lists)) return Truncated("ops");
    return use_lists != 0 ? SkipUseLists(in, block.args.size()) : absl::OkStatus();
  }

  absl::Status ReadOp(Cursor& in, Op& op, int depth) {
    uint64_t name, location;
    uint8_t parts;
    if (!in.Varint(name) || !in.Byte(parts) || !in.Varint(location)) return Truncated("ops");
    if (name >= op_names_.size()) return InvalidArgument("the module has no op name ", name);
    const OpName& named = op_names_[static_cast<size_t>(name)];
    const bool vhlo = named.dialect == "vhlo";
    op.dialect = named.dialect;
    op.name = vhlo ? WithoutVersion(named.name) : named.name;
    absl::Status status = ReadParts(in, op, parts, vhlo ? named.name : absl::string_view());
    if (!status.ok()) return Annotate(status, op.name);
    const size_t first_result = next_ - op.results.size();
    if ((parts & kHasRegions) != 0) TENON_RETURN_IF_ERROR(ReadRegions(in, op, depth));
    for (size_t i = 0; i < op.results.size(); ++i) scopes_.back()[first_result + i] = op.results[i];
    if (op.dialect == "builtin" && op.name == "module") {
      if (depth > 0) return Unimplemented("modules within the module");
      found_module_ = true;
    }
    return vhlo && op.name == "func" ? AddFunction(op) : absl::OkStatus();
  }

  absl::Status ReadParts(Cursor& in, Op& op, uint8_t parts, absl::string_view vhlo) {
    uint64_t index, n;
    if ((parts & kHasAttributes) != 0) {
      if (!in.Varint(index)) return Truncated("ops");
      TENON_ASSIGN_OR_RETURN(op.extras, table_.Attr(index));
    }
    if ((parts & kHasProperties) != 0) {
      if (!in.Varint(index)) return Truncated("ops");
      if (!vhlo.empty()) TENON_RETURN_IF_ERROR(ReadAttributes(op, vhlo, index));
    }
    if ((parts & kHasResults) != 0) {
      if (!in.Count(n)) return Truncated("ops");
      for (; n > 0; --n) {
        if (!in.Varint(index)) return Truncated("ops");
        TENON_ASSIGN_OR_RETURN(const ValueId value, Define(index));
        op.results.push_back(value);
      }
    }
    if ((parts & kHasOperands) != 0) {
      if (!in.Count(n)) return Truncated("ops");
      for (; n > 0; --n) {
        if (!in.Varint(index)) return Truncated("ops");
        const Scope& scope = scopes_.back();
        if (index >= scope.size() || scope[static_cast<size_t>(index)] == kUndefined) {
          return InvalidArgument("reads a value ", index, " that is not defined before it");
        }
        op.operands.push_back(scope[static_cast<size_t>(index)]);
      }
    }
    if ((parts & kHasSuccessors) != 0) return Unimplemented("jumps to other blocks");
    if (version_ >= kUseLists && (parts & kHasUseLists) != 0) {
      TENON_RETURN_IF_ERROR(SkipUseLists(in, op.results.size()));
    }
    // The numbers of the results come before those of the op's regions, which can't read them.
    for (size_t i = 0; i < op.results.size(); ++i) TENON_RETURN_IF_ERROR(Number(kUndefined));
    return absl::OkStatus();
  }

  absl::Status ReadAttributes(Op& op, absl::string_view vhlo, uint64_t index) {
    if (index >= properties_.size()) return InvalidArgument("there are no properties ", index);
    const absl::string_view names = AttributesOf(vhlo);
    if (names.empty()) return absl::OkStatus();  // an op that no lowering knows
    Cursor list(properties_[static_cast<size_t>(index)]);
    for (absl::string_view name : absl::StrSplit(names, ' ')) {
      uint64_t attribute;
      if (!list.Varint(attribute)) return Truncated("properties");
      TENON_ASSIGN_OR_RETURN(AttributePtr value, table_.Attr(attribute));
      op.attrs.emplace_back(name, std::move(value));
    }
    return absl::OkStatus();
  }

  absl::Status ReadRegions(Cursor& outer, Op& op, int depth) {
    if (depth >= kMaxRegionDepth) return Unimplemented("regions are nested too deeply");
    uint64_t regions;
    bool isolated;
    if (!outer.VarintWithFlag(regions, isolated) || regions > outer.left()) return Truncated("ops");
    if (regions == 0) return absl::OkStatus();
    Cursor section;
    Cursor* in = &outer;
    if (isolated && version_ >= kRegionSections) {
      uint8_t id;
      absl::string_view data;
      TENON_RETURN_IF_ERROR(ReadSection(outer, id, data));
      section = Cursor(data);
      in = &section;
    }
    if (isolated) scopes_.emplace_back();
    op.regions.resize(static_cast<size_t>(regions));
    for (std::vector<Block>& region : op.regions) {
      TENON_RETURN_IF_ERROR(ReadRegion(*in, region, depth + 1));
    }
    if (isolated) scopes_.pop_back();
    return absl::OkStatus();
  }

  absl::Status ReadRegion(Cursor& in, std::vector<Block>& region, int depth) {
    uint64_t blocks, values;
    if (!in.Count(blocks)) return Truncated("ops");
    if (blocks == 0) return absl::OkStatus();
    if (!in.Count(values)) return Truncated("ops");
    const size_t next = next_, end = region_end_, base = scopes_.back().size();
    scopes_.back().resize(base + static_cast<size_t>(values), kUndefined);
    next_ = base;
    region_end_ = scopes_.back().size();
    region.resize(static_cast<size_t>(blocks));
    for (Block& block : region) TENON_RETURN_IF_ERROR(ReadBlock(in, block, depth));
    scopes_.back().resize(base);
    next_ = next;
    region_end_ = end;
    return absl::OkStatus();
  }

  absl::Status AddFunction(Op& op) {
    const Attribute *name = op.attr("sym_name"), *type = op.attr("function_type");
    if (name == nullptr || type == nullptr || type->type == nullptr ||
        type->type->kind != Type::Kind::kFunction) {
      return InvalidArgument("a function has no name or type");
    }
    if (op.regions.size() != 1 || op.regions[0].size() != 1) {
      return Unimplemented("function '", name->text, "' is not one block");
    }
    if (!module_.by_name.emplace(name->text, module_.functions.size()).second) {
      return InvalidArgument("two functions are named '", name->text, "'");
    }
    Function function;
    function.name = name->text;
    function.type = type->type;
    function.body = std::move(op.regions[0][0]);
    if (function.type->inputs.size() != function.body.args.size()) {
      return InvalidArgument("function '", name->text, "' takes ", function.body.args.size(),
                             " arguments, but its type says ", function.type->inputs.size());
    }
    module_.functions.push_back(std::move(function));
    return absl::OkStatus();
  }

  const absl::string_view bytes_;
  uint64_t version_ = 0;
  std::array<absl::string_view, kNumSections> sections_;
  std::vector<absl::string_view> strings_, dialects_, properties_;
  std::vector<OpName> op_names_;
  AttributeTable table_;
  std::vector<Scope> scopes_;
  // In the innermost scope: the number of the region's next value, and one past its last.
  size_t next_ = 0, region_end_ = 0;
  Module module_;
  bool found_module_ = false;
};

}  // namespace

const Attribute* Op::attr(absl::string_view key) const {
  for (const auto& [name, value] : attrs) {
    if (name == key) return value.get();
  }
  if (extras == nullptr) return nullptr;
  for (const auto& [name, value] : extras->dictionary) {
    if (name == key) return value.get();
  }
  return nullptr;
}

const Function* Module::Find(absl::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &functions[found->second];
}

bool IsBytecode(absl::string_view bytes) { return absl::StartsWith(bytes, kMagic); }

absl::StatusOr<Module> ReadModule(absl::string_view bytes) { return Reader(bytes).Read(); }

}  // namespace tenon::stablehlo
