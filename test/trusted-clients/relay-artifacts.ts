import type { ConcreteRequest } from "relay-runtime";

/*
 * What relay-compiler 21.0.1 writes with `persistConfig: { "file": "persisted_queries.json" }`, for
 *   query PersonPageQuery($id: ID!) { person(id: $id) { name books { isbn title stars } } }
 *   mutation RenameMutation($id: ID!, $name: String!) { rename(id: $id, name: $name) { id name } }
 */

const id = scalarField("id");
const name = scalarField("name");
const books = linkedField("books", "Book", true, ["isbn", "title", "stars"].map(scalarField));

export const personPageQuery = request("PersonPageQuery", "query", "2d1cf2e247bcadb26ac326c60391c661", [
  linkedField("person", "Person", false, [name, books, id], [variable("id")]),
]);
export const renameMutation = request("RenameMutation", "mutation", "2856d8f5fe8fde6181334d745589f238", [
  linkedField("rename", "Person", false, [id, name], [variable("id"), variable("name")]),
]);

function request(name: string, operationKind: string, id: string, selections: readonly object[]): ConcreteRequest {
  const argumentDefinitions = (operationKind === "query" ? ["id"] : ["id", "name"]).map((argument) => {
    return { defaultValue: null, kind: "LocalArgument", name: argument };
  });
  const type = operationKind === "query" ? "Query" : "Mutation";
  return {
    fragment: { argumentDefinitions, kind: "Fragment", metadata: null, name, selections, type, abstractKey: null },
    kind: "Request",
    operation: { argumentDefinitions, kind: "Operation", name, selections },
    params: { id, metadata: {}, name, operationKind, text: null },
  } as unknown as ConcreteRequest;
}

function variable(name: string) {
  return { kind: "Variable", name, variableName: name };
}

function scalarField(name: string) {
  return { alias: null, args: null, kind: "ScalarField", name, storageKey: null };
}

function linkedField(
  name: string,
  concreteType: string,
  plural: boolean,
  selections: readonly object[],
  args: readonly object[] | null = null,
) {
  return { alias: null, args, concreteType, kind: "LinkedField", name, plural, selections, storageKey: null };
}
