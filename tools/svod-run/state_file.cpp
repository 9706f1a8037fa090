#include "state_file.h"

#include <algorithm>
#include <list>

#include "c_call.h"
#include "data/atomic_write.h"
#include "data/safetensors.h"

namespace svod {

namespace {

constexpr std::string_view kPlanName = "svod.plan";  // the tensor that names the plan, as text

struct StateView {
  std::string name;
  ElementType dtype;
  std::vector<uint64_t> shape;
  uint64_t bytes;
};

std::vector<StateView> statesOf(const svod_plan* plan) {
  std::vector<StateView> all;
  svod_tensor t = {};
  for (size_t i = 0; svod_plan_tensor(plan, SVOD_STATE, i, &t) == 0; i++)
    all.push_back({t.name, *elementTypeFromName(t.dtype), {t.max_shape, t.max_shape + t.rank}, t.max_bytes});
  return all;
}

std::string planName(const svod_plan* plan) {
  svod_plan_info info = {};
  svod_plan_get_info(plan, &info);
  return info.name;
}

std::string typeText(std::string_view dtype, const std::vector<uint64_t>& shape) {
  std::string text(dtype);
  for (size_t i = 0; i < shape.size(); i++) text += (i == 0 ? "[" : ", ") + std::to_string(shape[i]);
  return shape.empty() ? text : text + "]";
}

std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Status saveStates(const std::string& path, const svod_plan* plan, svod_instance* instance) {
  const std::string name = planName(plan);
  std::vector<NewSafeTensor> tensors{
      {std::string(kPlanName), ElementType::U8, {name.size()}, std::as_bytes(std::span(name))}};
  std::list<std::vector<std::byte>> fetched;
  for (size_t i = 0; const StateView& s : statesOf(plan)) {
    const auto* data = static_cast<const std::byte*>(svod_state_data(instance, i));
    if (data == nullptr) {  // on a device
      std::vector<std::byte>& to = fetched.emplace_back(s.bytes);
      SVOD_CHECK(checked([&](svod_error* e) { return svod_read_state(instance, i, to.data(), to.size(), e); }));
      data = to.data();
    }
    tensors.push_back({s.name, s.dtype, s.shape, {data, static_cast<size_t>(s.bytes)}});
    i++;
  }
  const NewSafetensors file = layOutSafetensors(std::move(tensors));
  return writeChunksAtomic(path, file.chunks());
}

Status loadStates(const std::string& path, const svod_plan* plan, svod_instance* instance) {
  SVOD_TRY(const SafetensorsFile file, SafetensorsFile::open(path));
  const std::string help = "it must be a file that --save-state wrote for this plan";
  const std::vector<StateView> states = statesOf(plan);
  const SafeTensor* from = file.find(kPlanName);
  const std::string saved = from ? textOf(file.bytes(*from)) : "";
  if (!from || saved != planName(plan))
    return fail(Diag::InputMismatch,
                "'" + path + "' holds " + (from ? "the states of the plan '" + saved + "'" : "no states of a plan") +
                    ", not those of '" + planName(plan) + "'",
                help);
  for (const SafeTensor& t : file.tensors()) {
    const bool isKnown = t.name == kPlanName || std::ranges::find(states, t.name, &StateView::name) != states.end();
    if (!isKnown) return fail(Diag::InputMismatch, "'" + path + "': the plan has no state '" + t.name + "'", help);
  }
  for (const StateView& s : states) {
    const SafeTensor* t = file.find(s.name);
    if (!t) return fail(Diag::InputMismatch, "'" + path + "' lacks the state '" + s.name + "'", help);
    if (t->dtype != s.dtype || t->shape != s.shape || t->bytes != s.bytes)
      return fail(Diag::InputMismatch,
                  "'" + path + "': the state '" + s.name + "' is " + typeText(t->dtypeText, t->shape) +
                      ", the plan has " + typeText(nameOf(s.dtype), s.shape),
                  help);
  }
  for (size_t i = 0; const StateView& s : states) {  // nothing is changed before everything fits
    const std::span<const std::byte> bytes = file.bytes(*file.find(s.name));
    SVOD_CHECK(checked([&](svod_error* e) { return svod_write_state(instance, i, bytes.data(), bytes.size(), e); }));
    i++;
  }
  return {};
}

}  // namespace svod
