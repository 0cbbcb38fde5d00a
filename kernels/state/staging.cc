#include "kernels/state/staging.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "kernels/lists/tensor_list.h"
#include "kernels/state/shared_state.h"

namespace tenon {
namespace {

// op names: the ops' rows are in a higher layer.
const SharedKind area_kind("area", NewState<StagingArea>,
                           {"Stage", "Unstage", "StagePeek", "StageSize", "StageClear"});
// op names: likewise.
const SharedKind map_kind("map", NewState<StagingMap>,
                          {"MapStage", "MapPeek", "MapUnstage", "MapUnstageNoKey", "MapSize",
                           "MapIncompleteSize", "MapClear"});
// op names: likewise.
const SharedKind ordered_map_kind("ordered map", NewState<StagingMap>,
                                  {"OrderedMapStage", "OrderedMapPeek", "OrderedMapUnstage",
                                   "OrderedMapUnstageNoKey", "OrderedMapSize",
                                   "OrderedMapIncompleteSize", "OrderedMapClear"});

int64_t BytesOf(const StagedTuple& tuple) {
  int64_t bytes = 0;
  for (const auto& tensor : tuple) {
    if (tensor != nullptr) bytes += static_cast<int64_t>(tensor->bytes());
  }
  return bytes;
}

absl::Status WouldWait(absl::string_view why) {
  return Unimplemented(why, ": waiting for another thread");
}

absl::Status CheckRoom(int64_t tuples, int64_t held, int64_t bytes, const StagingLimits& limits) {
  if (limits.bytes > 0 && bytes > limits.bytes) {
    return InvalidArgument("a tuple of ", bytes, " bytes; the area may hold ", limits.bytes);
  }
  if ((limits.tuples > 0 && tuples >= limits.tuples) ||
      (limits.bytes > 0 && held + bytes > limits.bytes)) {
    return WouldWait("the staging area is full");
  }
  return absl::OkStatus();
}

absl::Status CheckPlaces(absl::Span<const int32_t> places, size_t width) {
  if (places.empty()) return InvalidArgument("no indices");
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || static_cast<size_t>(places[i]) >= width) {
      return InvalidArgument("index ", places[i], " of a tuple of ", width);
    }
    if (i > 0 && places[i] <= places[i - 1]) return InvalidArgument("indices must be ascending");
  }
  return absl::OkStatus();
}

// The tensors at `places`, all of which are still there.
absl::StatusOr<StagedTuple> Chosen(const StagedTuple& tuple, absl::Span<const int32_t> places) {
  TENON_RETURN_IF_ERROR(CheckPlaces(places, tuple.size()));
  StagedTuple chosen;
  for (const int32_t place : places) {
    chosen.push_back(tuple[static_cast<size_t>(place)]);
    if (chosen.back() == nullptr) return InvalidArgument("tensor ", place, " was taken before");
  }
  return chosen;
}

StagingLimits LimitsOf(const AttrReader& attrs) {
  return {attrs.Int("capacity", 0), attrs.Int("memory_limit", 0)};
}

std::vector<TensorSpec> OutputSpecs(const PrepareContext& p) {
  std::vector<TensorSpec> specs;
  for (int i = 0; i < p.num_outputs(); ++i) {
    specs.push_back({p.output_dtype(i), p.output_shape(i), nullptr});
  }
  return specs;
}

// A kernel that writes the tuple that take(area, run) gives.
template <typename State, typename Take>
absl::StatusOr<std::unique_ptr<Kernel>> TupleKernel(PrepareContext& p, Take take) {
  return MakeKernel([take, state = SharedStateOf<State>(p.attrs()),
                     outputs = OutputSpecs(p)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const StagedTuple tuple, take(*state, run));
    return WriteItems(run, "staging area", tuple, outputs);
  });
}

// A kernel that writes a number.
template <typename State>
absl::StatusOr<std::unique_ptr<Kernel>> NumberKernel(PrepareContext& p,
                                                     int64_t (State::*number)() const) {
  return MakeKernel([number, state = SharedStateOf<State>(p.attrs())](RunContext& run) {
    *run.output<int32_t>(0) = static_cast<int32_t>(((*state).*number)());
    return absl::OkStatus();
  });
}

template <typename State>
absl::StatusOr<std::unique_ptr<Kernel>> ClearKernel(PrepareContext& p) {
  return MakeKernel([state = SharedStateOf<State>(p.attrs())](RunContext&) {
    state->Clear();
    return absl::OkStatus();
  });
}

// The places in input `i`.
auto PlacesIn(const PrepareContext& p, int i) {
  const auto n = static_cast<size_t>(p.input_shape(i).num_elements());
  return [i, n](const RunContext& run) { return absl::MakeConstSpan(run.input<int32_t>(i), n); };
}

}  // namespace

absl::Status StagingArea::Put(StagedTuple tuple, const StagingLimits& limits) {
  const int64_t bytes = BytesOf(tuple);
  MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckRoom(std::ssize(tuples_), bytes_, bytes, limits));
  bytes_ += bytes;
  tuples_.push_back(std::move(tuple));
  return absl::OkStatus();
}

absl::StatusOr<StagedTuple> StagingArea::Take() {
  MutexLock lock(&mutex_);
  if (tuples_.empty()) return WouldWait("the staging area is empty");
  StagedTuple tuple = std::move(tuples_.front());
  tuples_.pop_front();
  bytes_ -= BytesOf(tuple);
  return tuple;
}

absl::StatusOr<StagedTuple> StagingArea::At(int64_t index) const {
  if (index < 0) return InvalidArgument("index ", index, " of a staging area");
  MutexLock lock(&mutex_);
  if (index >= std::ssize(tuples_)) {
    return WouldWait(absl::StrCat("the staging area has ", tuples_.size(), " tuples"));
  }
  return tuples_[static_cast<size_t>(index)];
}

int64_t StagingArea::size() const {
  MutexLock lock(&mutex_);
  return std::ssize(tuples_);
}

void StagingArea::Clear() {
  MutexLock lock(&mutex_);
  tuples_.clear();
  bytes_ = 0;
}

absl::Status StagingMap::Put(int64_t key, absl::Span<const int32_t> places, StagedTuple tensors,
                             size_t width, const StagingLimits& limits) {
  TENON_RETURN_IF_ERROR(CheckPlaces(places, width));
  if (places.size() != tensors.size()) {
    return InvalidArgument(places.size(), " indices for ", tensors.size(), " tensors");
  }
  MutexLock lock(&mutex_);
  StagedTuple tuple(width);
  const auto begun = incomplete_.find(key);
  if (begun != incomplete_.end()) {
    if (begun->second.size() != width) {
      return InvalidArgument("tuples of ", begun->second.size(), " and of ", width, " for one key");
    }
    tuple = begun->second;
  }
  for (size_t i = 0; i < places.size(); ++i) {
    auto& place = tuple[static_cast<size_t>(places[i])];
    if (place != nullptr) return InvalidArgument("key ", key, " has tensor ", places[i]);
    place = std::move(tensors[i]);
  }
  const int64_t added = BytesOf(tuple) - (begun == incomplete_.end() ? 0 : BytesOf(begun->second));
  TENON_RETURN_IF_ERROR(CheckRoom(std::ssize(complete_), bytes_, added, limits));
  if (std::count(tuple.begin(), tuple.end(), nullptr) > 0) {
    incomplete_[key] = std::move(tuple);
  } else {
    if (begun != incomplete_.end()) incomplete_.erase(begun);
    // As in TensorFlow, the first tuple of a key stays.
    if (!complete_.emplace(key, std::move(tuple)).second) return absl::OkStatus();
  }
  bytes_ += added;
  return absl::OkStatus();
}

absl::StatusOr<StagedTuple> StagingMap::Peek(int64_t key, absl::Span<const int32_t> places) const {
  MutexLock lock(&mutex_);
  const auto found = complete_.find(key);
  if (found == complete_.end()) return WouldWait(absl::StrCat("no tuple has key ", key));
  return Chosen(found->second, places);
}

absl::StatusOr<StagedTuple> StagingMap::TakeLocked(int64_t key, absl::Span<const int32_t> places) {
  const auto found = complete_.find(key);
  if (found == complete_.end()) return WouldWait(absl::StrCat("no tuple has key ", key));
  TENON_ASSIGN_OR_RETURN(StagedTuple chosen, Chosen(found->second, places));
  bytes_ -= BytesOf(chosen);
  for (const int32_t place : places) found->second[static_cast<size_t>(place)] = nullptr;
  const bool left = std::any_of(found->second.begin(), found->second.end(),
                                [](const auto& tensor) { return tensor != nullptr; });
  if (!left) complete_.erase(found);
  return chosen;
}

absl::StatusOr<StagedTuple> StagingMap::Take(int64_t key, absl::Span<const int32_t> places) {
  MutexLock lock(&mutex_);
  return TakeLocked(key, places);
}

absl::StatusOr<StagedTuple> StagingMap::TakeFirst(absl::Span<const int32_t> places) {
  MutexLock lock(&mutex_);
  if (complete_.empty()) return WouldWait("the staging area is empty");
  const int64_t key = complete_.begin()->first;
  TENON_ASSIGN_OR_RETURN(auto kept, Keep(DType::kInt64, Shape(), &key));
  TENON_ASSIGN_OR_RETURN(StagedTuple tuple, TakeLocked(key, places));
  tuple.insert(tuple.begin(), std::move(kept));
  return tuple;
}

int64_t StagingMap::size() const {
  MutexLock lock(&mutex_);
  return std::ssize(complete_);
}

int64_t StagingMap::incomplete_size() const {
  MutexLock lock(&mutex_);
  return std::ssize(incomplete_);
}

void StagingMap::Clear() {
  MutexLock lock(&mutex_);
  complete_.clear();
  incomplete_.clear();
  bytes_ = 0;
}

absl::StatusOr<std::unique_ptr<Kernel>> StageKernel(PrepareContext& p) {
  std::vector<TensorSpec> specs;
  for (int i = 0; i < p.num_inputs(); ++i) specs.push_back(InputSpec(p, i));
  return MakeKernel(
      [specs, limits = LimitsOf(p.attrs()),
       area = SharedStateOf<StagingArea>(p.attrs())](RunContext& run) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(StagedTuple tuple, KeepInputs(run, specs));
        return area->Put(std::move(tuple), limits);
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> UnstageKernel(PrepareContext& p) {
  return TupleKernel<StagingArea>(p, [](StagingArea& area, RunContext&) { return area.Take(); });
}

absl::StatusOr<std::unique_ptr<Kernel>> StagePeekKernel(PrepareContext& p) {
  return TupleKernel<StagingArea>(
      p, [](StagingArea& area, RunContext& run) { return area.At(*run.input<int32_t>(0)); });
}

absl::StatusOr<std::unique_ptr<Kernel>> StageSizeKernel(PrepareContext& p) {
  return NumberKernel(p, &StagingArea::size);
}

absl::StatusOr<std::unique_ptr<Kernel>> StageClearKernel(PrepareContext& p) {
  return ClearKernel<StagingArea>(p);
}

absl::StatusOr<std::unique_ptr<Kernel>> StagingMapStageKernel(PrepareContext& p) {
  std::vector<TensorSpec> specs;
  for (int i = 2; i < p.num_inputs(); ++i) specs.push_back(InputSpec(p, i));
  const auto* dtypes = p.node().attr<std::vector<DType>>("dtypes");
  const size_t width = dtypes == nullptr ? 0 : dtypes->size();
  return MakeKernel([specs, width, limits = LimitsOf(p.attrs()), places = PlacesIn(p, 1),
                     map = SharedStateOf<StagingMap>(p.attrs())](RunContext& run) -> absl::Status {
    StagedTuple tensors;
    for (size_t i = 0; i < specs.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(
          auto kept, Keep(specs[i].dtype, specs[i].shape, run.input(static_cast<int>(i) + 2)));
      tensors.push_back(std::move(kept));
    }
    return map->Put(*run.input<int64_t>(0), places(run), std::move(tensors), width, limits);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StagingMapPeekKernel(PrepareContext& p) {
  return TupleKernel<StagingMap>(p, [places = PlacesIn(p, 1)](StagingMap& map, RunContext& run) {
    return map.Peek(*run.input<int64_t>(0), places(run));
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StagingMapUnstageKernel(PrepareContext& p) {
  return TupleKernel<StagingMap>(p, [places = PlacesIn(p, 1)](StagingMap& map, RunContext& run) {
    return map.Take(*run.input<int64_t>(0), places(run));
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StagingMapUnstageNoKeyKernel(PrepareContext& p) {
  return TupleKernel<StagingMap>(p, [places = PlacesIn(p, 0)](StagingMap& map, RunContext& run) {
    return map.TakeFirst(places(run));
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StagingMapSizeKernel(PrepareContext& p) {
  return NumberKernel(p, &StagingMap::size);
}

absl::StatusOr<std::unique_ptr<Kernel>> StagingMapIncompleteSizeKernel(PrepareContext& p) {
  return NumberKernel(p, &StagingMap::incomplete_size);
}

absl::StatusOr<std::unique_ptr<Kernel>> StagingMapClearKernel(PrepareContext& p) {
  return ClearKernel<StagingMap>(p);
}

}  // namespace tenon
