-- As before, and a new epoch has no changes of former ones. A dump has them with the transaction numbers of the other cluster: readers of this one got
-- them with every poll, and they were never deleted.
create or replace function ensure_epoch() returns uuid language plpgsql as $$
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
      -- Every reader starts anew, since its position is of a former epoch.
      delete from feed_changes;
      update feed_trim set trimmed_below = oldest, next_below = oldest
      from (select pg_snapshot_xmin(pg_current_snapshot()) as oldest) as running;
      insert into feed_epoch (system_identifier, database) values (cluster_id, database_id);
    end if;
    select id into epoch from feed_epoch;
  end if;
  return epoch;
end
$$;
