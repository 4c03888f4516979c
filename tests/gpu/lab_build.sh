# Sourced by lab_record.sh and lab_profile.sh: builds the lab's programs with nvcc, for $arch, into $work.

build() {
  local options
  options=$(python3 -c 'import json, sys
for program in json.load(open("lab/catalogue.json"))["programs"]:
    if program["name"] == sys.argv[1]: print(*program.get("options", []))' "$1")
  nvcc -O3 -std=c++17 -arch=$arch -Xcompiler -fopenmp "lab/$1/$1.cu" $options -o "$work/$1"
}

# build_all PROGRAM...: as many at a time as there are processors; ends the script if one does not compile
build_all() {
  local program
  for program in "$@"; do
    build "$program" &
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
  done
  wait
  for program in "$@"; do [ -x "$work/$program" ] || { echo "$program did not compile"; exit 1; }; done
}
