-- A search knows no capitals. A database of the "C" locale folds ASCII alone, so that "éclair" did not find "Éclair": the folding is named.
-- The index posts_title_words serves the code that runs until all replicas are new; a later migration takes it away.
create index posts_title_folded_words on posts using gin (to_tsvector('simple', lower(title collate pg_unicode_fast)));
