# Settings that the start, stop and status scripts share; sourced by them, from the installation folder.

# Files of the Java service set JAVA, LIB, DEFS and more: they are read, and not used. Their MEM counts.
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

# The heap limit that the text $1 asks for, in MiB: a size such as 512m or 1g, or the Java virtual machine's options, of
# which -Xmx counts; nothing if it asks for none. Fails if it is neither, or less than the service can start with.
heap_limit() {
  size=
  for word in $1; do
    case "$word" in
      -Xmx*) size=${word#-Xmx} ;;
      -*) ;;
      *) size=$word ;;
    esac
  done
  number=${size%[kKmMgG]}
  case "$number" in '') [ -z "$size" ]; return ;; *[!0-9]*) return 1 ;; esac
  case "$size" in
    *[gG]) number=$((number * 1024)) ;;
    *[mM]) ;;
    *[kK]) number=$((number / 1024)) ;;
    *) number=$((number / 1048576)) ;;
  esac
  [ "$number" -ge 64 ] && echo "$number"
}
