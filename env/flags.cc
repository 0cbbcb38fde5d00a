#include "env/flags.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "env/status.h"

namespace tenon {
namespace {

constexpr bool kRunningOnly = true;

const FlagRow kRows[] = {
    {"TF_ENABLE_ONEDNN_OPTS", &Flags::onednn_opts, "1",
     "1: rewrite graphs and eager ops to oneDNN kernels; 0: run reference kernels on the unchanged "
     "graph"},
    {"TF_NUM_INTRAOP_THREADS", &Flags::intra_op_threads, "0",
     "threads per op; 0: OMP_NUM_THREADS, then the number of CPUs this process may use",
     kRunningOnly},
    {"OMP_NUM_THREADS", &Flags::omp_threads, "0",
     "threads if neither --threads nor TF_NUM_INTRAOP_THREADS is set", kRunningOnly},
    {"TENON_PRIMITIVE_CACHE", &Flags::primitive_cache, "1",
     "0: do not cache oneDNN primitives (for tests; results do not depend on it)", kRunningOnly},
    {"TENON_CACHE_ENTRIES", &Flags::cache_entries, "4096",
     "maximum number of oneDNN primitives, and of prepared kernels, that a session keeps; 0: none",
     kRunningOnly},
    {"TENON_CACHE_BYTES", &Flags::cache_bytes, "1073741824",
     "maximum total bytes of those primitives, and of those kernels; 0: none are kept",
     kRunningOnly},
    {"TENON_PLAN_ENTRIES", &Flags::plan_entries, "64",
     "maximum number of plans (one per set of input shapes) that a session keeps; 0: none",
     kRunningOnly},
    {"TENON_PLAN_BYTES", &Flags::plan_bytes, "268435456",
     "maximum total bytes of a session's plans, including kernels but not weights and arenas; one "
     "plan is kept even if it is larger; 0: none are kept",
     kRunningOnly},
    {"TENON_DISABLE_RULES", &Flags::disabled_rules, "",
     "comma-separated names of rewrite rules that must not fire (tenon rules lists them)"},
    {"TENON_DUMP_DIR", &Flags::dump_dir, "",
     "folder for text dumps of each graph before and after each phase; empty: none", kRunningOnly},
    {"TENON_CACHE_DIR", &Flags::cache_dir, "",
     "folder of the disk cache (rewritten graphs and packed weights); empty: none", kRunningOnly},
    {"TENON_CACHE_DIR_BYTES", &Flags::cache_dir_bytes, "4294967296",
     "maximum total bytes of cache files in that folder: writing a file deletes the least "
     "recently used ones; 0: no limit",
     kRunningOnly},
    {"TENON_MAP_FILES", &Flags::map_files, "1",
     "1: sessions map weights and cache files, which costs no time and no memory of their own; 0: "
     "they copy them, so that a file may become shorter while it is in use (docs/FAULTS.md)",
     kRunningOnly},
    {"TENON_PLUGIN_PATH", &Flags::plugin_path, "",
     "device plug-ins: files, or folders of them, separated by ':' (docs/DEVICES.md); empty: none",
     kRunningOnly},
    {"TENON_STRICT_NAN", &Flags::strict_nan, "0",
     "1: NaN passes through a Relu or Relu6 fused into a depthwise convolution, and infinities "
     "through 3x3 convolutions, as in TensorFlow's kernels"},
    {"TENON_WINOGRAD", &Flags::winograd, "1",
     "0: 3x3 convolutions multiply directly, never by Winograd's algorithm, whose rounding differs "
     "and which spreads an infinity over a tile of results"},
    {"TENON_TILES", &Flags::tiles, "1",
     "1: float products and convolutions use the CPU's matrix tiles (AMX) where that is faster, "
     "with the accuracy of float; 0: never; 2: wherever they can (for tests)"},
    {"TENON_BLOCK_LINES", &Flags::block_lines, "1",
     "1: the convolutions of a mobile network's block are computed line by line where the images "
     "between them do not fit in the caches; 0: never; 2: wherever they can be (for tests)"},
    {"TF_SET_ONEDNN_FPMATH_MODE", &Flags::fpmath_mode, "",
     "BF16: compute in bfloat16 where that is safe, as with --precision bf16; empty: float32"},
    {"GOMP_SPINCOUNT", &Flags::spin_count, "",
     "how many times an idle OpenMP thread looks for work before it sleeps; empty: 10000 on the "
     "command line, otherwise libgomp's default (milliseconds)",
     kRunningOnly},
    {"OMP_WAIT_POLICY", &Flags::wait_policy, "",
     "active or passive: libgomp's setting for how idle threads wait; if it is set, the command "
     "line does not set GOMP_SPINCOUNT",
     kRunningOnly},
    {"OMP_DYNAMIC", &Flags::dynamic_threads, "1",
     "1 or true: while other programs keep CPUs busy, a session's runs use only as many threads as "
     "get a CPU; 0 or false: always all of them",
     kRunningOnly},
    {"OMP_PROC_BIND", &Flags::proc_bind, "",
     "libgomp's setting for where threads run; if it, OMP_PLACES or GOMP_CPU_AFFINITY is set, "
     "Tenon does not move threads that share a CPU with another of their team",
     kRunningOnly},
    {"TENON_SUBGRAPHS", &Flags::subgraphs, "1",
     "inside TensorFlow, 1: a part of a graph that Tenon knows whole, and that has several ops "
     "which it accelerates, runs as one op; 0: each op runs on its own (docs/TENSORFLOW.md)",
     kRunningOnly},
};

absl::Status Parse(const FlagRow& row, const std::string& raw, Flags& flags) {
  const std::string text(absl::StripAsciiWhitespace(raw));
  if (auto* field = std::get_if<bool Flags::*>(&row.field)) {
    const std::string lower = absl::AsciiStrToLower(text);
    if (lower == "1" || lower == "true") {
      flags.*(*field) = true;
    } else if (lower == "0" || lower == "false") {
      flags.*(*field) = false;
    } else {
      return InvalidArgument(row.name, "='", raw, "' is not one of 0, 1, true, false");
    }
  } else if (auto* field = std::get_if<int64_t Flags::*>(&row.field)) {
    int64_t value = 0;
    if (!absl::SimpleAtoi(text, &value) || value < 0) {
      return InvalidArgument(row.name, "='", raw, "' is not a non-negative whole number");
    }
    flags.*(*field) = value;
  } else {
    flags.*std::get<std::string Flags::*>(row.field) = text;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const FlagRow> FlagTable() { return kRows; }

absl::StatusOr<Flags> Flags::From(const Lookup& lookup) {
  Flags flags;
  for (const FlagRow& row : kRows) {
    std::optional<std::string> value = lookup(row.name);
    // An empty variable counts as unset, as shells and containers leave them.
    const bool set = value.has_value() && !value->empty();
    TENON_RETURN_IF_ERROR(Parse(row, set ? *value : row.default_text, flags));
  }
  return flags;
}

absl::StatusOr<Flags> Flags::FromEnvironment() {
  return From([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  });
}

std::string FlagText(const FlagRow& row, const Flags& flags) {
  if (auto* field = std::get_if<bool Flags::*>(&row.field)) return flags.*(*field) ? "1" : "0";
  if (auto* field = std::get_if<int64_t Flags::*>(&row.field)) return absl::StrCat(flags.*(*field));
  return flags.*std::get<std::string Flags::*>(row.field);
}

}  // namespace tenon
