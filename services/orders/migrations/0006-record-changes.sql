-- Each change of a product is recorded for the caches. groups.ts names the responses that it can alter, from this column. Orders are not recorded: no
-- shared cache stores them.
select record_changes_of('products', 'product', 'sku');
