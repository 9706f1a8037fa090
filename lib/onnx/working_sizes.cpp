#include "onnx/working_sizes.h"

#include <algorithm>
#include <map>

#include "onnx/importer_text.h"

namespace svod {

namespace {

using Names = std::vector<std::string>;

/// Reads a model again, more often the shorter it is.
class Trials {
 public:
  Trials(std::shared_ptr<const OnnxFile> file, const LoadOptions& options) : file_(std::move(file)), options_(options) {
    options_.filesRead = nullptr;
  }

  bool work(const Names& names, int64_t size) {
    auto [known, isNew] = results_.try_emplace({names, size}, false);
    if (!isNew || nodesLeft_ <= 0 || results_.size() > kMostTrials) return known->second;
    LoadOptions tried = options_;
    for (const std::string& name : names) tried.variables.push_back({name, {}, {}, size, {}, {}});
    const std::unique_ptr<OnnxImporter> importer = OnnxImporter::readFile(file_, tried, {}, false);
    nodesLeft_ -= std::max(static_cast<int64_t>(importer->score().nodesRead),
                           static_cast<int64_t>(file_->model.graph().node_size()));
    return known->second = !importer->hasErrors();
  }

 private:
  static constexpr size_t kMostTrials = 32;
  std::shared_ptr<const OnnxFile> file_;
  LoadOptions options_;
  int64_t nodesLeft_ = 30'000;
  std::map<std::pair<Names, int64_t>, bool> results_;
};

std::string flagsFor(const Names& names, std::string_view size) {
  std::string flags;
  for (const std::string& name : names) flags += " " + optionText("--var", name, size);
  return flags;
}

// Two sizes that have little in common stand for all: small ones, as a loop may take as many steps, or those that most
// windows fit into. Where neither pair works, one size may be the only one.
std::string workingSizes(Trials& trials, const Names& all) {
  constexpr size_t kMostNames = 8;
  std::vector<Names> sets;
  for (const std::string& name : all)
    if (sets.size() < kMostNames) sets.push_back({name});
  if (all.size() > 1 && all.size() <= kMostNames) sets.push_back(all);
  constexpr std::pair<int64_t, int64_t> kPairs[] = {{3, 2}, {8, 7}};
  for (const auto& [one, other] : kPairs)
    for (const Names& names : sets)
      if (trials.work(names, one) && trials.work(names, other))
        return "the model is taken with one size:" + flagsFor(names, "SIZE");
  for (int64_t size : {1, 64, 2, 3, 4, 8})  // images have many halvings
    for (const Names& names : sets)
      if (trials.work(names, size)) return "the model is taken with" + flagsFor(names, std::to_string(size));
  return {};
}

}  // namespace

std::vector<Error> errorsWithSizes(const std::shared_ptr<const OnnxFile>& file, const LoadOptions& options,
                                   const OnnxImporter& refused) {
  std::vector<Error> errors = refused.errors();
  const Names names = options.states.empty() ? refused.openSizes() : Names();
  const auto isOfSizes = [](const Error& e) {
    return e->diag == Diag::ShapeMismatch || e->diag == Diag::VariableBounds || e->diag == Diag::Unsupported ||
           e->diag == Diag::TooLarge;
  };
  // A flag that names a size or an input, and not "--var NAME=MIN:MAX".
  const auto hasFlag = [](const Error& e) {
    const size_t flag = e->help.find("--");
    return flag != std::string::npos && e->help.compare(flag, 10, "--var NAME") != 0;
  };
  if (names.empty() || errors.empty() || !std::ranges::all_of(errors, isOfSizes)) return errors;
  if (std::ranges::any_of(errors, hasFlag)) return errors;
  Trials trials(file, options);
  if (const std::string sizes = workingSizes(trials, names); !sizes.empty()) {
    std::string& help = errors.front()->help;
    help += (help.empty() ? "" : "; ") + sizes;
  }
  return errors;
}

}  // namespace svod
