#!/bin/sh
# Stops the service and waits until it has finished what it was doing. Exit status: 0 stopped, or was not running.
cd "$(dirname "$0")/.." || exit 1
. bin/launch-settings.sh

if [ ! -f "$PID" ]; then
  echo "No PID file found, server probably already stopped."
  exit 0
fi

pid=$(cat "$PID")
if is_running "$pid"; then
  kill -TERM "$pid"
  echo "Waiting for server to stop..."
  while is_running "$pid"; do sleep 0.2; done
fi
echo "Server stopped."
rm -f "$PID"
