-- After a restore a row must not get a version again that it had before: clients have ETags of it.
create or replace function move_row_version() returns trigger language plpgsql as $$
begin
  new.row_version := next_row_version(old.row_version);
  return new;
end
$$;
