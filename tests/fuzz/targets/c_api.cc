// The C interface, called in any order that its header allows: a byte chooses a call, on objects
// that earlier calls made. Several objects of each kind live at once; some arguments are null, out
// of range or of the wrong kind.
#include "tests/fuzz/targets/c_api.h"

#include <iterator>

#include "tests/fuzz/targets/target.h"

namespace tenon {
namespace c_api_fuzz {

void Done(tenon_status* status) {
  if (tenon_status_code(status) == TENON_INTERNAL) FuzzFailure(tenon_status_message(status));
  if (status != nullptr && *tenon_status_message(status) == '\0') FuzzFailure("no message");
  tenon_status_free(status);
}

void Done(tenon_status* status, tenon_text* text) {
  if ((status == nullptr) != (text != nullptr)) FuzzFailure("a text comes with success alone");
  Done(status);
  if (text == nullptr) return;
  const size_t size = tenon_text_size(text);
  if (size == 0 || std::strlen(tenon_text_data(text)) != size) FuzzFailure("a text's size");
  tenon_text_free(text);
}

}  // namespace c_api_fuzz

namespace {

using namespace c_api_fuzz;  // NOLINT: all calls

constexpr int kMostCalls = 64;

// Models, tensors and contexts may go before what was made from them.
void Free(Objects& o) {
  switch (o.bytes.Below(5)) {
    case 0:
      (void)o.tensors.Empty(o.bytes);
      return;
    case 1:
      (void)o.models.Empty(o.bytes);
      return;
    case 2:
      (void)o.eagers.Empty(o.bytes);
      return;
    case 3:
      (void)o.handles.Empty(o.bytes);
      return;
    default:
      o.FreeGenerator();
      (void)o.sessions.Empty(o.bytes);
  }
}

// Bytes below kMore choose one of kCalls, others one of kMoreCalls: a call that is added at the end
// of the second list leaves inputs of the corpus their meaning.
using Call = void (*)(Objects& o);
constexpr Call kCalls[] = {
    CreateTensor,  CreateTensor, ReadTensor, SetString,       ParseModel, AskModel,
    CreateSession, RunSession,   RunSession, AskSession,      SetAttr,    SetAttr,
    CreateEager,   Execute,      Execute,    Submit,          Submit,     CreateHandle,
    ReadHandle,    Profile,      Free,       CreateGenerator, Generate,   ReadVariable,
};
constexpr uint8_t kMore = 192;
constexpr Call kMoreCalls[] = {
    OpenModel,
    CreateSessionFromPath,
    CreateFittingTensor,
    RunSessionInto,
    Cancel,
    CheckRows,
    AssignVariable,
    SetMoreAttrs,
    SetGenerator,
    AskDevices,
    Explain,
    Explore,
    ExplorePage,
    Quantize,
};
static_assert(kMore % std::size(kCalls) == 0);

int FuzzCApi(const uint8_t* data, size_t size) {
  ByteReader bytes(data, size);
  Objects objects(bytes);
  for (int i = 0; i < kMostCalls && !bytes.empty(); ++i) {
    const uint8_t call = bytes.Byte();
    if (call < kMore) {
      kCalls[call % std::size(kCalls)](objects);
    } else {
      kMoreCalls[(call - kMore) % std::size(kMoreCalls)](objects);
    }
  }
  return 0;
}

const FuzzTarget kTarget("c_api", FuzzCApi);

}  // namespace
}  // namespace tenon
