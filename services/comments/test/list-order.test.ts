import { readListOrder, expectedListOrder } from "@tributary/kit/testing/list-order";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startComments } from "./fixtures.ts";

let comments: TestService;
beforeAll(async () => {
  comments = await startComments();
  const text =
    "insert into comments (post_id, author_id, body) select 8, 9, 'Comment ' || n from generate_series(1, 5) as n";
  await comments.database.database.rows("more", text);
});
afterAll(() => comments.stop());

for (const version of ["v1", "v2"]) {
  for (const list of ["/comments?", "/posts/1/comments?", "/comments?authorId=9&"]) {
    const path = `/${version}${list}`;

    test(`${path} can be sorted from either end, and has no other order`, async () => {
      expect(await readListOrder(comments, path)).toEqual(expectedListOrder);
    });
  }
}
