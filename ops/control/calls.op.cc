// Function calls. Import inlines them, so they have signatures and no kernels.
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration partitioned_call({
    .name = "PartitionedCall",
    .inputs = "args: Tin",
    .outputs = "output: Tout",
    .attrs = "Tin: list(type); Tout: list(type); f: func; config: string = ; "
             "config_proto: string = ; executor_type: string = ",
    .shape = UnknownShape,
});

const OpRegistration stateful_partitioned_call({
    .name = "StatefulPartitionedCall",
    .inputs = "args: Tin",
    .outputs = "output: Tout",
    .attrs = "Tin: list(type); Tout: list(type); f: func; config: string = ; "
             "config_proto: string = ; executor_type: string = ",
    .shape = UnknownShape,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
