#include "onnx/working_sizes.h"

#include <algorithm>

#include "onnx/importer_text.h"

namespace svod {

namespace {

using Names = std::vector<std::string>;

/// Reads a model again, more often the shorter it is.
class Trials {
 public:
  /// `nodes`: how many of them a reading came upon.
  Trials(std::shared_ptr<const OnnxFile> file, const LoadOptions& options, size_t nodes)
      : file_(std::move(file)), options_(options) {
    options_.filesRead = nullptr;
    constexpr size_t kMostNodes = 20'000, kMostTrials = 24;
    left_ = std::min(kMostTrials,
                     kMostNodes / std::max<size_t>({1, nodes, static_cast<size_t>(file_->model.graph().node_size())}));
  }

  bool work(const Names& names, int64_t size) {
    if (left_ == 0) return false;
    --left_;
    LoadOptions tried = options_;
    for (const std::string& name : names) tried.variables.push_back({name, {}, {}, size, {}, {}});
    return !OnnxImporter::readFile(file_, tried, {}, false)->hasErrors();
  }

 private:
  std::shared_ptr<const OnnxFile> file_;
  LoadOptions options_;
  size_t left_;
};

std::string flagsFor(const Names& names, std::string_view size) {
  std::string flags;
  for (const std::string& name : names) flags += " " + optionText("--var", name, size);
  return flags;
}

// Sizes that are tried: most ops take 8, and those that do not mostly need an odd one, one that has factors, or 1.
std::string workingSizes(Trials& trials, const Names& all) {
  constexpr size_t kMostNames = 8;
  constexpr int64_t kUsual = 8, kOther = 7;
  std::vector<Names> sets;
  for (const std::string& name : all)
    if (sets.size() < kMostNames) sets.push_back({name});
  if (all.size() > 1 && all.size() <= kMostNames) sets.push_back(all);
  for (int64_t size : {kUsual, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, int64_t{64}})
    for (const Names& names : sets) {
      if (!trials.work(names, size)) continue;
      const bool isAny = size == kUsual && trials.work(names, kOther);
      return isAny ? "the model is taken with one size:" + flagsFor(names, "SIZE")
                   : "the model is taken with" + flagsFor(names, std::to_string(size));
    }
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
  Trials trials(file, options, refused.score().failedAt);
  if (const std::string sizes = workingSizes(trials, names); !sizes.empty()) {
    std::string& help = errors.front()->help;
    help += (help.empty() ? "" : "; ") + sizes;
  }
  return errors;
}

}  // namespace svod
