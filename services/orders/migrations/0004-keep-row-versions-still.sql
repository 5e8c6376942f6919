-- An update without any change does not increment row_version: cached responses remain valid.
create or replace trigger products_row_version before update on products
  for each row when (old.* is distinct from new.*) execute function move_row_version();
create or replace trigger orders_row_version before update on orders
  for each row when (old.* is distinct from new.*) execute function move_row_version();
