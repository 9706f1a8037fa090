// Values of expressions for given leaves, by the definition of the language.
#pragma once
#include <array>
#include <random>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace svod {

using Leaves = std::unordered_map<uint32_t, Scalar>;  // value of each Var or Range by node id

inline Scalar evaluate(UOp root, const Leaves& leaves) {
  std::unordered_map<uint32_t, Scalar> value;
  for (UOp n : toposort(root)) {
    if (n.isConst()) {
      value[n.id()] = n.constant();
    } else if (auto leaf = leaves.find(n.id()); leaf != leaves.end()) {
      value[n.id()] = leaf->second;
    } else if (n.op() == Op::Range) {
      continue;  // below a range that is a leaf
    } else {
      std::array<Scalar, 3> in;
      for (size_t i = 0; i < n.srcCount(); ++i) in[i] = value.at(n.src(i).id());
      value[n.id()] = evalScalar(n.op(), n.dtype(), {in.data(), n.srcCount()});
    }
  }
  return value.at(root.id());
}

using Random = std::mt19937_64;
inline int64_t pick(Random& random, int64_t min, int64_t max) {
  return min + static_cast<int64_t>(random() % static_cast<uint64_t>(max - min + 1));
}

inline std::string describe(UOp n) {
  if (n.isConst()) return toText(n.constant());
  if (n.op() == Op::Var)
    return std::string(n.argAs<VarArg>().name) + "[" + std::to_string(n.bounds().min) + ".." +
           std::to_string(n.bounds().max) + "]";
  if (n.op() == Op::Range) return "r" + std::to_string(n.argAs<AxisArg>().id) + "<" + describe(n.src(0)) + ">";
  std::string text = std::string(toText(n.op()));
  if (n.op() == Op::Cast) text += "." + std::string(toText(n.dtype()));
  text += "(";
  for (size_t i = 0; i < n.srcCount(); ++i) text += (i ? ", " : "") + describe(n.src(i));
  return text + ")";
}

}  // namespace svod
