import { isRowId, onlyRowIds } from "@tributary/kit/ids";
import { keyset, type Page, type PageRequest, toPage } from "@tributary/kit/keyset";
import type { Database } from "@tributary/kit/postgres";
import { matchesWords, toWordPrefixQuery } from "@tributary/kit/word-search";
import type { Move, NewPost, Post, PostChanges, Slice, VisibleFilters } from "./model.ts";

export type PostStore = ReturnType<typeof createPostStore>;

const columns = `id, author_id as "authorId", title, body as "text", body_format as "format", status,
  created_at as "createdAt", updated_at as "updatedAt", published_at as "publishedAt", row_version as "rowVersion"`;

const publishedAtOnce = "published_at = coalesce(published_at, date_trunc('milliseconds', now()))";

/** The only SQL about posts. Ids that cannot exist find nothing. */
export function createPostStore(database: Database) {
  return {
    async findPosts(ids: readonly string[]): Promise<readonly Post[]> {
      const possible = onlyRowIds(ids);
      if (possible.length === 0) return [];
      return database.rows<Post>("find-posts", `select ${columns} from posts where id = any($1::bigint[])`, [possible]);
    },

    async listPosts(
      { status, authorId, visibleTo, search }: VisibleFilters,
      request: PageRequest,
    ): Promise<Page<Post>> {
      if (authorId !== undefined && !isRowId(authorId)) return { items: [], hasNext: false, hasPrev: false };
      const set = keyset("id", "$1::bigint", request);
      const wheres = [set.where, "status = $3"];
      const values: unknown[] = [set.id, set.limit, status];
      if (authorId !== undefined) wheres.push(`author_id = $${values.push(authorId)}`);
      if (visibleTo !== undefined) wheres.push(`author_id = $${values.push(visibleTo)}`);
      if (search !== undefined) {
        wheres.push(matchesWords("title", `$${values.push(toWordPrefixQuery(search))}`));
      }
      const name = ["list-posts", set.direction, authorId && "author", visibleTo && "own", search && "search"];
      const text = `select ${columns} from posts where ${wheres.join(" and ")} order by ${set.orderBy} limit $2`;
      return toPage(await database.rows<Post>(name.filter(Boolean).join("-"), text, values), request);
    },

    /** Any number of authors' pages in one statement, in the order of the slices. */
    async listSlices(slices: readonly Slice[]): Promise<readonly Page<Post>[]> {
      const values = [
        slices.map(({ authorId }) => (isRowId(authorId) ? authorId : null)),
        slices.map(({ authorId, visibleTo = authorId }) => (isRowId(visibleTo) ? visibleTo : null)),
        slices.map(({ status }) => status),
        // Nothing comes after what cannot exist.
        slices.map(({ after = null }) => (after === null || isRowId(after) ? after : "0")),
        slices.map(({ limit }) => limit + 1),
      ];
      const rows = await database.rows<Post & { slice: number }>("list-slices", slicesText, values);
      const bySlice = Map.groupBy(rows, ({ slice }) => slice);
      return slices.map(({ limit, after }, index) => {
        const posts: readonly Post[] = bySlice.get(index + 1) ?? [];
        return toPage(posts, { limit, position: after === undefined ? undefined : { direction: "next", id: after } });
      });
    },

    async insertPost(authorId: string, post: NewPost): Promise<Post> {
      const text = `insert into posts (author_id, title, body, body_format) values ($1, $2, $3, $4) returning ${columns}`;
      const [row] = await database.rows<Post>("insert-post", text, [authorId, post.title, post.text, post.format]);
      return row as Post;
    },

    /**
     * Changes a post, when the row still has one of the versions that are accepted.
     * @returns undefined when there is no such post in such a version.
     */
    async updatePost(id: string, changes: PostChanges, versions: "any" | readonly string[]): Promise<Post | undefined> {
      const values: unknown[] = [id, versions === "any" ? null : onlyRowIds(versions)];
      const { published, ...contents } = changes;
      const given = Object.entries(contents).filter(([, value]) => value !== undefined);
      const sets = given.map(
        ([field, value]) => `${columnOf[field as keyof typeof columnOf]} = $${values.push(value)}`,
      );
      if (published === true) sets.push(`status = 'PUBLISHED', ${publishedAtOnce}`);
      if (published === false) sets.push("status = case status when 'PUBLISHED' then 'ARCHIVED' else status end");
      const text = `update posts set ${sets.length > 0 ? sets.join(", ") : "title = title"}
        where id = $1 and ($2::bigint[] is null or row_version = any($2)) returning ${columns}`;
      const name = [
        "update-post",
        ...given.map(([field]) => field),
        published === undefined ? "" : `published-${published}`,
      ];
      const [post] = await database.rows<Post>(name.filter(Boolean).join("-"), text, values);
      return post;
    },

    /** @returns undefined when there is no such post in a status that the move begins with. */
    async movePost(id: string, { from, to }: Move): Promise<Post | undefined> {
      const text = `update posts set status = $2, ${publishedAtOnce} where id = $1 and status = any($3) returning ${columns}`;
      const [post] = await database.rows<Post>("move-post", text, [id, to, from]);
      return post;
    },
  };
}

const columnOf = { title: "title", text: "body", format: "body_format" } as const;

/** For each slice a walk down the index posts_by_author that ends at the slice's limit. */
const slicesText = `
  select wanted.slice::int as slice, post.*
  from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::int[])
    with ordinality as wanted (author_id, visible_to, status, after, rows_max, slice)
  cross join lateral (
    select ${columns} from posts
    where author_id = wanted.author_id and author_id = wanted.visible_to and status = wanted.status
      and id <= coalesce(wanted.after - 1, 9223372036854775807)
    order by posts.id desc
    limit wanted.rows_max
  ) post
  order by wanted.slice, post.id desc`;
