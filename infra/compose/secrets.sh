#!/bin/bash
# The compose file's first job: creates the passwords and keys that are missing, at random, so that none has a default. Each lies in a volume
# that only its readers mount. Existing secrets stay as they are: a service that is added later gets its own at the next `up`.
#
# POSTGRES_PASSWORD, CURSOR_KEYS and <SERVICE>_PASSWORD (USERS_PASSWORD, …) choose a value, at the first `up` or later; the databases job gives
# the roles their new passwords, and a service reads them at its next start. POSTGRES_PASSWORD counts the first time only.
set -euo pipefail
umask 022

# Writes what was chosen, or a random value where there is none yet, in one step.
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
    # Only with docker-compose.observability.yml.
    grafana) keep "${folder}password" "$password" ;;
    *)
      keep "${folder}password" "$password"
      keep "${folder}cursor-keys" "${CURSOR_KEYS:-}"
      ;;
  esac
done
