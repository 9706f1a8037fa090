// What becomes of a plan on CUDA devices when the driver says no, or a kernel goes astray.
#include "cuda/mock_plans.h"

using namespace svod;

TEST_CASE("every call that fails is an error that says so, leaves nothing behind, and the next run works") {
  const MockCuda mock;
  TempFolder folder;
  PlanBuilder b = loopPlan();
  writeCuda(b, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  std::vector<float> x(8, 1), y(8, 0);
  const auto prepare = [&](const InstanceHandle& instance) {
    bindIn(instance, 0, x);
    bindOut(instance, 0, y);
    CHECK(svod_set_variable(instance.get(), 0, 2, nullptr) == 0);
  };
  for (const MockOptions& chosen : {MockOptions(), MockOptions({{"graphs", "off"}})}) {
    mock.configure("");
    makeInstance(plan, chosen);
    const uint64_t created = mock.count();
    {
      const InstanceHandle instance = makeInstance(plan, chosen);
      prepare(instance);
      execute(instance);
    }
    const uint64_t all = mock.count();
    CHECK(mock.report() == "");
    for (const int code : {999, 2, 700}) {
      uint64_t failures = 0, unseen = 0;
      for (uint64_t at = 1; at <= all - created; at++) {
        mock.configure("fail=" + std::to_string(at) + ":" + std::to_string(code));
        svod_instance* made = nullptr;
        svod_error error = {};
        const svod_instance_options options = chosen;
        int exitCode = svod_instance_create(plan.get(), &options, &made, &error);
        const InstanceHandle instance(made);
        if (exitCode == 0) {
          prepare(instance);
          exitCode = svod_execute(instance.get(), nullptr, &error);
        }
        failures += exitCode != 0;
        unseen += exitCode == 0;
        if (exitCode != 0) {
          INFO("call " << at << " code " << code << ": " << error.message);
          CHECK((exitCode == 6 || exitCode == 75 || exitCode == 77 || exitCode == 5));
          CHECK(std::string(error.message).size() > 20);
          CHECK(std::string(error.help).size() > 5);
        }
        mock.configure("");
        if (exitCode != 0 && made != nullptr && code != 700) {
          y.assign(8, 0);
          execute(instance);
          CHECK(y[0] == 49);
        }
        svod_instance_free(const_cast<InstanceHandle&>(instance).release());
        const std::string report = mock.report();
        INFO("call " << at << " code " << code);
        if (!report.empty()) FAIL(report);
      }
      CHECK(failures > 20);
      // Only what gives things back at the end cannot say so.
      CHECK(unseen < all / 2);
    }
  }
}

TEST_CASE("a kernel that goes astray ends the instance, names itself, and nothing is freed through its context") {
  const MockCuda mock;
  TempFolder folder;
  PlanBuilder b = loopPlan();
  writeCuda(b, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  std::vector<float> x(8, 1), y(8, 0);
  // As steps are given together, it may have been any that is not known to be done.
  for (const auto& [chosen, says] :
       {std::pair(MockOptions(), "one of the steps 0 to "),
        std::pair(MockOptions({{"wait", "on"}}), "step 2, kernel 'k_add', failed on device 'gpu': ")}) {
    mock.configure("fault=k_add:700");
    {
      const InstanceHandle instance = makeInstance(plan, chosen);
      bindIn(instance, 0, x);
      bindOut(instance, 0, y);
      CHECK(svod_set_variable(instance.get(), 0, 2, nullptr) == 0);
      const svod_error error = executeError(instance);
      CHECK(error.exit_code == 6);
      CHECK_THAT(
          error.message,
          Catch::StartsWith(says) && Catch::Contains("'k_add'") &&
              Catch::EndsWith("failed on device 'gpu': CUDA_ERROR_ILLEGAL_ADDRESS (700), an illegal memory access "
                              "was encountered"));
      const svod_error again = executeError(instance);
      CHECK(again.exit_code == 6);
      CHECK(std::string(error.code) == "device-lost");
      CHECK(std::string(again.code) == "device-lost");
      CHECK_THAT(again.message, Catch::Contains("is lost"));
      // In this process the device is gone for others as well.
      const svod_error other = instanceError(plan, chosen);
      CHECK(other.exit_code == 6);
      CHECK_THAT(other.help, Catch::Contains("start the program anew"));
    }
    CHECK(mock.report() == "");
  }
}
