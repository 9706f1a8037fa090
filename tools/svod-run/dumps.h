// --dump: what intermediate buffers held when their last step was done.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "options.h"
#include "session.h"

namespace svod {

class Dumps {
 public:
  /// To be called before the runs whose intermediates count.
  static Result<Dumps> open(Session& session, const std::vector<NameValue>& asked);

  /// After the last run. One without a value is an error where it has a file.
  Status write() const;
  std::string text() const;
  nlohmann::ordered_json json() const;

 private:
  struct Dump {
    size_t index = 0;
    std::string file;  // or ""
    OutputArray array;
  };
  bool hasValue(const Dump& dump) const { return svod_probe_count(instance_, dump.index) > 0; }

  const svod_instance* instance_ = nullptr;
  std::vector<Dump> dumps_;
};

}  // namespace svod
