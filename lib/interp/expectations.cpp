#include "interp/interp.h"
#include "support/expectation.h"

namespace svod {

Status checkExpectations(const Model& model, std::span<const HostTensor> contents) {
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (model.ports[i].kind != PortKind::Expectation) continue;
    std::vector<int64_t> both;
    for (int64_t k = 0; k < contents[i].numel(); ++k) both.push_back(contents[i].at(k).asInt());
    SVOD_CHECK(checkExpectation(model.ports[i].name, both));
  }
  return {};
}

}  // namespace svod
