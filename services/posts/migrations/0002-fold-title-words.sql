-- Search ignores case. A database with the "C" locale folds only ASCII, so that "éclair" did not find "Éclair": the collation is explicit.
-- The index posts_title_words serves the previous release during the rollout; a later migration drops it.
create index posts_title_folded_words on posts using gin (to_tsvector('simple', lower(title collate pg_unicode_fast)));
