import type { Precondition, RowVersion } from "@tributary/kit/http/etag";
import { isRowId, onlyRowIds } from "@tributary/kit/postgres/row-id";
import { keyset, type Page, type PageRequest, toPage } from "@tributary/kit/lists/keyset";
import { toIdOrder } from "@tributary/kit/lists/list-order";
import type { Queryable } from "@tributary/kit/postgres/postgres";
import type { Comment, CommentFilters, CommentState, ListPart, LivingComment, NewComment, Parent } from "./model.ts";

export type CommentStore = ReturnType<typeof createCommentStore>;

const columns = toColumns("");

/** The only SQL about comments. Ids that cannot exist find nothing. */
export function createCommentStore(database: Queryable) {
  return { ...createReads(database), ...createLists(database), ...createChanges(database) };
}

function createReads(database: Queryable) {
  return {
    async findComments(ids: readonly string[]): Promise<readonly Comment[]> {
      const possible = onlyRowIds(ids);
      if (possible.length === 0) return [];
      const text = `select ${columns} from comments where id = any($1::bigint[])`;
      return database.rows<Comment>("find-comments", text, [possible]);
    },

    /** As little of comments as answers whether they have changed; their bodies are not read. */
    async findCommentStates(ids: readonly string[]): Promise<readonly CommentState[]> {
      const possible = onlyRowIds(ids);
      if (possible.length === 0) return [];
      const text = `select id, created_at as "createdAt", edited_at as "editedAt", deleted_at as "deletedAt",
        row_version as "rowVersion" from comments where id = any($1::bigint[])`;
      return database.rows<CommentState>("find-comment-states", text, [possible]);
    },

    /** How many living comments each of these posts has, in their order. */
    async countLiving(postIds: readonly string[]): Promise<readonly number[]> {
      const possible = onlyRowIds(postIds);
      if (possible.length === 0) return postIds.map(() => 0);
      const text = `select post_id as "postId", count(*)::int as count from comments
        where post_id = any($1::bigint[]) and deleted_at is null group by post_id`;
      const rows = await database.rows<{ postId: string; count: number }>("count-living", text, [possible]);
      const counts = new Map(rows.map(({ postId, count }) => [postId, count]));
      return postIds.map((id) => counts.get(id) ?? 0);
    },
  };
}

/** What a list shows of its rows, and which these are. */
interface ListKind {
  readonly shown: string;
  /** For the statement's name, where that is not whole comments. */
  readonly what?: string;
  /** Without tombstones. */
  readonly living: boolean;
}

function createLists(database: Queryable) {
  async function list<Row>(
    { postId, authorId, sort }: CommentFilters,
    request: PageRequest,
    { shown, what, living }: ListKind,
  ): Promise<Page<Row>> {
    if ([postId, authorId].some((id) => id !== undefined && !isRowId(id))) return toPage([], request);
    const set = keyset("id", "$1::bigint", request, toIdOrder(sort));
    const values: unknown[] = [set.id, set.limit];
    const wheres = [set.where];
    if (living) wheres.push("deleted_at is null");
    if (postId !== undefined) wheres.push(`post_id = $${values.push(postId)}`);
    if (authorId !== undefined) wheres.push(`author_id = $${values.push(authorId)}`);
    const which = [what, living && "living", set.direction, postId && "by-post", authorId && "by-author", sort];
    const name = ["list", ...which].filter(Boolean).join("-");
    const text = `select ${shown} from comments where ${wheres.join(" and ")} order by ${set.orderBy} limit $2`;
    return toPage(await database.rows<Row>(name, text, values), request);
  }

  return {
    /** Tombstones keep their place. */
    listComments: (filters: CommentFilters, request: PageRequest) =>
      list<Comment>(filters, request, { shown: columns, living: false }),

    listLiving: (filters: CommentFilters, request: PageRequest) =>
      list<LivingComment>(filters, request, { shown: columns, living: true }),

    /** The rows that `listLiving` would find, by their versions alone. */
    listLivingVersions: (filters: CommentFilters, request: PageRequest) =>
      list<RowVersion>(filters, request, { shown: `id, row_version as "rowVersion"`, what: "versions", living: true }),

    /** Parts of many parents' lists, with tombstones, in one statement; each in the place of its request. */
    async listParts(parent: Parent, parts: readonly ListPart[]): Promise<readonly (readonly Comment[])[]> {
      const asked = parts.flatMap((part, place) => (isPossible(part) ? [{ ...part, place }] : []));
      const found: Comment[][] = parts.map(() => []);
      if (asked.length === 0) return found;
      const name = `list-parts-by-${parent}`;
      const values = [
        asked.map(({ place }) => place),
        asked.map(({ parentId }) => parentId),
        asked.map(({ afterId }) => afterId),
        asked.map(({ limit }) => limit),
      ];
      const rows = await database.rows<Comment & { place: number }>(name, toPartsText(parent), values);
      for (const { place, ...comment } of rows) found[place]?.push(comment);
      return found;
    },
  };
}

function createChanges(database: Queryable) {
  return {
    async insertComment({ postId, body }: NewComment, authorId: string): Promise<LivingComment> {
      const text = `insert into comments (post_id, author_id, body) values ($1, $2, $3) returning ${columns}`;
      const [comment] = await database.rows<LivingComment>("insert-comment", text, [postId, authorId, body]);
      return comment as LivingComment;
    },

    /**
     * Changes a living comment of this author that is not older than `writtenSince`.
     * @returns undefined when there is no such comment in such a version.
     */
    async editComment(
      id: string,
      o: {
        readonly body: string;
        readonly authorId: string;
        readonly writtenSince: Date;
        readonly versions: Precondition;
      },
    ): Promise<LivingComment | undefined> {
      if (!isRowId(id)) return undefined;
      const text = `update comments set body = $4, edited_at = date_trunc('milliseconds', now())
        where id = $1 and ${hasVersion} and deleted_at is null
          and author_id = $5 and created_at >= $6 returning ${columns}`;
      const values = [id, ...toArrays(o.versions), o.body, o.authorId, o.writtenSince];
      const [comment] = await database.rows<LivingComment>("edit-comment", text, values);
      return comment;
    },

    /**
     * Leaves a tombstone of a living comment. `authorId` is whose comment it has to be; null for anybody's. `unmodifiedSince` is in whole
     * seconds, as headers are.
     * @returns undefined when there is no such comment in such a version.
     */
    async deleteComment(
      id: string,
      o: {
        readonly authorId: string | null;
        readonly versions: Precondition;
        readonly unmodifiedSince?: Date | undefined;
      },
    ): Promise<Comment | undefined> {
      if (!isRowId(id)) return undefined;
      const text = `update comments set body = null, deleted_at = date_trunc('milliseconds', now())
        where id = $1 and ${hasVersion} and deleted_at is null and ($4::bigint is null or author_id = $4)
          and ($5::timestamptz is null or date_trunc('second', coalesce(edited_at, created_at)) <= $5)
        returning ${columns}`;
      const values = [id, ...toArrays(o.versions), o.authorId, o.unmodifiedSince ?? null];
      const [comment] = await database.rows<Comment>("delete-comment", text, values);
      return comment;
    },
  };
}

const largestBigint = "9223372036854775807";
const columnOf: Readonly<Record<Parent, string>> = { post: "post_id", author: "author_id" };

/** For each part its own walk down the index, at most `length` rows long; `place` says whose row it is. */
function toPartsText(parent: Parent): string {
  return `select ${toColumns("found.")}, part.place
    from unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[]) as part (place, parent_id, after_id, length)
    cross join lateral (
      select * from comments where ${columnOf[parent]} = part.parent_id and id < coalesce(part.after_id, ${largestBigint})
      order by id desc limit part.length
    ) as found
    order by part.place, found.id desc`;
}

function toColumns(prefix: string): string {
  return `${prefix}id, ${prefix}post_id as "postId", ${prefix}author_id as "authorId", ${prefix}body,
    ${prefix}created_at as "createdAt", ${prefix}edited_at as "editedAt", ${prefix}deleted_at as "deletedAt",
    ${prefix}row_version as "rowVersion"`;
}

function isPossible({ parentId, afterId }: ListPart): boolean {
  return isRowId(parentId) && (afterId === null || isRowId(afterId));
}

/** Of a change: its row is in a version that `toArrays` of its precondition allows, which are the values after the id. */
const hasVersion = "($2::bigint[] is null or row_version = any($2)) and row_version <> all($3::bigint[])";

function toArrays({ only, not }: Precondition): readonly [only: readonly string[] | null, not: readonly string[]] {
  return [only && onlyRowIds(only), onlyRowIds(not)];
}
