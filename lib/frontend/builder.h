// GraphBuilder: makes a Model one value at a time. The readers of `.svod` and `.json` are written against it,
// and programs can use it in the same way:
//
//   GraphBuilder b;
//   Dim n = b.variable("n", 1, 64);
//   Tensor x = b.input("x", DType::F32, {n, b.dim(784)});
//   Tensor w = b.weight("w", DType::F32, {b.dim(784), b.dim(10)}, data);
//   b.output("y", b.op("softmax", {b.op("matmul", {x, w})}, {{"axis", -1}}));
//   Result<Model> model = std::move(b).finish();
//
// tensor.h has the primitives as functions; op() reaches every op of ops.def by name.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/attributes.h"
#include "frontend/build_log.h"
#include "frontend/expected_of_runs.h"
#include "frontend/known_dims.h"
#include "frontend/lengths.h"
#include "frontend/open_bodies.h"
#include "frontend/tensor.h"
#include "ir/dim_facts.h"
#include "ir/model.h"
#include "support/result.h"

namespace svod {

/// What one value may take at the greatest sizes, in bytes: as much as a process has addresses.
inline constexpr int64_t kRoomOfValue = int64_t{1} << 46;

/// How two sizes should be equal.
struct SizeWish {
  bool isLeftToRuns = false;  // every run can compare them
  Stretch stretch = Stretch::None;
};
using Unifier = std::function<bool(Dim a, Dim b, SizeWish wish)>;

/// One builder makes one Model. Not thread-safe. Tensors and Dims point into it, so it neither moves nor
/// copies.
class GraphBuilder {
 public:
  GraphBuilder() = default;
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  /// What copyTo may name: the host, "cpu", and those that are added.
  const std::vector<std::string>& devices() const { return model_.devices; }
  void addDevice(std::string_view name) { model_.devices.emplace_back(name); }

  // --- Variables and sizes
  /// An integer in [min, max] that is known when a plan runs. Variables, inputs, weights and states share one
  /// name space; outputs have their own. `likely`: within the bounds; nothing: the usual size.
  Dim variable(std::string_view name, int64_t min, int64_t max, std::optional<int64_t> likely = {});
  /// Forgets a variable that no value uses: it was given a value.
  void dropVariable(std::string_view name);
  /// The variables that outputs, states, expectations and equal sizes depend on so far.
  std::vector<UOp> usedVariables() const;
  /// A size that a run computes: an integer scalar, which must lie in [0, room]. In dims it is a variable like others;
  /// the values have storage for `room`, and what lies behind the length means nothing. The same count and room are the
  /// same length. `name` is for messages.
  Dim length(std::string_view name, Tensor count, Dim room);
  bool hasLength(Dim dim) const;
  Dim roomOf(Dim dim);              // the greatest that a size is, without lengths
  UOp countOf(UOp variable) const;  // what a length is in a run; null for variables that are none
  /// Whether the size is the same for every value of the counter of an open loop.
  bool outlives(Dim dim, Dim counter) const;
  Dim dim(int64_t size) { return Dim(graph(), graph().index(size)); }
  Dims dims(std::initializer_list<int64_t> sizes);

  // --- Ports. Dims must not be able to become negative.
  Tensor input(std::string_view name, DType dtype, const Dims& dims);
  /// Constant dims; `data` holds the elements in row-major order, little endian, bool as one byte, elements of 2 and 4
  /// bits sharing bytes.
  Tensor weight(std::string_view name, DType dtype, const Dims& dims, ConstData data);
  /// A buffer that keeps its value between runs. Empty `data`: starts as zeros. Reading a state gives its
  /// newest value: that of the last assign() before the read.
  Tensor state(std::string_view name, DType dtype, const Dims& dims, ConstData data = {});
  /// A buffer of one run that starts as `value` and can be assigned like a state: what loops carry along.
  Tensor temporary(Tensor value);
  Tensor temporary(DType dtype, const Dims& dims, Tensor value);
  /// Stores `value`, broadcast, into a state or temporary, or into a view of one made by shrink, reshape, permute or
  /// flip. Dtypes must agree.
  void assign(Tensor target, Tensor value);
  /// Also labels the value, unless it has a name.
  void output(std::string_view name, Tensor value);

  /// Makes a run fail unless the integers of `given`, a scalar or a vector of constant size, are those of `wanted`,
  /// which broadcasts to it. `text` says what they are, or what is wrong, as `kind` says. Outside of loops.
  void expect(Tensor given, Tensor wanted, std::string_view text, ExpectationKind kind = ExpectationKind::Agrees);

  // --- Sizes that must be equal
  /// Whether an op may go on as if a and b were equal: they are for all values of the variables, or that could not be
  /// decided and every run checks it (expectEqual). False where they differ for some values, unless these are left to
  /// the runs. What goes on must fit its operands: where they differ it may compute anything, but only on memory that
  /// there is.
  bool agree(Dim a, Dim b, Stretch stretch = Stretch::None);
  /// From here on, sizes that differ for some values of the variables, but not for all, agree; every run checks it.
  void leaveSizesToRuns() { expected_.leavesSizes = true; }
  void closeSizes() { expected_.isClosed = true; }  // from here on an op that leaves more sizes to the runs fails
  /// Makes a run fail unless two sizes are equal. From here on they agree.
  void expectEqual(Dim a, Dim b, std::string_view text);
  /// What `build` expects needs to hold only where `condition`, a bool scalar, does. In loops it always needs to.
  void onlyWhere(Tensor condition, const std::function<void()>& build);
  bool isConditional() const { return !expected_.inConditions.empty(); }
  /// Makes a run fail unless least <= most, which `text` says. False and an error where it never is, and where it may
  /// not be in an iteration of a loop.
  bool expectAtMost(Dim least, Dim most, std::string_view text);
  /// x with dims that agree with its own: cut, or with 0 where it ends. The same for equal ones.
  Tensor fitted(Tensor x, const Dims& dims);

  /// Whether a reader could make two sizes equal: then the op fails, demand() is what it lacks, and it starts again.
  void setUnifier(Unifier unifier) { unifier_ = std::move(unifier); }
  /// What the op of the error lacks: left == right, or left >= right, which may be room and what is taken of it.
  struct Demand {
    Dim left, right;
    bool isEqual = true, isRoom = false;
    Stretch stretch = Stretch::None;
  };
  const std::optional<Demand>& demand() const { return errorDemand_; }

  // --- Loops. What a body computes stays inside; it leaves by assign(). Everything that does not depend on the
  // iteration is computed once, before the loop.
  struct LoopOptions {
    bool unroll = false;                // a copy of the body per iteration; the count must be a constant
    std::function<Tensor()> condition;  // a bool scalar, computed before every iteration; false ends the loop
  };
  /// Runs `body` once per iteration with the counter 0, 1, .. count-1. A negative count is 0.
  void loop(std::string_view counter, Dim count, const std::function<void(Dim counter)>& body,
            const LoopOptions& options);
  void loop(std::string_view counter, Dim count, const std::function<void(Dim counter)>& body) {
    loop(counter, count, body, LoopOptions());
  }
  /// Runs what `then` assigns if the bool scalar `condition` is true, else what `otherwise` assigns.
  void branch(Tensor condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});
  /// loop() in two calls, for readers: the body is what is built between them. Null after an error; then nothing was
  /// begun.
  Dim beginLoop(std::string_view counter, Dim count, const LoopOptions& options);
  void endLoop();
  /// The counters of the loops that are open, the outermost first.
  std::vector<Dim> counters();

  // --- Trying things out
  /// What was stored so far, and which loops are open.
  class Mark;
  Mark mark() const;
  /// Forgets assignments, outputs, expectations, loops and temporaries since `mark`. Values that were built meanwhile
  /// stay, and may be used if they depend on none of these.
  void rewind(Mark mark);

  // --- Values
  Tensor literal(int64_t value);  // takes the dtype of what it meets; i32 alone
  Tensor literal(double value);   // f32 alone
  Tensor literal(bool value);
  Tensor constant(Scalar value);
  Tensor full(const Dims& dims, Tensor value);
  /// What the value is now, also after a later assignment.
  Tensor held(Tensor x);
  Tensor value(Dim dim);  // a size as an Index scalar; cast it before it leaves the graph
  Tensor iota(Dim size);  // 0, 1, .. size-1 as an Index vector
  /// Any op of the table: checks operands and attributes, then lowers it. The first result; null after an error.
  Tensor op(std::string_view name, std::span<const Tensor> operands, const Attributes& attributes = {});
  Tensor op(std::string_view name, std::initializer_list<Tensor> operands, const Attributes& attributes = {});
  /// All results; empty after an error.
  std::vector<Tensor> ops(std::string_view name, std::span<const Tensor> operands, const Attributes& attributes = {});
  /// Names a value, for kernel names and messages. The first name of a value stays.
  void label(Tensor x, std::string_view name);

  // --- Errors: the first one stays until it is taken.
  Tensor fail(Diag diag, std::string message, std::string help = {});
  bool failed() const { return error_.has_value(); }
  std::optional<Error> takeError();

  /// The model, or the error: what the outputs and states need, in a graph of its own, so that it depends on what is
  /// computed and not on how it was built. Weights that nothing reads are left out. Leaves the builder without a graph.
  Result<Model> finish();

  /// From here on, what is asked of the builder is added to `log`; null ends that.
  void recordTo(BuildLog* log) { log_ = BuildRecorder(log); }
  /// Adds a Note to the log, if there is one.
  void note(std::string text);

  /// What was built so far; the sink is made by finish().
  const Model& model() const { return model_; }
  /// Makes storage for all values with lengths, and ends them. Part of finish(); to be called before a log is written.
  void settleLengths();

  // --- For the functions of tensor.h
  /// The node itself: for a state or temporary what it holds before any store, not the newest content.
  Tensor asIs(UOp node);
  Graph& graph() { return *model_.graph; }
  /// A handle to a node, or null and an error when the value is too large or a dim may be negative.
  Tensor wrap(UOp node);
  /// A call of a host function that is made as often as asked for, in this order, whoever reads the result.
  Tensor keptCall(std::string_view function, std::vector<UOp> inputs, DType dtype, const Dims& dims);
  UOp current(UOp node);  // newest content of a state or temporary, other nodes unchanged
  /// The axis counted from the front, or -1 and an error.
  int axis(const Tensor& x, int64_t axis) { return axisOfRank(x.rank(), axis, x); }
  int axisOfRank(int rank, int64_t axis, const Tensor& x);
  std::string boundsHelp(UOp dim);  // what to type so that no value of the variables makes it negative, or other advice
  bool mayBeNegative(UOp dim) { return dims_.mayBeNegative(dim); }
  void lackRoom(std::span<const UOp> dims, int64_t room);
  /// After lackRoom(): the limit, and what to type so that the sizes stay below it, where bounds of variables do that.
  std::string roomHelp(std::string limit) const;
  /// Records an error, unless the sizes are small enough in value and as expressions; wrap() checks dims of results.
  bool checkSizes(std::span<const UOp> sizes);
  std::string_view opName() const { return opName_; }

 private:
  bool declare(std::string_view name);
  bool checkDims(const Dims& dims, DType dtype, bool isStorage);
  bool checkData(std::string_view name, DType dtype, const Dims& dims, const ConstData& data);
  Tensor port(PortKind kind, std::string_view name, DType dtype, const Dims& dims, ConstData data);
  void storeInto(Tensor target, Tensor value);
  void openBody(std::string_view counter, Dim count, Tensor flag, AxisType type);
  bool openBranch(Tensor condition);
  UOp closeBody();
  Tensor makeTemporary(DType dtype, const Dims& dims, Tensor value);
  bool addExpectation(Tensor row, Tensor wanted, std::string_view text, ExpectationKind kind);
  BuildLog::Step* record(BuildLog::Kind kind, std::string_view name, std::span<const Tensor> tensors);
  BuildLog::Step* record(BuildLog::Kind kind, std::string_view name, std::initializer_list<Tensor> tensors) {
    return record(kind, name, std::span(tensors.begin(), tensors.size()));
  }
  Tensor keptCondition(Tensor condition);
  bool checkVisible(const Tensor& value);

  Model model_;
  OpenBodies bodies_;
  std::set<std::string, std::less<>> declared_;
  KnownDims dims_;
  ExpectedOfRuns expected_;
  std::map<std::pair<uint32_t, uint32_t>, Truth> decided_;
  Lengths lengths_;
  std::optional<Error> error_;
  Unifier unifier_;
  std::optional<Demand> lacking_, errorDemand_;  // of the last comparison, and of that which made the error
  std::string opName_;                           // the op being built, prefix of messages
  BuildRecorder log_;
  UOp lastCall_;  // the temporary that holds the result of the last kept call
};

class GraphBuilder::Mark {
  friend GraphBuilder;
  OpenBodies bodies;
  ExpectedOfRuns expected;
  size_t ports = 0, steps = 0, sizesOfRuns = 0;
  UOp lastCall;
};

}  // namespace svod
