#include "driver/kernel_cache.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "compile/kernel.h"
#include "compile/options.h"
#include "data/sha256.h"
#include "ir/text.h"
#include "plan/json.h"

namespace svod {

namespace {

/// A change of what is kept, or of how, needs another number.
constexpr std::string_view kForm = "svod kernel 8";

/// One value per line, so that no two lists of values give the same text.
class KeyText {
 public:
  void add(std::string_view name, std::string_view value) {
    text_ += std::string(name) + " " + std::to_string(value.size()) + " " + std::string(value) + "\n";
  }
  void add(std::string_view name, int64_t value) { add(name, std::to_string(value)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string lineOf(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\0'; }, ' ');
  return text + "\n";
}

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// A line "case NANOSECONDS" for each, and behind it "MIN MAX LIKELY SIZE" for each of its sizes.
std::string textOf(const std::vector<SizeCase>& cases) {
  std::string text;
  for (const SizeCase& one : cases) {
    text += "case " + std::to_string(one.nanoseconds) + "\n";
    for (const SizeLimits& s : one.sizes)
      text +=
          lineOf(std::to_string(s.min) + " " + std::to_string(s.max) + " " + std::to_string(s.likely) + " " + s.size);
  }
  return text;
}

/// Nothing for a text that textOf() does not write.
std::optional<std::vector<SizeCase>> casesOf(std::string_view text) {
  std::vector<SizeCase> cases;
  for (const std::string& line : linesOf(text)) {
    std::istringstream words(line);
    SizeLimits sizes;
    if (line.starts_with("case ")) {
      if (!(words.ignore(5) >> cases.emplace_back().nanoseconds)) return std::nullopt;
      continue;
    }
    if (cases.empty() || !(words >> sizes.min >> sizes.max >> sizes.likely)) return std::nullopt;
    std::getline(words.ignore(1), sizes.size);
    cases.back().sizes.push_back(std::move(sizes));
  }
  return cases;
}

}  // namespace

std::string KernelCache::keyOf(const CompiledKernel& kernel, const KernelOpts* requested,
                               const CompileOptions& options) const {
  KeyText key;
  key.add("form", kForm);
  key.add("compiler", compiler_);
  key.add("target", options.target->name);
  key.add("machine", toText(options.machine));
  if (options.tools) key.add("tools", options.tools->id());
  key.add("numerics", toText(options.numerics));
  key.add("level", options.optLevel);
  for (const std::string& rule : options.passes.disabledRules) key.add("without", rule);
  for (const std::string& pass : options.passes.disabledPasses) key.add("without pass", pass);
  key.add("limit", options.passes.bisectLimit);
  key.add("verify", options.passes.verifyEach);
  if (requested != nullptr) key.add("opts", toText(requested->opts));
  if (!kernel.tuned.empty()) key.add("most instructions", static_cast<int64_t>(options.mostTuned));
  for (const Winner& winner : kernel.tuned) key.add("tuned", winner.opts);
  key.add("name", kernel.name);
  for (int slot : kernel.inPlace) key.add("overwrites", slot);
  for (uint32_t slot : kernel.constants) key.add("constant", slot);
  if (!kernel.orders.empty()) key.add("orders", toText(kernel.orders));
  key.add("kernel", toUopText(kernel.ast));
  return sha256Hex(key.text());
}

// What is kept: a plan.json with this kernel alone, its layouts, the cases of its choice, a line for each winner that
// was passed over, the length of its code, each followed by a zero, then its code and its object.
bool KernelCache::find(const std::string& key, CompiledKernel& kernel) const {
  const std::optional<std::string> value = files_.get(key);
  std::string_view rest = value ? *value : std::string_view(), parts[5];
  for (std::string_view& part : parts) {
    const size_t zero = rest.find('\0');
    if (zero == rest.npos) return false;
    part = rest.substr(0, zero), rest.remove_prefix(zero + 1);
  }
  Result<Plan> plan = planFromJson(parts[0], key);
  std::optional<std::vector<ConstantLayout>> layouts = layoutsFromText(std::string(parts[1]));
  std::optional<std::vector<SizeCase>> cases = casesOf(parts[2]);
  size_t length = 0;
  const auto [end, error] = std::from_chars(parts[4].data(), parts[4].data() + parts[4].size(), length);
  if (!plan || plan->kernels.size() != 1 || !layouts || !cases || error != std::errc() || length > rest.size())
    return false;
  kernel.desc = std::move(plan->kernels[0]);
  kernel.layouts = std::move(*layouts);
  kernel.choice.cases = std::move(*cases);
  kernel.passed = linesOf(parts[3]);
  kernel.code = rest.substr(0, length);
  kernel.object = rest.substr(length);
  kernel.reused = true;
  return true;
}

void KernelCache::keep(const std::string& key, const CompiledKernel& kernel) {
  Plan plan;
  plan.kernels.push_back(kernel.desc);
  std::string value = toJson(plan);
  value += '\0' + toText(kernel.layouts) + '\0' + textOf(kernel.choice.cases) + '\0';
  for (const std::string& reason : kernel.passed) value += lineOf(reason);
  value += '\0' + std::to_string(kernel.code.size()) + '\0';
  remember(files_.put(key, value + kernel.code + kernel.object));
  grew_ = true;
}

void KernelCache::keepObject(const std::string& key, const std::string& object) {
  remember(files_.put(key, object));
  grew_ = true;
}

std::optional<Error> KernelCache::finish() {
  if (grew_.exchange(false)) {
    if (Result<FileCache::Usage> removed = files_.trim(maxBytes_); !removed) remember(fail(std::move(removed.error())));
  }
  return trouble_;
}

void KernelCache::remember(Status status) {
  const std::lock_guard lock(troubleLock_);
  if (!status && !trouble_) trouble_ = std::move(status.error());
}

}  // namespace svod
