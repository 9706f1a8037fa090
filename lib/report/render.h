// The renderings of a Document. Equal documents give equal bytes.
#pragma once
#include <string>

#include "report/document.h"

namespace svod {

struct TextStyle {
  bool color = false;  // terminal escapes for headings
  int width = 120;     // columns that tables fit into, 0 any: texts go on in further lines, names lose their middle
};

/// For people; tables are aligned, ends with a newline.
std::string toText(const Document& document, const TextStyle& style = {});

/// One JSON object: facts by their keys, tables as arrays of objects, code as strings. Ends with a newline.
std::string toJson(const Document& document);

/// One page without outside references; `text` content is escaped.
std::string toHtml(const Document& document);

/// One table alone, for lists.
std::string toText(const Table& table, const TextStyle& style = {});
std::string toJson(const Table& table);

}  // namespace svod
