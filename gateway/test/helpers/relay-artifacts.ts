import type { ConcreteRequest, ReaderFragment } from "relay-runtime";

/*
 * What relay-compiler 21.0.1 writes, with the gateway's /schema.graphql, for
 *   query PersonQuery($id: ID!) { person(id: $id) { name ...Books_person @defer(label: "books") } }
 *   fragment Books_person on Person { email books @stream(initialCount: 1, label: "each") { title } }
 * The compiler itself is no dependency: it takes 118 MB.
 */

const idDefinition = [{ defaultValue: null, kind: "LocalArgument", name: "id" }] as const;
const idArgument = [{ kind: "Variable", name: "id", variableName: "id" }] as const;

const id = scalarField("id");
const name = scalarField("name");
const email = scalarField("email");
const books = linkedField("books", "Book", true, [scalarField("title")]);

export const booksFragment = {
  argumentDefinitions: [],
  kind: "Fragment",
  metadata: null,
  name: "Books_person",
  selections: [email, { kind: "Stream", selections: [books] }],
  type: "Person",
  abstractKey: null,
} as unknown as ReaderFragment;

const spread = { args: null, kind: "FragmentSpread", name: "Books_person" };
const stream = { if: null, kind: "Stream", label: "Books_person$stream$each", selections: [books] };
const defer = { if: null, kind: "Defer", label: "PersonQuery$defer$books", selections: [email, stream] };

export const personQuery = {
  fragment: {
    argumentDefinitions: idDefinition,
    kind: "Fragment",
    metadata: null,
    name: "PersonQuery",
    selections: [linkedField("person", "Person", false, [name, { kind: "Defer", selections: [spread] }], idArgument)],
    type: "Query",
    abstractKey: null,
  },
  kind: "Request",
  operation: {
    argumentDefinitions: idDefinition,
    kind: "Operation",
    name: "PersonQuery",
    selections: [linkedField("person", "Person", false, [name, defer, id], idArgument)],
  },
  params: {
    cacheID: "6415cb5f85fdd897ee3975c9266e3a21",
    id: null,
    metadata: {},
    name: "PersonQuery",
    operationKind: "query",
    text: `query PersonQuery(
  $id: ID!
) {
  person(id: $id) {
    name
    ...Books_person @defer(label: "PersonQuery$defer$books")
    id
  }
}

fragment Books_person on Person {
  email
  books @stream(label: "Books_person$stream$each", initialCount: 1) {
    title
  }
}
`,
  },
} as unknown as ConcreteRequest;

function scalarField(field: string) {
  return { alias: null, args: null, kind: "ScalarField", name: field, storageKey: null };
}

function linkedField(
  field: string,
  concreteType: string,
  plural: boolean,
  selections: readonly object[],
  args: readonly object[] | null = null,
) {
  return { alias: null, args, concreteType, kind: "LinkedField", name: field, plural, selections, storageKey: null };
}
