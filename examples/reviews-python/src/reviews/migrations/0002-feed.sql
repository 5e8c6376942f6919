-- The outbox of the change feed: docs/service-contract.md, "Change feed". Triggers write it in the transaction of the change, so no write can omit it.
create table feed_changes (
  -- Orders nothing: transactions commit in any order.
  xid xid8 not null default pg_current_xact_id(),
  -- Null: any row may have changed.
  groups text[]
);
create index feed_changes_by_xid on feed_changes (xid);

-- The lifetime of the database's transaction numbers. PostgreSQL empties an unlogged table after a crash and on the promotion of a standby, after
-- which it may give numbers again. A restored database has another system or another oid.
create unlogged table feed_epoch (
  id uuid not null default gen_random_uuid(),
  system bigint not null,
  database oid not null,
  is_only boolean primary key default true check (is_only)
);

-- Changes below trimmed_below may have been deleted; at the time `due`, those below next_below are.
create table feed_trim (
  trimmed_below xid8 not null,
  next_below xid8 not null,
  due timestamptz not null,
  is_only boolean primary key default true check (is_only)
);
insert into feed_trim select pg_snapshot_xmin(s), pg_snapshot_xmin(s), now() from pg_current_snapshot() as s;

-- Call it after changes that no trigger sees, such as TRUNCATE: all caches drop what they have of this service.
create function publish_everything() returns void language sql as $$ insert into feed_changes (groups) values (null) $$;

-- Each session calls it before its first statement. After a crash, a failover or a restore the first one begins an epoch, and moves the ids past all
-- that may have been given and lost.
create function ensure_epoch() returns uuid language plpgsql as $$
declare
  current_system bigint := (select system_identifier from pg_control_system());
  current_database oid := (select oid from pg_database where datname = current_database());
  epoch uuid := (select id from feed_epoch where system = current_system and database = current_database);
begin
  if pg_is_in_recovery() then
    raise exception 'The database is a standby.' using errcode = 'read_only_sql_transaction';
  end if;
  if epoch is null then
    -- One of the sessions that arrive together begins the epoch.
    lock table feed_epoch in share row exclusive mode;
    delete from feed_epoch where system <> current_system or database <> current_database;
    if not exists (select from feed_epoch) then
      perform setval('reviews_id_seq', greatest(nextval('reviews_id_seq'), floor(extract(epoch from clock_timestamp() - timestamptz '2025-01-01Z') * 1000)::bigint));
      -- Those of a dump have the transaction numbers of another system. Every reader starts anew.
      delete from feed_changes;
      update feed_trim set trimmed_below = oldest, next_below = oldest
      from (select pg_snapshot_xmin(pg_current_snapshot()) as oldest) as running;
      insert into feed_epoch (system, database) values (current_system, current_database);
    end if;
    select id into epoch from feed_epoch;
  end if;
  return epoch;
end
$$;
-- A new database has lost no ids: its first epoch begins here.
insert into feed_epoch (system, database)
  select system_identifier, oid from pg_control_system(), pg_database where datname = current_database();

-- The cache groups of every response that shows the review: `groups_of_*` in reviews/groups.py name the same.
create function record_review_change() returns trigger language plpgsql as $$
declare
  changed reviews;
  names text[] := '{reviews}';
begin
  foreach changed in array array_remove(array[old, new], null) loop
    names := names || array['reviews:' || changed.id, 'reviews:on-' || changed.post_id, 'reviews:by-' || changed.author_id];
  end loop;
  insert into feed_changes (groups) values (names);
  return null;
end
$$;
create trigger reviews_recorded after insert or update or delete on reviews for each row execute function record_review_change();
