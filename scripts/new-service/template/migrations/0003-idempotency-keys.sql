-- The records of idempotency keys (kit/src/idempotency): a repeated request to create a spare gadget gets the response to the first one.
select create_idempotency_keys('spare_gadgets');
