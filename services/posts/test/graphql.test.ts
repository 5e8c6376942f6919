import fc from "fast-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { TestService } from "@tributary/kit/testing/service";
import {
  addPost,
  adasArchived,
  adasDraft,
  adasEmptyPost,
  adasPost,
  gracesDraft,
  gracesPost,
  startPosts,
  usual,
} from "./fixtures.ts";
import { renderHtml } from "../src/html.ts";

let posts: TestService;
let ada: string;
let grace: string;
let reader: string;
beforeAll(async () => {
  posts = await startPosts();
  ada = await posts.issuer.token("1", usual);
  grace = await posts.issuer.token("2", usual);
  reader = await posts.issuer.token("3", ["posts:read:all"]);
});
afterAll(() => posts.stop());

test("every client may read a published post with all fields", async () => {
  const query = `{ post(id: 1) { id title status author { __typename id } content { format text html } createdAt updatedAt publishedAt } }`;
  const { data, errors } = await posts.graphql(query);
  expect(errors).toBeUndefined();
  expect(data.post).toMatchObject({
    id: "1",
    title: "Notes on the Engine",
    status: "PUBLISHED",
    author: { __typename: "User", id: "1" },
    content: { format: "MARKDOWN", text: "It *weaves* algebra.", html: "<p>It *weaves* algebra.</p>" },
    publishedAt: "2026-01-31T09:30:00.000Z",
  });
  expect(data.post.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("the deprecated `body` still has the text, and the schema names its replacement", async () => {
  const { data } = await posts.graphql(`{ post(id: 1) { body } none: post(id: 6) { body content { text } } }`);
  expect(data).toEqual({ post: { body: "It *weaves* algebra." }, none: { body: null, content: null } });
  const type = await posts.graphql(
    `{ __type(name: "Post") { fields(includeDeprecated: true) { name deprecationReason } } }`,
  );
  expect(type.data.__type.fields).toContainEqual({
    name: "body",
    deprecationReason: expect.stringContaining("content"),
  });
});

/** The author of long posts. */
const user = [{ __typename: "User", id: "79" }];

test("a page of long posts ends at 1 MiB of text in both connections, and the next ones have the rest", async () => {
  const lengths = fc.sample(fc.integer({ min: 0, max: 60_000 }), 80);
  await posts.database.database.rows(
    "long-posts",
    `insert into posts (author_id, title, body, status, published_at)
      select 79, 'Lengthy', repeat('''', length), 'PUBLISHED', now() from unnest($1::int[]) as length`,
    [lengths],
  );
  onTestFinished(
    async () => void (await posts.database.database.rows("no-long-posts", "delete from posts where author_id = 79")),
  );
  const page = "{ nodes { content { text html } } pageInfo { hasNextPage endCursor } }";
  for (const [field, query] of [
    ["posts", `query ($after: String) { list: posts(authorId: 79, first: 50, after: $after) ${page} }`],
    [
      "User.postsConnection",
      `query ($after: String, $user: [_Any!]!) {
      _entities(representations: $user) { ... on User { list: postsConnection(first: 50, after: $after) ${page} } } }`,
    ],
  ] as const) {
    const read: number[] = [];
    let after: string | null = null;
    do {
      const { data, errors } = await posts.graphql(query, { after, user });
      expect([field, errors]).toEqual([field, undefined]);
      const { nodes, pageInfo } = data.list ?? data._entities[0].list;
      const page = nodes.map(({ content }: { content: { text: string } | null }) => content?.text.length ?? 0);
      expect(page.slice(1).reduce((sum: number, length: number) => sum + length, page[0])).toBeLessThanOrEqual(
        1_048_576,
      );
      read.push(...page);
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after !== null);
    expect([field, read]).toEqual([field, lengths.toReversed()]);
  }
});

test("a page of exactly 1 MiB of text has a next page", async () => {
  const text = `insert into posts (author_id, title, body, status, published_at)
    select 79, 'Exact', repeat('x', 65536), 'PUBLISHED', now() from generate_series(1, 18)`;
  await posts.database.database.rows("exact-posts", text);
  onTestFinished(
    async () => void (await posts.database.database.rows("no-exact-posts", "delete from posts where author_id = 79")),
  );
  const query = `query ($after: String) {
    posts(authorId: 79, first: 100, after: $after) { nodes { content { text } } pageInfo { hasNextPage endCursor } } }`;
  const first = (await posts.graphql(query)).data.posts;
  expect([first.nodes.length, first.pageInfo.hasNextPage]).toEqual([16, true]);
  const second = (await posts.graphql(query, { after: first.pageInfo.endCursor })).data.posts;
  expect([second.nodes.length, second.pageInfo.hasNextPage]).toEqual([2, false]);
});

test("a request that reads or renders more than 16 MiB is an error", async () => {
  const text = `insert into posts (author_id, title, body, status, published_at)
    select 79, 'Lengthy', repeat('''', 60000), 'PUBLISHED', now() from generate_series(1, 100)`;
  await posts.database.database.rows("longest-posts", text);
  onTestFinished(
    async () => void (await posts.database.database.rows("no-longest-posts", "delete from posts where author_id = 79")),
  );
  const tooMuch = { message: expect.stringContaining("16 MiB"), extensions: { code: "PAYLOAD_TOO_LARGE" } };
  const aliases = Array.from({ length: 50 }, (_, i) => `a${i}: posts(first: 20) { nodes { content { text } } }`);
  expect((await posts.graphql(`{ ${aliases.join(" ")} }`)).errors).toContainEqual(expect.objectContaining(tooMuch));
  const lists = `query ($user: [_Any!]!) {
    _entities(representations: $user) { ... on User { posts(first: 100) { content { html } } } } }`;
  const { data, errors } = await posts.graphql(lists, { user });
  expect(errors).toContainEqual(expect.objectContaining(tooMuch));
  // 300 KB each.
  expect(data._entities[0].posts?.filter(({ content }: { content: unknown }) => content !== null).length).toBeLessThan(
    60,
  );
  expect((await posts.graphql("{ posts(first: 5) { nodes { content { html } } } }")).errors).toBeUndefined();
});

test("aliases of a text beyond 16 MiB are left out, with one error", async () => {
  const text = `insert into posts (author_id, title, body, status, published_at)
    select 79, 'Lengthy', repeat('x', 60000), 'PUBLISHED', now() from generate_series(1, 4)`;
  await posts.database.database.rows("aliased-posts", text);
  onTestFinished(
    async () => void (await posts.database.database.rows("no-aliased-posts", "delete from posts where author_id = 79")),
  );
  for (const field of ["body", "content { text }"]) {
    const aliases = Array.from({ length: 100 }, (_, i) => `a${i}: ${field}`).join(" ");
    const { data, errors } = await posts.graphql(`{ posts(authorId: 79) { nodes { ${aliases} } } }`);
    expect(errors).toMatchObject([{ extensions: { code: "PAYLOAD_TOO_LARGE" } }]);
    const copies = data.posts.nodes.flatMap((post: object) => Object.values(post));
    const sent = copies.filter((copy: unknown) => copy !== null).length * 60_000;
    expect([copies.length, sent <= 16_777_216]).toEqual([400, true]);
    // Reading the four texts counts as well.
    expect(sent).toBeGreaterThan(16_777_216 - 5 * 60_000);
  }
});

test("what a mutation reads after its write is limited to 16 MiB too, and its response has a position", async () => {
  const text = `insert into posts (author_id, title, body, status, published_at)
    select 79, 'Lengthy', repeat('x', 60000), 'PUBLISHED', now() from generate_series(1, 40) returning id`;
  const [post] = await posts.database.database.rows<{ id: string }>("posts-in-posts", text);
  onTestFinished(
    async () => void (await posts.database.database.rows("no-posts", "delete from posts where author_id = 79")),
  );
  const mutation = (selection: string) =>
    fetch(`${posts.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${author}` },
      body: JSON.stringify({
        query: `mutation ($id: ID!) { updatePost(input: { id: $id, title: "Changed" }) { post { title author { ${selection} } } } }`,
        variables: { id: post?.id },
      }),
    });
  const author = await posts.issuer.token("79", usual);
  const pages = Array.from({ length: 50 }, (_, i) => `p${i}: posts(first: ${i + 1}) { body }`).join(" ");
  for (const selection of ["posts(first: 40) { author { posts(first: 40) { body } } }", pages]) {
    const response = await mutation(selection);
    const json = await response.text();
    expect(json.length).toBeLessThan(2 * 16_777_216);
    const { data, errors } = JSON.parse(json);
    expect(data.updatePost.post.title).toBe("Changed");
    expect(errors).toContainEqual(
      expect.objectContaining({ extensions: expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }) }),
    );
    expect(response.headers.get("write-position")).toMatch(/^[0-9a-f-]{36}\/\d+$/);
  }
});

test("a malformed id is null, not an error", async () => {
  for (const id of ["0", "-1", "x", "99999999999999999999", "1 or 1=1", "", "999"]) {
    const response = await posts.graphql(`query ($id: ID!) { post(id: $id) { id } }`, { id });
    expect(response).toEqual({ status: 200, data: { post: null } });
  }
});

test("a list without a status contains only published posts, also for their author", async () => {
  const query = `{ posts { nodes { id } } }`;
  const anonymous = await posts.graphql(query);
  expect(anonymous.data.posts.nodes).toEqual([{ id: adasEmptyPost }, { id: gracesPost }, { id: adasPost }]);
  for (const token of [ada, reader]) expect((await posts.graphql(query, {}, token)).data).toEqual(anonymous.data);
});

test("a list of drafts contains the caller's own, or all with posts:read:all, and rejects anonymous clients", async () => {
  const drafts = async (filters: string, token?: string) => {
    const { data, errors } = await posts.graphql(`{ posts(status: DRAFT${filters}) { nodes { id } } }`, {}, token);
    return errors?.[0]?.extensions.code ?? data.posts.nodes.map(({ id }: { id: string }) => id);
  };
  expect(await drafts("")).toBe("UNAUTHENTICATED");
  expect(await drafts("", ada)).toEqual([adasDraft]);
  expect(await drafts(", authorId: 2", ada)).toEqual([]);
  expect(await drafts(", authorId: 1", ada)).toEqual([adasDraft]);
  expect(await drafts("", reader)).toEqual([gracesDraft, adasDraft]);
  expect(await drafts(", authorId: 2", reader)).toEqual([gracesDraft]);
});

test("a list filters by author, and is empty for a malformed id", async () => {
  const query = `query ($authorId: ID) { posts(authorId: $authorId) { nodes { id } } }`;
  const byAuthor = async (authorId: string) => (await posts.graphql(query, { authorId })).data.posts.nodes;
  expect(await byAuthor("2")).toEqual([{ id: gracesPost }]);
  for (const authorId of ["3", "0", "x", ""]) expect(await byAuthor(authorId)).toEqual([]);
});

test("a search matches word prefixes of titles only", async () => {
  const titles = async (search: string) => {
    const query = `query ($search: String) { posts(search: $search) { nodes { title } } }`;
    const { data } = await posts.graphql(query, { search });
    return data.posts.nodes.map(({ title }: { title: string }) => title);
  };
  expect(await titles("engi NOTES")).toEqual(["Notes on the Engine"]);
  expect(await titles("moth")).toEqual([]);
  expect(await titles("draft")).toEqual([]);
  expect(await titles("' | ! & :* \\")).toEqual([]);
});

test("a search finds a title by its own words, with any characters", async () => {
  const title = "Covid-19 and Node.js v2.0 by O'Brien: 3.14, हिन्दी, ÉCLAIR, well-known C++";
  const insert =
    "insert into posts (id, author_id, title, status, published_at) values (99, 9, $1, 'PUBLISHED', now())";
  await posts.database.database.rows("add-titled", insert, [title]);
  const searches = [
    "covid-19",
    "covid-1",
    "node.js",
    "V2.0",
    "3.14",
    "o'brien",
    "हिन्दी",
    "éclair",
    "Écl",
    "well-kn",
    title,
  ];
  for (const search of searches) {
    const query = `query ($search: String) { posts(search: $search, authorId: 9) { nodes { title } } }`;
    const found = await posts.graphql(query, { search });
    expect([search, found.data.posts.nodes]).toEqual([search, [{ title }]]);
  }
  await posts.database.database.rows("remove-titled", "delete from posts where id = 99");
});

test("cursors lead through all pages, and a cursor is valid only with its filters", async () => {
  const page = `query ($after: String, $authorId: ID) { posts(first: 2, after: $after, authorId: $authorId) { nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;
  const first = await posts.graphql(page);
  expect(first.data.posts.nodes).toEqual([{ id: adasEmptyPost }, { id: gracesPost }]);
  const after = first.data.posts.pageInfo.endCursor;
  const second = await posts.graphql(page, { after });
  expect(second.data.posts).toMatchObject({
    nodes: [{ id: adasPost }],
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });
  const other = await posts.graphql(page, { after, authorId: "1" });
  expect(other.errors?.[0]?.extensions.code).toBe("INVALID_CURSOR");
});

test("first must be 1 to 100, in every list", async () => {
  const query = `query ($first: Int) {
    posts(first: $first) { nodes { id } }
    _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { posts(first: $first) { id } postsConnection(first: $first) { nodes { id } } } }
  }`;
  for (const first of [0, -1, 101]) {
    const { data, errors } = await posts.graphql(query, { first });
    expect(data).toEqual({ posts: null, _entities: [{ posts: null, postsConnection: null }] });
    expect(errors?.map(({ extensions }) => extensions)).toMatchObject(
      Array.from({ length: 3 }, () => ({ code: "BAD_USER_INPUT", problems: [{ pointer: "#/first" }] })),
    );
  }
});

test("User.posts is a list of published posts, newest first, and continues after an id", async () => {
  const query = `query ($first: Int, $after: ID) { _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { posts(first: $first, after: $after) { id } } } }`;
  const ids = async (variables: object) =>
    (await posts.graphql(query, variables, ada)).data._entities[0].posts.map(({ id }: { id: string }) => id);
  expect(await ids({})).toEqual([adasEmptyPost, adasPost]);
  expect(await ids({ first: 1 })).toEqual([adasEmptyPost]);
  expect(await ids({ after: adasEmptyPost })).toEqual([adasPost]);
  for (const after of [adasPost, "0", "x"]) expect(await ids({ after })).toEqual([]);
});

test("User.postsConnection has pages, and shows drafts to permitted callers", async () => {
  const query = `query ($after: String, $status: PostStatus) { _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { postsConnection(first: 1, after: $after, status: $status) { nodes { id } pageInfo { hasNextPage endCursor } } } } }`;
  const page = async (variables: object, token?: string) => {
    const { data, errors } = await posts.graphql(query, variables, token);
    return errors?.[0]?.extensions.code ?? data._entities[0].postsConnection;
  };
  const first = await page({});
  expect(first).toMatchObject({ nodes: [{ id: adasEmptyPost }], pageInfo: { hasNextPage: true } });
  const { endCursor: after } = first.pageInfo;
  expect(await page({ after })).toMatchObject({ nodes: [{ id: adasPost }], pageInfo: { hasNextPage: false } });
  expect(await page({ after, status: "DRAFT" }, ada)).toBe("INVALID_CURSOR");
  expect(await page({ status: "DRAFT" })).toBe("UNAUTHENTICATED");
  expect(await page({ status: "DRAFT" }, grace)).toMatchObject({ nodes: [] });
  expect(await page({ status: "DRAFT" }, ada)).toMatchObject({ nodes: [{ id: adasDraft }] });
  expect(await page({ status: "ARCHIVED" }, reader)).toMatchObject({ nodes: [{ id: adasArchived }] });
});

test("the posts of a hundred users are one statement, for any arguments", async () => {
  posts.database.takeStatements();
  const representations = Array.from({ length: 100 }, (_, index) => ({ __typename: "User", id: String(index) }));
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on User {
    id posts { id author { id } } two: posts(first: 2) { id } postsConnection(first: 1) { nodes { id } } drafts: postsConnection(status: DRAFT) { nodes { id } }
  } } }`;
  const { data, errors } = await posts.graphql(query, { representations }, ada);
  expect(errors).toBeUndefined();
  expect(posts.database.takeStatements()).toEqual(["list-brief-slices"]);
  expect(data._entities.slice(0, 3)).toEqual([
    { id: "0", posts: [], two: [], postsConnection: { nodes: [] }, drafts: { nodes: [] } },
    {
      id: "1",
      posts: [
        { id: adasEmptyPost, author: { id: "1" } },
        { id: adasPost, author: { id: "1" } },
      ],
      two: [{ id: adasEmptyPost }, { id: adasPost }],
      postsConnection: { nodes: [{ id: adasEmptyPost }] },
      drafts: { nodes: [{ id: adasDraft }] },
    },
    {
      id: "2",
      posts: [{ id: gracesPost, author: { id: "2" } }],
      two: [{ id: gracesPost }],
      postsConnection: { nodes: [{ id: gracesPost }] },
      drafts: { nodes: [] },
    },
  ]);
});

test("a hundred references to posts are one statement; the result has their order, with null for unknown ids", async () => {
  posts.database.takeStatements();
  const representations = Array.from({ length: 100 }, (_, index) => ({
    __typename: "Post",
    id: String((index % 7) + 1),
  }));
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Post { id } } }`;
  const { data } = await posts.graphql(query, { representations });
  expect(posts.database.takeStatements()).toEqual(["find-brief-posts"]);
  const found = data._entities.slice(0, 7).map((post: { id: string } | null) => post?.id);
  expect(found).toEqual([adasPost, undefined, undefined, gracesPost, undefined, adasEmptyPost, undefined]);
});

test("texts are loaded only if a requested field needs them", async () => {
  const user = `_entities(representations: [{ __typename: "User", id: "1" }])`;
  const post = `_entities(representations: [{ __typename: "Post", id: "1" }])`;
  const statementsOf = async (query: string) => {
    posts.database.takeStatements();
    const { data, errors } = await posts.graphql(query);
    expect([query, errors]).toEqual([query, undefined]);
    return [posts.database.takeStatements(), JSON.stringify(data).includes("It *weaves* algebra.")];
  };
  expect(await statementsOf(`{ post(id: 1) { id title } }`)).toEqual([["find-brief-posts"], false]);
  expect(await statementsOf(`{ post(id: 1) { body } }`)).toEqual([["find-posts"], true]);
  expect(await statementsOf(`{ posts { nodes { id } } }`)).toEqual([["list-brief-posts-first"], false]);
  expect(await statementsOf(`{ posts { edges { node { content { text } } } } }`)).toEqual([["list-posts-first"], true]);
  expect(await statementsOf(`{ ${user} { ... on User { posts { id } } } }`)).toEqual([["list-brief-slices"], false]);
  expect(await statementsOf(`{ ${user} { ... on User { posts { body } } } }`)).toEqual([["list-slices"], true]);
  const both = `{ ${user} { ... on User { posts { title } postsConnection { nodes { ...F } } } } } fragment F on Post { content { text } }`;
  expect(await statementsOf(both)).toEqual([["list-brief-slices", "list-slices"], true]);
  expect(await statementsOf(`{ ${post} { ... on Post { title } } }`)).toEqual([["find-brief-posts"], false]);
  expect(await statementsOf(`{ ${post} { ... on Post { content { text } } } }`)).toEqual([["find-posts"], true]);
});

test("a new post is a draft with the caller as its author", async () => {
  const create = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id status body content { format } author { id } publishedAt } } }`;
  const plain = await posts.graphql(create, { input: { title: " New ", body: "  Text" } }, grace);
  expect(plain.data.createPost.post).toMatchObject({
    status: "DRAFT",
    body: "  Text",
    content: { format: "PLAIN" },
    author: { id: "2" },
    publishedAt: null,
  });
  const content = { format: "MARKDOWN", text: "# Text" };
  const marked = await posts.graphql(create, { input: { title: "New", content, body: null } }, grace);
  expect(marked.data.createPost.post).toMatchObject({ body: "# Text", content: { format: "MARKDOWN" } });
  const empty = await posts.graphql(create, { input: { title: "New" } }, grace);
  expect(empty.data.createPost.post).toMatchObject({ body: null, content: null });
});

test("every problem of an input is reported at once", async () => {
  const create = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }`;
  const input = { title: " ", content: { format: "PLAIN", text: "x".repeat(60_001) }, body: "\u0000" };
  const { errors } = await posts.graphql(create, { input }, ada);
  expect(errors?.[0]?.extensions.code).toBe("BAD_USER_INPUT");
  expect(errors?.[0]?.extensions.problems?.map(({ pointer, code }) => [pointer, code])).toEqual([
    ["#/title", "length"],
    ["#/content/text", "length"],
    ["#/body", "bad_characters"],
    ["#/body", "given_twice"],
  ]);
});

test("a change of the content sets updatedAt, and absent fields remain", async () => {
  const id = await addPost(posts, "DRAFT");
  const update = `mutation ($input: UpdatePostInput!) { updatePost(input: $input) { post { title content { format text } createdAt updatedAt } } }`;
  const change = async (input: object) =>
    (await posts.graphql(update, { input: { id, ...input } }, ada)).data.updatePost.post;
  const marked = await change({ content: { format: "MARKDOWN", text: "*One*" } });
  expect(marked).toMatchObject({ title: "Sample post", content: { format: "MARKDOWN", text: "*One*" } });
  expect(marked.updatedAt > marked.createdAt).toBe(true);
  expect(await change({ body: "*Two*" })).toMatchObject({ content: { format: "MARKDOWN", text: "*Two*" } });
  expect(await change({ title: "Another" })).toMatchObject({ title: "Another", content: { text: "*Two*" } });
  expect(await change({ content: null })).toMatchObject({ title: "Another", content: null });
  expect(await change({ body: "Three" })).toMatchObject({ content: { format: "PLAIN", text: "Three" } });
  const { updatedAt } = await change({});
  expect((await change({ title: "Another" })).updatedAt).toBe(updatedAt);
});

test("publishedAt is the first publication, and an archived post can be published again", async () => {
  const id = await addPost(posts, "DRAFT");
  const move = async (verb: "publishPost" | "archivePost") => {
    const mutation = `mutation ($id: ID!) { ${verb}(input: { id: $id }) { post { status publishedAt updatedAt } } }`;
    const { data, errors } = await posts.graphql(mutation, { id }, ada);
    return errors?.[0]?.extensions.code ?? data[verb].post;
  };
  expect(await move("archivePost")).toBe("INVALID_STATE");
  const published = await move("publishPost");
  expect(published).toMatchObject({ status: "PUBLISHED", publishedAt: expect.any(String) });
  expect(await move("publishPost")).toBe("INVALID_STATE");
  expect(await move("archivePost")).toEqual({ ...published, status: "ARCHIVED" });
  expect(await move("archivePost")).toBe("INVALID_STATE");
  expect(await move("publishPost")).toEqual(published);
});

test("of many concurrent publications of a post one succeeds", async () => {
  const id = await addPost(posts, "DRAFT");
  const version = async () => {
    const text = "select row_version from posts where id = $1";
    return BigInt(
      (await posts.database.database.rows<{ row_version: string }>("version", text, [id]))[0]?.row_version ?? 0,
    );
  };
  const before = await version();
  const publish = `mutation ($id: ID!) { publishPost(input: { id: $id }) { post { id } } }`;
  const responses = await Promise.all(Array.from({ length: 20 }, () => posts.graphql(publish, { id }, ada)));
  const codes = responses.map(({ errors }) => errors?.[0]?.extensions.code ?? "published").sort();
  expect(codes).toEqual([...Array.from({ length: 19 }, () => "INVALID_STATE"), "published"]);
  expect(await version()).toBe(before + 1n);
});

test("each mutation of an operation sees what the mutations before it changed", async () => {
  const id = await addPost(posts, "DRAFT", "4");
  const margaret = await posts.issuer.token("4", usual);
  const { data } = await posts.graphql(
    `mutation ($id: ID!) {
      publishPost(input: { id: $id }) { post { author { posts { id } } } }
      archivePost(input: { id: $id }) { post { author { posts { id } } } }
    }`,
    { id },
    margaret,
  );
  expect(data.publishPost.post.author.posts).toEqual([{ id }]);
  expect(data.archivePost.post.author.posts).toEqual([]);
});

test("empty lines separate paragraphs, single line breaks remain", () => {
  expect(renderHtml("One.\r\nTwo.\n\n  \n\nThree.\n")).toBe("<p>One.<br>Two.</p><p>Three.</p>");
  expect(renderHtml("  \n\t\n")).toBe("");
});

test("markup in the text is shown as text", () => {
  expect(renderHtml(`<script>alert("1 & 2")</script> it's`)).toBe(
    "<p>&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt; it&#39;s</p>",
  );
});

test("for any text the only tags are <p> and <br>, and every quote is escaped", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(renderHtml(text).replaceAll(/<\/?p>|<br>/g, "")).not.toMatch(/[<>"']/);
    }),
  );
});
