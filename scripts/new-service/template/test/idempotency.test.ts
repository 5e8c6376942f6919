import { defineIdempotencyTests } from "@tributary/kit/testing/idempotency";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newBody, scope, startService } from "./fixtures.ts";

let service: TestService;
beforeAll(async () => (service = await startService()));
afterAll(() => service.stop());

defineIdempotencyTests({
  service: () => service,
  scope,
  path: "/spare-gadgets",
  table: "spare_gadgets",
  statement: "insert-row",
  mutation: `mutation ($input: CreateSpareGadgetInput!) { created: createSpareGadget(input: $input) { row: spareGadget {
    id title author { id } createdAt updatedAt } } }`,
  // BEGIN parent
  bodies: (title, number) => {
    const body = { ...newBody(), parentThingId: String(1_000 + number), title };
    return { v1: body, v2: body, graphql: body };
  },
  // END parent
  // ALONE bodies: (title) => {
  // ALONE   const body = { ...newBody(), title };
  // ALONE   return { v1: body, v2: body, graphql: body };
  // ALONE },
  change: "update spare_gadgets set title = 'Changed' where id = $1",
});

test("after a deletion no response is stored, and a repeated request gets 410 and creates nothing", async () => {
  const token = await service.issuer.token("1", [scope]);
  const body = newBody();
  const create = () =>
    service.rest("POST", "/v2/spare-gadgets", { token, body, headers: { "idempotency-key": "deleted" } });
  const created = await create();
  await service.rest("DELETE", `/v2/spare-gadgets/${created.body.id}`, { token });
  const text = "select snapshot from idempotency_keys where key = 'deleted'";
  expect(await service.database.database.rows("snapshot", text)).toEqual([{ snapshot: null }]);
  expect((await create()).status).toBe(410);
});
