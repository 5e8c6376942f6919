-- Creates the table that kit/src/idempotency reads and writes. Call it from a migration of the service, once, with the table whose rows the idempotent
-- write creates. Its primary key is `id bigint`.
create function create_idempotency_keys(created regclass) returns void language plpgsql as $body$
declare
  name text := (select relname from pg_class where oid = created);
begin
  -- The row that an idempotency key created, with a snapshot of it, so that a retry gets the same response. Written in the transaction that creates the
  -- row, so that neither exists without the other.
  create table idempotency_keys (
    caller_id bigint not null,
    key text collate "C" not null check (key ~ '^[!-~]{1,255}$'),
    fingerprint bytea check (octet_length(fingerprint) = 32),
    entity_id bigint not null,
    snapshot jsonb,
    -- Where the write is in the feed.
    write_xid xid8 not null,
    write_epoch uuid,
    created_at timestamptz not null default now(),
    primary key (caller_id, key),
    -- Both are null after the response was erased.
    check ((fingerprint is null) = (snapshot is null))
  );

  -- Finds expired records.
  create index idempotency_keys_by_age on idempotency_keys (created_at);
  -- Finds the records of a deleted row.
  create index idempotency_keys_by_entity on idempotency_keys (entity_id);

  -- A deleted row leaves no stored response behind. Its keys remain until they expire: a repeated request gets GONE, and creates nothing.
  create function erase_idempotent_responses() returns trigger language plpgsql as $function$
  begin
    update idempotency_keys set fingerprint = null, snapshot = null where entity_id = old.id and snapshot is not null;
    return null;
  end
  $function$;
  execute format('create trigger %I after delete on %s for each row execute function erase_idempotent_responses()',
    name || '_erase_responses', created);
end
$body$;
