-- The order that an idempotency key placed, with a snapshot of the response, so that a retry gets the same response.
-- Written in the transaction that places the order, so that neither exists without the other.
create table idempotency_records (
  customer_id bigint not null,
  key text collate "C" not null check (key ~ '^[!-~]{1,255}$'),
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  order_id uuid not null references orders,
  snapshot jsonb not null,
  created_at timestamptz not null default now(),
  primary key (customer_id, key)
);

-- Finds expired records.
create index idempotency_records_by_age on idempotency_records (created_at);
