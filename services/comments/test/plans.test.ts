import { fileURLToPath } from "node:url";
import type { Queryable } from "@tributary/kit/postgres/postgres";
import { createTestDatabase, type TestDatabase } from "@tributary/kit/testing/database";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createCommentStore } from "../src/store.ts";

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(inject("postgresUrl"), fileURLToPath(new URL("../migrations", import.meta.url)));
  await database.database.rows(
    "many",
    `insert into comments (post_id, author_id, body, deleted_at)
      select 1 + n % 400, 1 + n % 150, case when n % 10 > 0 then 'Comment ' || n end, case when n % 10 = 0 then now() end
      from generate_series(1, 6000) as n`,
  );
  await database.database.rows("analyze", "vacuum analyze comments");
});
afterAll(() => database.close());

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

for (const [name, [index, run]] of Object.entries(cases)) {
  for (const mode of ["force_custom_plan", "force_generic_plan"]) {
    test(`${name} are read from ${index} under ${mode}`, async () => {
      recorded = [];
      await run();
      const [statement] = recorded;
      if (!statement) throw new Error("no statement was sent");
      const nodes = await planOf(statement, mode);
      expect(nodes.map((node) => node["Node Type"])).not.toContain("Seq Scan");
      expect(nodes.flatMap((node) => node["Index Name"] ?? [])).toEqual([index]);
    });
  }
}

test("a page at the end of a list reads no more rows than the first page", async () => {
  for (const position of [undefined, { direction: "next", id: "100" }] as const) {
    recorded = [];
    await store.listComments({}, { limit: 20, position });
    const [statement] = recorded;
    const nodes = await planOf(statement as Statement, "force_generic_plan");
    const scan = nodes.find((node) => node["Index Name"] !== undefined);
    expect([scan?.["Actual Rows"], scan?.["Rows Removed by Filter"] ?? 0]).toEqual([21, 0]);
  }
});

interface Node {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Node[];
}

/** Every plan node of a prepared statement, which runs once. */
async function planOf({ text, values }: Statement, mode: string): Promise<readonly Node[]> {
  return database.database.transaction(async (transaction) => {
    const run = (command: string) => transaction.rows<{ "QUERY PLAN": [{ Plan: Node }] }>(`plan-${++runs}`, command);
    await run(`set local plan_cache_mode = ${mode}`);
    await run(`prepare measured as ${text}`);
    const [row] = await run(`explain (analyze, format json) execute measured (${values.map(toLiteral).join(", ")})`);
    await run("deallocate measured");
    return row ? flatten(row["QUERY PLAN"][0].Plan) : [];
  });
}

function flatten(node: Node): readonly Node[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

function toLiteral(value: unknown): string {
  if (value === null) return "null";
  const text = JSON.stringify(value);
  return `'${Array.isArray(value) ? `{${text.slice(1, -1)}}` : text.replaceAll('"', "")}'`;
}

function parts(count: number) {
  return Array.from({ length: count }, (_, index) => ({ parentId: String(index + 1), limit: 10, afterId: null }));
}

let runs = 0;
let recorded: Statement[] = [];

/** Records the store's statements and forwards them. */
function recorder(): Queryable {
  return {
    rows: (name, text, values = []) => {
      recorded.push({ text, values });
      return database.database.rows(name, text, values);
    },
  };
}
