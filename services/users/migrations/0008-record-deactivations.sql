-- The gateway and the REST proxy reject the tokens of deactivated accounts: the change feed reports each deactivation from now on, and lists the last
-- ones to a reader that may have missed some (src/revocations.ts).
select record_changes_of('users', 'user', 'id', 'deactivated_at');
create index users_by_deactivation on users (deactivated_at) where deactivated_at is not null;
