#!/bin/bash
# The compose file's first job: passwords and keys, made at random where there are none, so that nobody has a default one. Each lies in a
# volume of its own, which only its readers mount.
#
# Whoever sets POSTGRES_PASSWORD, USERS_PASSWORD, POSTS_PASSWORD, COMMENTS_PASSWORD, ORDERS_PASSWORD or CURSOR_KEYS chooses it, now or later;
# the next job gives the roles their new passwords, and a service has them from its next start. POSTGRES_PASSWORD counts the first time only.
set -euo pipefail
umask 022

keep() {
  local file=$1 chosen=$2
  if [[ -n $chosen ]]; then
    printf '%s' "$chosen" >"$file"
  elif [[ ! -s $file ]]; then
    head --bytes=24 /dev/urandom | od --address-radix=n --format=x1 | tr --delete ' \n' >"$file.new"
    mv "$file.new" "$file"
  fi
}

[[ -s /secrets/postgres/password ]] || keep /secrets/postgres/password "$POSTGRES_PASSWORD"
for service in users posts comments orders; do
  password_variable="${service^^}_PASSWORD"
  keep "/secrets/$service/password" "${!password_variable}"
  keep "/secrets/$service/cursor-keys" "$CURSOR_KEYS"
done
# Only with docker-compose.observability.yml.
if [[ -d /secrets/grafana ]]; then keep /secrets/grafana/password "${GRAFANA_PASSWORD:-}"; fi
