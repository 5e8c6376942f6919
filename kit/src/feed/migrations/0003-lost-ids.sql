-- An id is not given twice. A database that was restored or promoted may lack its last rows, while other databases, tokens and clients have their ids.

-- A dump that is restored into the same cluster is another database: it begins a new epoch too.
alter table feed_epoch add column database oid,
  -- When the epoch began: milliseconds since 1970.
  add column begun_ms bigint not null default floor(extract(epoch from clock_timestamp()) * 1000);

-- Moves the generated ids of every table of this schema past all that it has given: to the milliseconds since 2025. No table gets 1,000 rows a second
-- for long. Below 2^53, ids remain exact in JavaScript. They are in the order of their creation, as before.
create function skip_lost_ids() returns void language plpgsql as $$
declare
  next_id bigint := floor(extract(epoch from clock_timestamp() - timestamptz '2025-01-01 00:00:00Z') * 1000);
begin
  perform setval(sequence, next_id, false)
  from (
    select pg_get_serial_sequence(attrelid::regclass::text, attname)::regclass as sequence
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where attidentity <> '' and atttypid = 'bigint'::regtype and relnamespace = current_schema()::regnamespace
  ) as identities
  where coalesce(pg_sequence_last_value(sequence), 0) < next_id;
end
$$;

-- The version of a row after a change, for triggers. Versions start at the milliseconds of the insert. The first change in an epoch moves the version
-- past all that the row may have had before: they are in ETags of clients.
create function next_row_version(former bigint) returns bigint language sql stable as $$
  select greatest(former + 1, (select begun_ms from feed_epoch))
$$;

-- Returns the epoch. Each session of a service calls it before its first statement: after a crash, a promotion or a restore the first one begins an
-- epoch. Fails on a standby, which may be behind the primary.
create function ensure_epoch() returns uuid language plpgsql as $$
declare
  cluster_id bigint;
  database_id oid;
  epoch uuid;
begin
  if pg_is_in_recovery() then
    raise exception 'The database is a standby.' using errcode = 'read_only_sql_transaction';
  end if;
  select system_identifier into cluster_id from pg_control_system();
  select oid into database_id from pg_database where datname = current_database();
  select id into epoch from feed_epoch where system_identifier = cluster_id and database = database_id;
  if epoch is null then
    -- Of the sessions that are here at once, one begins the epoch: a second skip could meet ids that are being given.
    lock table feed_epoch in share row exclusive mode;
    delete from feed_epoch where (system_identifier, database) is distinct from (cluster_id, database_id);
    if not exists (select from feed_epoch) then
      perform skip_lost_ids();
      insert into feed_epoch (system_identifier, database) values (cluster_id, database_id);
    end if;
    select id into epoch from feed_epoch;
  end if;
  return epoch;
end
$$;

-- A new database has lost nothing: its first epoch begins here, so its ids start at 1. In any other, which has the table of the service's migrations,
-- the next session begins a new epoch, since the database may have been restored before.
insert into feed_epoch (system_identifier, database)
  select system_identifier, pg_database.oid from pg_control_system(), pg_database
  where datname = current_database() and to_regclass('pgmigrations') is null;
