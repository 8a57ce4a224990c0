# Settings that the start, stop and status scripts share; sourced by them, from the installation folder.

# Files of the Java service set JAVA, MEM, LIB, DEFS and more: they are read, and not used.
if [ -f conf/startup.properties ]; then
  . ./conf/startup.properties
fi
: "${MAIN_CONFIG:=conf/container.properties}"
: "${SERVERNAME:=AUTHSERVER}"
: "${PID:=logs/authserver.pid}"
: "${STARTLOG:=logs/authserver-startup.log}"

# Whether the process $1 is there and is this service, not another one that got the same number.
is_running() {
  case "$1" in '' | *[!0-9]*) return 1 ;; esac
  kill -0 "$1" 2>/dev/null || return 1
  if [ -r "/proc/$1/cmdline" ]; then
    tr '\0' ' ' <"/proc/$1/cmdline" | grep -qF -- "$SERVERNAME"
  else
    ps -o args= -p "$1" | grep -qF -- "$SERVERNAME"
  fi
}
