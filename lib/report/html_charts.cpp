// Charts and scatters as SVG.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "report/html_text.h"
#include "support/utf8.h"

namespace svod::detail {

namespace {

constexpr double kLeft = ChartFrame::kLeft, kRight = ChartFrame::kRight, kTop = ChartFrame::kTop, kLetter = 7.25,
                 kTextHeight = 13;

/// In as many letters as have room; empty where too few would be left to know it by.
std::string fitting(std::string_view text, double room) {
  const auto letters = static_cast<size_t>(std::max(room / kLetter, 0.0));
  size_t end = 0, shown = 0;
  for (; end < text.size() && shown < letters; ++shown) end += std::max<size_t>(firstCharacter(text.substr(end)), 1);
  if (end >= text.size()) return std::string(text);
  return letters < 4 ? "" : std::string(text.substr(0, end)) + "\u2026";
}

std::string inLink(const std::string& anchor, const std::string& drawn) {
  // A table has the same links: that they take no tab stop here keeps the way of the keyboard short.
  return anchor.empty() ? drawn : "<a href=\"#" + escaped(anchor) + "\" tabindex=\"-1\">" + drawn + "</a>";
}

std::string titleOf(const std::string& label) { return "<title>" + escaped(label) + "</title>"; }

}  // namespace

std::string chartFigure(const std::string& title, double height, const std::string& drawn) {
  return "<figure><figcaption>" + escaped(title) +
         "</figcaption><div class=\"scroll\"><svg class=\"chart\" viewBox=\"0 0 " + pixels(ChartFrame::kWidth) + " " +
         pixels(height) + "\" role=\"img\" aria-label=\"" + escaped(title) + "\">" + drawn + "</svg></div></figure>\n";
}

std::vector<double> ticksTo(double end, int count, Chart::Unit unit) {
  const double rough = std::max(end / count, 1e-9);
  const double unitStep = unit == Chart::Unit::Bytes ? std::exp2(std::floor(std::log2(rough)))
                                                     : std::pow(10, std::floor(std::log10(rough)));
  double step = unitStep;
  for (double factor : {2.0, 5.0, 10.0})
    if (step < rough) step = unit == Chart::Unit::Bytes ? step * 2 : unitStep * factor;
  if (unit == Chart::Unit::Count) step = std::max(step, 1.0);
  std::vector<double> ticks;
  for (double at = 0; at <= end * 1.0001; at += step) ticks.push_back(at);
  return ticks;
}

namespace {

std::string tickText(double value, Chart::Unit unit) {
  if (unit == Chart::Unit::Bytes) return bytesCell(static_cast<uint64_t>(value)).text();
  if (unit == Chart::Unit::Nanoseconds) return value == 0 ? "0" : timeCell(value).text();
  return std::to_string(std::llround(value));
}

class ChartDrawing {
 public:
  explicit ChartDrawing(const Chart& chart)
      : chart_(chart), bottom_(kTop + (chart.rows.empty() ? 300 : 30 * static_cast<double>(chart.rows.size()))) {}

  std::string draw() {
    axes();
    for (const Chart::Box& box : chart_.boxes) draw(box);
    for (const Chart::Level& level : chart_.levels)
      out_ += svgLine("level", {kLeft, y(level.y)}, {kRight, y(level.y)}) +
              svgText("right halo", {kRight - 4, y(level.y) + (y(level.y) < kTop + 16 ? 14 : -4)}, level.label);
    return chartFigure(chart_.title, bottom_ + 40, out_);
  }

 private:
  double x(double value) const { return kLeft + value / std::max(chart_.width, 1e-9) * (kRight - kLeft); }
  double y(double value) const { return kTop + value / std::max(chart_.height, 1e-9) * (bottom_ - kTop); }

  void axes() {
    for (double tick : ticksTo(chart_.width, 10, chart_.xUnit))
      out_ += svgLine("grid", {x(tick), kTop}, {x(tick), bottom_}) +
              svgText("middle", {x(tick), bottom_ + 16}, tickText(tick, chart_.xUnit));
    if (chart_.rows.empty())
      for (double tick : ticksTo(chart_.height, 6, chart_.yUnit))
        out_ += svgLine("grid", {kLeft, y(tick)}, {kRight, y(tick)}) +
                svgText("right", {kLeft - 6, y(tick) + 4}, tickText(tick, chart_.yUnit));
    for (size_t i = 0; i < chart_.rows.size(); ++i)
      out_ += svgText("right", {kLeft - 6, y(static_cast<double>(i) + 0.5) + 4}, fitting(chart_.rows[i], kLeft - 8));
    out_ += svgText("middle", {(kLeft + kRight) / 2, bottom_ + 34},
                    chart_.xTitle + " \u2192" + (chart_.yTitle.empty() ? "" : ", " + chart_.yTitle + " \u2193"));
  }

  void draw(const Chart::Box& box) {
    const double left = x(box.x0), top = y(box.y0), wide = std::max(x(box.x1) - left, 0.5),
                 high = std::max(y(box.y1) - top, 1.0);
    const std::string color = box.color < Chart::kOtherColor ? std::to_string(box.color) : "other";
    std::string drawn = titleOf(box.label) + "<rect x=\"" + pixels(left) + "\" y=\"" + pixels(top) + "\" width=\"" +
                        pixels(wide) + "\" height=\"" + pixels(high) + "\" class=\"c" + color + "\"/>";
    const std::string name = high >= kTextHeight ? fitting(box.name, wide - 8) : "";
    if (!name.empty()) drawn += svgText("on", {left + 4, top + high / 2 + 4}, name);
    out_ += inLink(box.anchor, "<g>" + drawn + "</g>");
  }

  const Chart& chart_;
  double bottom_;
  std::string out_;
};

/// Around values, drawn from one pixel to another.
class LogAxis {
 public:
  LogAxis(const std::vector<double>& values, double from, double to) : from_(from), to_(to) {
    const auto [least, most] = std::ranges::minmax(values);
    constexpr double kRoom = 0.12;  // in decades
    low_ = std::log10(least) - kRoom, high_ = std::log10(most) + kRoom;
  }
  double at(double value) const { return from_ + (std::log10(value) - low_) / (high_ - low_) * (to_ - from_); }
  double least() const { return std::pow(10, low_); }
  double most() const { return std::pow(10, high_); }
  /// 1, 2 and 5 of every decade, or 1 alone where there are many.
  std::vector<double> ticks() const {
    std::vector<double> found;
    for (int decade = static_cast<int>(std::floor(low_)); decade <= high_; ++decade)
      for (double digit : {1.0, 2.0, 5.0}) {
        const double tick = digit * std::pow(10, decade);
        if (tick >= least() && tick <= most() && (digit == 1 || high_ - low_ < 4)) found.push_back(tick);
      }
    return found;
  }

 private:
  double from_, to_, low_, high_;
};

std::vector<double> across(const Scatter& scatter) {
  std::vector<double> xs;
  for (const Scatter::Point& p : scatter.points) xs.push_back(p.x);
  return xs;
}

std::vector<double> upward(const Scatter& scatter) {
  std::vector<double> ys;
  for (const Scatter::Point& p : scatter.points) ys.insert(ys.end(), {p.y, p.most});
  for (const Scatter::Roof& roof : scatter.roofs)
    if (std::isfinite(roof.peak)) ys.push_back(roof.peak);
  return ys;
}

class ScatterDrawing {
 public:
  explicit ScatterDrawing(const Scatter& scatter)
      : scatter_(scatter), x_(across(scatter), kLeft, kRight), y_(upward(scatter), kBottom, kTop) {}

  std::string draw() {
    for (double tick : x_.ticks())
      out_ += svgLine("grid", {x_.at(tick), kTop}, {x_.at(tick), kBottom}) +
              svgText("middle", {x_.at(tick), kBottom + 16}, tickText(tick));
    for (double tick : y_.ticks())
      out_ += svgLine("grid", {kLeft, y_.at(tick)}, {kRight, y_.at(tick)}) +
              svgText("right", {kLeft - 6, y_.at(tick) + 4}, tickText(tick));
    for (const Scatter::Roof& roof : scatter_.roofs) draw(roof);
    for (const Scatter::Point& p : scatter_.points) draw(p);
    nameTheLargest();
    out_ += svgText("middle", {(kLeft + kRight) / 2, kBottom + 34},
                    scatter_.xTitle + " \u2192, " + scatter_.yTitle + " \u2191");
    return chartFigure(scatter_.title, kBottom + 40, out_);
  }

 private:
  static constexpr double kBottom = 430;
  static constexpr size_t kNames = 14, kNameLetters = 44;
  struct Area {
    double x0, x1, y0, y1;
    bool meets(const Area& o) const { return x0 < o.x1 && o.x0 < x1 && y0 < o.y1 && o.y0 < y1; }
  };

  static std::string tickText(double tick) {
    char value[32];
    std::snprintf(value, sizeof value, "%g", tick);
    return value;
  }

  static double radiusOf(const Scatter::Point& p) { return 4 + 10 * std::sqrt(std::clamp(p.share, 0.0, 1.0)); }

  /// From the left border to the knee, and from there on level.
  void draw(const Scatter::Roof& roof) {
    const double first = x_.least(), last = x_.most(), bottom = y_.least();
    const double knee = std::clamp(std::min(roof.peak, y_.most()) / roof.slope, first, last),
                 from = std::clamp(bottom / roof.slope, first, knee);
    const double top = std::min(roof.peak, y_.most());
    auto place = [&](double x) { return Pixel{x_.at(x), y_.at(std::min(top, roof.slope * x))}; };
    out_ += svgLine("roof", place(from), place(knee));
    if (std::isfinite(roof.peak)) out_ += svgLine("roof", place(knee), place(last));
    const Pixel start = place(from);
    const Area area{start.x + 8, start.x + 8 + kLetter * static_cast<double>(roof.name.size()), start.y - 16, start.y};
    out_ += svgText("halo", {area.x0, area.y1 - 3}, roof.name);
    taken_.push_back(area);
  }

  void draw(const Scatter::Point& p) {
    const double px = x_.at(p.x), py = y_.at(p.y), top = y_.at(p.most), r = radiusOf(p);
    out_ += inLink(p.anchor, "<g>" + titleOf(p.label) + svgLine("most", {px - 6, top}, {px + 6, top}) +
                                 svgLine("lack", {px, top}, {px, py}) + "<circle cx=\"" + pixels(px) + "\" cy=\"" +
                                 pixels(py) + "\" r=\"" + pixels(r) + "\"/></g>");
  }

  bool isFree(const Area& area) const {
    if (area.x0 < kLeft || area.x1 > kRight || area.y0 < kTop || area.y1 > kBottom) return false;
    return std::ranges::none_of(taken_, [&](const Area& other) { return area.meets(other); });
  }

  /// Around the point, the nearest free place first; a line leads to those further away.
  bool placeName(const Scatter::Point& p, const std::string& name) {
    const double px = x_.at(p.x), py = y_.at(p.y), r = radiusOf(p) + 3;
    const double wide = kLetter * static_cast<double>(std::min(name.size(), kNameLetters + 1));
    for (double far : {0.0, 18.0, 36.0, 60.0, 90.0, 130.0}) {
      const double out = r + far, slant = far;
      const Pixel middles[] = {{px + out + wide / 2, py},
                               {px - out - wide / 2, py},
                               {px, py + out + 7},
                               {px, py - out - 7},
                               {px + out + wide / 2, py + slant},
                               {px + out + wide / 2, py - slant},
                               {px - out - wide / 2, py + slant},
                               {px - out - wide / 2, py - slant}};
      for (const Pixel& middle : middles) {
        const Area area{middle.x - wide / 2, middle.x + wide / 2, middle.y - 7, middle.y + 7};
        if (!isFree(area)) continue;
        taken_.push_back(area);
        if (far > 0)
          out_ += svgLine("leader", {px, py}, {std::clamp(px, area.x0, area.x1), std::clamp(py, area.y0, area.y1)});
        out_ += svgText("name halo", {area.x0, area.y1 - 3}, name);
        return true;
      }
    }
    return false;
  }

  /// The others say theirs when they are pointed at.
  void nameTheLargest() {
    std::vector<const Scatter::Point*> order;
    for (const Scatter::Point& p : scatter_.points) {
      order.push_back(&p);
      const double px = x_.at(p.x), py = y_.at(p.y), r = radiusOf(p);
      taken_.push_back({px - r, px + r, py - r, py + r});
    }
    std::ranges::stable_sort(order, std::greater<>(), &Scatter::Point::share);
    order.resize(std::min(order.size(), kNames));
    for (const Scatter::Point* p : order) placeName(*p, fitting(p->name, kLetter * kNameLetters));
  }

  const Scatter& scatter_;
  LogAxis x_, y_;
  std::string out_;
  std::vector<Area> taken_;
};

}  // namespace

std::string drawingOf(const Chart& chart) { return chart.boxes.empty() ? "" : ChartDrawing(chart).draw(); }

std::string drawingOf(const Scatter& scatter) { return scatter.points.empty() ? "" : ScatterDrawing(scatter).draw(); }

}  // namespace svod::detail
