#include <catch2/catch.hpp>

#include "opts/opt.h"

using namespace svod;

TEST_CASE("Lists of opts print and parse back") {
  for (const char* text : {"upcast(0,4) vector(1,16) unroll(0,4)", "order(1,0,2)", "pack(2,3,1) thread(0,8)",
                           "tc(2,0,1,3) local(0,2)", "pitch(0,1,9)", "nolocals", "",
                           "tile(n1,64) order(n1.o,n0) pack(2,k0,n1.i) vector(p2.n1.i,16) prefetch(2,k0.o,64)",
                           "merge(n0,n1) upcast(n0+n1,4) hold(s0,n2) vector(h_2.n2,8)"}) {
    auto opts = parseOpts(text);
    REQUIRE(opts);
    CHECK(toText(*opts) == text);
  }
  CHECK(toText(*parseOpts("  tile( 1 , 32 );\n order(1 0)")) == "tile(1,32) order(1,0)");
}

TEST_CASE("Every kind of opt parses from its signature's shape") {
  for (const OptInfo& row : allOpts()) {
    std::string text(row.name);
    if (row.shape == OptShape::Param) {
      text += "(1)";
    } else if (row.shape == OptShape::SlotAxisAmount || row.shape == OptShape::TwoAxesAmount) {
      text += "(1,2,3)";
    } else if (row.shape != OptShape::None) {
      text += row.shape == OptShape::CoreAxes ? "(1,2,3,4)" : "(1,2)";
    }
    auto opts = parseOpts(text);
    REQUIRE(opts);
    CHECK(opts->front().kind == row.kind);
    CHECK(toText(*opts) == text);
    CHECK(row.signature.starts_with(row.name));
  }
}

TEST_CASE("Malformed lists are errors that name the place") {
  struct Case {
    const char* text;
    const char* part;
  };
  for (Case c :
       {Case{"upcats(0,4)", "unknown opt `upcats` at position 1"}, Case{"tile(1,2", "missing `)`"},
        Case{"tile(1)", "wrong number of arguments"}, Case{"tile(1,-2)", "expected a number"},
        Case{"tile(0,2) (1,2)", "expected the name of an opt at position 11"}, Case{"nolocals(1)", "wrong number"},
        Case{"tile(1,99999999999)", "expected a number"}, Case{"UPCAST(0,4)", "expected the name"},
        Case{"upcast(n0,n1)", "names a loop in place of a number"},
        Case{"stream(n0)", "names a loop in place of a number"}, Case{"tile(N0,4)", "or the name of a loop"}}) {
    auto opts = parseOpts(c.text);
    INFO(c.text);
    REQUIRE_FALSE(opts);
    CHECK(opts.error()->diag == Diag::BadOpt);
    INFO(opts.error()->message);
    CHECK(opts.error()->message.find(c.part) != std::string::npos);
  }
}
