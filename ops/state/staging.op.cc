// Stage, MapStage, OrderedMapStage and their kin: tuples of tensors that stay in the session. Keys
// of all maps are ordered.
#include "kernels/state/staging.h"

#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kStageAttrs[] =
    "capacity: int = 0; memory_limit: int = 0; dtypes: list(type); container: string = ; "
    "shared_name: string = ";

// Input 0, an index or a key, is a scalar; the outputs are what was staged.
absl::Status FromIndex(ShapeContext& c) { return c.ExpectRank(0, 0); }

// Inputs: a key, and the places of tensors in the tuple.
absl::Status FromKey(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return c.ExpectRank(1, 1);
}

absl::Status FromPlaces(ShapeContext& c) { return c.ExpectRank(0, 1); }

OpRow Staging(const char* name, const char* inputs, const char* outputs, ShapeFn shape,
              KernelFactory reference) {
  return {.name = name,
          .inputs = inputs,
          .outputs = outputs,
          .attrs = kStageAttrs,
          .shape = shape,
          .reference = reference,
          .stateful = true};
}

const OpRegistration stage(Staging("Stage", "values: dtypes", "", UnknownShape, StageKernel));
const OpRegistration unstage(Staging("Unstage", "", "values: dtypes", UnknownShape, UnstageKernel));
const OpRegistration stage_peek(Staging("StagePeek", "index: int32", "values: dtypes", FromIndex,
                                        StagePeekKernel));
const OpRegistration stage_size(Staging("StageSize", "", "size: int32", ScalarShape,
                                        StageSizeKernel));
const OpRegistration stage_clear(Staging("StageClear", "", "", UnknownShape, StageClearKernel));

// MapStage and OrderedMapStage.
OpRow MapStaging(const char* name) {
  OpRow row = Staging(name, "key: int64, indices: int32, values: fake_dtypes", "", FromKey,
                      StagingMapStageKernel);
  row.attrs =
      "capacity: int = 0; memory_limit: int = 0; dtypes: list(type); fake_dtypes: list(type); "
      "container: string = ; shared_name: string = ";
  return row;
}

constexpr char kKeyInputs[] = "key: int64, indices: int32";
constexpr char kKeyOutputs[] = "key: int64, values: dtypes";

const OpRegistration map_stage(MapStaging("MapStage"));
const OpRegistration map_peek(Staging("MapPeek", kKeyInputs, "values: dtypes", FromKey,
                                      StagingMapPeekKernel));
const OpRegistration map_unstage(Staging("MapUnstage", kKeyInputs, "values: dtypes", FromKey,
                                         StagingMapUnstageKernel));
const OpRegistration map_unstage_no_key(Staging("MapUnstageNoKey", "indices: int32", kKeyOutputs,
                                                FromPlaces, StagingMapUnstageNoKeyKernel));
const OpRegistration map_size(Staging("MapSize", "", "size: int32", ScalarShape,
                                      StagingMapSizeKernel));
const OpRegistration map_incomplete_size(Staging("MapIncompleteSize", "", "size: int32",
                                                 ScalarShape, StagingMapIncompleteSizeKernel));
const OpRegistration map_clear(Staging("MapClear", "", "", UnknownShape, StagingMapClearKernel));

const OpRegistration ordered_map_stage(MapStaging("OrderedMapStage"));
const OpRegistration ordered_map_peek(Staging("OrderedMapPeek", kKeyInputs, "values: dtypes",
                                              FromKey, StagingMapPeekKernel));
const OpRegistration ordered_map_unstage(Staging("OrderedMapUnstage", kKeyInputs, "values: dtypes",
                                                 FromKey, StagingMapUnstageKernel));
const OpRegistration ordered_map_unstage_no_key(Staging("OrderedMapUnstageNoKey", "indices: int32",
                                                        kKeyOutputs, FromPlaces,
                                                        StagingMapUnstageNoKeyKernel));
const OpRegistration ordered_map_size(Staging("OrderedMapSize", "", "size: int32", ScalarShape,
                                              StagingMapSizeKernel));
const OpRegistration ordered_map_incomplete_size(Staging("OrderedMapIncompleteSize", "",
                                                         "size: int32", ScalarShape,
                                                         StagingMapIncompleteSizeKernel));
const OpRegistration ordered_map_clear(Staging("OrderedMapClear", "", "", UnknownShape,
                                               StagingMapClearKernel));

}  // namespace
}  // namespace tenon
