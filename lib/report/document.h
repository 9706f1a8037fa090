// A report as data: sections of facts, tables, code and drawings. Written once by whoever knows the subject, printed
// as text, JSON or HTML by render.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace svod {

/// What stands in one place of a table: a value for JSON and, where people want another form ("1.5 KiB"), its text.
struct Cell {
  using Numbers = std::vector<int64_t>;
  using Words = std::vector<std::string>;
  using Amounts = std::vector<std::pair<std::string, std::optional<double>>>;  // by name, in order; none: not known
  std::variant<std::string, int64_t, double, bool, Numbers, Words, Amounts> value;
  std::string shown;  // empty: the value itself

  Cell(std::string text) : value(std::move(text)) {}
  Cell(std::string_view text) : value(std::string(text)) {}
  Cell(const char* text) : value(std::string(text)) {}
  Cell(Numbers numbers) : value(std::move(numbers)) {}
  Cell(Words words) : value(std::move(words)) {}
  Cell(Amounts amounts) : value(std::move(amounts)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Cell(T number) : value(toValue(number)) {}
  template <class T>
  Cell(T number, std::string text) : value(Cell(std::move(number)).value), shown(std::move(text)) {}

  std::string text() const;

 private:
  template <class T>
  static decltype(value) toValue(T number) {
    if constexpr (std::is_same_v<T, bool>) return number;
    if constexpr (std::is_floating_point_v<T>) return static_cast<double>(number);
    return static_cast<int64_t>(number);
  }
};

/// Bytes with a binary unit, and counts with a decimal one; the exact number goes to JSON.
Cell bytesCell(uint64_t bytes);
Cell countCell(int64_t count);
/// Nanoseconds, shown in the unit that fits.
Cell timeCell(double nanoseconds);

struct Fact {
  std::string key, title;  // key: member of the JSON object
  Cell value;
};
using FactList = std::vector<Fact>;

struct Column {
  std::string key, title;
  bool right = false;  // numbers
};

struct Table {
  std::string key;  // of the JSON array; its elements are objects by column keys
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Text that keeps its lines: generated source, loops, graphs.
struct Code {
  std::string key, title, text;
};

/// A sentence between other blocks; not in JSON.
struct Note {
  std::string text;
};

/// Rectangles over two axes: which buffer lies where in the arena (y) at which step (x). Text renderings leave it out.
struct Chart {
  struct Box {
    std::string label;
    int64_t x0, x1, y0, y1;  // half-open
  };
  std::string title, xTitle, yTitle;
  int64_t width = 0, height = 0;
  std::vector<Box> boxes;
};

/// Points over two logarithmic axes, each beneath a mark of the most it could be. Text renderings leave it out.
struct Scatter {
  struct Point {
    std::string label;
    double x, y, most;  // above 0
  };
  std::string title, xTitle, yTitle;
  std::vector<Point> points;
};

using Block = std::variant<FactList, Table, Code, Note, Chart, Scatter>;

struct Section {
  std::string key, title;  // an empty key puts the blocks into the enclosing JSON object
  std::vector<Block> blocks = {};
  std::vector<Section> parts = {};  // alike: an array under partsKey
  std::string partsKey = {};
};

struct Document {
  std::string title;
  std::vector<Section> sections;
};

}  // namespace svod
