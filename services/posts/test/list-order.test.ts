import { walkList } from "@tributary/kit/testing/pages";
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

test("a cursor of one's own posts is one's own, and whoever has no token hears that first", async () => {
  const path = "/v1/posts?status=DRAFT&limit=1";
  const cursor = /cursor=([\w-]+)/.exec((await asked(path)).headers.get("link") ?? "")?.[1];
  const other = await posts.issuer.token("1", []);
  const statuses = [{ token }, { token: other }, {}].map((as) => posts.rest("GET", `${path}&cursor=${cursor}`, as));
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 400, 401]);
});

for (const version of ["v1", "v2"]) {
  for (const list of ["/posts?", "/users/9/posts?", "/posts?status=DRAFT&", "/posts?search=own&"]) {
    const path = `/${version}${list}`;

    test(`${path} can be read from its other end, page by page and back`, async () => {
      const newest = await walkList(posts, `${path}limit=2`, token);
      const oldest = await walkList(posts, `${path}limit=2&sort=oldest`, token);
      expect(newest.onward.length).toBeGreaterThan(2);
      expect(oldest.onward).toEqual(newest.onward.toReversed());
      expect([newest.back, oldest.back]).toEqual([newest.onward, oldest.onward]);
    });

    test(`${path} in its own order is the same list whether that is said or not`, async () => {
      const [first, said] = [await asked(`${path}limit=1`), await asked(`${path}limit=1&sort=newest`)];
      expect([said.text, said.headers.get("etag")]).toEqual([first.text, first.headers.get("etag")]);
      const cursor = /cursor=([\w-]+)/.exec(first.headers.get("link") ?? "")?.[1];
      expect((await asked(`${path}limit=1&sort=newest&cursor=${cursor}`)).status).toBe(200);
      expect((await asked(`${path}limit=1&sort=oldest&cursor=${cursor}`)).status).toBe(400);
      const other = await asked(`${path}limit=1&sort=oldest`);
      expect(other.headers.get("etag")).not.toBe(first.headers.get("etag"));
    });

    test(`${path} has no other order`, async () => {
      const { status, body } = await asked(`${path}sort=id`);
      expect([status, body.errors[0].pointer]).toEqual([422, "#/sort"]);
      expect((await asked(`${path}sort=oldest&sort=oldest`)).status).toBe(400);
    });
  }
}
