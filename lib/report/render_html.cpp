#include <algorithm>
#include <cmath>
#include <cstdio>

#include "report/html_style.h"
#include "report/render.h"
#include "support/text.h"

namespace svod {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : printable(text, Lines::Kept)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

/// Whole decades around `values`, drawn from one pixel to another.
class LogAxis {
 public:
  LogAxis(const std::vector<double>& values, double from, double to) : from_(from), to_(to) {
    const auto [least, most] = std::ranges::minmax(values);
    low_ = static_cast<int>(std::floor(std::log10(least))), high_ = static_cast<int>(std::ceil(std::log10(most)));
    if (low_ == high_) ++high_;
  }
  double at(double value) const { return from_ + (std::log10(value) - low_) / (high_ - low_) * (to_ - from_); }
  double decade(int power) const { return at(std::pow(10, power)); }
  int low() const { return low_; }
  int high() const { return high_; }

 private:
  double from_, to_;
  int low_, high_;
};

class HtmlPrinter {
 public:
  std::string print(const Document& document) {
    out_ = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(document.title) +
           "</title>\n<style>" + std::string(kHtmlStyle) + "</style></head><body>\n<nav>";
    for (const Section& s : document.sections)
      if (!s.title.empty()) out_ += "<a href=\"#" + escaped(s.key) + "\">" + escaped(s.title) + "</a>";
    out_ += "</nav>\n<main><h1>" + escaped(document.title) + "</h1>\n";
    for (const Section& s : document.sections) section(s);
    return out_ + "</main></body></html>\n";
  }

  void operator()(const FactList& facts) {
    out_ += "<dl>";
    for (const Fact& f : facts) out_ += "<dt>" + escaped(f.title) + "</dt><dd>" + escaped(f.value.text()) + "</dd>";
    out_ += "</dl>\n";
  }

  void operator()(const Table& table) {
    if (table.rows.empty()) return;
    out_ += "<div class=\"scroll\"><table><thead><tr>";
    for (const Column& c : table.columns) cell("th", c, escaped(c.title));
    out_ += "</tr></thead><tbody>\n";
    for (const auto& row : table.rows) {
      out_ += "<tr>";
      for (size_t i = 0; i < row.size(); ++i) cell("td", table.columns[i], escaped(row[i].text()));
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table></div>\n";
  }

  void operator()(const Code& code) {
    out_ += "<details" + std::string(code.text.size() < 4000 ? " open" : "") + "><summary>" +
            escaped(code.title.empty() ? code.key : code.title) + "</summary><pre>" + escaped(code.text) +
            "</pre></details>\n";
  }

  void operator()(const Note& note) { out_ += "<p>" + escaped(note.text) + "</p>\n"; }

  void operator()(const Chart& chart) {
    if (chart.boxes.empty()) return;
    constexpr double kWidth = 960, kHeight = 320;
    const double sx = kWidth / static_cast<double>(std::max<int64_t>(chart.width, 1));
    const double sy = kHeight / static_cast<double>(std::max<int64_t>(chart.height, 1));
    out_ += "<figure><figcaption>" + escaped(chart.title) + "</figcaption><svg viewBox=\"0 0 980 340\" role=\"img\">";
    for (size_t i = 0; i < chart.boxes.size(); ++i) {
      const Chart::Box& b = chart.boxes[i];
      out_ += "<rect x=\"" + number(static_cast<double>(b.x0) * sx) + "\" y=\"" +
              number(static_cast<double>(b.y0) * sy) + "\" width=\"" + number(static_cast<double>(b.x1 - b.x0) * sx) +
              "\" height=\"" + number(std::max(1.0, static_cast<double>(b.y1 - b.y0) * sy)) + "\" class=\"c" +
              std::to_string(i % 8) + "\"><title>" + escaped(b.label) + "</title></rect>";
    }
    out_ += "<text x=\"0\" y=\"336\">" + escaped(chart.xTitle) + " &#8594;, " + escaped(chart.yTitle) +
            " &#8595;</text></svg></figure>\n";
  }

  void operator()(const Scatter& scatter) {
    if (scatter.points.empty()) return;
    std::vector<double> xs, ys;
    for (const Scatter::Point& p : scatter.points) xs.push_back(p.x), ys.insert(ys.end(), {p.y, p.most});
    const LogAxis x(xs, 60, 960), y(ys, 370, 10);
    out_ += "<figure><figcaption>" + escaped(scatter.title) + "</figcaption><svg viewBox=\"0 0 980 420\" role=\"img\">";
    for (int d = x.low(); d <= x.high(); ++d) gridLine({x.decade(d), 10}, {x.decade(d), 370}, {-8, 16}, d);
    for (int d = y.low(); d <= y.high(); ++d) gridLine({960, y.decade(d)}, {60, y.decade(d)}, {-54, 4}, d);
    for (const Scatter::Point& p : scatter.points) {
      const double px = x.at(p.x), py = y.at(p.y), top = y.at(p.most);
      out_ += "<g><title>" + escaped(p.label) + "</title>" + line("most", {px - 6, top}, {px + 6, top}) +
              line("lack", {px, top}, {px, py}) + "<circle cx=\"" + number(px) + "\" cy=\"" + number(py) +
              "\" r=\"4\" class=\"c0\"/></g>";
    }
    out_ += "<text x=\"60\" y=\"412\">" + escaped(scatter.xTitle) + " &#8594;, " + escaped(scatter.yTitle) +
            " &#8593;</text></svg></figure>\n";
  }

 private:
  struct Pixel {
    double x, y;
  };

  static std::string line(std::string_view kind, Pixel from, Pixel to) {
    return "<line class=\"" + std::string(kind) + "\" x1=\"" + number(from.x) + "\" y1=\"" + number(from.y) +
           "\" x2=\"" + number(to.x) + "\" y2=\"" + number(to.y) + "\"/>";
  }

  /// With the power of ten beside its end.
  void gridLine(Pixel from, Pixel to, Pixel beside, int decade) {
    char value[32];
    std::snprintf(value, sizeof value, "%g", std::pow(10, decade));
    out_ += line("grid", from, to) + "<text x=\"" + number(to.x + beside.x) + "\" y=\"" + number(to.y + beside.y) +
            "\">" + value + "</text>";
  }

  void section(const Section& s, int level = 2) {
    if (s.blocks.empty() && s.parts.empty()) return;
    out_ += "<section id=\"" + escaped(s.key) + "\">";
    if (!s.title.empty()) {
      const std::string tag = "h" + std::to_string(level);
      out_ += "<" + tag + ">" + escaped(s.title) + "</" + tag + ">\n";
    }
    for (const Block& block : s.blocks) std::visit(*this, block);
    for (const Section& part : s.parts) section(part, level + 1);
    out_ += "</section>\n";
  }

  void cell(std::string_view tag, const Column& column, const std::string& text) {
    out_ += "<" + std::string(tag) + (column.right ? " class=\"n\">" : ">") + text + "</" + std::string(tag) + ">";
  }

  static std::string number(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.2f", value);
    return buffer;
  }

  std::string out_;
};

}  // namespace

std::string toHtml(const Document& document) { return HtmlPrinter().print(document); }

}  // namespace svod
