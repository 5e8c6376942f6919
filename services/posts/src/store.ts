import type { Precondition, RowVersion } from "@tributary/kit/http/etag";
import { type IdempotentResult, type Stored, writeOnce } from "@tributary/kit/idempotency/idempotency";
import { findRows, isRowId } from "@tributary/kit/postgres/row-id";
import { toVersionValues, versionIsAccepted } from "@tributary/kit/postgres/row-version";
import { createKeyset, type ListPage, type PageRequest, toPage } from "@tributary/kit/lists/keyset";
import { toIdOrder } from "@tributary/kit/lists/list-order";
import { changedFields, defineColumns, type SelectList } from "@tributary/kit/postgres/columns";
import type { Database, Writer } from "@tributary/kit/postgres/postgres";
import { matchesWords, orderAfterSearch, toWordPrefixQuery } from "@tributary/kit/postgres/word-search";
import {
  type BriefPost,
  changesFormatAlone,
  type StatusTransition,
  type NewPost,
  type Post,
  type PostChanges,
  postFields,
  type PostState,
  type AuthorPageRequest,
  statusesBefore,
  type VisibleFilters,
} from "./model.ts";

/**
 * Pages of at most this many posts are read without measuring their texts in the database: measuring makes the statement take 1.5 times as
 * long, and the texts of a page of this size have at most 8 MB (20 texts of 100,000 characters of 4 bytes).
 */
const unmeasuredRowsMax = 20;

export type PostStore = ReturnType<typeof createPostStore>;

const table = defineColumns<Post>()({
  id: "id",
  authorId: "author_id",
  ...postFields.columns,
  format: "body_format",
  status: "status",
  createdAt: "created_at",
  updatedAt: "updated_at",
  publishedAt: "published_at",
  rowVersion: "row_version",
  text: "body",
});

const columns = table.all();
const briefColumns: SelectList<BriefPost> = table.except(["text"]);
const stateColumns: SelectList<PostState> = table.only(["id", "rowVersion", "authorId", "status"]);
const versionColumns: SelectList<RowVersion> = table.only(["id", "rowVersion"]);

interface InsertedPost extends Omit<NewPost, "idempotencyKey"> {
  readonly authorId: string;
}

const insertion = table.insertion<InsertedPost>()(["authorId", ...postFields.names, "text", "format"]);

/** Only the first publication sets the time. Archiving keeps it: an archived post was published before. */
const setPublishedAt = "published_at = coalesce(published_at, date_trunc('milliseconds', now()))";

/** Checks no permissions. A malformed id matches no row; `updatePost` and `changeStatus` need a well-formed one. */
export function createPostStore(database: Database) {
  return { ...createReads(database), ...createLists(database), ...createChanges(database) };
}

function createReads(database: Database) {
  return {
    findPosts: (ids: readonly string[]) =>
      findRows(database, ids, { name: "find-posts", select: columns, from: "posts" }),

    /** Without texts, which PostgreSQL stores out of line (TOAST) and reads separately. */
    findBriefPosts: (ids: readonly string[]) =>
      findRows(database, ids, { name: "find-brief-posts", select: briefColumns, from: "posts" }),

    /** The columns that a post's readers and its ETag depend on. */
    findPostStates: (ids: readonly string[]) =>
      findRows(database, ids, { name: "find-post-states", select: stateColumns, from: "posts" }),
  };
}

function createLists(database: Database) {
  return {
    listPosts: (filters: VisibleFilters, request: PageRequest) => list("posts", columns, filters, request),

    listBriefPosts: (filters: VisibleFilters, request: PageRequest) =>
      list("brief-posts", briefColumns, filters, request),

    listPostVersions: (filters: VisibleFilters, request: PageRequest) =>
      list("post-versions", versionColumns, filters, request),

    /** One page of each author's list in one statement; the result has one page per request, in the same sequence. */
    listPagesOfAuthors: (requests: readonly AuthorPageRequest[]) => listPages("list-slices", columns, requests),

    listBriefPagesOfAuthors: (requests: readonly AuthorPageRequest[]) =>
      listPages("list-brief-slices", briefColumns, requests),
  };

  async function listPages<Row extends BriefPost>(
    name: string,
    selected: SelectList<Row>,
    requests: readonly AuthorPageRequest[],
  ): Promise<readonly ListPage<Row>[]> {
    const values = [
      requests.map(({ authorId }) => rowIdOrNull(authorId)),
      // Without `visibleTo` the caller may read all posts: with the list's author in its place, the condition on visible_to always holds.
      requests.map(({ authorId, visibleTo }) => rowIdOrNull(visibleTo ?? authorId)),
      requests.map(({ status }) => status),
      requests.map(({ after }) => toAfterId(after)),
      // One row more than requested, by which `toPage` sees whether there is a next page.
      requests.map(({ limit }) => limit + 1),
    ];
    const rows = await database.rows<Row & { page: number }>(name, toAuthorPagesSql(selected), values);
    const rowsByPage = Map.groupBy(rows, ({ page }) => page);
    return requests.map(({ limit, after }, index) => {
      // `with ordinality` counts from 1.
      const posts: readonly Row[] = rowsByPage.get(index + 1) ?? [];
      const position = after === undefined ? undefined : ({ direction: "next", id: after } as const);
      return toPage(posts, { limit, position });
    });
  }

  async function list<Row>(
    rowsName: string,
    selected: SelectList<Row>,
    { status, authorId, visibleTo, search, sort }: VisibleFilters,
    request: PageRequest,
  ): Promise<ListPage<Row>> {
    if (authorId !== undefined && !isRowId(authorId)) return { items: [], hasNext: false, hasPrev: false };
    const keyset = createKeyset("id", "$1::bigint", request, toIdOrder(sort));
    const wheres = [keyset.where, "status = $3"];
    const values: unknown[] = [keyset.id, keyset.limit, status];
    // A statement is prepared once by its name.
    const nameParts = ["list", rowsName, keyset.direction];
    if (authorId !== undefined) {
      wheres.push(`author_id = $${values.push(authorId)}`);
      nameParts.push("author");
    }
    if (visibleTo !== undefined) {
      wheres.push(`author_id = $${values.push(visibleTo)}`);
      nameParts.push("own");
    }
    if (search !== undefined) {
      wheres.push(matchesWords("title", `$${values.push(toWordPrefixQuery(search))}`));
      nameParts.push("search");
    }
    if (sort !== undefined) nameParts.push(sort);
    const where = wheres.join(" and ");
    const orderBy = search === undefined ? keyset.orderBy : orderAfterSearch(keyset.orderBy);
    let text = `select ${selected} from posts where ${where} order by ${orderBy} limit $2`;
    const { limit, bytesMax } = request;
    if (limit > unmeasuredRowsMax && bytesMax !== undefined) {
      const page = `select * from posts where ${where} order by ${orderBy} limit $2`;
      text = toSqlWithinBytes(page, selected, keyset.orderBy, `$${values.push(bytesMax)}`);
      nameParts.push("within");
    }
    return toPage(await database.rows<Row>(nameParts.join("-"), text, values), request);
  }
}

/** Null for a malformed id: it matches no row. */
function rowIdOrNull(id: string): string | null {
  return isRowId(id) ? id : null;
}

/** Null for the first page. After a malformed id the page is empty: no id is below 0. */
function toAfterId(after: string | undefined): string | null {
  if (after === undefined) return null;
  return isRowId(after) ? after : "0";
}

function createChanges(database: Database) {
  return {
    /** With an idempotency key a transaction. @throws AppError as `writeOnce`. */
    async insertPost(authorId: string, { idempotencyKey: key, ...post }: NewPost): Promise<IdempotentResult<Post>> {
      const text = `insert into posts ${insertion.text} returning ${columns}`;
      const run = async (writer: Writer) => {
        const [row] = await writer.write<Post>("insert-post", text, insertion.valuesOf({ authorId, ...post }));
        return row as Post;
      };
      return writeOnce(database, {
        callerId: authorId,
        key,
        input: post,
        run,
        entityIdOf: ({ id }) => id,
        restore: restorePost,
      });
    },

    /**
     * Changes a post if the precondition accepts the row's version, the new status can follow the current one, and the post has a text if
     * its format alone changes.
     * Without changes it writes `title = title`, to check the precondition: the version of a row increases only if the row differs.
     * @returns undefined if no post matches.
     */
    async updatePost(id: string, changes: PostChanges, versions: Precondition): Promise<Post | undefined> {
      const values: unknown[] = [id, ...toVersionValues(versions)];
      const wheres = ["id = $1", versionIsAccepted];
      const { published, status, ...contents } = changes;
      if (changesFormatAlone(changes)) wheres.push("body is not null");
      const sets = [...table.assignments(contents, values)];
      if (published === true) sets.push(`status = 'PUBLISHED', ${setPublishedAt}`);
      if (published === false) sets.push("status = case status when 'PUBLISHED' then 'ARCHIVED' else status end");
      if (status !== undefined) {
        sets.push(`status = $${values.push(status)}`);
        if (status === "PUBLISHED") sets.push(setPublishedAt);
        wheres.push(`status = any($${values.push(statusesBefore(status))})`);
      }
      if (sets.length === 0) sets.push("title = title");
      const text = `update posts set ${sets.join(", ")}
        where ${wheres.join(" and ")} returning ${columns}`;
      const [post] = await database.write<Post>(nameUpdate(changes), text, values);
      return post;
    },

    /** @returns undefined if no post with this id has a status in `from`. */
    async changeStatus(id: string, { from, to }: StatusTransition): Promise<Post | undefined> {
      const text = `update posts set status = $2, ${setPublishedAt} where id = $1 and status = any($3) returning ${columns}`;
      const [post] = await database.write<Post>("move-post", text, [id, to, from]);
      return post;
    },
  };
}

/** An optional field that the storing release did not have yet is null. */
function restorePost(stored: Stored<Post>): Post {
  return {
    ...postFields.cleared,
    ...stored,
    createdAt: new Date(stored.createdAt),
    updatedAt: new Date(stored.updatedAt),
    publishedAt: stored.publishedAt === null ? null : new Date(stored.publishedAt),
  };
}

/**
 * Ends a page after the row whose text exceeds `bytesMax` bytes (a placeholder, such as `$4`), so that `cutPage` sees that the page was cut: a hundred
 * of the longest posts have 40 MB, and a response contains at most 1 MiB of them. octet_length() does not read the texts.
 */
function toSqlWithinBytes(page: string, selected: string, orderBy: string, bytesMax: string): string {
  return `select ${selected} from (
    select *, sum(octet_length(body)) over (order by ${orderBy} rows between unbounded preceding and 1 preceding) as bytes_before
    from (${page}) as page
  ) as page where coalesce(bytes_before, 0) <= ${bytesMax} order by ${orderBy}`;
}

/** The name of the prepared statement: it differs for each SQL text, thus for each set of changed columns and each new status. */
function nameUpdate({ published, status, ...contents }: PostChanges): string {
  const nameParts = ["update-post", ...changedFields(contents)];
  if (published !== undefined) nameParts.push(`published-${published}`);
  if (status !== undefined) nameParts.push(`to-${status}`);
  return nameParts.join("-");
}

/** One scan of the index posts_by_author per page, limited to the rows of the page. */
function toAuthorPagesSql(selected: string): string {
  return `
  select requested.page::int as page, post.*
  from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::int[])
    with ordinality as requested (author_id, visible_to, status, after, rows_max, page)
  cross join lateral (
    select ${selected} from posts
    where author_id = requested.author_id and author_id = requested.visible_to and status = requested.status
      and id <= coalesce(requested.after - 1, 9223372036854775807)
    order by posts.id desc
    limit requested.rows_max
  ) post
  order by requested.page, post.id desc`;
}
