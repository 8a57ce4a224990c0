#!/bin/sh
# Says whether the service runs. Exit status: 0 running, 7 not running, 3 not running although there is a PID file.
cd "$(dirname "$0")/.." || exit 1
. bin/launch-settings.sh

if [ ! -f "$PID" ]; then
  echo "service $SERVERNAME not running (no PID file)"
  exit 7
fi

pid=$(cat "$PID")
if is_running "$pid"; then
  echo "service $SERVERNAME running with PID $pid"
  exit 0
fi
echo "warn: service $SERVERNAME not running, but PID file $PID found"
exit 3
