// BEGIN parent
import { linkOf } from "@tributary/kit/testing/response-headers";
// END parent
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { newBody, scope, startService } from "./fixtures.ts";

let service: TestService;
let ada: string;
beforeAll(async () => {
  service = await startService();
  ada = await service.issuer.token("1", [scope]);
});
beforeEach(() => void service.database.takeStatements());
afterAll(() => service.stop());

test("every client may read a spare gadget, with references to other entities", async () => {
  const { data, errors } = await service.graphql(
    `{ spareGadget(id: 1) { id title author { id } createdAt updatedAt } }`,
  );
  expect(errors).toBeUndefined();
  const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(data.spareGadget).toEqual({
    id: "1",
    title: "One",
    author: { id: "2" },
    createdAt: instant,
    updatedAt: instant,
  });
});

test("an unknown or malformed id is null, not an error", async () => {
  for (const id of ["0", "x", "9223372036854775807", "99999999999999999999", "", "999"]) {
    const response = await service.graphql(`query ($id: ID!) { spareGadget(id: $id) { id } }`, { id });
    expect(response).toEqual({ status: 200, data: { spareGadget: null } });
  }
});

test("a hundred references are one statement, with null for unknown ids", async () => {
  const of = Array.from({ length: 100 }, (_, index) => reference("SpareGadget", [4, 99_999][index % 2] ?? 0));
  const { _entities } = await entities(of, `... on SpareGadget { id title }`);
  expect(service.database.takeStatements()).toEqual(["find-by-ids"]);
  expect(_entities.slice(0, 2)).toEqual([{ id: "4", title: "Four" }, null]);
});

test("cursors lead through all pages of the list, newest first", async () => {
  const query = `query ($after: String) { spareGadgets(first: 3, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
  const first = (await service.graphql(query)).data.spareGadgets;
  expect([idsOf(first.nodes), first.pageInfo.hasNextPage]).toEqual([["4", "3", "2"], true]);
  const second = (await service.graphql(query, { after: first.pageInfo.endCursor })).data.spareGadgets;
  expect([idsOf(second.nodes), second.pageInfo.hasNextPage]).toEqual([["1"], false]);
  const wrong = await service.graphql(`{ spareGadgets(first: 101) { nodes { id } } }`);
  expect(wrong.errors?.[0]?.extensions.code).toBe("BAD_USER_INPUT");
});
// BEGIN parent

test("the lists of one parent thing and of fifty need one statement, and equal the filtered list", async () => {
  const fields = `... on ParentThing { spareGadgets(first: 2) { nodes { id parentThing { id } } pageInfo { hasNextPage } } }`;
  for (const count of [1, 50]) {
    const of = Array.from({ length: count }, (_, index) => reference("ParentThing", index + 1));
    const { _entities } = await entities(of, fields);
    expect(service.database.takeStatements()).toEqual(["list-pages-of-parents"]);
    expect(_entities).toHaveLength(count);
    expect(idsOf(_entities[0].spareGadgets.nodes)).toEqual(["3", "2"]);
    expect(_entities[0].spareGadgets.nodes[0].parentThing).toEqual({ id: "1" });
    expect(_entities[0].spareGadgets.pageInfo.hasNextPage).toBe(true);
  }
  const { data } = await service.graphql(`{ spareGadgets(parentThingId: 1) { nodes { id } } }`);
  expect(idsOf(data.spareGadgets.nodes)).toEqual(["3", "2", "1"]);
});

test("a cursor of REST that leads backwards is valid for the filtered list, and not for that of the parent thing", async () => {
  const first = await service.rest("GET", "/v2/spare-gadgets?parentThingId=1&limit=1");
  const second = await service.rest("GET", linkOf(first, "next"));
  const query = `query ($of: [_Any!]!, $after: String) {
    spareGadgets(first: 1, after: $after, parentThingId: "1") { nodes { id } }
    _entities(representations: $of) { ... on ParentThing { spareGadgets(first: 1, after: $after) { nodes { id } } } }
  }`;
  const after = second.body.page.prev;
  const { data, errors } = await service.graphql(query, { of: [reference("ParentThing", 1)], after });
  expect(data.spareGadgets.nodes).toEqual([{ id: first.body.data[0].id }]);
  expect(errors).toMatchObject([{ path: ["_entities", 0, "spareGadgets"], extensions: { code: "INVALID_CURSOR" } }]);
});

test("a parent thing with an unknown or malformed id has an empty list", async () => {
  for (const id of ["999", "9223372036854775807", "x", "0"]) {
    const { _entities } = await entities(
      [reference("ParentThing", id)],
      `... on ParentThing { spareGadgets { nodes { id } } }`,
    );
    expect(_entities).toEqual([{ spareGadgets: { nodes: [] } }]);
    const { data } = await service.graphql(`query ($id: ID) { spareGadgets(parentThingId: $id) { nodes { id } } }`, {
      id,
    });
    expect(data.spareGadgets.nodes).toEqual([]);
  }
});
// END parent

test("the author creates, changes and deletes a spare gadget", async () => {
  const created = await mutate("createSpareGadget", newBody(), "spareGadget { id title author { id } }");
  const { id } = created.data.it.spareGadget;
  expect(created.data.it.spareGadget).toEqual({ id, title: "Fresh", author: { id: "1" } });
  const changed = await mutate("changeSpareGadget", { id, title: "Other" }, "spareGadget { title }");
  expect(changed.data.it.spareGadget).toEqual({ title: "Other" });
  const unchanged = await mutate("changeSpareGadget", { id }, "spareGadget { title }");
  expect(unchanged.data.it.spareGadget).toEqual({ title: "Other" });
  expect((await mutate("deleteSpareGadget", { id }, "id")).data.it).toEqual({ id });
  expect((await mutate("deleteSpareGadget", { id }, "id")).errors?.[0]?.extensions.code).toBe("NOT_FOUND");
});

test("invalid input is an error with every problem", async () => {
  for (const title of ["", " ", "x".repeat(201)]) {
    const { errors } = await mutate("createSpareGadget", { ...newBody(), title }, "spareGadget { id }");
    expect(errors?.[0]?.extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      problems: [{ pointer: "#/title", code: "length" }],
    });
  }
});

function mutate(mutation: string, input: object, fields: string) {
  const type = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input`;
  return service.graphql(
    `mutation ($input: ${type}!) { it: ${mutation}(input: $input) { ${fields} } }`,
    { input },
    ada,
  );
}

async function entities(of: readonly object[], fields: string) {
  const query = `query ($of: [_Any!]!) { _entities(representations: $of) { ${fields} } }`;
  const { data, errors } = await service.graphql(query, { of });
  expect(errors).toBeUndefined();
  return data;
}

function reference(__typename: string, id: string | number) {
  return { __typename, id: String(id) };
}

function idsOf(list: readonly { readonly id: string }[]): readonly string[] {
  return list.map(({ id }) => id);
}
