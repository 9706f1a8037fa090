// Pieces of HTML and SVG. Everything that comes from a graph or a plan goes through `escaped`.
#pragma once
#include <string>
#include <string_view>

#include "report/document.h"

namespace svod::detail {

/// For text and for attributes in double quotes.
std::string escaped(std::string_view text);
/// A coordinate.
std::string pixels(double value);
std::string base64(std::string_view bytes);

struct Pixel {
  double x, y;
};
std::string svgLine(std::string_view kind, Pixel from, Pixel to);
std::string svgText(std::string_view kind, Pixel at, std::string_view text);

/// What charts share: the box they draw in, and the figure around it.
struct ChartFrame {
  static constexpr double kWidth = 980, kLeft = 76, kRight = 968, kTop = 10;
};
std::string chartFigure(const std::string& title, double height, const std::string& drawn);
/// About `count` round steps up to `end`.
std::vector<double> ticksTo(double end, int count, Chart::Unit unit);

/// Drawings (html_charts.cpp, html_curves.cpp, html_flow.cpp), complete figures; empty where there is nothing to draw.
std::string drawingOf(const Chart& chart);
std::string drawingOf(const Scatter& scatter);
std::string drawingOf(const Curves& curves);
std::string drawingOf(const Flow& flow);

}  // namespace svod::detail
