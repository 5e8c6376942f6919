import type { Precondition, RowVersion } from "@tributary/kit/http/etag";
import { type IdempotentResult, type Stored, writeOnce } from "@tributary/kit/idempotency/idempotency";
import { findRows, isRowId, onlyRowIds } from "@tributary/kit/postgres/row-id";
import { toVersionValues, versionIsAccepted } from "@tributary/kit/postgres/row-version";
import { createKeyset, type ListPage, type PageRequest, toPage } from "@tributary/kit/lists/keyset";
import { toIdOrder } from "@tributary/kit/lists/list-order";
import { changedFields, defineColumns, type SelectList } from "@tributary/kit/postgres/columns";
import type { Database, Queryable, Writer } from "@tributary/kit/postgres/postgres";
import {
  type Comment,
  commentFields,
  type CommentChange,
  type CommentFilters,
  type CommentState,
  type ParentPageRequest,
  type NewComment,
  type Parent,
  type VisibleComment,
} from "./model.ts";

export type CommentStore = ReturnType<typeof createCommentStore>;

const table = defineColumns<Comment>()({
  id: "id",
  postId: "post_id",
  authorId: "author_id",
  body: "body",
  ...commentFields.columns,
  createdAt: "created_at",
  editedAt: "edited_at",
  deletedAt: "deleted_at",
  rowVersion: "row_version",
});

const columns = table.all();
/** The same columns, for statements that exclude deleted rows: there `body` is not null. */
const visibleColumns = columns as SelectList<VisibleComment>;
const stateColumns: SelectList<CommentState> = table.only(["id", "createdAt", "editedAt", "deletedAt", "rowVersion"]);
const versionColumns: SelectList<RowVersion> = table.only(["id", "rowVersion"]);

interface InsertedComment extends Omit<NewComment, "idempotencyKey"> {
  readonly authorId: string;
}

const insertion = table.insertion<InsertedComment>()(["postId", "authorId", "body", ...commentFields.names]);

/** All SQL of the comments service. A malformed id matches no row. Checks no scopes. */
export function createCommentStore(database: Database) {
  return { ...createReads(database), ...createLists(database), ...createChanges(database) };
}

function createReads(database: Queryable) {
  return {
    findComments: (ids: readonly string[]) =>
      findRows(database, ids, { name: "find-comments", select: columns, from: "comments" }),

    /** The columns that ETags and Last-Modified depend on. */
    findCommentStates: (ids: readonly string[]) =>
      findRows(database, ids, { name: "find-comment-states", select: stateColumns, from: "comments" }),

    /** The number of visible comments of each post, in the order of `postIds`. */
    async countVisible(postIds: readonly string[]): Promise<readonly number[]> {
      const validIds = onlyRowIds(postIds);
      if (validIds.length === 0) return postIds.map(() => 0);
      const text = `select post_id as "postId", count(*)::int as count from comments
        where post_id = any($1::bigint[]) and deleted_at is null group by post_id`;
      const rows = await database.rows<{ postId: string; count: number }>("count-visible", text, [validIds]);
      const counts = new Map(rows.map(({ postId, count }) => [postId, count]));
      return postIds.map((id) => counts.get(id) ?? 0);
    },
  };
}

interface ListKind<Row> {
  readonly selected: SelectList<Row>;
  /** Part of the statement's name if `selected` is not all columns. */
  readonly rowsName?: string;
  /** Excludes tombstones. */
  readonly visibleOnly: boolean;
}

function createLists(database: Queryable) {
  async function list<Row>(
    { postId, authorId, sort }: CommentFilters,
    request: PageRequest,
    { selected, rowsName, visibleOnly }: ListKind<Row>,
  ): Promise<ListPage<Row>> {
    if (isMalformed(postId) || isMalformed(authorId)) return { items: [], hasNext: false, hasPrev: false };
    const keyset = createKeyset("id", "$1::bigint", request, toIdOrder(sort));
    const values: unknown[] = [keyset.id, keyset.limit];
    const wheres = [keyset.where];
    // A statement is prepared once by its name.
    const nameParts = rowsName === undefined ? ["list"] : ["list", rowsName];
    if (visibleOnly) {
      wheres.push("deleted_at is null");
      nameParts.push("visible");
    }
    nameParts.push(keyset.direction);
    if (postId !== undefined) {
      wheres.push(`post_id = $${values.push(postId)}`);
      nameParts.push("by-post");
    }
    if (authorId !== undefined) {
      wheres.push(`author_id = $${values.push(authorId)}`);
      nameParts.push("by-author");
    }
    if (sort !== undefined) nameParts.push(sort);
    const text = `select ${selected} from comments where ${wheres.join(" and ")} order by ${keyset.orderBy} limit $2`;
    return toPage(await database.rows<Row>(nameParts.join("-"), text, values), request);
  }

  return {
    /** Includes tombstones. */
    listComments: (filters: CommentFilters, request: PageRequest) =>
      list(filters, request, { selected: columns, visibleOnly: false }),

    listVisible: (filters: CommentFilters, request: PageRequest) =>
      list(filters, request, { selected: visibleColumns, visibleOnly: true }),

    listVisibleVersions: (filters: CommentFilters, request: PageRequest) =>
      list(filters, request, { selected: versionColumns, rowsName: "versions", visibleOnly: true }),

    /** One page of each parent's list, with tombstones, in one statement; the result has one page per request, in the same sequence. */
    async listPagesOfParents(
      parent: Parent,
      requests: readonly ParentPageRequest[],
    ): Promise<readonly (readonly Comment[])[]> {
      const pages: Comment[][] = requests.map(() => []);
      const valid = requests.map((page, index) => ({ ...page, index })).filter(hasValidIds);
      if (valid.length === 0) return pages;
      const name = `list-parts-by-${parent}`;
      const values = [
        valid.map(({ index }) => index),
        valid.map(({ parentId }) => parentId),
        valid.map(({ afterId }) => afterId),
        valid.map(({ limit }) => limit),
      ];
      const rows = await database.rows<Comment & { index: number }>(name, toParentPagesSql(parent), values);
      for (const { index, ...comment } of rows) pages[index]?.push(comment);
      return pages;
    },
  };
}

/** A malformed id in a filter: no row has it. */
function isMalformed(id: string | undefined): boolean {
  return id !== undefined && !isRowId(id);
}

const largestBigint = "9223372036854775807";
const parentColumns: Readonly<Record<Parent, string>> = { post: "post_id", author: "author_id" };

/** One index scan per page, limited to `length` rows; `index` is the position of the page in the result. */
function toParentPagesSql(parent: Parent): string {
  const column = parentColumns[parent];
  return `select ${table.all("list.")}, page.index
    from unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[]) as page (index, parent_id, after_id, length)
    cross join lateral (
      select * from comments where ${column} = page.parent_id and id < coalesce(page.after_id, ${largestBigint})
      order by id desc limit page.length
    ) as list
    order by page.index, list.id desc`;
}

function hasValidIds({ parentId, afterId }: ParentPageRequest): boolean {
  return isRowId(parentId) && (afterId === null || isRowId(afterId));
}

interface EditConditions {
  readonly authorId: string;
  /** The comment must have been created at this time or later. */
  readonly writtenSince: Date;
  readonly versions: Precondition;
}

interface DeletionConditions {
  /** Null: any author. */
  readonly authorId: string | null;
  readonly versions: Precondition;
  /** In whole seconds, like the HTTP header, so the row's time is compared without its milliseconds. */
  readonly unmodifiedSince?: Date | undefined;
}

function createChanges(database: Database) {
  return {
    /** With an idempotency key a transaction. @throws AppError as `writeOnce`. */
    async insertComment(
      { idempotencyKey: key, ...comment }: NewComment,
      authorId: string,
    ): Promise<IdempotentResult<VisibleComment>> {
      const text = `insert into comments ${insertion.text} returning ${columns}`;
      const values = insertion.valuesOf({ ...comment, authorId });
      const run = async (writer: Writer) => {
        const [row] = await writer.write<VisibleComment>("insert-comment", text, values);
        return row as VisibleComment;
      };
      return writeOnce(database, {
        callerId: authorId,
        key,
        input: comment,
        run,
        entityIdOf: ({ id }) => id,
        restore: restoreComment,
      });
    },

    /** @returns undefined if no comment that is not deleted meets the conditions. */
    async editComment(
      id: string,
      change: CommentChange,
      { authorId, writtenSince, versions }: EditConditions,
    ): Promise<VisibleComment | undefined> {
      if (!isRowId(id)) return undefined;
      const values: unknown[] = [id, ...toVersionValues(versions), authorId, writtenSince];
      const sets = table.assignments(change, values);
      const name = ["edit-comment", ...changedFields(change)].join("-");
      const text = `update comments set ${sets.join(", ")}, edited_at = date_trunc('milliseconds', now())
        where id = $1 and ${versionIsAccepted} and deleted_at is null
          and author_id = $4 and created_at >= $5 returning ${columns}`;
      const [comment] = await database.write<VisibleComment>(name, text, values);
      return comment;
    },

    /** In the remaining row, the body and the optional fields are null. @returns undefined if no comment matches. */
    async deleteComment(
      id: string,
      { authorId, versions, unmodifiedSince }: DeletionConditions,
    ): Promise<Comment | undefined> {
      if (!isRowId(id)) return undefined;
      const values: unknown[] = [id, ...toVersionValues(versions), authorId, unmodifiedSince ?? null];
      const sets = table.assignments({ body: null, ...commentFields.cleared }, values);
      const text = `update comments set ${sets.join(", ")}, deleted_at = date_trunc('milliseconds', now())
        where id = $1 and ${versionIsAccepted} and deleted_at is null and ($4::bigint is null or author_id = $4)
          and ($5::timestamptz is null or date_trunc('second', coalesce(edited_at, created_at)) <= $5)
        returning ${columns}`;
      const [comment] = await database.write<Comment>("delete-comment", text, values);
      return comment;
    },
  };
}

/** An optional field that the storing release did not have yet is null. */
function restoreComment(stored: Stored<VisibleComment>): VisibleComment {
  const { createdAt, editedAt } = stored;
  return {
    ...commentFields.cleared,
    ...stored,
    createdAt: new Date(createdAt),
    editedAt: editedAt === null ? null : new Date(editedAt),
  };
}
