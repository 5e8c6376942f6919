-- After a restore a row must not get a version again that it had before: clients have ETags of it.
create or replace function move_post_on() returns trigger language plpgsql as $$
begin
  new.row_version := next_row_version(old.row_version);
  if (new.title, new.body, new.body_format) is distinct from (old.title, old.body, old.body_format) then
    new.updated_at := date_trunc('milliseconds', now());
  end if;
  return new;
end
$$;
