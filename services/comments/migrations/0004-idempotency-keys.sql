-- The comment that an idempotency key created, with a snapshot of it, so that a retry gets the same response. Written in the transaction that creates the
-- comment, so that neither exists without the other. kit/src/idempotency reads and writes this table.
create table idempotency_keys (
  caller_id bigint not null,
  key text collate "C" not null check (key ~ '^[!-~]{1,255}$'),
  fingerprint bytea check (octet_length(fingerprint) = 32),
  entity_id bigint not null references comments,
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
