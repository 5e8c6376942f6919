import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startTestService, type TestService } from "@tributary/kit/testing/service";
import { createApp } from "../src/app.ts";

/** A post's text has at most 60,000 characters and 60,000 bytes as JSON, so that it fits into a REST body of 64 KiB. */
const accepted: Readonly<Record<string, string>> = {
  "60,000 characters": "x".repeat(60_000),
  "60,000 bytes in 30,000 characters": "é".repeat(30_000),
  "60,000 bytes in 15,000 characters": "🎉".repeat(15_000),
  "60,000 bytes in 30,000 escapes": '"'.repeat(30_000),
};

let posts: TestService;
let ada: string;
beforeAll(async () => {
  posts = await startTestService(inject("postgresUrl"), new URL("../migrations", import.meta.url), createApp);
  ada = await posts.issuer.token("1", ["posts:write"]);
});
afterAll(() => posts.stop());

test.each(Object.entries(accepted))("every endpoint accepts a text of %s", async (_size, text) => {
  expect(await writeEverywhere(text)).toEqual(Array.from({ length: 6 }, () => "accepted"));
});

test.each(Object.entries(accepted))("every endpoint rejects a text of more than %s", async (_size, text) => {
  expect(await writeEverywhere(`${text}x`)).toEqual([
    "422 #/body length",
    "422 #/content/text length",
    "422 #/body length",
    "422 #/content/text length",
    "BAD_USER_INPUT #/body length",
    "BAD_USER_INPUT #/content/text length",
  ]);
});

/** Sends the text in a new post and in a change, to both REST versions and to GraphQL. */
async function writeEverywhere(text: string): Promise<readonly string[]> {
  const content = { format: "PLAIN", text };
  const created = await posts.rest("POST", "/v2/posts", { token: ada, body: { title: "New" } });
  const path = `posts/${created.body.id}`;
  return [
    await send("POST", "/v1/posts", { title: "New", body: text }),
    await send("POST", "/v2/posts", { title: "New", content }),
    await send("PATCH", `/v1/${path}`, { body: text }),
    await send("PATCH", `/v2/${path}`, { content }),
    await mutate({ title: "New", body: text }),
    await mutate({ title: "New", content }),
  ];
}

async function send(method: string, path: string, body: object): Promise<string> {
  const response = await posts.rest(method, path, { token: ada, body, headers: { "if-match": "*" } });
  if (response.status < 300) return "accepted";
  return `${response.status} ${describe(response.body.errors)}`;
}

async function mutate(input: object): Promise<string> {
  const mutation = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }`;
  const { errors } = await posts.graphql(mutation, { input }, ada);
  const extensions = errors?.[0]?.extensions;
  return extensions ? `${extensions.code} ${describe(extensions.problems)}` : "accepted";
}

function describe(problems: readonly { readonly pointer: string; readonly code: string }[] = []): string {
  return problems.map(({ pointer, code }) => `${pointer} ${code}`).join();
}
