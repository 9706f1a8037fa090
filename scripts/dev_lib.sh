# Functions behind ./dev; sourced, with the repository root as working directory.

jobs="$(nproc)"
test_failures=0
summaries=()

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'dev: %s\n' "$*" >&2; exit 2; }

# install_groups GROUP...: apt-get whatever is missing of scripts/packages.txt (build) and scripts/packages_GROUP.txt, and
# say why; does nothing, and needs no network, otherwise.
install_groups() {
  local group name why missing=()
  if ! command -v dpkg-query >/dev/null; then
    return 0  # not Debian: CMake names whatever is missing
  fi
  for group in "$@"; do
    local file="scripts/packages_$group.txt" shown=false
    [[ "$group" == build ]] && file=scripts/packages.txt
    while read -r name why; do
      [[ -z "$name" || "$name" == \#* ]] && continue
      dpkg-query -W -f='${Status}\n' "$name" 2>/dev/null | grep -q '^install ok installed' && continue
      $shown || say "packages of the group '$group' that are missing"
      shown=true
      printf '   %-24s %s\n' "$name" "$why" >&2
      missing+=("$name")
    done <"$file"
  done
  (( ${#missing[@]} )) || return 0
  local as_root=()
  if (( EUID != 0 )); then
    command -v sudo >/dev/null || die "installing packages needs root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} packages, with what these depend on"
  "${as_root[@]}" apt-get -qq update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q install -y --no-install-recommends "${missing[@]}" | show_apt_progress
}

# Of what apt-get prints: how much there is to do, and on a terminal the package at hand, in one line.
show_apt_progress() {
  local line terminal=false
  [[ -t 2 ]] && terminal=true
  while read -r line; do
    case "$line" in
      "Need to get"* | *"newly installed"* | "E: "*) printf '   %s\n' "$line" >&2 ;;
      Get:* | Unpacking* | "Setting up"*) $terminal && printf '\r\033[K   %.90s' "$line" >&2 ;;
    esac
  done
  $terminal && printf '\r\033[K' >&2
  return 0
}

# A read-only or missing home must not fail the build: keep the compiler cache in the build folder then.
place_ccache() {
  local folder="${CCACHE_DIR:-${HOME:-/nonexistent}/.cache/ccache}"
  if ! mkdir -p "$folder" 2>/dev/null || [[ ! -w "$folder" ]]; then
    export CCACHE_DIR="$PWD/build/ccache"
  fi
}

# build_preset PRESET [TARGET...]
build_preset() {
  local preset="$1" log="build/$1/configure.log"
  shift
  install_groups build
  place_ccache
  mkdir -p "build/$preset"
  if [[ ! -f "build/$preset/build.ninja" || CMakePresets.json -nt "build/$preset/build.ninja" ]]; then
    say "configure $preset"
    cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; die "configuring $preset failed"; }
  fi
  say "build $preset"
  if [[ -t 1 ]]; then  # on a terminal ninja keeps to one line by itself
    ninja -C "build/$preset" -j "$jobs" "$@" || die "building $preset failed"
  else
    ninja -C "build/$preset" -j "$jobs" --quiet "$@" | { grep -v '^-- ' || true; } || die "building $preset failed"
  fi
}

# run_ctest PRESET ARGUMENT...: runs on after a failure; finish_tests reports all runs.
run_ctest() {
  local preset="$1" log="build/$1/ctest.log" failed=0
  shift
  say "test $preset"
  ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --no-tests=ignore --no-label-summary "$@" |
    tee "$log" | { grep -vE '^ +Start +[0-9]+:|^Internal ctest|^Test project' || true; } || failed=1
  local line
  line="$(grep -E 'tests passed|No tests were found' "$log" | tail -n 1)"
  summaries+=("$(printf '%-8s %s' "$preset" "${line:-ctest did not finish}")")
  (( failed == 0 )) || test_failures=1
}

run_fuzzers() {
  local program name seeds
  for program in build/fuzz/bin/fuzz_*; do
    [[ -x "$program" ]] || continue
    name="$(basename "$program")"
    say "fuzz $name for $1 s"
    mkdir -p "build/fuzz/corpus/$name"
    seeds=(tests/*/corpus/"${name#fuzz_}")
    [[ -d "${seeds[0]}" ]] || seeds=()
    "$program" -max_total_time="$1" -print_final_stats=0 -verbosity=0 "build/fuzz/corpus/$name" "${seeds[@]}" || test_failures=1
  done
}

finish_tests() {
  printf '\n'
  printf '%s\n' "${summaries[@]}"
  return "$test_failures"
}

list_sources() {
  git ls-files --cached --others --exclude-standard -- '*.cpp' '*.h' '*.c'
}

# clang-tidy on what differs from main; it needs the compile commands of the dev preset.
tidy() {
  install_groups check
  [[ -f build/dev/compile_commands.json ]] || cmake --preset dev >/dev/null
  git diff --name-only --diff-filter=d "$(git merge-base HEAD main)" -- '*.cpp' |
    xargs --no-run-if-empty -P "$jobs" -n 1 clang-tidy -p build/dev --quiet
}
