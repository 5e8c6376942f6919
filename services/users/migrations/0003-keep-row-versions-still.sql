-- An update without any change does not increment row_version: cached responses remain valid, and If-Match still matches.
create or replace trigger users_row_version before update on users
  for each row when (old.* is distinct from new.*) execute function move_row_version();
