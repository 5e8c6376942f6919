import { readListOrder, expectedListOrder } from "@tributary/kit/testing/list-order";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addPost, startPosts } from "./fixtures.ts";

let posts: TestService;
let token: string;
beforeAll(async () => {
  posts = await startPosts();
  token = await posts.issuer.token("9", []);
  for (let count = 0; count < 5; count++) await addPost(posts, count < 3 ? "PUBLISHED" : "DRAFT", "9");
  await addPost(posts, "DRAFT", "9");
});
afterAll(() => posts.stop());
const asked = (path: string) => posts.rest("GET", path, { token });

test("a cursor of the caller's own posts is valid only for them, and a missing token is reported first", async () => {
  const path = "/v1/posts?status=DRAFT&limit=1";
  const cursor = /cursor=([\w-]+)/.exec((await asked(path)).headers.get("link") ?? "")?.[1];
  const other = await posts.issuer.token("1", []);
  const statuses = [{ token }, { token: other }, {}].map((as) => posts.rest("GET", `${path}&cursor=${cursor}`, as));
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 400, 401]);
});

for (const version of ["v1", "v2"]) {
  for (const list of ["/posts?", "/users/9/posts?", "/posts?status=DRAFT&", "/posts?search=own&"]) {
    const path = `/${version}${list}`;

    test(`${path} can be sorted from either end, and has no other order`, async () => {
      expect(await readListOrder(posts, path, token)).toEqual(expectedListOrder);
    });
  }
}
