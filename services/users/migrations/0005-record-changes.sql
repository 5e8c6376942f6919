-- Each change of a user is recorded for the caches. groups.ts names the responses that it can alter, from these columns.
select record_changes_of('users', 'user', 'id');
