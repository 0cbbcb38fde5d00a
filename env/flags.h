// The flag table: every environment variable that Tenon reads, once per session, into an
// immutable struct. The same rows feed the parser, `tenon env` and docs/ENV.md.
//
//   TENON_ASSIGN_OR_RETURN(Flags flags, Flags::FromEnvironment());
//   if (flags.onednn_opts) ...
#ifndef TENON_ENV_FLAGS_H_
#define TENON_ENV_FLAGS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tenon {

// Without an environment: the rows' defaults.
struct Flags {
  bool onednn_opts = true;  // TF_ENABLE_ONEDNN_OPTS
  int64_t intra_op_threads =
      0;                        // TF_NUM_INTRAOP_THREADS; 0: OMP_NUM_THREADS, then the CPUs at hand
  int64_t omp_threads = 0;      // OMP_NUM_THREADS
  bool primitive_cache = true;  // TENON_PRIMITIVE_CACHE
  int64_t cache_entries = 4096;                // TENON_CACHE_ENTRIES
  int64_t cache_bytes = int64_t{1} << 30;      // TENON_CACHE_BYTES
  int64_t plan_entries = 64;                   // TENON_PLAN_ENTRIES
  int64_t plan_bytes = int64_t{1} << 28;       // TENON_PLAN_BYTES
  std::string disabled_rules;                  // TENON_DISABLE_RULES: comma-separated rule names
  std::string dump_dir;                        // TENON_DUMP_DIR
  std::string cache_dir;                       // TENON_CACHE_DIR
  int64_t cache_dir_bytes = int64_t{4} << 30;  // TENON_CACHE_DIR_BYTES
  bool map_files = true;                       // TENON_MAP_FILES
  std::string plugin_path;                     // TENON_PLUGIN_PATH
  bool strict_nan = false;                     // TENON_STRICT_NAN
  bool winograd = true;                        // TENON_WINOGRAD
  int64_t tiles = 1;                           // TENON_TILES
  int64_t block_lines = 1;                     // TENON_BLOCK_LINES
  std::string fpmath_mode;                     // TF_SET_ONEDNN_FPMATH_MODE: BF16, or empty
  std::string spin_count;                      // GOMP_SPINCOUNT (env/openmp.h)
  std::string proc_bind;                       // OMP_PROC_BIND (env/spread_team.h)
  std::string wait_policy;                     // OMP_WAIT_POLICY (env/openmp.h)
  bool dynamic_threads = true;                 // OMP_DYNAMIC (env/team_size.h)
  bool subgraphs = true;                       // TENON_SUBGRAPHS (tf_plugin/subgraphs.h)

  using Lookup = std::function<std::optional<std::string>(const char* name)>;

  // Reads every row of the table. Error: InvalidArgument naming the variable and what it accepts.
  static absl::StatusOr<Flags> FromEnvironment();
  static absl::StatusOr<Flags> From(const Lookup& lookup);
};

struct FlagRow {
  const char* name;
  std::variant<bool Flags::*, int64_t Flags::*, std::string Flags::*> field;
  const char* default_text;  // parsed like a user's value
  const char* doc;           // one line
  // Neither the rewritten graph nor packed weights depend on this flag.
  bool running_only = false;
};

absl::Span<const FlagRow> FlagTable();

// The value of `row` in `flags`, as the user would write it.
std::string FlagText(const FlagRow& row, const Flags& flags);

}  // namespace tenon

#endif  // TENON_ENV_FLAGS_H_
