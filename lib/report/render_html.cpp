#include <algorithm>

#include "data/sha256.h"
#include "report/html_flow_script.h"
#include "report/html_script.h"
#include "report/html_style.h"
#include "report/html_text.h"
#include "report/render.h"

namespace svod {

namespace {

using detail::escaped;

/// What a browser compares a style sheet or a script with before it uses it.
std::string fingerprint(std::string_view text) {
  const std::string digits = sha256Hex(text);
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return "'sha256-" + detail::base64(bytes) + "'";
}

class HtmlPrinter {
 public:
  std::string print(const Document& document) {
    const std::string style(kHtmlStyle), script = std::string(kHtmlScript) + std::string(kHtmlFlowScript);
    out_ =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src " +
        fingerprint(style) + "; script-src " + fingerprint(script) + "\"><title>" + escaped(document.title) +
        "</title>\n<style>" + style + "</style></head><body>\n<a class=\"skip\" href=\"#main\">To the content</a>" +
        "<nav aria-label=\"Sections\">";
    for (const Section& s : document.sections)
      if (!s.title.empty() && !isEmpty(s)) out_ += "<a href=\"#" + escaped(s.key) + "\">" + escaped(s.title) + "</a>";
    out_ += "</nav>\n<main id=\"main\" tabindex=\"-1\"><h1>" + escaped(document.title) + "</h1>\n";
    for (const Section& s : document.sections) section(s);
    return out_ + "</main>\n<script>" + script + "</script></body></html>\n";
  }

  void operator()(const FactList& facts) {
    const bool isShort = std::ranges::all_of(facts, [](const Fact& f) { return f.value.text().size() <= kShortFact; });
    out_ += isShort ? "<dl class=\"short\">" : "<dl>";
    for (const Fact& f : facts) out_ += "<div><dt>" + escaped(f.title) + "</dt><dd>" + linked(f.value) + "</dd></div>";
    out_ += "</dl>\n";
  }

  void operator()(const Table& table) {
    if (table.rows.empty()) return;
    const bool isLong = table.rows.size() > 1;
    out_ += "<div class=\"scroll\"><table" + std::string(isLong ? " class=\"sortable\"" : "") + "><thead><tr>";
    for (const Column& c : table.columns)
      if (!c.beneath) out_ += tag("th", c, " scope=\"col\"") + escaped(c.title) + "</th>";
    out_ += "</tr></thead><tbody>\n";
    for (const auto& row : table.rows) {
      out_ +=
          table.anchor.empty() || row.empty() ? "<tr>" : "<tr id=\"" + escaped(table.anchor + row[0].text()) + "\">";
      cells(table, row);
      out_ += "</tr>\n";
      for (size_t i = 0; i < row.size(); ++i)
        if (table.columns[i].beneath && !row[i].text().empty()) beneath(table, i, row[i]);
    }
    out_ += "</tbody>";
    if (isLong && !table.totals.empty()) {
      out_ += "<tfoot><tr>";
      cells(table, table.totals);
      out_ += "</tr></tfoot>";
    }
    out_ += "</table></div>\n";
  }

  void operator()(const Code& code) {
    out_ += "<details class=\"code\"" + std::string(code.text.size() < kOpenCode ? " open" : "") + "><summary>" +
            escaped(code.title.empty() ? code.key : code.title) + "</summary><pre tabindex=\"0\">" +
            escaped(code.text) + "</pre></details>\n";
  }

  void operator()(const Note& note) { out_ += "<p>" + escaped(note.text) + "</p>\n"; }
  void operator()(const Chart& chart) { out_ += detail::drawingOf(chart); }
  void operator()(const Scatter& scatter) { out_ += detail::drawingOf(scatter); }
  void operator()(const Curves& curves) { out_ += detail::drawingOf(curves); }
  void operator()(const Flow& flow) { out_ += detail::drawingOf(flow); }

 private:
  static constexpr size_t kOpenCode = 4000, kShortFact = 26;

  static bool isEmpty(const Section& s) { return s.blocks.empty() && s.parts.empty(); }

  void section(const Section& s, int level = 2) {
    if (isEmpty(s)) return;
    const std::string heading = "h" + std::to_string(level), id = s.key.empty() ? "" : " id=\"" + escaped(s.key) + "\"";
    const std::string brief = s.brief.empty() ? "" : " <small>" + escaped(s.brief) + "</small>";
    const std::string title =
        s.title.empty() ? "" : "<" + heading + ">" + escaped(s.title) + brief + "</" + heading + ">\n";
    out_ += s.isFolded ? "<details class=\"part\"" + id + "><summary>" + title + "</summary>"
                       : "<section" + id + ">" + title;
    for (const Block& block : s.blocks) std::visit(*this, block);
    for (const Section& part : s.parts) section(part, level + 1);
    out_ += s.isFolded ? "</details>\n" : "</section>\n";
  }

  static std::string tag(const std::string& name, const Column& column, const std::string& more = {}) {
    const char* kind = column.right ? " class=\"n\"" : column.wide ? " class=\"w\"" : "";
    return "<" + name + kind + more + ">";
  }

  static std::string linked(const Cell& cell) {
    const std::string text = escaped(cell.text());
    return cell.anchor.empty() ? text : "<a href=\"#" + escaped(cell.anchor) + "\">" + text + "</a>";
  }

  /// Numbers that are shown otherwise say what they are, to be sorted by.
  static std::string sortKey(const Cell& cell) {
    if (cell.shown.empty()) return {};
    Cell plain = cell;
    plain.shown.clear();
    const bool number = std::holds_alternative<int64_t>(cell.value) || std::holds_alternative<double>(cell.value);
    return number ? " data-v=\"" + escaped(plain.text()) + "\"" : "";
  }

  /// A line of its own, from the second column on.
  void beneath(const Table& table, size_t column, const Cell& cell) {
    out_ += "<tr class=\"beneath\"><td></td><td colspan=\"" + std::to_string(table.columns.size() - 2) +
            "\"><div><small>" + escaped(table.columns[column].title) + "</small> " + linked(cell) +
            "</div></td></tr>\n";
  }

  void cells(const Table& table, const std::vector<Cell>& row) {
    for (size_t i = 0; i < row.size(); ++i) {
      const Column& column = table.columns[i];
      if (column.beneath) continue;
      const std::string share = column.key == "share" ? " data-share" : "";
      out_ += tag("td", column, sortKey(row[i]) + share) + linked(row[i]) + "</td>";
    }
  }

  std::string out_;
};

}  // namespace

std::string toHtml(const Document& document) { return HtmlPrinter().print(document); }

}  // namespace svod
