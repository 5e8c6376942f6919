-- Search ignores case. A database with the "C" locale folds only ASCII, so that "øyvind" did not find "Øyvind": the collation is explicit.
-- The index users_name_words serves the previous release during the rollout; a later migration drops it.
create index users_name_folded_words on users using gin (to_tsvector('simple', lower(name collate pg_unicode_fast)))
  where deactivated_at is null;
