import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { anyVersion } from "@tributary/kit/http/etag";
import type { Database } from "@tributary/kit/postgres/postgres";
import { createTestDatabase, type TestDatabase } from "@tributary/kit/testing/database";
import { explain as explainRun } from "@tributary/kit/testing/explain";
import type { AuthorPageRequest } from "../src/model.ts";
import { createPostStore, type PostStore } from "../src/store.ts";

let scratch: TestDatabase;
beforeAll(async () => {
  scratch = await createTestDatabase(inject("postgresUrl"), new URL("../migrations", import.meta.url).pathname);
  await scratch.database.rows(
    "many",
    `insert into posts (author_id, title, body, status, published_at)
     select n % 200 + 1, 'Post ' || n || ' word' || n % 500, repeat('text ', 40),
       case when n % 150 = 0 then 'DRAFT' else 'PUBLISHED' end, case when n % 150 = 0 then null else now() end
     from generate_series(1, 6000) n`,
  );
  // Like autovacuum: it moves pending entries into the GIN index, and updates the planner's statistics.
  await scratch.database.rows("vacuum", "vacuum analyze posts");
});
afterAll(() => scratch.close());

const next = (id: string) => ({ limit: 20, position: { direction: "next", id } }) as const;
const prev = (id: string) => ({ limit: 20, position: { direction: "prev", id } }) as const;

type Run = (store: PostStore) => Promise<unknown>;

/** If nearly all posts are published, a scan of all posts by id is as fast as a scan of the published ones. */
const either = /posts_by_status|posts_pkey/;

/** Every list, and the index that it scans. */
const lists: Readonly<Record<string, readonly [index: RegExp, Run]>> = {
  "published posts": [either, (store) => store.listPosts({ status: "PUBLISHED" }, { limit: 20 })],
  "published posts deep down": [either, (store) => store.listPosts({ status: "PUBLISHED" }, next("300"))],
  "published posts back up": [either, (store) => store.listPosts({ status: "PUBLISHED" }, prev("300"))],
  "published posts' versions": [either, (store) => store.listPostVersions({ status: "PUBLISHED" }, { limit: 20 })],
  "published posts, oldest first": [
    either,
    (store) => store.listPosts({ status: "PUBLISHED", sort: "oldest" }, next("5700")),
  ],
  "an author's posts, oldest first": [
    /posts_by_author/,
    (store) => store.listPosts({ status: "PUBLISHED", authorId: "7", sort: "oldest" }, next("5700")),
  ],
  "published posts within a size": [
    either,
    (store) => store.listPosts({ status: "PUBLISHED" }, { ...next("300"), limit: 100, bytesMax: 1_048_576 }),
  ],
  "published posts' versions within a size": [
    either,
    (store) => store.listPostVersions({ status: "PUBLISHED" }, { ...prev("300"), limit: 100, bytesMax: 1_048_576 }),
  ],
  "all drafts": [/posts_by_status/, (store) => store.listPosts({ status: "DRAFT" }, { limit: 20 })],
  "an author's posts": [
    /posts_by_author/,
    (store) => store.listPosts({ status: "PUBLISHED", authorId: "7" }, { limit: 20 }),
  ],
  "an author's posts deep down": [
    /posts_by_author/,
    (store) => store.listPosts({ status: "PUBLISHED", authorId: "7" }, next("300")),
  ],
  "one's own drafts": [
    /posts_by_author/,
    (store) => store.listPosts({ status: "DRAFT", visibleTo: "151" }, { limit: 20 }),
  ],
  "a search": [
    /posts_title_folded_words/,
    (store) => store.listPosts({ status: "PUBLISHED", search: "word77" }, { limit: 20 }),
  ],
  "many authors' pages": [/posts_by_author/, (store) => store.listPagesOfAuthors(pagesOfTwenty())],
  "many authors' pages without texts": [/posts_by_author/, (store) => store.listBriefPagesOfAuthors(pagesOfTwenty())],
  "published posts without texts": [either, (store) => store.listBriefPosts({ status: "PUBLISHED" }, { limit: 100 })],
};

for (const [name, [index, run]] of Object.entries(lists)) {
  test(`the statement of ${name} scans its index, never the table`, async () => {
    const statement = await capture(run);
    const plan = await explain(statement);
    expect(plan).toMatch(index);
    for (const any of [plan, await explainForAny(statement)]) expect(any).not.toContain("Seq Scan");
  });
}

test("a search for a word that no title has does not scan posts in the order of their ids", async () => {
  const search = { status: "PUBLISHED", search: "absent" } as const;
  const runs: Readonly<Record<string, Run>> = {
    first: (store) => store.listPosts(search, { limit: 20 }),
    next: (store) => store.listPosts(search, next("3000")),
    oldest: (store) => store.listPosts({ ...search, sort: "oldest" }, { limit: 20 }),
    "within a size": (store) => store.listPosts(search, { limit: 100, bytesMax: 1_048_576 }),
    brief: (store) => store.listBriefPosts(search, { limit: 20 }),
  };
  // Of a table this small, PostgreSQL reads the order of an index only if it may not sort.
  const sortless: Pick<Database, "transaction"> = {
    transaction: (work) =>
      scratch.database.transaction(async (transaction) => {
        await transaction.rows("sortless", "set local enable_sort = off");
        return work(transaction);
      }),
  };
  for (const [name, run] of Object.entries(runs)) {
    const statement = await capture(run);
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      const nodes = await explainRun(sortless, statement, mode);
      const scans = nodes.map((node) => node["Node Type"]).filter((type) => /^(Index|Seq)/.test(type));
      expect([name, mode, scans]).toEqual([name, mode, []]);
      expect(nodes.map((node) => node["Index Name"])).toContain("posts_title_folded_words");
    }
  }
});

test("a page at the end of a list starts in the index, without an offset", async () => {
  for (const name of ["published posts deep down", "an author's posts deep down", "many authors' pages"]) {
    expect(await explainForAny(await capture(lists[name]![1]))).toMatch(/Index Cond: .*\bid <=? /);
  }
  for (const name of ["published posts, oldest first", "an author's posts, oldest first"]) {
    expect(await explainForAny(await capture(lists[name]![1]))).toMatch(/Index Cond: .*\bid > /);
  }
});

test("pages are in the requested order, each with its own limit", async () => {
  const store = createPostStore(scratch.database);
  const first = { status: "PUBLISHED", limit: 2 } as const;
  const pages = await store.listPagesOfAuthors([
    { ...first, authorId: "9" },
    { ...first, authorId: "an anonymous client" },
    { ...first, authorId: "8", limit: 1, after: "1000" },
    { ...first, authorId: "9", visibleTo: "8" },
  ]);
  expect(pages.map(({ items }) => items.map(({ id }) => id))).toEqual([["5808", "5608"], [], ["807"], []]);
  expect(pages.map(({ hasNext, hasPrev }) => [hasNext, hasPrev])).toEqual([
    [true, false],
    [false, false],
    [true, true],
    [false, false],
  ]);
});

test("a page reads exactly one row more than its limit", async () => {
  let read = 0;
  const rows: Database["rows"] = async <Row>(name: string, text: string, values?: readonly unknown[]) => {
    const found = await scratch.database.rows<Row>(name, text, values);
    read += found.length;
    return found;
  };
  const store = createPostStore({ ...scratch.database, rows });
  const requests = [5, 9].map((limit) => ({ authorId: "9", status: "PUBLISHED", limit }) as const);
  const pages = await store.listPagesOfAuthors(requests);
  expect([read, ...pages.map(({ items }) => items.length)]).toEqual([6 + 10, 5, 9]);
});

test("the database repeats the model's limits", async () => {
  const rejected = [
    "insert into posts (author_id, title) values (1, '')",
    "insert into posts (author_id, title) values (1, repeat('x', 201))",
    "insert into posts (author_id, title) values (0, 'x')",
    "insert into posts (author_id, title, body) values (1, 'x', repeat('x', 100001))",
    "insert into posts (author_id, title, body_format) values (1, 'x', 'HTML')",
    "insert into posts (author_id, title, status) values (1, 'x', 'LOST')",
    "insert into posts (author_id, title, status) values (1, 'x', 'PUBLISHED')",
    "insert into posts (author_id, title, published_at) values (1, 'x', now())",
  ];
  for (const [index, text] of rejected.entries()) {
    await expect(scratch.database.rows(`rejected-${index}`, text)).rejects.toThrow("violates check constraint");
  }
});

test("the format alone changes only while the post has a text", async () => {
  const store = createPostStore(scratch.database);
  await store.updatePost("1", { text: null, format: "PLAIN" }, anyVersion);
  expect(await store.updatePost("1", { format: "MARKDOWN" }, anyVersion)).toBeUndefined();
  expect(await store.findPosts(["1"])).toMatchObject([{ text: null, format: "PLAIN" }]);
  await store.updatePost("1", { text: "Text." }, anyVersion);
  expect(await store.updatePost("1", { format: "MARKDOWN" }, anyVersion)).toMatchObject({ format: "MARKDOWN" });
});

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

function pagesOfTwenty(): readonly AuthorPageRequest[] {
  const authors = Array.from({ length: 20 }, (_, index) => String(index + 1));
  return authors.map((authorId) => ({ authorId, status: "PUBLISHED", limit: 20, after: "5000" }));
}

/** Records the statement of a store, without running it. */
async function capture(run: (store: PostStore) => Promise<unknown>): Promise<Statement> {
  let captured: Statement | undefined;
  const rows = async (_name: string, text: string, values: readonly unknown[] = []) => {
    captured = { text, values };
    return [];
  };
  await run(createPostStore({ ...scratch.database, rows } as Database));
  if (captured === undefined) throw new Error("nothing was sent");
  return captured;
}

interface PlanLine {
  readonly "QUERY PLAN": string;
}

let statements = 0;

async function explain({ text, values }: Statement): Promise<string> {
  return planOf(await scratch.database.rows<PlanLine>(`explain-${++statements}`, `explain ${text}`, values));
}

/** The generic plan of a prepared statement. */
async function explainForAny({ text, values }: Statement): Promise<string> {
  const name = `any_${++statements}`;
  return scratch.database.transaction(async ({ rows }) => {
    await rows(`${name}-mode`, "set local plan_cache_mode = force_generic_plan");
    await rows(`${name}-prepare`, `prepare ${name} as ${text}`);
    return planOf(
      await rows<PlanLine>(`${name}-explain`, `explain execute ${name} (${values.map(() => "null").join(", ")})`),
    );
  });
}

const planOf = (rows: readonly PlanLine[]) => rows.map((row) => row["QUERY PLAN"]).join("\n");
