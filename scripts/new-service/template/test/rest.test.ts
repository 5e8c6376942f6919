import { expectedListOrder, readListOrder } from "@tributary/kit/testing/list-order";
import { etagOf, linkOf } from "@tributary/kit/testing/response-headers";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newBody, scope, startService } from "./fixtures.ts";

let service: TestService;
let ada: string;
let grace: string;
let reader: string;
beforeAll(async () => {
  service = await startService();
  ada = await service.issuer.token("1", [scope]);
  grace = await service.issuer.token("2", [scope]);
  reader = await service.issuer.token("1", []);
});
afterAll(() => service.stop());

const versions = ["v1", "v2"] as const;

test("shared caches may store every read, and a conditional request gets 304", async () => {
  for (const path of ["/v1/spare-gadgets/1", "/v2/spare-gadgets/1", "/v1/spare-gadgets", "/v2/spare-gadgets?limit=2"]) {
    const first = await service.rest("GET", path);
    expect([path, first.status, first.headers.get("cdn-cache-control")]).toEqual([path, 200, "public, max-age=10"]);
    const again = await service.rest("GET", path, { headers: { "if-none-match": etagOf(first) } });
    expect([path, again.status]).toEqual([path, 304]);
  }
});

test("a spare gadget is the same at both endpoints", async () => {
  const { data } = await service.graphql(`{ spareGadget(id: 1) { id title author { id } createdAt updatedAt } }`);
  const { author, ...fields } = data.spareGadget;
  for (const version of versions) {
    const { body } = await service.rest("GET", `/${version}/spare-gadgets/1`);
    expect(body).toMatchObject({ ...fields, authorId: author.id });
  }
});

test("the list has pages in both directions, as an array in version 1 and as an object in version 2", async () => {
  const first = await service.rest("GET", "/v1/spare-gadgets?limit=3");
  const second = await service.rest("GET", linkOf(first, "next"));
  expect((await service.rest("GET", linkOf(second, "prev"))).text).toBe(first.text);
  const { data, page } = (await service.rest("GET", "/v2/spare-gadgets?limit=3")).body;
  expect([data, page]).toEqual([first.body, { next: expect.any(String), prev: null }]);
  for (let count = 0; count < 5; count += 1) await create("v2", ada);
  expect(await readListOrder(service, "/v2/spare-gadgets?")).toEqual(expectedListOrder);
});

test("creating responds with 201, Location, ETag and the spare gadget", async () => {
  for (const version of versions) {
    const created = await create(version, ada);
    expect([created.status, created.headers.get("location")]).toEqual([
      201,
      `/${version}/spare-gadgets/${created.body.id}`,
    ]);
    expect(created.body).toMatchObject({ title: "Fresh", authorId: "1" });
    const read = await service.rest("GET", `/${version}/spare-gadgets/${created.body.id}`);
    expect([read.text, etagOf(read)]).toEqual([created.text, etagOf(created)]);
  }
});

test("writing needs the scope, and changing and deleting need the author", async () => {
  const { id } = (await create("v2", ada)).body;
  const path = `/v2/spare-gadgets/${id}`;
  const requests = {
    create: (token?: string) => create("v2", token),
    change: (token?: string) => send("PATCH", path, token, { title: "Other" }, { "if-match": "*" }),
    delete: (token?: string) => send("DELETE", path, token),
  };
  for (const [name, request] of Object.entries(requests)) {
    expect([name, (await request()).status, (await request(reader)).status]).toEqual([name, 401, 403]);
  }
  expect([(await requests.change(grace)).status, (await requests.delete(grace)).status]).toEqual([403, 403]);
  expect([(await requests.change(ada)).status, (await requests.delete(ada)).status]).toEqual([200, 204]);
});

test("a change needs If-Match with the current ETag", async () => {
  for (const version of versions) {
    const created = await create(version, ada);
    const path = `/${version}/spare-gadgets/${created.body.id}`;
    const change = (headers: Record<string, string>) => send("PATCH", path, ada, { title: "Other" }, headers);
    expect((await change({})).status).toBe(428);
    const changed = await change({ "if-match": etagOf(created) });
    expect([changed.status, changed.body.title]).toEqual([200, "Other"]);
    expect((await change({ "if-match": etagOf(created) })).status).toBe(412);
    expect((await send("DELETE", path, ada, undefined, { "if-match": etagOf(created) })).status).toBe(412);
  }
});

test("every problem is reported at once, with pointers", async () => {
  const { status, body } = await send("POST", "/v1/spare-gadgets", ada, { ...newBody(), title: "", colour: "red" });
  const problems = body.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`);
  expect([status, problems.sort()]).toEqual([422, ["#/colour unknown_field", "#/title length"]]);
});

test("an unknown, malformed or deleted id is 404 for every method", async () => {
  const { id } = (await create("v1", ada)).body;
  await send("DELETE", `/v1/spare-gadgets/${id}`, ada);
  for (const missing of [id, "999999", "9223372036854775807", "9223372036854775808", "0", "abc"]) {
    const path = `/v1/spare-gadgets/${missing}`;
    const responses = [
      await service.rest("GET", path),
      await send("PATCH", path, ada, { title: "Other" }, { "if-match": "*" }),
      await send("DELETE", path, ada),
    ];
    expect([missing, ...responses.map(({ status }) => status)]).toEqual([missing, 404, 404, 404]);
  }
});

// BEGIN parent
test("a parent thing can have any id, also the longest one", async () => {
  const parentThingId = "9223372036854775807";
  const list = `/v2/spare-gadgets?parentThingId=${parentThingId}`;
  expect((await service.rest("GET", list)).body.data).toEqual([]);
  const headers = { "idempotency-key": "longest" };
  const created = await send("POST", "/v2/spare-gadgets", ada, { ...newBody(), parentThingId }, headers);
  const again = await send("POST", "/v2/spare-gadgets", ada, { ...newBody(), parentThingId }, headers);
  expect([created.status, created.body.parentThingId, again.status]).toEqual([201, parentThingId, 201]);
  expect((await service.rest("GET", list)).body.data).toEqual([created.body]);
});
// END parent

test("a deletion with If-Unmodified-Since applies only to a row that has not changed since", async () => {
  const { id } = (await create("v2", ada)).body;
  const path = `/v2/spare-gadgets/${id}`;
  const age =
    "update spare_gadgets set created_at = '2026-01-01', updated_at = '2026-01-02T03:04:05.678Z' where id = $1";
  await service.database.database.rows("age", age, [id]);
  const remove = (since: string) => send("DELETE", path, ada, undefined, { "if-unmodified-since": since });
  expect((await remove("Fri, 02 Jan 2026 03:04:04 GMT")).status).toBe(412);
  expect((await remove("Fri, 02 Jan 2026 03:04:05 GMT")).status).toBe(204);
});

function create(version: string, token?: string) {
  return send("POST", `/${version}/spare-gadgets`, token, newBody());
}

function send(method: string, path: string, token?: string, body?: object, headers: Record<string, string> = {}) {
  return service.rest(method, path, { headers, ...(token && { token }), ...(body && { body }) });
}
