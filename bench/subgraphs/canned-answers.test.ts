import { expect, test } from "vitest";
import { createCannedAnswers } from "./canned-answers.ts";

test("an entity fetch is answered as written, aliases and all, and computed once", async () => {
  const { answer, counts } = createCannedAnswers("books");
  const body = JSON.stringify({
    query: "query ($r: [_Any!]!) { twice: _entities(representations: $r) { ... on Book { t: title isbn } } }",
    variables: {
      r: [
        { __typename: "Book", isbn: "978-3" },
        { __typename: "Book", isbn: "978-99999" },
      ],
    },
  });
  const first = await answer(body);
  expect(readBody(first)).toEqual({ data: { twice: [{ t: expect.stringContaining("The "), isbn: "978-3" }, null] } });
  expect(answer(body)).toBe(first);
  expect(counts).toEqual({ asked: 2, computed: 1 });
});

test("other variables are another body with another answer", async () => {
  const { answer } = createCannedAnswers("people");
  const ask = async (skip: number) => {
    const query = "query ($s: Int!) { people(skip: $s, first: 1) { id } }";
    return readBody(await answer(JSON.stringify({ query, variables: { s: skip } })));
  };
  expect(await ask(1)).toEqual({ data: { people: [{ id: "p1" }] } });
  expect(await ask(2)).toEqual({ data: { people: [{ id: "p2" }] } });
});

test("an answer says how long it is", async () => {
  const bytes = await createCannedAnswers("books").answer(JSON.stringify({ query: '{ __typename } # "é"' }));
  const [head = "", body = ""] = bytes.toString("latin1").split("\r\n\r\n");
  expect(head).toContain(`Content-Length: ${body.length}`);
});

function readBody(answer: Buffer): unknown {
  return JSON.parse(answer.toString().split("\r\n\r\n")[1] ?? "");
}
