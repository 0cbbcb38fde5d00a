// A table as aligned text, or as Markdown for the reference pages.
#ifndef TENON_TOOLS_TABLE_H_
#define TENON_TOOLS_TABLE_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tenon {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string Text() const;
  std::string Markdown() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// The option --markdown, for commands that print tables.
void AddMarkdownArg(CLI::App& app, bool& markdown);
void Print(const Table& table, bool markdown);

}  // namespace tenon

#endif  // TENON_TOOLS_TABLE_H_
