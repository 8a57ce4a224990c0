#!/bin/sh
# authserver @VERSION@ for @TARGET@: this script, and behind it the compressed program.
# The first start unpacks the program into a folder of the user who starts it, later ones run it from there.
# It needs sh, gzip, tar and the basic commands of every Linux system; it uses no network and writes nowhere else.

id=@ID@
# Name, place in this file, compressed size, SHA-256 of the content
parts='@PARTS@'

fail() {
  echo "authserver: $*" >&2
  exit 1
}

# systemd starts root's commands, and with them the hooks of certbot, without HOME.
: "${HOME=$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)}"
if [ -n "${CACHE_DIRECTORY-}" ]; then
  base=${CACHE_DIRECTORY%%:*}
elif [ -n "${XDG_CACHE_HOME-}" ]; then
  base=$XDG_CACHE_HOME/authserver
elif [ -n "$HOME" ] &&
  { [ -w "$HOME" ] || [ -w "$HOME/.cache/authserver" ] || [ ! -O /var/cache/authserver ]; }; then
  base=$HOME/.cache/authserver
elif [ -O /var/cache/authserver ]; then
  base=/var/cache/authserver # of the service's account, which has no home
else
  fail "there is no folder to unpack into: set CACHE_DIRECTORY, XDG_CACHE_HOME or HOME"
fi
program=$base/$id

# Whether the folder $1 belongs to this user, and nobody else may put anything into it.
is_ours() {
  [ -d "$1" ] && [ -O "$1" ] && case $(ls -Lld "$1") in d????-??-*) ;; *) false ;; esac
}

# Prints the content of the part at byte $1 of this file, of $2 compressed bytes. (tail may complain that head has enough.)
part() {
  tail -c "+$1" "$self" 2>/dev/null | head -c "$2" | gzip -dc
}

# Runs in a subshell, so that its umask and traps end with it.
unpack() {
  self=$0
  umask 077
  for tool in gzip tar; do
    command -v "$tool" >/dev/null || fail "cannot unpack: there is no $tool"
  done
  mkdir -p "$base" || fail "cannot unpack: set XDG_CACHE_HOME or CACHE_DIRECTORY to a folder that can be written"
  is_ours "$base" || fail "$base belongs to another user, or others may write to it: not used"
  new=$(mktemp -d "$base/.new.XXXXXX") || fail "cannot unpack into $base"
  trap 'rm -rf "$new"' EXIT
  trap 'exit 1' HUP INT TERM
  mkdir "$new/$id" || fail "cannot unpack into $base"
  echo "$parts" | while read -r name offset length sha256; do
    part "$offset" "$length" >"$new/$id/$name" || exit 1
    echo "$sha256  $new/$id/$name" | sha256sum -c >/dev/null 2>&1 || exit 1
  done && tar -xof "$new/$id/@MODULES@" -C "$new/$id" && rm "$new/$id/@MODULES@" ||
    fail "cannot unpack into $base: this file is damaged, or the disk is full"
  chmod 700 "$new/$id/authserver"
  sync "$new/$id"/* 2>/dev/null || sync
  said=$("$new/$id/authserver" --version 2>&1) ||
    fail "cannot run programs in $base (is it mounted noexec?): $said"

  # Somebody may have been faster; a folder that has something in it is not replaced.
  mv "$new/$id" "$base/" 2>/dev/null || [ -d "$program" ] || fail "cannot unpack into $base"

  # Versions that no process runs any more, and what broke off half-way.
  for old in "$base"/????????????????????????????????????????????????????????????????; do
    [ "$old" = "$program" ] || readlink /proc/[0-9]*/exe 2>/dev/null | grep -qF "$old/" || rm -rf "$old"
  done
  # Another start may take away what `find` is just looking at; whatever stays is for the next one.
  find "$base" -maxdepth 1 -name '.new.*' -mmin +60 -exec rm -rf {} + 2>/dev/null || :
}

[ -d "$program" ] || (unpack) || exit 1
if ! is_ours "$base" || ! is_ours "$program"; then
  fail "$program belongs to another user, or others may write to it: not used"
fi

# Only the code in that folder runs, whatever options the environment holds.
unset NODE_OPTIONS DENO_V8_FLAGS
case ${AUTHSERVER_HEAP_MB-} in
  '' | *[!0-9]*) ;;
  *) export DENO_V8_FLAGS="--max-old-space-size=$AUTHSERVER_HEAP_MB" ;;
esac
export DENO_DIR="$program/deno" DENO_NO_UPDATE_CHECK=1
exec "$program/authserver" run --quiet --no-config --no-lock @FLAGS@ "$program/@MAIN@" "$@"

# Never reached; who only reads this file as a script (sh -n) takes what follows for a text.
: <<'END_OF_PROGRAM'
