#include "primitive_cache/cache.h"

#include "env/flags.h"
#include "primitive_cache/isa.h"

namespace tenon {

struct PrimitiveCache::Query {
  static constexpr bool kByValue = false;
  size_t Hash() const { return key.Hash(); }
  bool Asks(const std::unique_ptr<const AnyKey>& other) const { return other->Equals(key); }
  std::unique_ptr<const AnyKey> MakeKey() const { return key.Copy(); }
  const AnyKey& key;
};

struct PrimitiveCache::State {
  explicit State(const CacheLimits& limits) : cache(limits) {}
  BoundedCache<std::unique_ptr<const AnyKey>, Erased> cache;
};

PrimitiveCache::PrimitiveCache(const CacheLimits& limits)
    : state_(std::make_unique<State>(limits)) {
  LimitVectorCode();
}
PrimitiveCache::~PrimitiveCache() = default;

CacheLimits PrimitiveCache::LimitsOf(const Flags& flags) {
  return {.entries = flags.primitive_cache ? flags.cache_entries : 0, .bytes = flags.cache_bytes};
}

absl::StatusOr<std::shared_ptr<const PrimitiveCache::Erased>> PrimitiveCache::Lookup(
    const AnyKey& key, absl::FunctionRef<absl::StatusOr<std::shared_ptr<const Erased>>()> make) {
  return state_->cache.GetOrBuild(Query{key}, make);
}

CacheStats PrimitiveCache::statistics() const { return state_->cache.stats(); }

void PrimitiveCache::Clear() { state_->cache.Clear(); }

}  // namespace tenon
