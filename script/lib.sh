# Shared by the scripts: where things are, which Python, the virtual environment. Sourced, never run.
# Plain bash 3.2, so that it runs on a Mac as well.

set -euo pipefail
unset CDPATH PYTHONPATH PYTHONHOME

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# Relative folders mean the caller's folder; from here on everything happens in the repository.
absolute() { case $1 in /* | '~'*) printf '%s' "$1" ;; *) printf '%s' "$PWD/$1" ;; esac; }
VENV=$(absolute "${LITMUS_VENV:-$ROOT/.venv}")
if [ -n "${LITMUS_DATA_DIR:-}" ]; then
  LITMUS_DATA_DIR=$(absolute "$LITMUS_DATA_DIR")
  export LITMUS_DATA_DIR
fi
cd "$ROOT"

PYTHON=$VENV/bin/python
export DJANGO_SETTINGS_MODULE=litmus_site.settings
export PYTHONUNBUFFERED=1

say() { printf '%s\n' "$*"; }
stop() { printf 'litmus: %s\n' "$*" >&2; exit 1; }

# What a candidate is: "3.12.1 ready", "3.9.2 old", "3.11.2 bare" (it cannot make virtual environments), or nothing.
describe_python() {
  "$1" -c '
import sys
state = "ready"
if sys.version_info < (3, 11):
    state = "old"
else:
    try:
        import ensurepip, venv
    except ImportError:
        state = "bare"
print("%d.%d.%d %s" % (sys.version_info[:3] + (state,)))' 2>/dev/null || true
}

# Prints the first Python that will do, or stops with the one sentence that helps.
find_python() {
  local candidate found old="" bare="" candidates="python3 python3.14 python3.13 python3.12 python3.11 python"
  if [ -n "${LITMUS_PYTHON:-}" ]; then
    found=$(describe_python "$LITMUS_PYTHON")
    case $found in
      *ready) printf '%s' "$LITMUS_PYTHON"; return ;;
      *bare) bare="${found% *} ($LITMUS_PYTHON)" ;;
      *old) old=${found% *} ;;
      *) stop "LITMUS_PYTHON is $LITMUS_PYTHON, which does not run; name a Python of version 3.11 or newer." ;;
    esac
    candidates=""
  fi
  for candidate in $candidates; do
    found=$(describe_python "$candidate")
    case $found in
      *ready) printf '%s' "$candidate"; return ;;
      *bare) [ -n "$bare" ] || bare="${found% *} ($candidate)" ;;
      *old) [ -n "$old" ] || old=${found% *} ;;
    esac
  done
  [ -z "$bare" ] || stop "Python $bare has no venv module; install it (on Debian: apt-get install python3-venv) or set LITMUS_PYTHON."
  [ -z "$old" ] || stop "Python 3.11 or newer is needed, found $old; install it or set LITMUS_PYTHON."
  stop "Python 3.11 or newer is needed, found none; install it or set LITMUS_PYTHON."
}

venv_works() { [ -x "$PYTHON" ] && "$PYTHON" -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# Runs a command in a group of its own (-m), so that ending this script ends the command and all it started.
run_and_wait() {
  local child status=0
  set -m
  "$@" </dev/null &
  child=$!
  set +m
  trap 'kill -- "-$child" 2>/dev/null || true; wait "$child" 2>/dev/null || true; exit 130' INT TERM HUP
  wait "$child" || status=$?
  trap - INT TERM HUP
  return "$status"
}

make_venv() {
  local base mine=$VENV/litmus-made-this
  # Only what this script made may be made again.
  if [ -e "$VENV" ] && [ ! -f "$mine" ] && [ -n "$(ls -A "$VENV")" ]; then
    stop "$VENV is no virtual environment with Python 3.11 or newer and pip; remove it or set LITMUS_VENV to another folder."
  fi
  base=$(find_python)
  say "Making the virtual environment in $VENV …"
  rm -rf "$VENV"
  mkdir -p "$VENV"
  touch "$mine"
  run_and_wait "$base" -m venv "$VENV" ||
    stop "the virtual environment could not be made in $VENV (the reason is above)."
}

# install STAMP FILE…: does nothing when these very files were installed last time.
install() {
  local stamp=$VENV/$1 wanted
  shift
  wanted=$(cat "$@")
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return; fi
  say "Installing what ${!#} names (a minute or two, the first time) …"
  rm -f "$stamp"
  run_and_wait "$PYTHON" -m pip install -qq --no-input --disable-pip-version-check --requirement "${!#}" ||
    stop "installing from ${!#} failed (the reason is above); mend that and run the same command again."
  printf '%s\n' "$wanted" >"$stamp"
}

# set_up [--dev]
set_up() {
  venv_works || make_venv
  install litmus-installed.txt requirements.txt
  if [ "${1:-}" = --dev ]; then install litmus-installed-dev.txt requirements.txt requirements-dev.txt; fi
}
