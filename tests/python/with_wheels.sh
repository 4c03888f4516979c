#!/bin/sh
# with_wheels.sh LISTS COMMAND [ARGUMENT...]: a test that ./test --python runs; skipped (77) elsewhere, and where the
# packages of requirements.txt or of one of LISTS (requirements_NAME.txt, with commas between the names, or "none") could
# not be installed. @python@ is the Python of the virtual environment that has them.
if [ -z "${ORDITO_PYTHON_TESTS:-}" ]; then
  echo "skipped: ./test --python runs it"
  exit 77
fi
venv=$ORDITO_PYTHON_TESTS
here=$(dirname "$0")
lists=$1
shift
for list in requirements $(echo "$lists" | tr , '\n' | sed '/^none$/d; s/^/requirements_/'); do
  if ! cmp -s "$here/$list.txt" "$venv/$list.txt"; then
    echo "skipped: the packages of tests/python/$list.txt are not installed"
    exit 77
  fi
done
for argument; do
  shift
  if [ "$argument" = @python@ ]; then argument=$venv/bin/python; fi
  set -- "$@" "$argument"
done
exec "$@"
