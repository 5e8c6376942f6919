import { expect, test, vi } from "vitest";
import { createCannedResponses, toHttp } from "./canned-responses.ts";

test("the response to an entity fetch contains the requested aliases and is computed once", async () => {
  const onCompute = vi.fn<() => void>();
  const respond = createCannedResponses("books", onCompute);
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
  expect(onCompute).toHaveBeenCalledOnce();
});

test("different variables get different responses", async () => {
  const respond = createCannedResponses("people", () => {});
  const fetchPeople = async (skip: number) => {
    const query = "query ($s: Int!) { people(skip: $s, first: 1) { id } }";
    return readBody(await respond(JSON.stringify({ query, variables: { s: skip } })));
  };
  expect(await fetchPeople(1)).toEqual({ data: { people: [{ id: "p1" }] } });
  expect(await fetchPeople(2)).toEqual({ data: { people: [{ id: "p2" }] } });
});

test("Content-Length counts the bytes of the body", () => {
  expect(toHttp("é", []).toString()).toBe("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\né");
});

function readBody(response: Buffer): unknown {
  return JSON.parse(response.toString().split("\r\n\r\n")[1] ?? "");
}
