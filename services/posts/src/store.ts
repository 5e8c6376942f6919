import type { Precondition, RowVersion } from "@tributary/kit/http/etag";
import { isRowId, onlyRowIds } from "@tributary/kit/postgres/row-id";
import { keyset, type Page, type PageRequest, toPage } from "@tributary/kit/lists/keyset";
import { toIdOrder } from "@tributary/kit/lists/list-order";
import type { Database } from "@tributary/kit/postgres/postgres";
import { matchesWords, toWordPrefixQuery } from "@tributary/kit/postgres/word-search";
import {
  type BriefPost,
  type Move,
  type NewPost,
  type Post,
  type PostChanges,
  type PostState,
  type Slice,
  statusesBefore,
  type VisibleFilters,
} from "./model.ts";

/** Pages of so many posts are read whole: to weigh them costs half as much again, and they are no longer than eight megabytes. */
const unweighedMax = 20;

export type PostStore = ReturnType<typeof createPostStore>;

const briefColumns = `id, author_id as "authorId", title, body_format as "format", status,
  created_at as "createdAt", updated_at as "updatedAt", published_at as "publishedAt", row_version as "rowVersion"`;

const columns = `${briefColumns}, body as "text"`;

const versionColumns = `id, row_version as "rowVersion"`;

const publishedAtOnce = "published_at = coalesce(published_at, date_trunc('milliseconds', now()))";

/** The only SQL about posts. Ids that cannot exist find nothing. */
export function createPostStore(database: Database) {
  return { ...createReads(database), ...createLists(database), ...createChanges(database) };
}

function createReads(database: Database) {
  async function find<Row>(name: string, shown: string, ids: readonly string[]): Promise<readonly Row[]> {
    const possible = onlyRowIds(ids);
    if (possible.length === 0) return [];
    return database.rows<Row>(name, `select ${shown} from posts where id = any($1::bigint[])`, [possible]);
  }

  return {
    findPosts: (ids: readonly string[]) => find<Post>("find-posts", columns, ids),

    /** Texts are long, and lie apart in the table: who does not show them does not read them. */
    findBriefPosts: (ids: readonly string[]) => find<BriefPost>("find-brief-posts", briefColumns, ids),

    /** As little of posts as answers whether they have changed; nothing of what they say is read. */
    findPostStates: (ids: readonly string[]) =>
      find<PostState>("find-post-states", `${versionColumns}, author_id as "authorId", status`, ids),
  };
}

function createLists(database: Database) {
  return {
    listPosts: (filters: VisibleFilters, request: PageRequest) => list<Post>("posts", columns, filters, request),

    listBriefPosts: (filters: VisibleFilters, request: PageRequest) =>
      list<BriefPost>("brief-posts", briefColumns, filters, request),

    /** The rows that `listPosts` would find, by their versions alone. */
    listPostVersions: (filters: VisibleFilters, request: PageRequest) =>
      list<RowVersion>("post-versions", versionColumns, filters, request),

    /** Any number of authors' pages in one statement, in the order of the slices. */
    listSlices: (slices: readonly Slice[]) => listSlices<Post>("list-slices", columns, slices),

    listBriefSlices: (slices: readonly Slice[]) => listSlices<BriefPost>("list-brief-slices", briefColumns, slices),
  };

  async function listSlices<Row extends BriefPost>(
    name: string,
    shown: string,
    slices: readonly Slice[],
  ): Promise<readonly Page<Row>[]> {
    const values = [
      slices.map(({ authorId }) => (isRowId(authorId) ? authorId : null)),
      slices.map(({ authorId, visibleTo = authorId }) => (isRowId(visibleTo) ? visibleTo : null)),
      slices.map(({ status }) => status),
      // Nothing comes after what cannot exist.
      slices.map(({ after = null }) => (after === null || isRowId(after) ? after : "0")),
      slices.map(({ limit }) => limit + 1),
    ];
    const rows = await database.rows<Row & { slice: number }>(name, toSlicesText(shown), values);
    const bySlice = Map.groupBy(rows, ({ slice }) => slice);
    return slices.map(({ limit, after }, index) => {
      const posts: readonly Row[] = bySlice.get(index + 1) ?? [];
      return toPage(posts, { limit, position: after === undefined ? undefined : { direction: "next", id: after } });
    });
  }

  async function list<Row>(
    what: string,
    shown: string,
    { status, authorId, visibleTo, search, sort }: VisibleFilters,
    request: PageRequest,
  ): Promise<Page<Row>> {
    if (authorId !== undefined && !isRowId(authorId)) return { items: [], hasNext: false, hasPrev: false };
    const set = keyset("id", "$1::bigint", request, toIdOrder(sort));
    const wheres = [set.where, "status = $3"];
    const values: unknown[] = [set.id, set.limit, status];
    if (authorId !== undefined) wheres.push(`author_id = $${values.push(authorId)}`);
    if (visibleTo !== undefined) wheres.push(`author_id = $${values.push(visibleTo)}`);
    if (search !== undefined) {
      wheres.push(matchesWords("title", `$${values.push(toWordPrefixQuery(search))}`));
    }
    const bytesMax = request.limit > unweighedMax ? request.bytesMax : undefined;
    const which = [set.direction, authorId && "author", visibleTo && "own", search && "search", sort];
    const name = [`list-${what}`, ...which, bytesMax && "within"].filter(Boolean).join("-");
    const of = (some: string) =>
      `select ${some} from posts where ${wheres.join(" and ")} order by ${set.orderBy} limit $2`;
    const text =
      bytesMax === undefined ? of(shown) : toTextWithin(of("*"), shown, set.orderBy, `$${values.push(bytesMax)}`);
    return toPage(await database.rows<Row>(name, text, values), request);
  }
}

function createChanges(database: Database) {
  return {
    async insertPost(authorId: string, post: NewPost): Promise<Post> {
      const text = `insert into posts (author_id, title, body, body_format) values ($1, $2, $3, $4) returning ${columns}`;
      const [row] = await database.rows<Post>("insert-post", text, [authorId, post.title, post.text, post.format]);
      return row as Post;
    },

    /**
     * Changes a post, when the row still has one of the versions that are accepted.
     * @returns undefined when there is no such post in such a version, or in a status from which the new one is reached.
     */
    async updatePost(id: string, changes: PostChanges, { only, not }: Precondition): Promise<Post | undefined> {
      const values: unknown[] = [id, only && onlyRowIds(only), onlyRowIds(not)];
      const wheres = ["id = $1", "($2::bigint[] is null or row_version = any($2))", "row_version <> all($3::bigint[])"];
      const { published, status, ...contents } = changes;
      const given = Object.entries(contents).filter(([, value]) => value !== undefined);
      const sets = given.map(
        ([field, value]) => `${columnOf[field as keyof typeof columnOf]} = $${values.push(value)}`,
      );
      if (published === true) sets.push(`status = 'PUBLISHED', ${publishedAtOnce}`);
      if (published === false) sets.push("status = case status when 'PUBLISHED' then 'ARCHIVED' else status end");
      if (status !== undefined) {
        sets.push(`status = $${values.push(status)}`, ...(status === "PUBLISHED" ? [publishedAtOnce] : []));
        wheres.push(`status = any($${values.push(statusesBefore(status))})`);
      }
      const text = `update posts set ${sets.length > 0 ? sets.join(", ") : "title = title"}
        where ${wheres.join(" and ")} returning ${columns}`;
      const [post] = await database.rows<Post>(nameUpdate(changes), text, values);
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

/**
 * Of a page's rows those that begin within so many bytes of text: a hundred of the longest posts are forty megabytes, of which a page shows
 * one. Lengths are known without the texts being read.
 */
function toTextWithin(page: string, shown: string, orderBy: string, bytesMax: string): string {
  return `select ${shown} from (
    select *, sum(octet_length(body)) over (order by ${orderBy} rows between unbounded preceding and 1 preceding) as bytes_before
    from (${page}) as page
  ) as page where coalesce(bytes_before, 0) < ${bytesMax} order by ${orderBy}`;
}

/** A name for each text: what is changed, and to where the post is moved. */
function nameUpdate({ published, status, ...contents }: PostChanges): string {
  const fields = Object.entries(contents).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  const move = published === undefined ? [] : [`published-${published}`];
  return ["update-post", ...fields, ...move, ...(status === undefined ? [] : [`to-${status}`])].join("-");
}

const columnOf = { title: "title", text: "body", format: "body_format" } as const;

/** For each slice a walk down the index posts_by_author that ends at the slice's limit. */
function toSlicesText(shown: string): string {
  return `
  select wanted.slice::int as slice, post.*
  from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::int[])
    with ordinality as wanted (author_id, visible_to, status, after, rows_max, slice)
  cross join lateral (
    select ${shown} from posts
    where author_id = wanted.author_id and author_id = wanted.visible_to and status = wanted.status
      and id <= coalesce(wanted.after - 1, 9223372036854775807)
    order by posts.id desc
    limit wanted.rows_max
  ) post
  order by wanted.slice, post.id desc`;
}
