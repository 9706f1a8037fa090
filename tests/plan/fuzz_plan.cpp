// plan.json from any text, with the right checksum so that the reader and the check see it. What passes the
// check is written, read again and compared.
#include <cstdlib>

#include "common/fuzz_target.h"
#include "plan/check.h"
#include "plan/json.h"

const char* const kSeedCorpus = "tests/plan/corpus/plan";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace svod;
  const std::string text = withChecksum(std::string(reinterpret_cast<const char*>(data), size));
  const Result<Plan> plan = planFromJson(text, "fuzz");
  if (!plan || !check(*plan)) return 0;
  const Result<Plan> again = planFromJson(toJson(*plan), "fuzz");
  if (!again || !(*again == *plan)) std::abort();
  return 0;
}
