#!/bin/bash
# Runs once, when the volume is new: a database and a role for each service. No role can open another's database.
set -euo pipefail
for service in users posts comments orders; do
  password_variable="${service^^}_PASSWORD"
  psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set service="$service" --set password="${!password_variable:?is not set}" <<'SQL'
create role :"service" login password :'password';
create database :"service" owner :"service";
revoke connect on database :"service" from public;
SQL
done
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
revoke connect on database postgres from public;
revoke connect on database template1 from public;
SQL
