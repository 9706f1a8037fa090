#include "schedule/name.h"

#include <cctype>
#include <cstdio>
#include <set>

#include "ir/graph.h"
#include "ir/likely.h"

namespace svod {

namespace {

std::string identifier(std::string_view label) {
  std::string out;
  for (char c : label.substr(0, 40)) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out.insert(out.begin(), 'k');
  return out;
}

std::string extent(UOp range) {
  UOp end = range.src(0);
  return (end.isConst() ? "" : "n") + std::to_string(likelySize(end));
}

}  // namespace

std::string kernelName(UOp sink, std::string_view label) {
  std::string extents;
  bool reduces = false;
  std::set<uint32_t> seen;
  auto add = [&](UOp r) {
    if (r.op() == Op::Range && seen.insert(r.id()).second) extents += (extents.empty() ? "" : "x") + extent(r);
  };
  for (UOp end : sink.src())
    if (end.op() == Op::End)
      for (UOp r : end.src().subspan(1)) add(r);
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Reduce) continue;
    reduces = true;
    for (UOp r : n.src().subspan(1)) add(r);
  }
  char hash[9];
  std::snprintf(hash, sizeof hash, "%08x", static_cast<unsigned>(sink.hash().lo));
  return identifier(label) + (reduces ? "_r" : "_e") + extents.substr(0, 40) + "_" + hash;
}

}  // namespace svod
