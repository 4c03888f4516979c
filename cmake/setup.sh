# What ./demo, ./test, ./bench/run and .ci/run share: installing the packages that are missing, and building. Sourced by bash in the
# root of the project. Every step first looks whether it is done already, so a second run goes straight to work.

say() { printf '\n== %(%H:%M:%S)T %s\n' -1 "$*"; }  # the time tells where a slow run spends it
stop() { printf '%s\n' "$*" >&2; exit 1; }

# packages KIND...: the packages of these kinds in cmake/packages.txt
packages() {
  local kind
  for kind; do awk -v kind="$kind" '$2 == kind && $1 !~ /^#/ { print $1 }' cmake/packages.txt; done
}

# missing PACKAGE...: those that are not installed
missing() {
  comm -23 <(printf '%s\n' "$@" | sort) \
           <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p' | sort)
}

# install_packages KIND...
install_packages() {
  local root=() list
  if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    command -v clang++-19 > /dev/null ||
      stop "Ordito is built with packages of Debian 12, and this system has no apt-get. Install what corresponds to: $(packages "$@" | xargs)"
    return 0  # another system, set up by hand
  fi
  mapfile -t list < <(missing $(packages "$@"))
  [ ${#list[@]} -gt 0 ] || return 0
  say "Installing ${#list[@]} Debian packages: ${list[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null || stop "Run this as root: apt-get install ${list[*]}"
    root=(sudo)
  fi
  "${root[@]}" apt-get update || stop "apt-get update failed: is there a network?"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${list[@]}" ||
    stop "apt-get could not install the packages. Ordito needs Debian 12 (bookworm) with its updates and security updates enabled."
}

# build PRESET [TARGET...]: configures once, then builds; ninja shows how far it is
build() {
  local preset=$1
  shift
  if [ ! -f "build/$preset/build.ninja" ]; then
    say "Configuring the $preset build"
    cmake --preset "$preset"
  fi
  say "Building ($preset); the first time takes some minutes"
  cmake --build "build/$preset" ${1:+--target "$@"}
}

# fill_python_venv FOLDER: a virtual environment of Debian's Python with the packages of tests/python/requirements*.txt. Each list leaves a
# copy of itself in the folder once it is installed, so that what is missing is tried again and what is there is not. Without a network it
# stays empty, and the tests that want them are skipped.
fill_python_venv() {
  install_packages python
  local list name options
  [ -x "$1/bin/pip" ] || /usr/bin/python3 -m venv "$1"
  for list in tests/python/requirements*.txt; do
    name=$(basename "$list")
    if cmp --silent "$list" "$1/$name"; then continue; fi
    say "Installing the Python packages of $list"
    # What these wheels would bring along from NVIDIA is not wanted: those lists name all that they need.
    options=()
    if [ "$name" != requirements.txt ]; then options=(--no-deps); fi
    if "$1/bin/pip" install --quiet --disable-pip-version-check "${options[@]}" -r "$list"; then
      cp "$list" "$1/$name"
    else
      say "The packages of $list could not be installed: tests that want them are skipped"
    fi
  done
}
