/* Applies a compiled filter to a PNG: a small program on the svod runtime, and a pattern for others.
 *
 *   image_filter PLAN IN.png OUT_PREFIX [AMOUNT]     filters; writes OUT_PREFIX-NAME.png for every output
 *   image_filter PLAN - OUT_PREFIX                   for a plan without inputs, such as scene.svod
 *
 * Inputs called `image` (u8[h, w, 3]) and `amount` (f32) are bound; outputs are u8[h, w, 3] or u8[h, w]. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "svod/runtime.h"

static int fail(const char* what, const svod_error* error) {
  fprintf(stderr, "image_filter: %s%s%s\n", what, error ? ": " : "", error ? error->message : "");
  if (error && error->help[0]) fprintf(stderr, "  help: %s\n", error->help);
  return error && error->exit_code ? error->exit_code : 1;
}

/* Pixels as u8[height, width, 3], to be freed by the caller; NULL after an error. */
static unsigned char* read_png(const char* path, uint64_t shape[3]) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_file(&image, path)) return NULL;
  image.format = PNG_FORMAT_RGB;
  unsigned char* pixels = malloc(PNG_IMAGE_SIZE(image));
  if (pixels == NULL || !png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
    png_image_free(&image);
    free(pixels);
    return NULL;
  }
  shape[0] = image.height, shape[1] = image.width, shape[2] = 3;
  return pixels;
}

static int write_png(const char* prefix, const char* name, const uint64_t* shape, size_t rank, const void* pixels) {
  char path[1024];
  snprintf(path, sizeof path, "%s-%s.png", prefix, name);
  png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)shape[1], .height = (png_uint_32)shape[0]};
  image.format = rank == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL)) return 0;
  printf("%s: %llu x %llu\n", path, (unsigned long long)shape[1], (unsigned long long)shape[0]);
  return 1;
}

static int bind_inputs(svod_plan* plan, svod_instance* instance, const unsigned char* pixels, const uint64_t* shape,
                       const float* amount, svod_error* error) {
  const size_t image = svod_plan_find(plan, SVOD_INPUT, "image");
  const size_t strength = svod_plan_find(plan, SVOD_INPUT, "amount");
  int code = 0;
  if (image != SVOD_NONE) code = svod_bind_input(instance, image, "u8", shape, 3, pixels, error);
  if (code == 0 && strength != SVOD_NONE) code = svod_bind_input(instance, strength, "f32", NULL, 0, amount, error);
  return code;
}

/* Gives every output memory of the size that the bound inputs ask for; `results` gets one pointer per output. */
static int bind_outputs(svod_instance* instance, size_t count, void** results, svod_error* error) {
  for (size_t i = 0; i < count; i++) {
    uint64_t bytes = 0;
    int code = svod_get_shape(instance, SVOD_OUTPUT, i, NULL, &bytes, error);
    if (code != 0) return code;
    results[i] = malloc(bytes ? bytes : 1);
    if (results[i] == NULL) return 74;
    code = svod_bind_output(instance, i, results[i], bytes, error);
    if (code != 0) return code;
  }
  return 0;
}

static int write_outputs(const svod_plan* plan, svod_instance* instance, size_t count, void** results,
                         const char* prefix) {
  for (size_t i = 0; i < count; i++) {
    svod_tensor tensor;
    uint64_t shape[8] = {0};
    svod_plan_tensor(plan, SVOD_OUTPUT, i, &tensor);
    if (strcmp(tensor.dtype, "u8") != 0 || (tensor.rank != 2 && tensor.rank != 3)) continue;
    svod_get_shape(instance, SVOD_OUTPUT, i, shape, NULL, NULL);
    if (!write_png(prefix, tensor.name, shape, tensor.rank, results[i])) return fail("cannot write a picture", NULL);
  }
  return 0;
}

static int run(svod_plan* plan, svod_pool* pool, const unsigned char* pixels, const uint64_t* shape, float amount,
               const char* prefix) {
  svod_error error = {0};
  svod_plan_info info;
  svod_plan_get_info(plan, &info);
  svod_instance_options options = {.pool = pool};
  svod_instance* instance = NULL;
  if (svod_instance_create(plan, &options, &instance, &error) != 0) return fail("cannot prepare the plan", &error);
  void** results = calloc(info.outputs, sizeof *results);
  int code = bind_inputs(plan, instance, pixels, shape, &amount, &error);
  if (code == 0) code = bind_outputs(instance, info.outputs, results, &error);
  if (code == 0) code = svod_execute(instance, NULL, &error);
  if (code != 0) fail("cannot filter", &error);
  if (code == 0) code = write_outputs(plan, instance, info.outputs, results, prefix);
  for (size_t i = 0; i < info.outputs; i++) free(results[i]);
  free(results);
  svod_instance_free(instance);
  return code;
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: image_filter PLAN IN.png|- OUT_PREFIX [AMOUNT]\n");
    return 2;
  }
  svod_error error = {0};
  svod_plan* plan = NULL;
  if (svod_plan_load(argv[1], NULL, &plan, &error) != 0) return fail("cannot load the plan", &error);
  uint64_t shape[3] = {0};
  unsigned char* pixels = strcmp(argv[2], "-") == 0 ? NULL : read_png(argv[2], shape);
  if (pixels == NULL && strcmp(argv[2], "-") != 0) return fail("cannot read the picture", NULL);
  svod_pool* pool = svod_pool_create(0);
  const int code = run(plan, pool, pixels, shape, argc > 4 ? (float)atof(argv[4]) : 1.0f, argv[3]);
  free(pixels);
  svod_pool_free(pool);
  svod_plan_free(plan);
  return code;
}
