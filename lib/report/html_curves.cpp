// Curves as SVG.
#include <algorithm>
#include <cmath>

#include "report/html_text.h"

namespace svod::detail {

namespace {

constexpr double kLeft = ChartFrame::kLeft, kTop = ChartFrame::kTop, kBottom = 340;
constexpr double kRight = ChartFrame::kRight - 190;  // names stand behind it
constexpr double kNameHeight = 15;
constexpr size_t kNameLetters = 25;

class CurveDrawing {
 public:
  explicit CurveDrawing(const Curves& curves) : curves_(curves) {
    for (const Curves::Line& line : curves.lines)
      for (const auto& [x, y] : line.points) width_ = std::max(width_, x), height_ = std::max(height_, y);
  }

  std::string draw() {
    for (double tick : ticksTo(width_, 8, Chart::Unit::Count))
      out_ += svgLine("grid", {x(tick), kTop}, {x(tick), kBottom}) +
              svgText("middle", {x(tick), kBottom + 16}, std::to_string(std::llround(tick)));
    for (double tick : ticksTo(height_, 6, Chart::Unit::Count))
      out_ += svgLine("grid", {kLeft, y(tick)}, {kRight, y(tick)}) +
              svgText("right", {kLeft - 6, y(tick) + 4}, std::to_string(std::llround(tick)));
    // The first ones matter most: they lie on top.
    for (auto line = curves_.lines.rbegin(); line != curves_.lines.rend(); ++line) draw(*line);
    names();
    out_ += svgText("middle", {(kLeft + kRight) / 2, kBottom + 34},
                    curves_.xTitle + " \u2192, " + curves_.yTitle + " \u2191");
    return chartFigure(curves_.title, kBottom + 40, out_);
  }

 private:
  double x(double value) const { return kLeft + value / std::max(width_, 1e-9) * (kRight - kLeft); }
  double y(double value) const { return kBottom - value / std::max(height_, 1e-9) * (kBottom - kTop); }
  static bool isNamed(const Curves::Line& line) { return line.color < Chart::kOtherColor; }

  /// A point's value holds until the next one, the last to the right border.
  void draw(const Curves::Line& line) {
    if (line.points.empty()) return;
    std::string path = "M" + pixels(x(line.points[0].first)) + " " + pixels(y(line.points[0].second));
    for (size_t i = 1; i < line.points.size(); ++i)
      path += "H" + pixels(x(line.points[i].first)) + "V" + pixels(y(line.points[i].second));
    const std::string kind = isNamed(line) ? " k" + std::to_string(line.color) : "";
    const std::string drawn =
        "<g><title>" + escaped(line.label) + "</title><path class=\"curve" + kind + "\" d=\"" + path + "\"/></g>";
    out_ += line.anchor.empty() ? drawn : "<a href=\"#" + escaped(line.anchor) + "\" tabindex=\"-1\">" + drawn + "</a>";
  }

  /// As near to the ends of their curves as they can stand without covering each other.
  void names() {
    std::vector<const Curves::Line*> named;
    for (const Curves::Line& line : curves_.lines)
      if (isNamed(line) && !line.points.empty()) named.push_back(&line);
    const auto endOf = [&](const Curves::Line* line) { return y(line->points.back().second); };
    std::ranges::stable_sort(named, {}, endOf);
    std::vector<double> places;
    for (const Curves::Line* line : named)
      places.push_back(std::max(endOf(line), places.empty() ? kTop + 8 : places.back() + kNameHeight));
    double most = kBottom - 4;
    for (size_t i = named.size(); i-- > 0; most = places[i] - kNameHeight) places[i] = std::min(places[i], most);
    for (size_t i = 0; i < named.size(); ++i) {
      const auto& [lastX, lastY] = named[i]->points.back();
      std::string name = named[i]->name;
      if (name.size() > kNameLetters) name = name.substr(0, kNameLetters - 1) + "\u2026";
      out_ += svgLine("leader", {x(lastX), y(lastY)}, {kRight + 4, places[i]}) + "<rect class=\"c" +
              std::to_string(named[i]->color) + "\" x=\"" + pixels(kRight + 6) + "\" y=\"" + pixels(places[i] - 5) +
              "\" width=\"9\" height=\"9\"/>" + svgText("name", {kRight + 20, places[i] + 4}, name);
    }
  }

  const Curves& curves_;
  double width_ = 1, height_ = 1;
  std::string out_;
};

}  // namespace

std::string drawingOf(const Curves& curves) { return curves.lines.empty() ? "" : CurveDrawing(curves).draw(); }

}  // namespace svod::detail
