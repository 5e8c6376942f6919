-- The outbox of a service: which rows its committed writes changed, for the caches of the gateway and the REST proxy. kit/src/feed reads it.
-- Triggers write it, in the transaction of the change, so no write can omit it. `xid` orders nothing: transactions commit in any order.
create table feed_changes (
  xid xid8 not null default pg_current_xact_id(),
  -- 'everything': any row of the service may have changed. Other kinds are defined by record_changes_of().
  kind text not null,
  before jsonb,
  after jsonb
);
create index feed_changes_by_xid on feed_changes (xid);

-- The lifetime of this cluster's transaction numbers. PostgreSQL empties an unlogged table after a crash and on promotion of a standby: then
-- numbers may be used again, and the next reader writes a new id. system_identifier detects a database that was restored into another cluster.
create unlogged table feed_epoch (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid(),
  system_identifier bigint not null
);

-- Rows of feed_changes below trimmed_below may have been deleted. At the time `due`, those below next_below are deleted.
create table feed_trim (
  is_only boolean primary key default true check (is_only),
  trimmed_below xid8 not null,
  next_below xid8 not null,
  due timestamptz not null
);
insert into feed_trim (trimmed_below, next_below, due)
  select xmin, xmin, now() from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) as snapshot;

-- Call it after changes that no trigger records, such as TRUNCATE: all caches drop what they have of this service.
create function publish_everything() returns void language sql as $$
  insert into feed_changes (kind) values ('everything')
$$;

-- Records every later change of a row of this table: `kind`, and these columns before and after it, as text, with their names in camel case.
-- Call it from a migration of the service. A second call replaces the columns: a migration that drops or renames one of them needs it before.
-- An update that changes nothing is not recorded. `*<>` compares bytes, since equal values can differ (1.0 and 1.00), and json has no equality.
create function record_changes_of(recorded regclass, kind text, variadic columns text[]) returns void language plpgsql as $body$
declare
  name text := (select relname from pg_class where oid = recorded);
  missing text := (
    select string_agg(col, ', ') from unnest(columns) as col
    where not exists (select from pg_attribute where attrelid = recorded and attname = col and not attisdropped));
  pairs text := (
    select string_agg(format('%L, #row#.%I::text',
      (select string_agg(case when at = 1 then word else initcap(word) end, '' order by at)
        from unnest(string_to_array(col, '_')) with ordinality as part (word, at)), col), ', ')
    from unnest(columns) as col);
  before text := format('jsonb_build_object(%s)', replace(pairs, '#row#', 'old'));
  after text := format('jsonb_build_object(%s)', replace(pairs, '#row#', 'new'));
begin
  if missing is not null then
    raise exception '% has no column %', recorded, missing;
  end if;
  execute format($sql$
    create or replace function %I() returns trigger language plpgsql as $function$
    begin
      if tg_op = 'INSERT' then
        insert into feed_changes (kind, after) values (%L, %s);
      elsif tg_op = 'DELETE' then
        insert into feed_changes (kind, before) values (%L, %s);
      else
        insert into feed_changes (kind, before, after) values (%L, %s, %s);
      end if;
      return null;
    end
    $function$ $sql$, 'record_' || name || '_change', kind, after, kind, before, kind, before, after);
  execute format('create or replace trigger %I after insert or delete on %s for each row execute function %I()',
    name || '_recorded', recorded, 'record_' || name || '_change');
  execute format('create or replace trigger %I after update on %s for each row when (old.* *<> new.*) execute function %I()',
    name || '_update_recorded', recorded, 'record_' || name || '_change');
end
$body$;
