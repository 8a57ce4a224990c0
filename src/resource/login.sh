#!/bin/sh
# Logs in to @base@ by a browser, and writes a token to a file: sh login.sh [file]
# It sends the name of this computer, so that you recognise the login on the page.
set -eu; umask 077
service=@service@ file=${1:-$HOME/.uftp-token}
ask() { curl -sS -H 'Accept: text/plain' "$@"; }
answer=$(ask -f --data-urlencode "client_id=login.sh on $(uname -n)" "$service@begin@")
printf '%s\n' "$answer" | sed 1d; rm -f "$file.new"
while sleep @seconds@; do
  case $(printf 'grant_type=@grant@&device_code=%s' "${answer%%
*}" | ask -d @- -o "$file.new" -w '%{http_code}' "$service@token@") in
    200) mv "$file.new" "$file"; break ;;
    400) grep -q -e authorization_pending -e slow_down "$file.new" || { cat "$file.new" >&2; rm "$file.new"; exit 1; } ;;
  esac
done
printf 'Logged in. For example:\npyuftp ls -A "$(cat "%s")" %s\n' "$file" "$service/rest/auth/@server@:./"
