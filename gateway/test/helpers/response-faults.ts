import type { FaultyFetch } from "./fault-places.ts";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { respondJson, type Fault } from "./subgraphs.ts";

/** A wrong response of a subgraph. */
export interface ResponseFault {
  /** Completes "a subgraph that …". */
  readonly name: string;
  /** The fetches for which the response is wrong. */
  readonly fetches: readonly FaultyFetch["name"][];
  /** Expected values of `extensions.code`. */
  readonly codes: readonly string[];
  readonly respond: Fault;
}

/** A text in wrong responses that no client may receive. */
export const leak = "at db.internal:5432 SELECT password";

export const everywhere: ResponseFault["fetches"] = [
  "a root fetch",
  "an entity fetch",
  "a sibling",
  "a mutation",
  "an entity fetch of a mutation",
];
const exceptSibling = everywhere.filter((name) => name !== "a sibling");
const ofEntities = everywhere.filter((name) => name !== "a root fetch" && name !== "a mutation");
const ofSeveralEntities = ofEntities.filter((name) => name !== "an entity fetch of a mutation");

/** The selected fields of the library with a non-null type. */
const nonNullNames = ["name", "isbn", "best"];

type Entities = readonly unknown[];

/** Responses in time and in JSON, whose data has a wrong shape or belongs to another key. */
export const shapeFaults: readonly ResponseFault[] = [
  changesData("sends an object instead of a list", exceptSibling, within(replaceLists(toObject))),
  changesData("sends a string instead of a list", exceptSibling, within(replaceLists(() => leak))),
  changesData("sends a string instead of an object", exceptSibling, within(replaceObjects(() => leak))),
  changesData("sends a list instead of an object", exceptSibling, within(replaceObjects((object) => [object]))),
  changesData(
    "sends null for non-null fields",
    everywhere,
    replaceNamed(nonNullNames, () => null),
  ),
  changesData("sends objects of another type", exceptSibling, replaceNamed(["__typename"], anotherType)),
  changesData(
    "sends objects of an unknown type",
    exceptSibling,
    replaceNamed(["__typename"], () => leak),
  ),
  changesData("sends its entities as an object", ofEntities, replaceEntities(toObject)),
  changesData(
    "sends a string instead of entities",
    ofEntities,
    replaceEntities(() => leak),
  ),
  changesData(
    "sends lists as entities",
    ofEntities,
    replaceEntities((list) => list.map((entity) => [entity])),
  ),
  changesData(
    "sends one entity too few",
    ofEntities,
    replaceEntities((list) => list.slice(1)),
  ),
  changesData(
    "sends one entity too many",
    ofEntities,
    replaceEntities((list) => [list.at(-1), ...list]),
  ),
  changesData("sends its entities in another order", ofSeveralEntities, replaceEntities(rotate)),
  changesData(
    "sends one entity for all representations",
    ofSeveralEntities,
    replaceEntities((list) => list.map(() => list.at(-1))),
  ),
  {
    name: "sends the entity of another key",
    fetches: ofEntities,
    codes: ["SUBGRAPH_INVALID_RESPONSE"],
    respond: sendEntityOfAnotherKey,
  },
  sends('{"errors":"boom"}'),
  sends('{"data":null,"errors":[null]}'),
  sends(`{"errors":{"message":"${leak}"}}`),
  sends('{"data":null}'),
  sends('{"data":{}}'),
  sends(`{"data":"${leak}"}`),
  sends("[]"),
  sends("null"),
];

function sends(text: string): ResponseFault {
  const respond: Fault = (response) => respondJson(response, 200, text);
  return {
    name: `sends ${text.replace(leak, "…")}`,
    fetches: everywhere,
    codes: ["SUBGRAPH_INVALID_RESPONSE"],
    respond,
  };
}

/** The correct response with changed data. */
function changesData(
  name: string,
  fetches: ResponseFault["fetches"],
  change: (data: unknown) => unknown,
): ResponseFault {
  const respond: Fault = async (response, _body, _request, resolveCorrectly) => {
    const { data } = await resolveCorrectly();
    respondJson(response, 200, JSON.stringify({ data: change(data) }));
  };
  return { name, fetches, codes: ["SUBGRAPH_INVALID_RESPONSE", "INVALID_FIELD_VALUE"], respond };
}

/** As a subgraph that mixes up its rows: each entity is that of the next key; a single entity is that of another book. */
async function sendEntityOfAnotherKey(
  ...[response, { variables }, , resolveCorrectly]: Parameters<Fault>
): Promise<void> {
  const representations = variables["representations"] as Entities;
  const others = representations.length > 1 ? rotate(representations) : [{ __typename: "Book", isbn: "b1" }];
  respondJson(response, 200, JSON.stringify(await resolveCorrectly({ ...variables, representations: others })));
}

function toObject(list: Entities): Json {
  return Object.fromEntries(list.entries());
}

function rotate(list: Entities): Entities {
  return [...list.slice(1), ...list.slice(0, 1)];
}

function anotherType(name: unknown): unknown {
  return name === "Person" ? "Book" : "Person";
}

function replaceEntities(change: (list: Entities) => unknown) {
  return (data: unknown) => ({ _entities: change((data as { _entities: Entities })._entities) });
}

/** Changes each field's value: of the entities, or of the root. */
function within(change: (value: unknown) => unknown) {
  const ofFields = (object: unknown) => mapFields(object, (_name, value) => change(value));
  return (data: unknown) =>
    isJsonObject(data) && Array.isArray(data["_entities"])
      ? { _entities: data["_entities"].map(ofFields) }
      : ofFields(data);
}

/** Changes the outermost lists. */
function replaceLists(change: (list: Entities) => unknown): (value: unknown) => unknown {
  return (value) =>
    Array.isArray(value) ? change(value) : mapFields(value, (_name, below) => replaceLists(change)(below));
}

/** Changes the outermost objects, in lists too. */
function replaceObjects(change: (object: Json) => unknown): (value: unknown) => unknown {
  return (value) =>
    Array.isArray(value) ? value.map(replaceObjects(change)) : isJsonObject(value) ? change(value) : value;
}

/** Values of these fields, wherever they are. */
function replaceNamed(names: readonly string[], change: (value: unknown) => unknown): (value: unknown) => unknown {
  return function replace(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(replace);
    return mapFields(value, (name, below) => (names.includes(name) ? change(below) : replace(below)));
  };
}

function mapFields(value: unknown, change: (name: string, value: unknown) => unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, change(name, below)]));
}
