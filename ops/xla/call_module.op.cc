// XlaCallModule: a StableHLO module that jax2tf or Keras with JAX exported. Import writes it as
// standard ops (proto/import/call_module.h), so it has a signature and no kernel.
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration xla_call_module({
    .name = "XlaCallModule",
    .inputs = "args: Tin",
    .outputs = "output: Tout",
    .attrs = "version: int; module: string; Sout: list(shape); Tout: list(type); Tin: list(type); "
             "dim_args_spec: list(string) = []; platforms: list(string) = []; "
             "function_list: list(func) = []; has_token_input_output: bool = false; "
             "disabled_checks: list(string) = []; use_shardy_partitioner: bool = false",
    .shape = UnknownShape,
});

}  // namespace
}  // namespace tenon
