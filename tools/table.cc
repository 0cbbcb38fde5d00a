#include "tools/table.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tenon {

std::string Table::Text() const {
  std::vector<size_t> widths(header_.size(), 0);
  const auto measure = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  measure(header_);
  for (const auto& row : rows_) measure(row);
  std::string out;
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - row[i].size() + 2, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&out, line, "\n");
  };
  print(header_);
  for (const auto& row : rows_) print(row);
  return out;
}

std::string Table::Markdown() const {
  std::string out;
  const auto print = [&](const std::vector<std::string>& row) {
    out += "|";
    for (const std::string& cell : row) {
      absl::StrAppend(&out, " ", absl::StrReplaceAll(cell, {{"|", "\\|"}, {"<", "&lt;"}}), " |");
    }
    out += "\n";
  };
  print(header_);
  print(std::vector<std::string>(header_.size(), "---"));
  for (const auto& row : rows_) print(row);
  return out;
}

void AddMarkdownArg(CLI::App& app, bool& markdown) {
  app.add_flag("--markdown", markdown, "print tables in Markdown, for the reference pages");
}

void Print(const Table& table, bool markdown) {
  std::fputs((markdown ? table.Markdown() : table.Text()).c_str(), stdout);
}

}  // namespace tenon
