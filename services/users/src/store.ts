import type { Precondition, RowVersion } from "@tributary/kit/http/etag";
import { type IdempotentResult, type Stored, writeOnce } from "@tributary/kit/idempotency/idempotency";
import { eraseResponses } from "@tributary/kit/idempotency/idempotency-records";
import { findRows, isRowId } from "@tributary/kit/postgres/row-id";
import { toVersionValues, versionIsAccepted } from "@tributary/kit/postgres/row-version";
import { createKeyset, type ListPage, type PageRequest, toPage } from "@tributary/kit/lists/keyset";
import { toIdOrder } from "@tributary/kit/lists/list-order";
import { changedFields, defineColumns, type SelectList } from "@tributary/kit/postgres/columns";
import type { Database, Writer } from "@tributary/kit/postgres/postgres";
import { violates } from "@tributary/kit/postgres/postgres";
import { matchesWords, orderAfterSearch, toWordPrefixQuery } from "@tributary/kit/postgres/word-search";
import {
  formerUserName,
  type NewUser,
  type Role,
  type User,
  type UserChanges,
  userFields,
  type UserFilters,
  type UserState,
} from "./model.ts";

export type UserStore = ReturnType<typeof createUserStore>;

const table = defineColumns<User>()({
  id: "id",
  ...userFields.columns,
  email: "email",
  avatarUrl: "avatar_url",
  createdAt: "created_at",
  role: "role",
  prefs: "prefs",
  deactivatedAt: "deactivated_at",
  rowVersion: "row_version",
});

const columns = table.all();
const stateColumns: SelectList<UserState> = table.only(["id", "rowVersion", "deactivatedAt"]);
const versionColumns: SelectList<RowVersion> = table.only(["id", "rowVersion"]);

interface InsertedUser extends Omit<NewUser, "idempotencyKey" | "role"> {
  readonly role: Role;
}

const insertion = table.insertion<InsertedUser>()([...userFields.names, "email", "avatarUrl", "role", "prefs"], {
  prefs: (placeholder) => `jsonb_strip_nulls(${placeholder})`,
});

/**
 * SQL that applies a JSON Merge Patch (RFC 7396) to the column: an absent member remains, a null member is removed, and null instead of a
 * patch clears the column. It merges one level only, because no preference is an object.
 */
const mergePrefs = (placeholder: string) => `case when ${placeholder}::jsonb is not null
  then jsonb_strip_nulls(coalesce(prefs, '{}') || ${placeholder}::jsonb) end`;

/** All SQL of the users service. A malformed id matches no row. Checks no permissions. */
export function createUserStore(database: Database) {
  return { ...createReads(database), ...createWrites(database) };
}

function createReads(database: Database) {
  return {
    findUsers: (ids: readonly string[]) =>
      findRows(database, ids, { name: "find-users", select: columns, from: "users" }),

    /** The columns that a user's visibility and ETag depend on, without personal data. */
    findUserStates: (ids: readonly string[]) =>
      findRows(database, ids, { name: "find-user-states", select: stateColumns, from: "users" }),

    /** The ids of the accounts that were deactivated last, the first of them first. */
    async listDeactivated(limit: number): Promise<readonly string[]> {
      const text = `select id from users where deactivated_at is not null order by deactivated_at desc limit $1`;
      const rows = await database.rows<Pick<User, "id">>("list-deactivated", text, [limit]);
      return rows.map(({ id }) => id).toReversed();
    },

    listUsers: (filters: UserFilters, request: PageRequest) => list("users", columns, filters, request),

    listUserVersions: (filters: UserFilters, request: PageRequest) =>
      list("user-versions", versionColumns, filters, request),
  };

  async function list<Row>(
    rowsName: string,
    selected: SelectList<Row>,
    { role, search, sort }: UserFilters,
    request: PageRequest,
  ): Promise<ListPage<Row>> {
    const keyset = createKeyset("id", "$1::bigint", request, toIdOrder(sort));
    const wheres = ["deactivated_at is null", keyset.where];
    const values: unknown[] = [keyset.id, keyset.limit];
    // A statement is prepared once by its name.
    const nameParts = ["list", rowsName, keyset.direction];
    if (role !== undefined) {
      wheres.push(`role = $${values.push(role)}`);
      nameParts.push("role");
    }
    if (search !== undefined) {
      wheres.push(matchesWords("name", `$${values.push(toWordPrefixQuery(search))}`));
      nameParts.push("search");
    }
    if (sort !== undefined) nameParts.push(sort);
    const orderBy = search === undefined ? keyset.orderBy : orderAfterSearch(keyset.orderBy);
    const text = `select ${selected} from users where ${wheres.join(" and ")} order by ${orderBy} limit $2`;
    return toPage(await database.rows<Row>(nameParts.join("-"), text, values), request);
  }
}

function createWrites(database: Database) {
  return {
    /**
     * One statement without an idempotency key; with one, a transaction with the record of the key.
     * @returns "email-taken" when another user has the address.
     * @throws AppError with a key, as `writeOnce`.
     */
    async insertUser(
      callerId: string,
      { idempotencyKey: key, ...input }: NewUser,
    ): Promise<IdempotentResult<User> | "email-taken"> {
      const user: InsertedUser = { ...input, role: input.role ?? "READER" };
      const text = `insert into users ${insertion.text} returning ${columns}`;
      const values = insertion.valuesOf(user);
      const run = async (writer: Writer) => {
        const [row] = await writer.write<User>("insert-user", text, values);
        return row as User;
      };
      return unlessEmailTaken(async () => {
        return writeOnce(database, {
          callerId,
          key,
          input: user,
          run,
          entityIdOf: ({ id }) => id,
          restore: restoreUser,
        });
      });
    },

    /**
     * Changes an active user if the precondition accepts the row's version. Without changes it writes `name = name`, to check the
     * conditions: the version of a row increases only if the row differs.
     * @returns undefined if no active user matches; "email-taken" if another user has the address.
     */
    async updateUser(
      id: string,
      changes: UserChanges,
      versions: Precondition,
    ): Promise<User | "email-taken" | undefined> {
      if (!isRowId(id)) return undefined;
      const values: unknown[] = [id, ...toVersionValues(versions)];
      const sets = [...table.assignments(changes, values, { prefs: mergePrefs })];
      if (sets.length === 0) sets.push("name = name");
      const text = `update users set ${sets.join(", ")}
        where id = $1 and deactivated_at is null and ${versionIsAccepted} returning ${columns}`;
      const name = ["update-user", ...changedFields(changes)].join("-");
      return unlessEmailTaken(async () => {
        const [user] = await database.write<User>(name, text, values);
        return user;
      });
    },

    /**
     * Erases the private fields of a user, and the optional ones of `userFields`. The same transaction erases stored responses that contain
     * them: those to the request with an idempotency key that created the user, and to the requests that the user has sent.
     * @returns undefined if no active user has this id.
     */
    async deactivateUser(id: string): Promise<User | undefined> {
      if (!isRowId(id)) return undefined;
      const values: unknown[] = [id];
      const erased = { email: null, avatarUrl: null, prefs: null, ...userFields.cleared, name: formerUserName };
      const sets = table.assignments(erased, values);
      const text = `update users set ${sets.join(", ")},
        deactivated_at = date_trunc('milliseconds', now()) where id = $1 and deactivated_at is null returning ${columns}`;
      return database.transaction(async (transaction) => {
        const [user] = await transaction.write<User>("deactivate-user", text, values);
        if (user !== undefined) await eraseResponses(transaction, { callerId: id, entityId: id });
        return user;
      });
    },
  };
}

/** An optional field that the storing release did not have yet is null. */
function restoreUser(stored: Stored<User>): User {
  const { createdAt, deactivatedAt } = stored;
  return {
    ...userFields.cleared,
    ...stored,
    createdAt: new Date(createdAt),
    deactivatedAt: deactivatedAt === null ? null : new Date(deactivatedAt),
  };
}

async function unlessEmailTaken<T>(run: () => Promise<T>): Promise<T | "email-taken"> {
  try {
    return await run();
  } catch (error) {
    if (violates(error, "users_email_key")) return "email-taken";
    throw error;
  }
}
