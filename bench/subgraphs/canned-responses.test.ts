import { expect, test } from "vitest";
import { createCannedResponses } from "./canned-responses.ts";

test("the response to an entity fetch contains the requested aliases and is computed once", async () => {
  const { respond, counts } = createCannedResponses("books");
  const body = JSON.stringify({
    query: "query ($r: [_Any!]!) { twice: _entities(representations: $r) { ... on Book { t: title isbn } } }",
    variables: {
      r: [
        { __typename: "Book", isbn: "978-3" },
        { __typename: "Book", isbn: "978-99999" },
      ],
    },
  });
  const first = await respond(body);
  expect(readBody(first)).toEqual({ data: { twice: [{ t: expect.stringContaining("The "), isbn: "978-3" }, null] } });
  expect(respond(body)).toBe(first);
  expect(counts).toEqual({ fetches: 2, computed: 1 });
});

test("different variables get different responses", async () => {
  const { respond } = createCannedResponses("people");
  const fetchPeople = async (skip: number) => {
    const query = "query ($s: Int!) { people(skip: $s, first: 1) { id } }";
    return readBody(await respond(JSON.stringify({ query, variables: { s: skip } })));
  };
  expect(await fetchPeople(1)).toEqual({ data: { people: [{ id: "p1" }] } });
  expect(await fetchPeople(2)).toEqual({ data: { people: [{ id: "p2" }] } });
});

test("Content-Length counts the bytes of the body", async () => {
  const bytes = await createCannedResponses("books").respond(JSON.stringify({ query: '{ __typename } # "é"' }));
  const [head = "", body = ""] = bytes.toString("latin1").split("\r\n\r\n");
  expect(head).toContain(`Content-Length: ${body.length}`);
});

function readBody(response: Buffer): unknown {
  return JSON.parse(response.toString().split("\r\n\r\n")[1] ?? "");
}
