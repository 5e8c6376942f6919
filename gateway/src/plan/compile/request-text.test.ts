import { Kind, type OperationDefinitionNode, parse } from "graphql";
import { expect, test } from "vitest";
import { createStoppedKeyChecks } from "./key-checks.ts";
import { createRequestTexts, nameFetch } from "./request-text.ts";

const none = { kind: Kind.SELECTION_SET, selections: [] } as const;
const stock = "query($representations:[_Any!]!){_entities(representations:$representations){...on Book{stock}}}";
const reviews =
  "query($representations:[_Any!]!$first:Int){_entities(representations:$representations){...on Person{reviews(first:$first){id}}}}";

test("the operation of a single fetch is sent as planned", () => {
  expect(write(stock)).toBe(stock);
  expect(nameFetch(0, 1)).toEqual({ variable: "representations", entitiesKey: "_entities" });
});

test("several fetches have separate representations and entities, and share the client's variables", () => {
  expect(write(stock, reviews, reviews)).toBe(
    "query($representations0:[_Any!]!$representations1:[_Any!]!$first:Int$representations2:[_Any!]!){" +
      "_entities0:_entities(representations:$representations0){...on Book{stock}}" +
      "_entities1:_entities(representations:$representations1){...on Person{reviews(first:$first){id}}}" +
      "_entities2:_entities(representations:$representations2){...on Person{reviews(first:$first){id}}}}",
  );
});

function write(...texts: readonly string[]): string {
  const documents = texts.map((text) => ({ operation: read(text), selected: none, checkedKeys: [] }));
  const { head } = createRequestTexts("books", documents, createStoppedKeyChecks()).currentText();
  return (JSON.parse(`${head}}`) as { query: string }).query;
}

function read(text: string): OperationDefinitionNode {
  const [operation] = parse(text, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("An operation is wanted");
  return operation;
}
