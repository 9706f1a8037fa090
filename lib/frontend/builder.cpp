// Errors, handles and the limits that every size keeps.
#include "frontend/builder.h"

#include <map>
#include <set>

#include "frontend/graph_op.h"
#include "frontend/size_bounds.h"
#include "support/text.h"

namespace svod {

namespace {

// Index arithmetic is 64-bit: no value may have more elements than leave room for offsets.
constexpr int64_t kMaxElements = int64_t{1} << 60;
constexpr size_t kMaxRank = 64;

/// What an op takes and is: what there is to say where a check says nothing better.
std::string formOf(std::string_view opName) {
  const GraphOp* op = findGraphOp(opName);
  if (op == nullptr) return {};
  std::string form = std::string(op->name) + "(" + std::string(op->operands);
  if (!op->attributes.empty()) form += (op->operands.empty() ? "" : ", ") + std::string(op->attributes);
  return form + ") is: " + std::string(op->what);
}

/// What to type for bounds of variables.
std::string flagsOf(const std::map<std::string, Interval>& bounds) {
  std::string flags;
  for (const auto& [name, b] : bounds)
    flags += " --var " + shellWord(name + "=" + std::to_string(b.min) + ":" + std::to_string(b.max));
  return flags;
}

}  // namespace

Tensor GraphBuilder::fail(Diag diag, std::string message, std::string help) {
  if (error_) return {};
  if (!opName_.empty()) message = opName_ + ": " + message;
  if (help.empty()) help = formOf(opName_);
  error_ = Error(diag, std::move(message), std::move(help));
  errorDemand_ = std::exchange(lacking_, std::nullopt);
  return {};
}

std::optional<Error> GraphBuilder::takeError() {
  std::optional<Error> taken = std::move(error_);
  error_.reset();
  errorDemand_.reset();
  lacking_.reset();
  return taken;
}

UOp Tensor::node() const { return builder_ && !isHeld_ ? builder_->current(node_) : node_; }

Tensor GraphBuilder::asIs(UOp node) {
  Tensor x(node ? this : nullptr, node, false);
  x.isHeld_ = true;
  return x;
}

Dims Tensor::dims() const {
  Dims all;
  if (node_)
    for (UOp d : node_.shape()) all.add(Dim(builder_->graph(), d));
  return all;
}

/// The error that follows would not be one with smaller sizes. Lengths have the room that the sizes give them. Where
/// the sizes fit and only their bounds, which see less, do not, the variables have less room.
void GraphBuilder::lackRoom(std::span<const UOp> dims, int64_t room) {
  UOp taken = graph().index(1);
  std::vector<UOp> rooms;
  for (UOp d : dims) taken = graph().alu(Op::Mul, {taken, rooms.emplace_back(roomOf(Dim(graph(), d)).node())});
  const auto none = [](const std::string&) { return false; };
  if (sharesFor(graph().index(room), taken, none))
    if (const auto shares = productOfShares(graph(), rooms, room)) std::tie(room, taken) = *shares;
  lacking_ = Demand{dim(room), Dim(graph(), taken), false, true};
}

std::string GraphBuilder::roomHelp(std::string limit) const {
  std::set<std::string> ofRuns;
  for (const auto& [id, length] : lengths_) ofRuns.emplace(length.variable.argAs<VarArg>().name);
  auto isFree = [&](const std::string& name) { return !ofRuns.contains(name); };
  const auto shares = sharesFor(lacking_->left.node(), lacking_->right.node(), isFree);
  if (!shares || shares->empty()) return limit;
  return std::move(limit) + "; these bounds are tight enough:" + flagsOf(*shares);
}

bool GraphBuilder::checkSizes(std::span<const UOp> sizes) {
  for (UOp d : sizes) {
    bool isSmall = d.bounds().max <= kMaxElements && d.bounds().min >= -kMaxElements;
    if (isSmall && !dims_.isTooComplicated(d)) continue;
    std::string text = "the size " + describe(Dim(graph(), d));
    if (isSmall) {
      fail(Diag::TooLarge, text + " is too complicated",
           "use fewer operations on sizes, or fix a variable in it: --var NAME=SIZE");
    } else {
      lackRoom({&d, 1}, kMaxElements);
      fail(Diag::TooLarge, text + " is too large", roomHelp("sizes lie below 2^60 for all values of the variables"));
    }
    return false;
  }
  return true;
}

Tensor GraphBuilder::wrap(UOp node) {
  if (node.rank() > kMaxRank)
    return fail(Diag::TooLarge, "a value has " + std::to_string(node.rank()) + " dims", "at most 64");
  if (!checkSizes(node.shape())) return {};
  for (UOp d : node.shape())
    if (mayBeNegative(d)) {
      lacking_ = Demand{Dim(graph(), d), dim(1), false};
      return fail(Diag::VariableBounds, "a dim can become negative: " + describe(Dim(graph(), d)), boundsHelp(d));
    }
  if (node.maxNumel() > kMaxElements) {
    lackRoom(node.shape(), kMaxElements);
    return fail(Diag::TooLarge, "a value " + describe(Tensor(this, node, false)) + " has too many elements",
                roomHelp("at most 2^60 elements at the largest values of the variables"));
  }
  lacking_.reset();
  return Tensor(this, node, false);
}

std::string GraphBuilder::boundsHelp(UOp dim) {
  if (dim.isConst()) return "sizes are 0 or more";
  if (hasLength(Dim(graph(), dim)))
    return "only a run knows this size, and it may be 0: pad the value in front of this op to the least that it takes";
  auto isFree = [](const std::string&) { return true; };
  auto bounds = boundsFor(dim, graph().index(1), isFree);
  if (!bounds || bounds->empty()) return "tighten the bounds of the variables in it: --var NAME=MIN:MAX";
  return "tighter bounds keep it above 0:" + flagsOf(*bounds);
}

int GraphBuilder::axisOfRank(int rank, int64_t axis, const Tensor& x) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  std::string expected =
      rank == 0 ? "it has no axes" : "expected " + std::to_string(-rank) + " to " + std::to_string(rank - 1);
  fail(Diag::BadAttribute, "axis " + std::to_string(axis) + " is out of range for " + describe(x), expected);
  return -1;
}

Dims GraphBuilder::dims(std::initializer_list<int64_t> sizes) {
  Dims all;
  for (int64_t size : sizes) all.add(dim(size));
  return all;
}

}  // namespace svod
