import { expect, test } from "vitest";
import { findSchemaDrift } from "./schema-drift.ts";

const contract = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
type Query { note(id: ID!): Note }
type Note @key(fields: "id") { id: ID! text(length: Int = 10): String! colour: Colour }
enum Colour { RED BLUE }
extend type User @key(fields: "id") { id: ID! notes: [Note!] }`;

test.each([
  ["nothing", contract, []],
  [
    "another order",
    contract.replace("id: ID! text(length: Int = 10): String!", "text(length: Int = 10): String! id: ID!"),
    [],
  ],
  ["a description", contract.replace("enum Colour", '"Of a note." enum Colour'), []],
  [
    "another prefix of @link",
    contract.replaceAll("@key", "@federation__key").replace('import: ["@federation__key"]', "import: []"),
    [],
  ],
  ["a definition instead of an extension", contract.replace("extend type User", "type User"), []],
  [
    "what federation adds",
    `${contract} scalar _Any scalar federation__FieldSet directive @key(fields: federation__FieldSet!) repeatable on OBJECT
    union _Entity = Note | User type _Service { sdl: String }
    extend type Query { _entities(representations: [_Any!]!): [_Entity]! _service: _Service! }`,
    [],
  ],
  ["another type", contract.replace("String!", "String"), ["Note.text"]],
  ["another default", contract.replace("= 10", "= 20"), ["Note.text.length"]],
  ["a field more", contract.replace("colour:", "size: Int colour:"), ["Note.size"]],
  ["a field less", contract.replace("colour: Colour", ""), ["Note.colour"]],
  ["an enum value less", contract.replace(" BLUE", ""), ["Colour.BLUE"]],
  ["a type more", `${contract} type Page { number: Int }`, ["Page"]],
  [
    "another key",
    contract.replace('type Note @key(fields: "id")', 'type Note @key(fields: "id text")'),
    ["Note.@key.fields"],
  ],
])("a running schema with %s", async (_, running, places) => {
  const drift = await findSchemaDrift(contract, running);
  expect(drift.map(({ place }) => place)).toEqual(places);
});
