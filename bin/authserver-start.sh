#!/bin/sh
# Starts the service in the background. Exit status: 0 started, 1 already running, nothing to run, or ended at once.
cd "$(dirname "$0")/.." || exit 1
. bin/launch-settings.sh

if [ -f "$PID" ]; then
  pid=$(cat "$PID")
  if is_running "$pid"; then
    echo "An instance of $SERVERNAME may already be running with PID $pid."
    echo "If it is not, delete $PID and start again."
    exit 1
  fi
fi

mkdir -p "$(dirname "$PID")" "$(dirname "$STARTLOG")" || exit 1
# Without a PID file the service could not be stopped.
if ! (: >"$PID") 2>/dev/null; then
  echo "The PID file $PID cannot be written: not started." >&2
  exit 1
fi
# Emptied before the service opens it, so that output of an earlier start is not read as this one's.
if ! (: >"$STARTLOG") 2>/dev/null; then
  echo "The startup log $STARTLOG cannot be written: not started." >&2
  rm -f "$PID"
  exit 1
fi

if [ -n "$AUTHSERVER" ]; then
  set -- "$AUTHSERVER"
elif [ -x bin/authserver ]; then
  set -- bin/authserver
elif [ -x ./authserver ]; then
  set -- ./authserver
elif [ -x dist/authserver ]; then
  set -- dist/authserver
elif [ -f main.ts ]; then
  # A source checkout: the engine settings and permissions of the task "start", which stand there alone.
  deno=${DENO:-$(command -v deno)}
  if [ -n "$deno" ]; then set -- "$deno"; else set -- npx --yes "deno@$(cat .deno-version)"; fi
  flags=$(sed -n 's/.*"deno run \(.*\) main\.ts".*/\1/p' deno.json)
  # shellcheck disable=SC2086
  set -- "$@" run $flags main.ts
elif command -v authserver >/dev/null; then
  set -- authserver # of a package
else
  echo "There is no program to run: expected bin/authserver, ./authserver, authserver in PATH, or AUTHSERVER in conf/startup.properties." >&2
  rm -f "$PID"
  exit 1
fi

# The most memory of each part of the service; see conf/startup.properties.
memory=$(heap_limit "$MEM") || {
  echo "MEM in conf/startup.properties: expected a size of at least 64m, such as 512m or 1g (or -Xmx512m), found $MEM" >&2
  rm -f "$PID"
  exit 1
}
if [ -n "$memory" ]; then export AUTHSERVER_HEAP_MB="$memory" DENO_V8_FLAGS="--max-old-space-size=$memory"; fi

# OPTS is a list of words. Files of the Java service hold options of its virtual machine there.
case "$OPTS" in *-D* | *-X*) OPTS= ;; esac
# shellcheck disable=SC2086
nohup "$@" serve --config "$MAIN_CONFIG" --name "$SERVERNAME" $OPTS </dev/null >"$STARTLOG" 2>&1 &
started=$!
echo "$started" >"$PID"
echo "UFTP $SERVERNAME starting"

# Waits until the service is ready or has ended, at most 30 s.
waited=0
while [ "$waited" -lt 150 ] && ! grep -qF 'Server started' "$STARTLOG"; do
  if ! kill -0 "$started" 2>/dev/null; then
    echo "$SERVERNAME has not started, $STARTLOG says:" >&2
    tail -n 20 "$STARTLOG" >&2
    rm -f "$PID"
    exit 1
  fi
  sleep 0.2
  waited=$((waited + 1))
done
grep -qF 'Server started' "$STARTLOG" || echo "$SERVERNAME is still starting, see $STARTLOG" >&2
