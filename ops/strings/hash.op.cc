// StringToHashBucketFast (FarmHash's 64-bit fingerprint), StringToHashBucketStrong (SipHash with a
// key), StringToHashBucket (MurmurHash's 64-bit mix): a string's bucket.
#include <bit>
#include <cstring>

#include "kernels/strings/fingerprint.h"
#include "kernels/strings/map.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<uint64_t> Buckets(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const int64_t n, attrs.Int("num_buckets"));
  if (n < 1) return InvalidArgument("num_buckets must be at least 1, but is ", n);
  return static_cast<uint64_t>(n);
}

template <uint64_t (*hash)(const std::string&)>
absl::StatusOr<std::unique_ptr<Kernel>> Bucket(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const uint64_t n, Buckets(p.attrs()));
  return MapStrings<int64_t>(p, [n](const std::string& in, int64_t& out) {
    out = static_cast<int64_t>(hash(in) % n);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StrongBucket(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const uint64_t n, Buckets(p.attrs()));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> key, p.attrs().Ints("key"));
  if (key.size() != 2) return InvalidArgument("key must have 2 elements, but has ", key.size());
  const uint64_t k0 = static_cast<uint64_t>(key[0]), k1 = static_cast<uint64_t>(key[1]);
  return MapStrings<int64_t>(p, [n, k0, k1](const std::string& in, int64_t& out) {
    out = static_cast<int64_t>(SipHash(in, k0, k1) % n);
    return absl::OkStatus();
  });
}

const OpRegistration string_to_hash_bucket_fast_op({
    .name = "StringToHashBucketFast",
    .inputs = "input: string",
    .outputs = "output: int64",
    .attrs = "num_buckets: int",
    .shape = UnchangedShape,
    .reference = Bucket<Fingerprint64>,
});

const OpRegistration string_to_hash_bucket_op({
    .name = "StringToHashBucket",
    .inputs = "string_tensor: string",
    .outputs = "output: int64",
    .attrs = "num_buckets: int",
    .shape = UnchangedShape,
    .reference = Bucket<MurmurHash64>,
});

const OpRegistration string_to_hash_bucket_strong_op({
    .name = "StringToHashBucketStrong",
    .inputs = "input: string",
    .outputs = "output: int64",
    .attrs = "num_buckets: int; key: list(int)",
    .shape = UnchangedShape,
    .reference = StrongBucket,
});

}  // namespace
}  // namespace tenon
