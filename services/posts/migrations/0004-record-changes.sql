-- Each change of a post is recorded for the caches. groups.ts names the responses that it can alter, from these columns.
select record_changes_of('posts', 'post', 'id', 'author_id', 'status');
