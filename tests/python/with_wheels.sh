#!/bin/sh
# with_wheels.sh COMMAND [ARGUMENT...]: a test that ./test --python runs; skipped (77) elsewhere. @python@ is the Python
# of the virtual environment that it makes; a command with it is skipped where that could not be filled.
if [ -z "${ORDITO_PYTHON_TESTS:-}" ]; then
  echo "skipped: ./test --python runs it"
  exit 77
fi
venv=$ORDITO_PYTHON_TESTS
for argument; do
  shift
  if [ "$argument" = @python@ ]; then
    if [ ! -e "$venv/requirements.txt" ]; then
      echo "skipped: the packages of tests/python/requirements.txt could not be installed"
      exit 77
    fi
    argument=$venv/bin/python
  fi
  set -- "$@" "$argument"
done
exec "$@"
