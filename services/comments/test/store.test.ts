import type { Database, Queryable } from "@tributary/kit/postgres/postgres";
import { explain } from "@tributary/kit/testing/explain";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCommentStore } from "../src/store.ts";
import { startComments, usual, writeComment } from "./fixtures.ts";

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

let comments: TestService;
let database: Database;
let ada: string;
beforeAll(async () => {
  comments = await startComments();
  ada = await comments.issuer.token("1", usual);
  ({ database } = comments.database);
  await database.rows(
    "many",
    `insert into comments (post_id, author_id, body, deleted_at)
      select 1 + n % 400, 1 + n % 150, case when n % 10 > 0 then 'Comment ' || n end, case when n % 10 = 0 then now() end
      from generate_series(1, 6000) as n`,
  );
  await database.rows("analyze", "vacuum analyze comments");
});
afterAll(() => comments.stop());

const next = { limit: 20, position: { direction: "next", id: "3000" } } as const;
const prev = { limit: 20, position: { direction: "prev", id: "3000" } } as const;
const store = createCommentStore(recorder());

const cases: Readonly<Record<string, readonly [index: string, run: () => Promise<unknown>]>> = {
  "all comments": ["comments_pkey", () => store.listComments({}, { limit: 20 })],
  "all comments, further on": ["comments_pkey", () => store.listComments({}, next)],
  "all visible comments": ["comments_pkey", () => store.listVisible({}, { limit: 20 })],
  "all visible comments, further on": ["comments_pkey", () => store.listVisible({}, next)],
  "all visible comments, backwards": ["comments_pkey", () => store.listVisible({}, prev)],
  "all visible comments, oldest first": ["comments_pkey", () => store.listVisible({ sort: "oldest" }, { limit: 20 })],
  "all visible comments, oldest first, further on": [
    "comments_pkey",
    () => store.listVisible({ sort: "oldest" }, next),
  ],
  "a post's visible comments, oldest first": [
    "comments_living_by_post",
    () => store.listVisible({ postId: "7", sort: "oldest" }, next),
  ],
  "an author's visible comments, oldest first": [
    "comments_living_by_author",
    () => store.listVisible({ authorId: "7", sort: "oldest" }, next),
  ],
  "all visible comments' versions": ["comments_pkey", () => store.listVisibleVersions({}, next)],
  "a post's visible comments' versions": [
    "comments_living_by_post",
    () => store.listVisibleVersions({ postId: "7" }, { limit: 20 }),
  ],
  "comments' states": ["comments_pkey", () => store.findCommentStates(["7"])],
  "a post's comments": ["comments_by_post", () => store.listComments({ postId: "7" }, { limit: 20 })],
  "a post's comments, further on": ["comments_by_post", () => store.listComments({ postId: "7" }, next)],
  "a post's visible comments": ["comments_living_by_post", () => store.listVisible({ postId: "7" }, { limit: 20 })],
  "a post's visible comments, further on": ["comments_living_by_post", () => store.listVisible({ postId: "7" }, next)],
  "a post's visible comments, backwards": ["comments_living_by_post", () => store.listVisible({ postId: "7" }, prev)],
  "an author's comments": ["comments_by_author", () => store.listComments({ authorId: "7" }, { limit: 20 })],
  "an author's visible comments": ["comments_living_by_author", () => store.listVisible({ authorId: "7" }, next)],
  "many posts' comments": ["comments_by_post", () => store.listPagesOfParents("post", parts(20))],
  "many authors' comments": ["comments_by_author", () => store.listPagesOfParents("author", parts(20))],
  "many posts' counts": ["comments_living_by_post", () => store.countVisible(["1", "2", "3"])],
};

test.each(Object.entries(cases))(
  "%s are read from an index, with a custom and a generic plan",
  async (_, [index, run]) => {
    recorded = [];
    await run();
    const [statement] = recorded;
    if (!statement) throw new Error("no statement was sent");
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      const nodes = await explain(database, statement, mode);
      expect(nodes.map((node) => node["Node Type"])).not.toContain("Seq Scan");
      expect([mode, ...nodes.flatMap((node) => node["Index Name"] ?? [])]).toEqual([mode, index]);
    }
  },
);

test("a page at the end of a list reads no more rows than the first page", async () => {
  for (const position of [undefined, { direction: "next", id: "100" }] as const) {
    recorded = [];
    await store.listComments({}, { limit: 20, position });
    const [statement] = recorded;
    const nodes = await explain(database, statement as Statement, "force_generic_plan");
    const scan = nodes.find((node) => node["Index Name"] !== undefined);
    expect([scan?.["Actual Rows"], scan?.["Rows Removed by Filter"] ?? 0]).toEqual([21, 0]);
  }
});

test("an edit that waits for a deletion does not restore the comment", async () => {
  const { id } = await writeComment(comments);
  const { rowVersion } = await rowOf(id);
  const edit = await behind(`update comments set body = null, deleted_at = now() where id = ${id}`, () =>
    editThroughGraph(id),
  );
  expect(edit.errors?.[0]?.extensions.code).toBe("INVALID_STATE");
  expect(await rowOf(id)).toEqual({ body: null, editedAt: null, rowVersion: later(rowVersion, 1) });
});

test("a deletion that waits for an edit deletes the edited comment", async () => {
  const { id } = await writeComment(comments);
  const { rowVersion } = await rowOf(id);
  const change = `update comments set body = 'Edited.', edited_at = now() where id = ${id}`;
  const deletion = await behind(change, () => comments.rest("DELETE", `/v1/comments/${id}`, { token: ada }));
  expect(deletion.status).toBe(204);
  expect(await rowOf(id)).toEqual({ body: null, editedAt: expect.any(Date), rowVersion: later(rowVersion, 2) });
});

test("a conditional deletion that waits for an edit is rejected", async () => {
  const { id } = await writeComment(comments);
  const { rowVersion } = await rowOf(id);
  const headers = { "if-match": `"${rowVersion}-v1-public"` };
  const deletion = await behind(`update comments set body = 'Edited.', edited_at = now() where id = ${id}`, () =>
    comments.rest("DELETE", `/v1/comments/${id}`, { token: ada, headers }),
  );
  expect(deletion.status).toBe(412);
  expect(await rowOf(id)).toMatchObject({ body: "Edited." });
});

test("of many concurrent deletions one succeeds", async () => {
  const { id } = await writeComment(comments);
  const remove = `mutation ($input: DeleteCommentInput!) { deleteComment(input: $input) { comment { deletedAt } } }`;
  const all = await Promise.all(Array.from({ length: 20 }, () => comments.graphql(remove, { input: { id } }, ada)));
  const outcomes = all.map(({ errors }) => errors?.[0]?.extensions.code ?? "deleted");
  expect(outcomes.sort()).toEqual([...Array.from({ length: 19 }, () => "INVALID_STATE"), "deleted"]);
});

test("of many concurrent changes of one version one succeeds", async () => {
  const { id } = await writeComment(comments);
  const { rowVersion } = await rowOf(id);
  const headers = { "if-match": `"${rowVersion}-v1-public"` };
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      comments.rest("PATCH", `/v1/comments/${id}`, { token: ada, body: { text: `Change ${index}.` }, headers }),
    ),
  );
  const [winner, ...others] = all.sort((a, b) => a.status - b.status);
  expect([winner?.status, ...new Set(others.map(({ status }) => status))]).toEqual([200, 412]);
  expect(await rowOf(id)).toMatchObject({ body: winner?.body.text, rowVersion: later(rowVersion, 1) });
});

function parts(count: number) {
  return Array.from({ length: count }, (_, index) => ({ parentId: String(index + 1), limit: 10, afterId: null }));
}

let changes = 0;
let recorded: Statement[] = [];

/** Records the store's statements and forwards them. */
function recorder(): Database {
  return {
    rows: (name, text, values = []) => {
      recorded.push({ text, values });
      return database.rows(name, text, values);
    },
    write: (name, text, values = []) => {
      recorded.push({ text, values });
      return database.write(name, text, values);
    },
    transaction: (work) => database.transaction(work),
    isReachable: () => database.isReachable(),
    close: () => database.close(),
  };
}

/** Sends the request while a transaction locks the row, and commits the transaction when the request waits for it. */
async function behind<T>(change: string, request: () => Promise<T>): Promise<T> {
  let waiting: Promise<T> | undefined;
  await database.transaction(async (transaction) => {
    await transaction.rows(`change-${++changes}`, change);
    const state = { isSettled: false };
    waiting = request();
    const settle = () => {
      state.isSettled = true;
    };
    waiting.then(settle, settle);
    // A request that fails before never waits.
    while (!state.isSettled && !(await blocksAnotherTransaction(transaction)))
      await new Promise((resolve) => setTimeout(resolve, 5));
  });
  return waiting as Promise<T>;
}

async function blocksAnotherTransaction(transaction: Queryable): Promise<boolean> {
  const blocked = `select 1 from pg_locks where not granted and transactionid = pg_current_xact_id_if_assigned()::xid`;
  return (await transaction.rows("blocked", blocked)).length > 0;
}

function editThroughGraph(id: string) {
  const edit = `mutation ($input: EditCommentInput!) { editComment(input: $input) { comment { body } } }`;
  return comments.graphql(edit, { input: { id, body: "Edited." } }, ada);
}

interface Row {
  readonly body: string | null;
  readonly editedAt: Date | null;
  readonly rowVersion: string;
}

async function rowOf(id: string): Promise<Row> {
  const text = `select body, edited_at as "editedAt", row_version as "rowVersion" from comments where id = $1`;
  const [row] = await database.rows<Row>("row", text, [id]);
  return row as Row;
}

/** The row version after the given number of changes. */
function later(rowVersion: string, changes: number): string {
  return String(BigInt(rowVersion) + BigInt(changes));
}
