-- Each change of a comment is recorded for the caches. groups.ts names the responses that it can alter, from these columns.
select record_changes_of('comments', 'comment', 'id', 'post_id', 'author_id');
