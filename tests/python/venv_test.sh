#!/bin/bash
# The virtual environment of `./test --python`: a list whose packages could not be installed is tried again, one that was
# is not. A stand-in for pip notes what it is asked for.
# usage: venv_test.sh <scratch folder>
set -eu
scratch=$1
cd "$(dirname "$0")/../.."
source cmake/setup.sh
install_packages() { :; }
rm -rf "$scratch" && mkdir -p "$scratch/venv/bin"
cat > "$scratch/venv/bin/pip" <<SCRIPT
#!/bin/sh
for list; do :; done
echo "\$list" >> "$scratch/asked"
case " \$BROKEN " in *" \$list "*) exit 1 ;; esac
SCRIPT
chmod +x "$scratch/venv/bin/pip"

# asked LISTS: what pip has been asked for since the last look
asked() {
  local got
  got=$(cat "$scratch/asked" 2> /dev/null | xargs)
  rm -f "$scratch/asked"
  if [ "$got" != "$*" ]; then stop "pip was asked for '$got', not for '$*'"; fi
}

all=$(echo tests/python/requirements*.txt)
export BROKEN="tests/python/requirements_torch.txt"
fill_python_venv "$scratch/venv" > /dev/null
asked $all
[ -e "$scratch/venv/requirements.txt" ] || stop "what is installed is noted"
fill_python_venv "$scratch/venv" > /dev/null
asked $BROKEN
BROKEN=
fill_python_venv "$scratch/venv" > /dev/null
asked tests/python/requirements_torch.txt
fill_python_venv "$scratch/venv" > /dev/null
asked
echo "all as expected"
