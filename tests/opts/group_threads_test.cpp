// How the threads of a workgroup share sums and loops, and workgroups the tiles of a grid.
#include "ir/workgroup.h"
#include "opts/thread_checks.h"

using namespace svod;

TEST_CASE("Sums of rows are exchanged by shuffles, and through memory between warps") {
  const Caps caps = gpuCaps();
  struct Case {
    const char* opts;
    int shuffles, barriers;
  };
  for (const Case& c : {Case{"group(k0,8) global(n0)", 3, 0}, Case{"group(k0,32) global(n0)", 5, 0},
                        Case{"group(k0,128) global(n0)", 5 + 2, 1}, Case{"local(n0,4) group(k0,16) global(n0)", 4, 0},
                        Case{"group(k0,64) local(n0,2) global(n0)", 0, 1}, Case{"group(k0,24) global(n0)", 0, 1}}) {
    for (auto build : {buildRowSum, buildMatvec}) {
      if (build == buildMatvec && std::string_view(c.opts).find("128") != std::string_view::npos) continue;
      Graph g;
      const LinearKernel kernel = checked(g, build(g, {8, 130, 70}), c.opts, caps);
      int barriers = 0;
      for (UOp n : kernel.ops) barriers += n.op() == Op::Barrier;
      CHECK(countOf(kernel, "shuffle_xor") == c.shuffles);
      CHECK(barriers == c.barriers);
    }
  }
}

TEST_CASE("Loops that follow each other share their threads") {
  Graph g;
  const LinearKernel kernel =
      checked(g, buildSoftmax(g, {3, 130}), "group(k0,64) group(k1,64) local(n1,64) global(n0)", gpuCaps());
  int64_t threads = 1;
  for (UOp n : kernel.ops)
    if (isThreadIndex(n)) threads *= n.src(0).constInt();
  CHECK(threads == 64);
  CHECK(countOf(kernel, "shuffle_xor") == 2 * (5 + 1));
}

TEST_CASE("A raster walks bands of rows") {
  for (int64_t rows : {2, 3, 5}) {
    Graph g;
    checked(g, buildTranspose(g, {7, 9}), ("global(n0,n1) raster(n0,n1," + std::to_string(rows) + ")").c_str(),
            gpuCaps());
  }
}

TEST_CASE("Few workgroups compute all tiles, whatever their number and that of tiles") {
  for (const char* list :
       {"global(n0) persist(n0,2)", "merge(n0,n1) local(n0+n1,4) global(n0+n1) persist(n0+n1,3)",
        "global(n0,n1) raster(n0,n1,2) persist(n0+n1,5)", "local(n1,4) global(n0) stash(0) persist(n0,4)"})
    for (const Sizes& sizes : {Sizes{7, 9, 1}, Sizes{8, 8, 1}}) {
      Graph g;
      checked(g, buildTranspose(g, sizes), list, gpuCaps());
    }
}
