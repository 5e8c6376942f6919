import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { listOf, memberOf } from "../../../supergraph/contract/json-members.ts";
import { findEntities, type KnownEntity } from "../entities.ts";
import type { Exchange } from "../exchange.ts";
import { declareRules, type RuleReport } from "../rule.ts";
import type { Subject } from "../subject.ts";

const unknownText = "conform-unknown";
const unknownNumber = 2_147_483_646;

export const graphqlRules = declareRules("GraphQL", {
  "graphql-service": {
    text: "{ _service { sdl } } returns the schema of the subgraph.",
    async check(subject, { expect }) {
      const response = await readSdl(subject);
      expect(response, typeof sdlOf(response) === "string", "200 with _service.sdl");
    },
  },
  "entities-order": {
    text: "_entities returns one element for each representation in their order, also for equal ones.",
    check: (subject, { expect, skip }) =>
      forEachEntity(subject, skip, async (entity) => {
        const [first = {}, second = first] = entity.keys;
        const keys = [second, first, second, first];
        const response = await resolve(subject, entity, keys);
        // A service may not know what another one owns.
        const elements = elementsOf(response).map((element, index) =>
          entity.isOwned ? element : (element ?? keys[index]),
        );
        expect(response, isDeepStrictEqual(elements, keys), `_entities: ${JSON.stringify(keys)}`);
      }),
  },
  "entities-unknown": {
    text: "_entities has null, without an error, for an entity that does not exist.",
    check: (subject, { expect, skip }) =>
      forEachEntity(subject, skip, async (entity) => {
        if (!entity.isOwned) return;
        const [key = {}] = entity.keys;
        const response = await resolve(subject, entity, [key, toUnknown(key), key]);
        const isExpected =
          isDeepStrictEqual(elementsOf(response), [key, null, key]) && !memberOf(response.json, "errors");
        expect(response, isExpected, "the entity, null, the entity, and no errors");
      }),
  },
  "entities-invalid": {
    text: "A representation of an unknown type fails only its own element.",
    check: (subject, { expect, skip }) =>
      forEachEntity(subject, skip, async (entity) => {
        if (!entity.isOwned) return;
        const [key = {}] = entity.keys;
        const response = await resolve(subject, entity, [{ __typename: "ConformUnknown", id: "1" }, key]);
        expect(response, isDeepStrictEqual(elementsOf(response), [null, key]), "null and the entity");
      }),
  },
  "entities-mixed": {
    text: "One request may have representations of several types, and several _entities fields with aliases.",
    async check(subject, { expect, skip }) {
      const all: KnownEntity[] = [];
      await forEachEntity(subject, skip, async (entity) => void all.push(entity));
      if (all.length === 0) return;
      const representations = all.map(({ typeName, keys }) => ({ __typename: typeName, ...keys[0] }));
      const fragments = all.map(({ typeName, key }) => `... on ${typeName} { ${key} }`).join(" ");
      const field = `_entities(representations: $r) { __typename ${fragments} }`;
      const as = all.find((entity) => entity.as !== undefined)?.as;
      const query = `query ($r: [_Any!]!) { a: ${field} b: ${field} }`;
      const response = await subject.graphql(query, { r: representations }, { as });
      const isExpected = ["a", "b"].every((alias) => {
        const elements = elementsOf(response, alias);
        return (
          elements.length === all.length &&
          all.every(({ typeName, isOwned }, index) => {
            const element = elements[index];
            return element === null ? !isOwned : memberOf(element, "__typename") === typeName;
          })
        );
      });
      expect(response, isExpected, `in a and b: ${all.map(({ typeName }) => typeName).join(", ")}`);
    },
  },
  "graphql-errors": {
    text: "An invalid operation gets a GraphQL body with errors, with status 200 or 4xx.",
    async check(subject, { expect }) {
      for (const query of ["{ conformUnknownField }", "{ unfinished"]) {
        const response = await subject.graphql(query);
        const hasErrors = listOf(memberOf(response.json, "errors")).length > 0;
        expect(response, hasErrors && (response.status === 200 || isClientError(response)), "200 or 4xx, with errors");
      }
    },
  },
  "graphql-malformed": {
    text: "A body that is not JSON, or not a GraphQL request, gets 4xx.",
    async check(subject, { expect }) {
      for (const body of ['{"query":', '{"query": 1}', ""]) {
        const response = await subject.graphql("", {}, { body });
        expect(response, isClientError(response), "4xx");
      }
    },
  },
});

export function readSdl(subject: Subject): Promise<Exchange> {
  return subject.remember("sdl", () => subject.graphql("{ _service { sdl } }"));
}

export function sdlOf({ json }: Exchange): unknown {
  return memberOf(memberOf(memberOf(json, "data"), "_service"), "sdl");
}

async function forEachEntity(
  subject: Subject,
  skip: RuleReport["skip"],
  check: (entity: KnownEntity) => Promise<void>,
): Promise<void> {
  const entities = await findEntities(subject);
  if (!entities.some(({ isOwned }) => isOwned))
    skip(
      "no entity of a type with @key that a root list field returns: there is no such field, or the lists are empty",
    );
  for (const entity of entities) await check(entity);
}

function resolve(subject: Subject, { typeName, key, as }: KnownEntity, keys: readonly Json[]): Promise<Exchange> {
  const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on ${typeName} { ${key} } } }`;
  return subject.graphql(query, { r: keys.map((fields) => ({ __typename: typeName, ...fields })) }, { as });
}

function elementsOf({ json }: Exchange, name = "_entities"): readonly unknown[] {
  return listOf(memberOf(memberOf(json, "data"), name));
}

function toUnknown(key: Json): Json {
  const entries = Object.entries(key).map(([name, value]) => {
    if (isJsonObject(value)) return [name, toUnknown(value)];
    return [name, typeof value === "number" ? unknownNumber : unknownText];
  });
  return Object.fromEntries(entries) as Json;
}

function isClientError({ status }: Exchange): boolean {
  return status >= 400 && status < 500;
}
