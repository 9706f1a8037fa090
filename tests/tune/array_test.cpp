#include "tune/array.h"

#include <catch2/catch.hpp>

using namespace svod;

TEST_CASE("Every array engine has its variable, and the number of its first part is 0 here") {
  for (const ArrayEngine& engine : allArrayEngines()) {
    const std::string variable(engine.variable);
    INFO(variable);
    CHECK(arrayNumber({"A=1", variable + "=" + std::to_string(engine.first)}).value() == 0);
    CHECK(arrayNumber({variable + "=" + std::to_string(engine.first + 41), "B=7"}).value() == 41);
    CHECK(arrayNumber({variable + "=-1"}).error()->diag == Diag::Usage);
    CHECK(arrayNumber({variable + "=x"}).error()->diag == Diag::Usage);
    CHECK(arrayNumber({variable + "=1x"}).error()->diag == Diag::Usage);
    CHECK(arrayNumber({variable + "=99999999999999999999"}).error()->diag == Diag::Usage);
    // outside of an array
    CHECK(!arrayNumber({variable + "=" + std::string(engine.none)}));
    CHECK(arrayNumber({variable + "=" + std::string(engine.none), "SLURM_ARRAY_TASK_ID=3"}).has_value());
    CHECK(!arrayNumber({variable + "X=3"}));
  }
  CHECK(!arrayNumber({}));
  CHECK(!arrayNumber({"SLURM_ARRAY_TASK_ID=1", "JOB_COMPLETION_INDEX=2"}));
  CHECK(arrayNumber({"SLURM_ARRAY_TASK_ID=1", "SGE_TASK_ID=2"}).value() == 1);
  CHECK(unitNumber("12", {}).value() == 12);
  CHECK(unitNumber("auto", {"LSB_JOBINDEX=3"}).value() == 2);
  CHECK(!unitNumber("", {}));
  CHECK(!unitNumber("-1", {}));
  CHECK(!unitNumber("1.5", {}));
}
