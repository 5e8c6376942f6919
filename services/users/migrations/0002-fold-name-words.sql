-- A search knows no capitals. A database of the "C" locale folds ASCII alone, so that "øyvind" did not find "Øyvind": the folding is named.
-- The index users_name_words serves the code that runs until all replicas are new; a later migration takes it away.
create index users_name_folded_words on users using gin (to_tsvector('simple', lower(name collate pg_unicode_fast)))
  where deactivated_at is null;
