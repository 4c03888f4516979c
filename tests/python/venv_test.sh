#!/bin/bash
# The virtual environment of `./test --python`: a list whose packages could not be installed is tried again, one that was
# is not; what cannot be had is told and no failure, and the tests that want it are skipped. A stand-in for pip notes what
# it is asked for.
# usage: venv_test.sh <scratch folder>
set -eu
scratch=$1
cd "$(dirname "$0")/../.."
source cmake/setup.sh
install_packages() { [ -z "${WITHOUT_DEBIAN:-}" ]; }
venv=$scratch/venv
rm -rf "$scratch" && mkdir -p "$venv/bin"
cat > "$venv/bin/python" <<SCRIPT
#!/bin/sh
[ "\$1 \$2" = "-m pip" ] || exit 0
shift 2
if [ "\$1" = download ]; then exit \${OFFLINE:-0}; fi
for list; do :; done
echo "\$list" >> "$scratch/asked"
case " \${SLOW:-} " in *" \$list "*) exec sleep 60 ;; esac
case " \${BROKEN:-} " in *" \$list "*) exit 1 ;; esac
SCRIPT
chmod +x "$venv/bin/python"
all=$(echo tests/python/requirements*.txt)
torch=tests/python/requirements_torch.txt

# fill [SECONDS]: fills the environment with all lists; what it says goes to `said`
fill() { fill_python_venv "$venv" "${1:-60}" > "$scratch/said"; }
# asked LISTS: what pip has been asked for since the last look
asked() {
  local got
  got=$(cat "$scratch/asked" 2> /dev/null | xargs)
  rm -f "$scratch/asked"
  if [ "$got" != "$*" ]; then stop "pip was asked for '$got', not for '$*'"; fi
}
# says PATTERN: what `fill` said, or a test
says() { grep -q -- "$1" "$scratch/said" || stop "'$1' is not in: $(cat "$scratch/said")"; }
# skips LISTS: a test that wants them is skipped
skips() {
  local status=0
  ORDITO_PYTHON_TESTS=$venv tests/python/with_wheels.sh "$1" true > "$scratch/said" || status=$?
  [ $status -eq 77 ] || stop "status $status, not skipped, without the packages of $1"
}
runs() { ORDITO_PYTHON_TESTS=$venv tests/python/with_wheels.sh "$1" true || stop "skipped with the packages of $1"; }

WITHOUT_DEBIAN=1 fill
says 'tests that want them are skipped'
(
  df() { echo 2000; }
  fill
  says "no room for the packages of $torch"
  asked ${all/ $torch/}
  skips torch
)
rm "$venv"/*.txt
OFFLINE=1 fill
says 'is there a network'
asked
skips none
says 'tests/python/requirements.txt'

export BROKEN=$torch
fill
says "$torch could not be installed"
asked $all
skips torch
skips jax,torch
runs none
runs jax,numba_cuda
fill
asked $torch
BROKEN= SLOW=$torch fill 4
says "$torch could not be installed"
asked $torch
SLOW=$all fill 0
asked
BROKEN=
fill
asked $torch
runs torch
OFFLINE=1 fill
if [ -s "$scratch/said" ]; then stop "nothing was missing, and it says: $(cat "$scratch/said")"; fi
asked

echo 'something newer' >> "$venv/requirements_jax.txt"
skips jax

status=0
BROKEN=list tests/python/from_source.sh ordito "$venv" list package==1 program > "$scratch/said" || status=$?
[ $status -eq 77 ] || stop "status $status, not skipped, where nothing can be installed"
echo "all as expected"
