import type { Precondition, RowVersion } from "@tributary/kit/http/etag";
import { type IdempotentResult, type Stored, writeOnce } from "@tributary/kit/idempotency/idempotency";
import { findRows, isRowId } from "@tributary/kit/postgres/row-id";
import { toVersionValues, versionIsAccepted } from "@tributary/kit/postgres/row-version";
import { createKeyset, type ListPage, type PageRequest, toPage } from "@tributary/kit/lists/keyset";
import { toIdOrder } from "@tributary/kit/lists/list-order";
import { changedFields, defineColumns, type SelectList } from "@tributary/kit/postgres/columns";
import type { Database, Queryable, Writer } from "@tributary/kit/postgres/postgres";
import {
  type NewSpareGadget,
  // BEGIN parent
  type ParentPageRequest,
  // END parent
  type SpareGadget,
  type SpareGadgetChange,
  spareGadgetFields,
  type SpareGadgetFilters,
  type SpareGadgetState,
} from "./model.ts";

export type Store = ReturnType<typeof createStore>;

const table = defineColumns<SpareGadget>()({
  id: "id",
  // BEGIN parent
  parentThingId: "parent_thing_id",
  // END parent
  authorId: "author_id",
  ...spareGadgetFields.columns,
  createdAt: "created_at",
  updatedAt: "updated_at",
  rowVersion: "row_version",
});

const columns = table.all();
const stateColumns: SelectList<SpareGadgetState> = table.only(["id", "updatedAt", "rowVersion"]);
const versionColumns: SelectList<RowVersion> = table.only(["id", "rowVersion"]);

interface InsertedRow extends Omit<NewSpareGadget, "idempotencyKey"> {
  readonly authorId: string;
}

const insertion = table.insertion<InsertedRow>()([
  // BEGIN parent
  "parentThingId",
  // END parent
  "authorId",
  ...spareGadgetFields.names,
]);

/** A malformed id matches no row. Checks no scopes. */
export function createStore(database: Database) {
  return { ...createReads(database), ...createWrites(database) };
}

function createReads(database: Queryable) {
  async function list<Row>(
    filters: SpareGadgetFilters,
    request: PageRequest,
    { selected, rowsName }: { readonly selected: SelectList<Row>; readonly rowsName: string },
  ): Promise<ListPage<Row>> {
    const keyset = createKeyset("id", "$1::bigint", request, toIdOrder(filters.sort));
    const values: unknown[] = [keyset.id, keyset.limit];
    const wheres = [keyset.where];
    // A statement is prepared once by its name, so each text has its own.
    const nameParts = ["list", rowsName, keyset.direction, filters.sort ?? "newest"];
    // BEGIN parent
    const { parentThingId } = filters;
    if (parentThingId !== undefined) {
      if (!isRowId(parentThingId)) return toPage([], request);
      // `push` returns the new length, which is the number of the value's placeholder.
      wheres.push(`parent_thing_id = $${values.push(parentThingId)}`);
      nameParts.push("by-parent-thing");
    }
    // END parent
    const where = wheres.join(" and ");
    const text = `select ${selected} from spare_gadgets where ${where} order by ${keyset.orderBy} limit $2`;
    return toPage(await database.rows<Row>(nameParts.join("-"), text, values), request);
  }

  return {
    findByIds: (ids: readonly string[]) =>
      findRows(database, ids, { name: "find-by-ids", select: columns, from: "spare_gadgets" }),

    findStates: (ids: readonly string[]) =>
      findRows(database, ids, { name: "find-states", select: stateColumns, from: "spare_gadgets" }),

    list: (filters: SpareGadgetFilters, request: PageRequest) =>
      list(filters, request, { selected: columns, rowsName: "whole" }),

    listVersions: (filters: SpareGadgetFilters, request: PageRequest) =>
      list(filters, request, { selected: versionColumns, rowsName: "versions" }),
    // BEGIN parent

    /** One page of each parent thing's list, in one statement; the result has one page per request, in the same sequence. */
    async listPagesOfParents(requests: readonly ParentPageRequest[]): Promise<readonly (readonly SpareGadget[])[]> {
      const pages: SpareGadget[][] = requests.map(() => []);
      const indexed = requests.map((page, index) => ({ ...page, index }));
      const valid = indexed.filter(({ parentThingId }) => isRowId(parentThingId));
      if (valid.length === 0) return pages;
      const text = `select ${table.all("list.")}, page.index
        from unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[]) as page (index, parent_id, after_id, length)
        cross join lateral (
          select * from spare_gadgets
          where parent_thing_id = page.parent_id and id < coalesce(page.after_id, 9223372036854775807)
          order by id desc limit page.length
        ) as list
        order by page.index, list.id desc`;
      const values = [
        valid.map(({ index }) => index),
        valid.map(({ parentThingId }) => parentThingId),
        valid.map(({ afterId }) => afterId),
        valid.map(({ limit }) => limit),
      ];
      const rows = await database.rows<SpareGadget & { index: number }>("list-pages-of-parents", text, values);
      for (const { index, ...row } of rows) pages[index]?.push(row);
      return pages;
    },
    // END parent
  };
}

interface WriteConditions {
  readonly authorId: string;
  readonly versions: Precondition;
}

interface DeletionConditions extends WriteConditions {
  /** In whole seconds, like the HTTP header, so the row's time is compared without its milliseconds. */
  readonly unmodifiedSince?: Date | undefined;
}

function createWrites(database: Database) {
  return {
    /**
     * One statement without an idempotency key; with one, a transaction with the record of the key.
     * @throws AppError with a key, as `writeOnce`.
     */
    async insertRow(
      { idempotencyKey: key, ...input }: NewSpareGadget,
      authorId: string,
    ): Promise<IdempotentResult<SpareGadget>> {
      const text = `insert into spare_gadgets ${insertion.text} returning ${columns}`;
      const values = insertion.valuesOf({ ...input, authorId });
      const run = async (writer: Writer) => {
        const [row] = await writer.write<SpareGadget>("insert-row", text, values);
        return row as SpareGadget;
      };
      return writeOnce(database, { callerId: authorId, key, input, run, entityIdOf: ({ id }) => id, restore });
    },

    /** @returns undefined if the row does not exist, is by another author or has another version. */
    async updateRow(
      id: string,
      change: SpareGadgetChange,
      { authorId, versions }: WriteConditions,
    ): Promise<SpareGadget | undefined> {
      if (!isRowId(id)) return undefined;
      const values: unknown[] = [id, ...toVersionValues(versions), authorId];
      // `assignments` also appends the new values to `values`, after $4. Times of the API have milliseconds.
      const sets = [...table.assignments(change, values), "updated_at = date_trunc('milliseconds', now())"];
      const name = ["update-row", ...changedFields(change)].join("-");
      const text = `update spare_gadgets set ${sets.join(", ")}
        where id = $1 and ${versionIsAccepted} and author_id = $4 returning ${columns}`;
      const [row] = await database.write<SpareGadget>(name, text, values);
      return row;
    },

    /** @returns the deleted row; undefined in the same cases as `updateRow`. */
    async deleteRow(
      id: string,
      { authorId, versions, unmodifiedSince }: DeletionConditions,
    ): Promise<SpareGadget | undefined> {
      if (!isRowId(id)) return undefined;
      const text = `delete from spare_gadgets where id = $1 and ${versionIsAccepted} and author_id = $4
        and ($5::timestamptz is null or date_trunc('second', updated_at) <= $5) returning ${columns}`;
      const values = [id, ...toVersionValues(versions), authorId, unmodifiedSince ?? null];
      const [row] = await database.write<SpareGadget>("delete-row", text, values);
      return row;
    },
  };
}

/** The row from the record of its idempotency key. An optional field that the storing release did not have yet is null. */
function restore(stored: Stored<SpareGadget>): SpareGadget {
  const { createdAt, updatedAt } = stored;
  return { ...spareGadgetFields.cleared, ...stored, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}
