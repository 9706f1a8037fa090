#include "dumps.h"

#include <algorithm>

#include "c_call.h"
#include "data/npy.h"
#include "summary.h"
#include "support/suggest.h"
#include "support/text.h"

namespace svod {

namespace {

/// Who asks for a name that several share means one of them.
std::string helpFor(const std::string& name, const std::vector<std::string>& known) {
  constexpr size_t kShown = 8;
  std::string shared;
  size_t count = 0;
  for (const std::string& other : known)
    if (other.starts_with(name + "#") && count++ < kShown) shared += (count > 1 ? ", " : "") + other;
  if (count > 0) return std::to_string(count) + " share the name: " + shared + (count > kShown ? ", …" : "");
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return didYouMean(name, candidates,
                    "svodc inspect PLAN --memory lists them, in place 'arena'; a value that was fused into a kernel "
                    "has no buffer");
}

}  // namespace

Result<Dumps> Dumps::open(Session& session, const std::vector<NameValue>& asked) {
  Dumps dumps;
  dumps.instance_ = session.instance();
  const std::vector<std::string> known = asked.empty() ? std::vector<std::string>() : session.names(SVOD_INTERMEDIATE);
  for (const auto& [name, file] : asked) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end())
      return fail(Diag::UnknownPort, "the plan has no intermediate '" + name + "'", helpFor(name, known));
    Dump& dump = dumps.dumps_.emplace_back(Dump{static_cast<size_t>(at - known.begin()), file, {}});
    svod_tensor tensor = {};
    svod_plan_tensor(session.plan(), SVOD_INTERMEDIATE, dump.index, &tensor);
    dump.array = {
        tensor.name, *elementTypeFromName(tensor.dtype), {tensor.max_shape, tensor.max_shape + tensor.rank}, {}, {}};
    dump.array.data.resize(std::max<uint64_t>(tensor.max_bytes, 1));
    SVOD_CHECK(checked([&](svod_error* error) {
      return svod_probe(session.instance(), dump.index, dump.array.data.data(), dump.array.data.size(), error);
    }));
    dump.array.data.resize(tensor.max_bytes);
  }
  return dumps;
}

Status Dumps::write() const {
  for (const Dump& dump : dumps_) {
    if (dump.file.empty()) continue;
    if (!hasValue(dump))
      return fail(Diag::UnknownPort, "intermediate '" + dump.array.name + "' has no value: no step of it ran",
                  "it is in a loop without trips, or in a branch that was not taken");
    SVOD_CHECK(writeNpy(dump.file, dump.array.dtype, dump.array.shape, dump.array.data));
  }
  return {};
}

std::string Dumps::text() const {
  std::string text;
  for (const Dump& dump : dumps_) {
    if (!dump.file.empty()) continue;
    text += "intermediate ";
    text += hasValue(dump) ? summaryText(dump.array) : printable(dump.array.name) + "  no value: no step of it ran\n";
  }
  return text;
}

nlohmann::ordered_json Dumps::json() const {
  auto all = nlohmann::ordered_json::array();
  for (const Dump& dump : dumps_) {
    if (hasValue(dump))
      all.push_back(summaryJson(dump.array));
    else
      all.push_back({{"name", dump.array.name}});
    if (!dump.file.empty()) all.back()["file"] = dump.file;
  }
  return all;
}

}  // namespace svod
