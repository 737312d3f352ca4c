#!/usr/bin/env bash
# What CI runs: the tests with all services, the static checks, and a smoke of every other family of checks
# (scripts/families.mjs), the two commands of the README on a fresh machine among them.
# Ends with the summed counts, and with a code other than 0 when anything failed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export CI=true NO_COLOR=1 TEST_EFFORT=full
unset FORCE_COLOR

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0

step() {
  echo "== $*"
  "$@" 2>&1 </dev/null | tee "$log"
  local status="${PIPESTATUS[0]}" line p=0 f=0 s=0
  line="$(grep -E '^([a-z]+: )?[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -n 1)"
  if [[ "$line" =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
    p="${BASH_REMATCH[1]}" f="${BASH_REMATCH[2]}" s="${BASH_REMATCH[4]:-0}"
  fi
  # Whatever a step counted: a code other than 0 is a failure.
  if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# A service that cannot be had is a failure of the tests that need it.
npm run --silent setup:services </dev/null

step npm test
step npm run --silent check
step npm run --silent smoke

suffix=""
[ "$skipped" -gt 0 ] && suffix=", $skipped skipped"
echo
echo "$passed passed, $failed failed$suffix"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
