-- Each change of a spare gadget is recorded for the caches. groups.ts names the responses that it can alter, from these columns.
select record_changes_of('spare_gadgets', 'spare gadget', 'id'/* BEGIN parent */, 'parent_thing_id'/* END parent */);
