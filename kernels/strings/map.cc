#include "kernels/strings/map.h"

#include <algorithm>

namespace tenon {
namespace {

bool Begins(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

int64_t CountCharacters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), Begins);
}

std::vector<size_t> CharacterStarts(const std::string& text) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if (Begins(text[i])) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

}  // namespace tenon
