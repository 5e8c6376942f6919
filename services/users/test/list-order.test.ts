import { readListOrder, expectedListOrder } from "@tributary/kit/testing/list-order";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startUsers } from "./fixtures.ts";

let users: TestService;
beforeAll(async () => (users = await startUsers()));
afterAll(() => users.stop());

for (const version of ["v1", "v2"]) {
  for (const list of ["/users?"]) {
    const path = `/${version}${list}`;

    test(`${path} can be sorted from either end, and has no other order`, async () => {
      expect(await readListOrder(users, path)).toEqual(expectedListOrder);
    });
  }
}
