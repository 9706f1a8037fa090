#include "target/cuda/tools.h"

#include <algorithm>
#include <filesystem>

namespace svod::cuda {

namespace {

constexpr std::string_view kNone = "none";

class Tools final : public TargetTools {
 public:
  explicit Tools(Nvrtc nvrtc) : nvrtc_(std::move(nvrtc)) {}
  std::string id() const override { return nvrtc_.version(); }
  const Nvrtc& nvrtc() const { return nvrtc_; }

 private:
  Nvrtc nvrtc_;
};

std::string valueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return {};
}

/// The folders of pip's packages below `prefix`/lib/python3.N/`packages`, for CUDA 13 and 12.
void addPackages(std::vector<std::string>& folders, const std::string& prefix) {
  if (prefix.empty()) return;
  std::error_code error;
  std::vector<std::string> found;
  for (const auto& python : std::filesystem::directory_iterator(prefix + "/lib", error)) {
    if (!python.path().filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"})
      for (const char* nvidia : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"})
        found.push_back((python.path() / packages / nvidia).string());
  }
  std::ranges::sort(found, std::greater<>());
  folders.insert(folders.end(), found.begin(), found.end());
}

}  // namespace

Result<std::shared_ptr<const TargetTools>> open(const ToolRequest& request) {
  const auto flag = request.flags.find(kNvrtcFlag);
  const std::string named = flag == request.flags.end() ? "" : flag->second;
  if (named == kNone) return nullptr;
  SVOD_TRY(Nvrtc nvrtc, Nvrtc::open(named, nvrtcFolders(request.environment)));
  return std::make_shared<const Tools>(std::move(nvrtc));
}

const Nvrtc* nvrtcOf(const TargetTools* tools) {
  return tools == nullptr ? nullptr : &static_cast<const Tools*>(tools)->nvrtc();
}

std::vector<std::string> nvrtcFolders(const std::vector<std::string>& environment) {
  std::vector<std::string> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string toolkit = valueOf(environment, name); !toolkit.empty())
      for (const char* library : {"/lib64", "/lib"}) folders.push_back(toolkit + library);
  addPackages(folders, valueOf(environment, "VIRTUAL_ENV"));
  addPackages(folders, valueOf(environment, "CONDA_PREFIX"));
  if (const std::string home = valueOf(environment, "HOME"); !home.empty()) addPackages(folders, home + "/.local");
  for (const char* library : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"}) folders.emplace_back(library);
  addPackages(folders, "/usr/local");
  addPackages(folders, "/usr");
  return folders;
}

}  // namespace svod::cuda
