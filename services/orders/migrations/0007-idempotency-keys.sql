-- kit/src/idempotency reads and writes idempotency_keys, with the same columns in every service. Here it is a view, because the previous release, which
-- runs beside this one during the rollout, uses the table. A later migration drops the view and renames the table and its columns.
-- The position of a write in the feed is unknown for older records.
alter table idempotency_records add column write_xid xid8, add column write_epoch uuid;

create view idempotency_keys as
  select customer_id as caller_id, key, fingerprint, order_id as entity_id, snapshot, write_xid, write_epoch, created_at
  from idempotency_records;

-- The previous release overwrites expired records without a position: that of the expired one must not remain.
create function forget_former_write() returns trigger language plpgsql as $$
begin
  new.write_xid := null;
  new.write_epoch := null;
  return new;
end
$$;

create trigger idempotency_records_former_write before update on idempotency_records
  for each row when (new.write_xid is not distinct from old.write_xid) execute function forget_former_write();
