#!/bin/bash
# The first job of docker-compose.yml: generates missing passwords and keys, so that no secret has a default. Each is in a volume that only its
# readers mount. Existing secrets remain; a service that is added later gets its secrets at the next `up`.
#
# POSTGRES_PASSWORD, CURSOR_KEYS, FEED_KEYS, CONSISTENCY_KEYS and <SERVICE>_PASSWORD (USERS_PASSWORD, …) set a value, at the first `up` or later. The
# databases job sets the roles' new passwords, and a process reads its secrets at the next start. POSTGRES_PASSWORD has an effect only at the first `up`.
set -euo pipefail
umask 022

# Writes the given value, or a random one if the file does not exist, atomically.
keep() {
  local file=$1 chosen=$2
  if [[ -n $chosen ]]; then
    printf '%s' "$chosen" >"$file.new"
  elif [[ ! -s $file ]]; then
    head --bytes=24 /dev/urandom | od --address-radix=n --format=x1 | tr --delete ' \n' >"$file.new"
  else
    return 0
  fi
  mv "$file.new" "$file"
}

for folder in /secrets/*/; do
  name=$(basename "$folder")
  password_variable="${name^^}_PASSWORD"
  password_variable=${password_variable//-/_}
  password=${!password_variable:-}
  case $name in
    postgres) [[ -s ${folder}password ]] || keep "${folder}password" "$password" ;;
    # Shared by several processes.
    feed-keys) keep "${folder}keys" "${FEED_KEYS:-}" ;;
    consistency-keys) keep "${folder}keys" "${CONSISTENCY_KEYS:-}" ;;
    # Only with docker-compose.observability.yml.
    grafana) keep "${folder}password" "$password" ;;
    *)
      keep "${folder}password" "$password"
      keep "${folder}cursor-keys" "${CURSOR_KEYS:-}"
      ;;
  esac
done
