-- A row version names what is shown. A change that changes nothing is no other version: copies of the row stay good, and whoever has read
-- it may still write it with If-Match.
create or replace trigger users_row_version before update on users
  for each row when (old.* is distinct from new.*) execute function move_row_version();
