// Devices that fail or are lost: the step is named, and the next run or the next instance works.
#include "runtime/separate.h"

using namespace svod;

TEST_CASE(
    "a device that is lost ends the run with the step named and its instance with it, and another instance works") {
  TempFolder folder;
  loopPlan("d1").write(folder / "p");
  const uint32_t stepOf[] = {0, 1, 2, 3, 5, 6, 7, 8, 5, 6, 7, 8};
  for (size_t threads : {1u, 3u})
    for (uint64_t piece = 0; piece < std::size(stepOf); piece++) {
      Separate s(folder / "p", 9, threads);
      checkLoop(s, 2);
      std::vector<float> x(8, 1), y(8, 0);
      s.bind(x, y);
      s.devices[0]->loseAfter(piece);
      const Status status = s.instance->execute(0);
      REQUIRE_FALSE(status);
      CHECK(status.error()->diag == Diag::DeviceLost);
      CHECK(status.error()->message.starts_with("step " + std::to_string(stepOf[piece])));
      if (stepOf[piece] == 1 || stepOf[piece] == 6)
        CHECK_THAT(status.error()->message, Catch::Contains(", kernel 'k_double', failed"));
      CHECK_THAT(status.error()->message, Catch::Contains("failed on device 'd1': the device is lost"));
      CHECK_THAT(status.error()->help, Catch::Contains("free the instance"));
      const uint64_t given = s.devices[0]->given();
      for (int again = 0; again < 2; again++) {
        const Status later = s.instance->execute(0);
        REQUIRE_FALSE(later);
        CHECK(later.error()->diag == Diag::DeviceLost);
        CHECK(later.error()->message == "device 'd1' is lost, and this instance with it");
      }
      CHECK(s.devices[0]->given() == given);
      Separate other(folder / "p", 9, threads);
      checkLoop(other, 2);
    }
}

TEST_CASE("a device that has no memory for an instance, or is lost while it is made, leaves nothing behind") {
  TempFolder folder;
  loopPlan("d1").write(folder / "p");
  auto loaded = LoadedPlan::fromDirectory(folder / "p", {});
  REQUIRE(loaded);
  for (uint64_t allocations : {0u, 1u}) {
    SeparateDevice device(1, 20);
    device.refuseMemoryAfter(allocations);
    auto made = Instance::create(*loaded, {}, nullptr, {nullptr, &device});
    REQUIRE_FALSE(made);
    CHECK(made.error()->diag == Diag::DeviceFailure);
    CHECK(device.allocations() == 0);
  }
  for (bool isLost : {false, true}) {
    SeparateDevice device(1, 20);
    isLost ? device.loseAfter(0) : device.failAfter(0, false);
    auto made = Instance::create(*loaded, {}, nullptr, {nullptr, &device});
    REQUIRE_FALSE(made);
    CHECK_THAT(made.error()->message, Catch::Contains("cannot copy weights to or from device 'd1'"));
    CHECK(made.error()->diag == (isLost ? Diag::DeviceLost : Diag::DeviceFailure));
    CHECK((isLost || device.allocations() == 0));
  }
}

TEST_CASE("a device that fails or loses its memory ends the run with the step named, and the next run works") {
  TempFolder folder;
  loopPlan("d1").write(folder / "p");
  for (size_t threads : {1u, 3u})
    for (bool forgets : {false, true}) {
      // With two trips the device is given steps 0, 1, 2, 3, then twice 5, 6, 7, 8.
      const uint32_t stepOf[] = {0, 1, 2, 3, 5, 6, 7, 8, 5, 6, 7, 8};
      Separate s(folder / "p", 9, threads);
      for (uint64_t piece = 0; piece < std::size(stepOf); piece++) {
        std::vector<float> x(8, 1), y(8, 0);
        s.bind(x, y);
        CHECK(s.instance->bindings().setVariable(0, 2));
        s.devices[0]->failAfter(piece, forgets);
        const Status status = s.instance->execute(0);
        REQUIRE_FALSE(status);
        CHECK(info(status.error()->diag).exitCode == 6);
        const std::string step = "step " + std::to_string(stepOf[piece]);
        CHECK(status.error()->message.starts_with(step));
        CHECK_THAT(status.error()->message, Catch::Contains("failed on device 'd1'"));
        checkLoop(s, 2);
      }
    }
}

TEST_CASE("a device that fails while it is given states or asked for them has its weights again in the next run") {
  TempFolder folder;
  PlanBuilder b;
  b.plan.devices.push_back({"d1", DeviceKind::Cpu, 0});
  const Expr n = 8;
  const BufferId w = b.constant("w", {1, 2, 3, 4, 5, 6, 7, 8}), y = b.output("y", 8, n);
  b.device = 1;
  const BufferId s = b.state("s", 8), a = b.arena("a", 8);
  b.launch("k_add_value", {s}, {RW}, {n, Expr(1)});
  b.launch("k_add", {s, w, a}, {R, R, W}, {n});
  b.step(Copy{y, a, 32});
  b.write(folder / "p");
  for (bool forgets : {false, true}) {
    Separate device(folder / "p", 3, 1);
    Instance& instance = *device.instance;
    std::vector<float> out(8), held(8, 5);
    CHECK(instance.bindings().bindOutput(0, out.data(), 32));
    const auto run = [&](float first) {
      const Status status = instance.execute(0);
      if (!status) FAIL(toText(status.error()));
      for (size_t k = 0; k < 8; k++) CHECK(out[k] == first + static_cast<float>(k + 1));
    };
    const auto fails = [&](const Status& status) {
      REQUIRE_FALSE(status);
      CHECK(status.error()->diag == Diag::DeviceFailure);
      CHECK_THAT(status.error()->message, Catch::StartsWith("cannot copy state 's' to or from device 'd1'"));
    };
    device.devices[0]->failAfter(0, forgets);
    fails(instance.execute(0));
    run(1);
    device.devices[0]->failAfter(0, forgets);
    fails(instance.readState(0, held.data()));
    CHECK(instance.writeState(0, held.data()));
    run(11);
    device.devices[0]->failAfter(0, forgets);
    fails(instance.writeState(0, held.data()));
    instance.resetStates();
    run(1);
  }
}

TEST_CASE("a device that fails again and again, also while its weights are copied anew, works once it does not") {
  TempFolder folder;
  loopPlan("d1").write(folder / "p");
  Separate s(folder / "p", 9, 1);
  std::vector<float> y(8);
  s.bind(kLoopInput, y);
  CHECK(s.instance->bindings().setVariable(0, 2));
  for (int round = 0; round < 3; round++) {
    s.devices[0]->failAfter(1, true);
    CHECK_THAT(s.instance->execute(0).error()->message, Catch::StartsWith("step "));
    s.devices[0]->failAfter(0, true);
    CHECK_THAT(s.instance->execute(0).error()->message,
               Catch::StartsWith("cannot copy weights to or from device 'd1'"));
    s.devices[0]->failAfter(0, true);
    CHECK_THAT(s.instance->execute(0).error()->message,
               Catch::StartsWith("cannot copy weights to or from device 'd1'"));
    checkLoop(s, 2);
  }
}
