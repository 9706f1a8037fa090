// What is known of the speed of kernels, for all sections that show it.
#pragma once
#include "report/report.h"

namespace svod {

/// Null where nothing but the plan is known.
const KernelView* viewOf(const Subject& subject, const KernelDesc& kernel);

/// What the columns and facts about speed say of a kernel; 0 and empty where it is not known.
struct Speed {
  double predicted = 0, measured = 0, share = 0;  // share of the roofline: measured if it was measured, else predicted

  explicit Speed(const KernelInsight& insight);
  double known() const { return measured > 0 ? measured : predicted; }
};

/// Of one launch; 0 for other steps, and where it is not known.
double knownNs(const Subject& subject, const Step& step);
/// How often each kernel is launched in a run, at most.
std::vector<double> launchesOf(const Plan& plan);
/// What all launches of each kernel take in a run; 0 where not known.
std::vector<double> runTimesOf(const Subject& subject);
double sumOf(const std::vector<double>& values);

/// The class of a kernel; empty where not known.
std::string classOf(const Subject& subject, KernelId kernel);

Cell shareCell(double share);
Cell knownTime(double nanoseconds);

/// Where the kernels stand beneath the roofline of one thread: at the measured time if there is one.
Scatter rooflineOf(const Subject& subject);

}  // namespace svod
