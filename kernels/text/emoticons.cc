#include "kernels/text/emoticons.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

// Emoticons that begin with the same character: what follows it, longer ones first. These are the
// ones that TensorFlow Text finds: it takes ";-*" and "=(" only together.
struct Emoticons {
  char first;
  absl::string_view rests;
};

constexpr Emoticons kEmoticons[] = {
    {':',
     "-))))) -)))) -))) '-( '-) (:) -)) -|| '( ') -# -& -( -) -* -, -. -/ -< -D -J -O -P -S -[ -\\ "
     "-c -o -p -s -| X) ^) ^* o) # $ & ( ) * / 3 < > @ D O P S [ \\ ] c o p s { | }"},
    {'=', "^_^= '( ) / D O P \\ ] o p |"},
    {'>', ":-( :-) _>^ .< :( :) :/ :O :P :[ :\\ ;) =( _<"},
    {';', "-*=( -) -P -] -p ^) _; ( ) * P ] p"},
    {'0', ":-) ;^) :)"},
    {'3', ":-)"},
    {'8', "'( -)"},
    {'B', "-) )"},
    {'D', ":< : X"},
    {'O', ":-) .O =)"},
    {'T', "_T"},
    {'X', "-( -O -o ( D"},
    {'o', "_o; .o"},
    {'u', "_u"},
    {'x', "_x"},
    {'}', ":-) :) =)"},
    {'(', "=^..^=) =^.^=) ]:{"},
    {'*', "-) )"},
    {'^', "<_< _^"},
    {'|', ";-) -O"},
    {'<', "\\3 3"},
    {'-', "<@% _-"},
    {'#', "-)"},
    {'~', "@~"},
};

}  // namespace

size_t EmoticonSize(absl::string_view text) {
  if (text.empty()) return 0;
  for (const Emoticons& emoticons : kEmoticons) {
    if (emoticons.first != text[0]) continue;
    for (const absl::string_view rest : absl::StrSplit(emoticons.rests, ' ')) {
      if (absl::StartsWith(text.substr(1), rest)) return 1 + rest.size();
    }
  }
  return 0;
}

}  // namespace tenon
