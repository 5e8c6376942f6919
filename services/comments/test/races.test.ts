import type { Queryable } from "@tributary/kit/postgres/postgres";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startComments, usual, writeComment } from "./fixtures.ts";

let comments: TestService;
let ada: string;
let changes = 0;
beforeAll(async () => {
  comments = await startComments();
  ada = await comments.issuer.token("1", usual);
});
afterAll(() => comments.stop());

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

/** Sends the request while a transaction locks the row, and commits the transaction when the request waits for it. */
async function behind<T>(change: string, request: () => Promise<T>): Promise<T> {
  const { database } = comments.database;
  let waiting: Promise<T> | undefined;
  await database.transaction(async (transaction) => {
    await transaction.rows(`change-${++changes}`, change);
    waiting = request();
    while (!(await blocksAnotherTransaction(transaction))) await new Promise((resolve) => setTimeout(resolve, 5));
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
  const [row] = await comments.database.database.rows<Row>("row", text, [id]);
  return row as Row;
}

/** The row version after the given number of changes. */
function later(rowVersion: string, changes: number): string {
  return String(BigInt(rowVersion) + BigInt(changes));
}
