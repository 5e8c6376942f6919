-- Something to count.
create table things (id bigint primary key, amount integer not null check (amount >= 0), name text unique);
