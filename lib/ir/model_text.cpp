#include "ir/model_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "ir/text.h"

namespace svod {

namespace {

constexpr std::string_view kKinds[] = {"input", "output", "state", "weight", "temporary", "expectation"};
constexpr std::string_view kPort = "; port ";

struct PortLine {
  size_t slot;
  PortKind kind;
  ExpectationKind expectation;
  std::string name;
};

std::string kindText(const ModelPort& port) {
  std::string text(toText(port.kind));
  if (port.kind == PortKind::Expectation && port.expectation != ExpectationKind::Agrees)
    text += ":" + std::string(toText(port.expectation));
  return text;
}

/// What stands before the next space, which is taken away with it.
std::string_view nextWord(std::string_view& text) {
  const size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(std::min(space + 1, text.size()));
  return word;
}

/// What quoted() was given; of an escape that is none, nothing.
std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] != 'x') {
      name += text[i];
      continue;
    }
    unsigned code = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || end != digits.data() + 2) return std::nullopt;
    name += static_cast<char>(code);
    i += 2;
  }
  return name;
}

/// `SLOT KIND "NAME"`; how a run ends that does not meet an expectation stands behind its kind, as kindText() has it.
std::optional<PortLine> parsePort(std::string_view text) {
  constexpr size_t kMostPorts = 1 << 20;
  const std::string_view slot = nextWord(text), word = nextWord(text), kind = word.substr(0, word.find(':'));
  const std::optional<ExpectationKind> expectation =
      kind == word ? ExpectationKind::Agrees : expectationKind(word.substr(kind.size() + 1));
  PortLine port{0, {}, {}, {}};
  const auto [end, error] = std::from_chars(slot.data(), slot.data() + slot.size(), port.slot);
  const auto row = std::ranges::find(kKinds, kind);
  const std::optional<std::string> name = unquoted(text);
  if (error != std::errc() || end != slot.data() + slot.size() || port.slot >= kMostPorts || !name ||
      row == std::end(kKinds) || !expectation)
    return std::nullopt;
  port.kind = static_cast<PortKind>(row - std::begin(kKinds)), port.expectation = *expectation, port.name = *name;
  return port;
}

bool isPort(UOp n) { return n.op() == Op::Buffer && n.argAs<SlotArg>().space == Space::Global; }

/// Ports by slot, with what the graph says of them alone.
void addPorts(Model& model, std::span<const UOp> order) {
  std::set<uint32_t> stored, read;  // ids of buffers
  for (UOp n : order) {
    if (isPort(n)) {
      const size_t slot = n.argAs<SlotArg>().slot;
      if (model.ports.size() <= slot) model.ports.resize(slot + 1);
      model.ports[slot].buffer = n;
    }
    for (size_t i = 0; i < n.srcCount(); ++i) {
      if (!isPort(n.src(i))) continue;
      const bool isTarget = n.op() == Op::Store && i == 0;
      (isTarget ? stored : read).insert(n.src(i).id());
    }
  }
  for (size_t slot = 0; slot < model.ports.size(); ++slot) {
    ModelPort& port = model.ports[slot];
    port.name = "p" + std::to_string(slot);
    if (!port.buffer) {  // nothing in the graph is there
      port.kind = PortKind::Input;
      port.buffer = model.graph->make(Op::Buffer, DType::F32, {}, SlotArg{static_cast<uint32_t>(slot)});
      continue;
    }
    const bool isStored = stored.contains(port.buffer.id()), isRead = read.contains(port.buffer.id());
    port.kind = !isStored ? PortKind::Input : isRead ? PortKind::State : PortKind::Output;
  }
}

void nameLoops(Model& model, std::span<const UOp> order) {
  for (UOp n : order) {
    if (n.op() == Op::Var) model.variables.push_back(n);
    if (n.op() != Op::Range) continue;
    const size_t id = n.argAs<AxisArg>().id;
    if (model.loops.size() <= id) model.loops.resize(id + 1);
  }
  const auto isTaken = [&](const std::string& name) {
    return std::ranges::any_of(model.variables, [&](UOp v) { return v.argAs<VarArg>().name == name; });
  };
  for (size_t i = 0; i < model.loops.size(); ++i) {
    model.loops[i] = "loop" + std::to_string(i);
    while (isTaken(model.loops[i])) model.loops[i] += "_";
  }
}

}  // namespace

std::string_view toText(PortKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string toText(const Model& model, UOp sink) {
  std::string text;
  for (size_t i = 0; i < model.ports.size(); ++i)
    text += std::string(kPort) + std::to_string(i) + " " + kindText(model.ports[i]) + " " +
            svod::quoted(model.ports[i].name) + "\n";
  return text + toUopText(sink);
}

Result<Model> parseModel(std::string_view text) {
  Model model;
  SVOD_TRY(model.sink, parseUop(*model.graph, text));
  const std::vector<UOp> order = toposort(model.sink);
  addPorts(model, order);
  nameLoops(model, order);
  int number = 0;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(kPort)) continue;
    const std::optional<PortLine> port = parsePort(line.substr(kPort.size()));
    if (!port)
      return fail(Error(Diag::Syntax, "'" + std::string(line) + "' describes no port",
                        "such as ; port 0 input \"x\", of an input, output, state, weight, temporary or expectation",
                        {{}, number + 1, 1}));
    if (port->slot >= model.ports.size()) continue;  // nothing in the graph is there
    model.ports[port->slot].kind = port->kind;
    model.ports[port->slot].expectation = port->expectation;
    model.ports[port->slot].name = port->name;
  }
  return model;
}

}  // namespace svod
