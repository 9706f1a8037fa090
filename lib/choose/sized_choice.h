// One list of opts for a kernel of free sizes: chosen for each of a few runs, taken for what it costs in all of them.
#pragma once
#include <functional>
#include <optional>

#include "choose/chooser.h"
#include "choose/size_points.h"

namespace svod {

/// Chooses for a kernel whose loops have these names, knowing the bounds of its sizes alone.
using ChooseWithin = std::function<Choice(UOp sink, const LoopNames& names, const Caps& caps)>;
/// The same with lanes along the other loop; nothing where there is none.
using ChooseOther = std::function<std::optional<Choice>(UOp sink, const LoopNames& names, const Caps& caps)>;

/// The choice for the likely sizes, or one for another point that is expected to be clearly better over all of them, or
/// for products that with other lanes. Nothing where none of these is legal for all sizes.
std::optional<Choice> chooseForPoints(Graph& graph, UOp sink, const SizePoints& points, const Caps& caps,
                                      const ChooseWithin& choose, const ChooseOther& otherLanes = {});

/// The kernel of rows with loops that lie behind each other in every access as one, whatever their sizes: at a point
/// where one of them runs once they would stay apart. Streams stay as they are: steps of a loop of known length need no
/// rest.
Chooser mergedRows(Graph& graph, UOp sink, const Caps& caps, FactsCache& cache);

/// The kernel as if no size were above that of the point (SizePoints::upTo), simplified.
UOp runUpTo(Graph& graph, UOp sink, const SizePoints& points, const SizePoint& point, const Caps& caps);

/// Gives the choice the tiles for threads that the larger run wants: a smaller one has fewer of them.
void shareLargerRun(Graph& graph, UOp sink, const SizePoints& points, const Caps& caps, Choice& choice);

/// The kernel with what was chosen for other sizes of it; nothing where an opt is not legal.
std::optional<UOp> withOpts(Graph& graph, UOp sink, const Choice& choice, const Caps& caps);

}  // namespace svod
