// A flow as data for the script of the page, which lays out what is open (html_flow_script.h).
#include <nlohmann/json.hpp>

#include "report/html_text.h"
#include "support/text.h"

namespace svod::detail {

namespace {

using Json = nlohmann::ordered_json;

std::string_view wordFor(Flow::Kind kind) {
  constexpr std::string_view kWords[] = {"input", "state", "output", "launch", "copy", "call", "loop"};
  return kWords[static_cast<size_t>(kind)];
}

/// JSON that may stand inside of an element: ASCII without a character that ends one or begins a comment.
std::string forElement(const Json& json) {
  std::string out;
  for (char c : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    switch (c) {
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      default: out += c;
    }
  }
  return out;
}

Json dataOf(const Flow& flow) {
  Json data = {{"nodes", Json::array()}, {"groups", Json::array()}, {"edges", Json::array()}};
  for (const Flow::Node& n : flow.nodes)
    data["nodes"].push_back({{"name", printable(n.name)},
                             {"detail", printable(n.detail)},
                             {"label", printable(n.label, Lines::Kept)},
                             {"kind", wordFor(n.kind)},
                             {"share", std::stod(pixels(100 * n.share)) / 100},
                             {"group", n.group},
                             {"anchor", printable(n.anchor)}});
  for (const Flow::Group& g : flow.groups)
    data["groups"].push_back({{"name", printable(g.name)}, {"parent", g.parent}, {"open", g.isOpen}});
  for (const Flow::Edge& e : flow.edges)
    data["edges"].push_back(Json::array({e.from, e.to, printable(e.label), e.bytes}));
  return data;
}

}  // namespace

std::string drawingOf(const Flow& flow) {
  if (flow.nodes.empty()) return "";
  const std::string title = escaped(flow.title);
  return "<figure class=\"flow\"><figcaption>" + title +
         "</figcaption><p class=\"tools\" hidden><button type=\"button\" data-do=\"open\">Open all</button>"
         "<button type=\"button\" data-do=\"close\">Close all</button>"
         "<button type=\"button\" data-do=\"larger\" aria-label=\"Larger\">+</button>"
         "<button type=\"button\" data-do=\"smaller\" aria-label=\"Smaller\">&#8722;</button></p>"
         "<div class=\"view\" tabindex=\"0\" role=\"region\" aria-label=\"" +
         title + "\"><svg role=\"group\" aria-label=\"" + title +
         "\"></svg></div><noscript><p>The drawing needs the script of this page, which is switched off here; "
         "the table of steps says the same.</p></noscript><script type=\"application/json\">" +
         forElement(dataOf(flow)) + "</script></figure>\n";
}

}  // namespace svod::detail
