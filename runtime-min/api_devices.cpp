// The C interface of devices besides the host.
#include "runtime-min/api_error.h"
#include "runtime-min/drivers.h"
#include "support/says.h"

using namespace svod;

namespace {

const char* textAt(svod_instance* instance, size_t index, std::vector<std::string> (Device::*textsOf)() const) {
  const InstanceCall call(instance);
  if (!call) return nullptr;
  const auto devices = instance->inner->owned();
  for (DeviceId id = 0; id < devices.size(); id++) {
    if (devices[id] == nullptr) continue;
    const std::vector<std::string> texts = (devices[id].get()->*textsOf)();
    if (index < texts.size()) {
      instance->text = says({instance->inner->loaded().plan().devices[id].name, ": ", texts[index]});
      return instance->text.c_str();
    }
    index -= texts.size();
  }
  return nullptr;
}

}  // namespace

extern "C" {

const char* svod_instance_device_text(svod_instance* instance, size_t index) {
  return textAt(instance, index, &Device::describe);
}

const char* svod_instance_note(svod_instance* instance, size_t index) {
  return textAt(instance, index, &Device::notes);
}

int svod_list_devices(const char* kind, const svod_device_option* options, size_t count, char* text, size_t room,
                      svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkPointer(kind, "the kind of devices"));
    SVOD_CHECK(checkArray(options, count, "the array of options"));
    SVOD_CHECK(checkArray(text, room, "the place for the text"));
    SVOD_TRY(const std::unique_ptr<DeviceDriver> driver, findDriver(kind));
    if (driver == nullptr)
      return fail(Diag::NoDevice, says({"devices of kind '", kind, "' have no driver here"}),
                  says({driverLibrary(kind), " is looked for beside the runtime"}));
    SVOD_TRY(const std::vector<std::string> lines, driver->list(optionsFor(nullptr, {options, count})));
    std::string all;
    for (const std::string& line : lines) (all += line) += '\n';
    copyText(text, room, all);
    return {};
  });
}

}  // extern "C"
