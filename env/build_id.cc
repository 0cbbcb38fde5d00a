#include "env/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace tenon {
namespace {

struct Search {
  uintptr_t code;  // an address in the module to find
  std::string id;
};

// The notes of a segment: header, name and description, each padded to four bytes.
std::string IdInNotes(absl::string_view notes) {
  const auto padded = [](size_t n) { return (n + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof(header));
    const size_t description = sizeof(header) + padded(header.n_namesz);
    const size_t end = description + padded(header.n_descsz);
    if (end > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof(header), 3) == "GNU") {
      return absl::BytesToHexString(notes.substr(description, header.n_descsz));
    }
    notes.remove_prefix(end);
  }
  return "";
}

int LookAt(dl_phdr_info* module, size_t, void* argument) {
  Search& search = *static_cast<Search*>(argument);
  bool ours = false;
  std::string id;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[i];
    const uintptr_t begin = module->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search.code - begin < segment.p_memsz) ours = true;
    if (segment.p_type == PT_NOTE && id.empty()) {
      id = IdInNotes({reinterpret_cast<const char*>(begin), segment.p_memsz});
    }
  }
  if (ours) search.id = id;
  return ours ? 1 : 0;
}

}  // namespace

std::string BuildId() {
  Search search{reinterpret_cast<uintptr_t>(&LookAt), ""};
  dl_iterate_phdr(LookAt, &search);
  return search.id;
}

}  // namespace tenon
