// Values in parts on several devices: one value (distribute), or its parts by their names, one on each device.
#include "frontend/distributed_parts.h"
#include "frontend/lower/common.h"

namespace svod {

Results lowerConcat(OpCall& call);  // of join.cpp

namespace {

/// The names in a list such as "a, b"; at least one.
std::vector<std::string> deviceList(OpCall& call) {
  std::vector<std::string> names(1);
  for (char c : call.word("devices")) {
    if (c == ',')
      names.emplace_back();
    else if (c != ' ')
      names.back() += c;
  }
  return names;
}

/// What two values are reduced to.
Tensor reduced(const std::string& op, Tensor a, Tensor b) {
  if (op == "max") return max(a, b);
  if (op == "min") return min(a, b);
  return op == "prod" ? a * b : a + b;
}

}  // namespace

// A Copy that GraphBuilder::finish makes parts of.
Results lowerDistribute(OpCall& call) {
  Distribution to{deviceList(call), -1};
  if (call.has("axis") && (to.axis = call.b.axis(call.arg(0), call.integer("axis"))) < 0) return Tensor();
  UOp x;
  for (const std::string& device : to.devices) {
    const Tensor there = copyTo(call.arg(0), device);
    if (!there) return Tensor();
    x = there.node().src(0);
  }
  return call.b.wrap(call.b.graph().make(Op::Copy, x.dtype(), {x}, NameArg{toText(to)}));
}

Results lowerShard(OpCall& call) {
  const Tensor x = call.arg(0);
  const int axis = call.b.axis(x, call.integer("axis"));
  if (axis < 0) return Tensor();
  const std::vector<std::string> devices = deviceList(call);
  const std::vector<Dim> cuts = detail::evenCuts(x.dim(axis), static_cast<int64_t>(devices.size()));
  std::vector<Tensor> parts;
  for (size_t i = 0; i < devices.size(); ++i)
    parts.push_back(copyTo(narrow(x, axis, cuts[i], cuts[i + 1] - cuts[i]), devices[i]));
  return parts;
}

Results lowerReplicate(OpCall& call) {
  std::vector<Tensor> copies;
  for (const std::string& device : deviceList(call)) copies.push_back(copyTo(call.arg(0), device));
  return copies;
}

Results lowerUnshard(OpCall& call) {
  std::vector<Tensor> parts;
  for (const Tensor& part : call.operands) parts.push_back(copyTo(part, call.word("device")));
  OpCall joint{call.b, call.op, parts, call.attributes};
  return lowerConcat(joint);
}

// Reduced on the first device, in the order of the parts, and copied to the others: bit for bit the same on all.
Results lowerAllReduce(OpCall& call) {
  const std::vector<std::string> devices = deviceList(call);
  for (const Tensor& part : call.operands)
    if (!call.require(part.dims() == call.arg(0).dims(), "all shapes must be equal")) return Tensor();
  if (devices.size() != call.count())
    return call.fail(Diag::BadAttribute,
                     std::to_string(call.count()) + " parts for " + std::to_string(devices.size()) + " devices",
                     "name the device of each part, such as devices=\"a, b\"");
  Tensor all = copyTo(call.arg(0), devices[0]);
  for (size_t i = 1; i < call.count(); ++i) all = reduced(call.word("op"), all, copyTo(call.arg(i), devices[0]));
  std::vector<Tensor> results;
  for (const std::string& device : devices) results.push_back(results.empty() ? all : copyTo(all, device));
  return results;
}

}  // namespace svod
