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

# has_room FOLDER LIST: whether the disk that the folder is on has what the list of Python's packages says that they take
has_room() {
  local needed
  needed=$(sed -n 's/^#.* \([0-9]\+\) MiB.*/\1/p' "$2")
  [ "$(df --output=avail --block-size=1M "$1" | tail -n 1)" -ge "${needed:-0}" ]
}

# pip_within SECONDS VENV ARGUMENT...: pip of a virtual environment, which may have been moved, with an end to its waiting for the network
pip_within() {
  local seconds=$1 python=$2/bin/python command=$3
  shift 3
  [ "$seconds" -gt 0 ] || return 1
  timeout --foreground --kill-after=10 "$seconds" "$python" -m pip "$command" --quiet --disable-pip-version-check --timeout 30 --retries 2 "$@"
}

# pip_answers VENV: whether pip gets a package, one of the smallest that are wanted
pip_answers() {
  local folder status=0
  folder=$(mktemp --directory)
  pip_within 60 "$1" download --no-deps --no-cache-dir --dest "$folder" iniconfig==2.3.1 > /dev/null 2>&1 || status=$?
  rm -r "$folder"
  return "$status"
}

# python_venv FOLDER: an empty virtual environment of Debian's Python, or a word why there can be none
python_venv() {
  if ! (install_packages python); then
    say "Debian's packages for Python's tests could not be installed: tests that want them are skipped"
    return 1
  fi
  if ! "$1/bin/python" -c "import pip" 2> /dev/null && ! /usr/bin/python3 -m venv "$1"; then
    say "Python makes no virtual environment here: tests that want one are skipped"
    return 1
  fi
}

# fill_python_venv FOLDER SECONDS: a virtual environment with the packages of tests/python/requirements*.txt, as far as pip
# gets them within SECONDS and the disk has room. Each list leaves a copy of itself in the folder once it is installed, so
# that what is missing is tried again and what is there is not. What cannot be had is told, and the tests that want it are
# skipped.
fill_python_venv() {
  local venv=$1 end=$((SECONDS + $2)) list name options missing=()
  for list in tests/python/requirements*.txt; do
    if ! cmp --silent "$list" "$venv/$(basename "$list")"; then missing+=("$list"); fi
  done
  if ! python_venv "$venv" || [ ${#missing[@]} -eq 0 ]; then return 0; fi
  if ! pip_answers "$venv"; then
    say "pip gets no packages here (is there a network?): tests that want more of them are skipped"
    return 0
  fi
  for list in "${missing[@]}"; do
    name=$(basename "$list")
    say "Installing the Python packages of $list"
    # What these wheels would bring along from NVIDIA is not wanted: those lists name all that they need.
    options=()
    if [ "$name" != requirements.txt ]; then options=(--no-deps); fi
    if ! has_room "$venv" "$list"; then
      say "The disk has no room for the packages of $list: tests that want them are skipped"
    elif pip_within $((end - SECONDS)) "$venv" install "${options[@]}" -r "$list"; then
      cp "$list" "$venv/$name"
    else
      say "The packages of $list could not be installed: tests that want them are skipped"
    fi
  done
}
