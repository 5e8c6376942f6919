#!/bin/bash
# Creates a database and a role for each service whose secrets volume is mounted. No role can connect to another service's database.
# Runs at each `up`, also on a server with existing databases: creates missing ones and updates changed passwords.
set -euo pipefail
export PGHOST=postgres PGUSER=postgres PGDATABASE=postgres PGPASSWORD
PGPASSWORD=$(</secrets/postgres/password)

for folder in /secrets/*/; do
  service=$(basename "$folder")
  [[ $service != postgres ]] || continue
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --set service="$service" --set password="$(<"/secrets/$service/password")" <<'SQL'
select format('create role %I login', :'service') where not exists (select from pg_roles where rolname = :'service') \gexec
alter role :"service" password :'password';
select format('create database %I owner %I', :'service', :'service')
  where not exists (select from pg_database where datname = :'service') \gexec
revoke connect on database :"service" from public;
SQL
done
psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 <<'SQL'
revoke connect on database postgres from public;
revoke connect on database template1 from public;
SQL
