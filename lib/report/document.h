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

#include "plan/id.h"

namespace svod {

/// What stands in one place of a table: a value for JSON and, where people want another form ("1.5 KiB"), its text.
struct Cell {
  using Numbers = std::vector<int64_t>;
  using Words = std::vector<std::string>;
  using Amounts = std::vector<std::pair<std::string, std::optional<double>>>;  // by name, in order; none: not known
  std::variant<std::string, int64_t, double, bool, Numbers, Words, Amounts> value;
  std::string shown;   // empty: the value itself
  std::string anchor;  // of a page: what it leads to, such as kernel-3

  Cell(std::string text) : value(std::move(text)) {}
  Cell(std::string_view text) : value(std::string(text)) {}
  Cell(const char* text) : value(std::string(text)) {}
  Cell(Numbers numbers) : value(std::move(numbers)) {}
  Cell(Words words) : value(std::move(words)) {}
  Cell(Amounts amounts) : value(std::move(amounts)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Cell(T number) : value(toValue(number)) {}
  template <class Row>
  Cell(Id<Row> id) : Cell(static_cast<uint32_t>(id)) {}
  template <class T>
  Cell(T number, std::string text) : value(Cell(std::move(number)).value), shown(std::move(text)) {}

  std::string text() const;
  Cell to(std::string place) const {
    Cell cell = *this;
    cell.anchor = std::move(place);
    return cell;
  }

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
  bool right = false;    // numbers
  bool wide = false;     // long texts, which a page breaks into lines
  bool beneath = false;  // longer ones, which a page writes beneath the rest of the row
};

struct Table {
  std::string key;  // of the JSON array; its elements are objects by column keys
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<Cell> totals = {};  // a last row, one cell for each column; in JSON under the key and "Totals"
  std::string anchor = {};        // of a page: its rows can be led to by this and the text of their first cell
};

/// Text that keeps its lines: generated source, loops, graphs.
struct Code {
  std::string key, title, text;
};

/// A sentence between other blocks; not in JSON.
struct Note {
  std::string text;
};

/// Rectangles over two axes, such as which buffer lies where in the arena (y) at which step (x). Text renderings leave
/// drawings out.
struct Chart {
  enum class Unit : uint8_t { Count, Bytes, Nanoseconds };
  struct Box {
    std::string label, name;  // all there is to say, and what is written into it where it has the room
    double x0, x1, y0, y1;    // half-open
    size_t color = 0;         // kOtherColor and above: grey
    std::string anchor = {};
  };
  struct Level {
    double y;
    std::string label;
  };
  static constexpr size_t kOtherColor = 8;
  std::string title, xTitle, yTitle;
  double width = 0, height = 0;
  Unit xUnit = Unit::Count, yUnit = Unit::Bytes;
  std::vector<Box> boxes = {};
  std::vector<std::string> rows = {};  // names of [0, 1), [1, 2), .. along y, in place of numbers
  std::vector<Level> levels = {};      // lines across
};

/// Points over two logarithmic axes, each beneath a mark of the most it could be.
struct Scatter {
  struct Point {
    std::string label, name;
    double x, y, most;  // above 0
    double share = 0;   // how much it matters, from 0 to 1
    std::string anchor = {};
  };
  /// What no point is above, or what they are compared with: min(peak, slope * x). No level part: a peak of infinity.
  struct Roof {
    std::string name;
    double slope, peak;
  };
  std::string title, xTitle, yTitle;
  std::vector<Point> points;
  std::vector<Roof> roofs = {};
};

/// Steps over two axes from 0 on: what holds from one point to the next.
struct Curves {
  struct Line {
    std::string name, label;  // written beside it, and all there is to say
    std::vector<std::pair<double, double>> points;
    size_t color = Chart::kOtherColor;  // from there on: thin and grey, without its name
    std::string anchor = {};
  };
  std::string title, xTitle, yTitle;
  std::vector<Line> lines;
};

/// Who hands what to whom, in groups inside of groups that can be opened and closed. Nodes are in the order in which
/// things happen; an edge to an earlier node comes round again in a loop.
struct Flow {
  enum class Kind : uint8_t { Input, State, Output, Launch, Copy, Call, Loop };
  struct Node {
    std::string name, detail, label;  // two lines, and all there is to say
    Kind kind = Kind::Launch;
    double share = 0;  // of the time, from 0 to 1
    int group = -1;
    std::string anchor = {};
  };
  struct Group {
    std::string name;
    int parent = -1;  // an earlier group, or none
    bool isOpen = false;
  };
  struct Edge {
    size_t from, to;
    std::string label;
    uint64_t bytes = 0;
  };
  std::string title;
  std::vector<Node> nodes;
  std::vector<Group> groups;
  std::vector<Edge> edges;
};

using Block = std::variant<FactList, Table, Code, Note, Chart, Scatter, Curves, Flow>;

struct Section {
  std::string key, title;  // an empty key puts the blocks into the enclosing JSON object
  std::vector<Block> blocks = {};
  std::vector<Section> parts = {};  // alike: an array under partsKey
  std::string partsKey = {};
  std::string brief = {};  // of a page: said beside the title
  bool isFolded = false;   // of a page: closed until somebody opens it
};

struct Document {
  std::string title;
  std::vector<Section> sections;
};

}  // namespace svod
