import type { FaultPlace } from "./fault-places.ts";
import { answerJson, type Fault } from "./subgraphs.ts";

/** Something that a subgraph does instead of answering as it should. */
export interface AnswerFault {
  /** Goes on "a subgraph that …". */
  readonly name: string;
  /** Places where it makes a difference. */
  readonly where: readonly FaultPlace["name"][];
  /** What a client may read of it in `extensions.code`. */
  readonly codes: readonly string[];
  readonly act: Fault;
}

/** Stands in what subgraphs say wrongly; no client may ever read it. */
export const leak = "at db.internal:5432 SELECT password";

export const everywhere: AnswerFault["where"] = [
  "a root fetch",
  "an entity fetch",
  "a sibling",
  "a mutation",
  "an entity fetch of a mutation",
];
const exceptSibling = everywhere.filter((name) => name !== "a sibling");
const ofEntities = everywhere.filter((name) => name !== "a root fetch" && name !== "a mutation");
const ofSeveralEntities = ofEntities.filter((name) => name !== "an entity fetch of a mutation");

/** Fields of the library that are never null, as far as the places select them. */
const nonNullNames = ["name", "isbn", "best"];

type Json = Readonly<Record<string, unknown>>;
type Entities = readonly unknown[];

/** Answers in time, and in JSON: what is wrong is the shape of the data, or whose they are. */
export const shapeFaults: readonly AnswerFault[] = [
  spoils("answers an object where a list should be", exceptSibling, within(replaceLists(toObject))),
  spoils("answers a text where a list should be", exceptSibling, within(replaceLists(() => leak))),
  spoils("answers a text where an object should be", exceptSibling, within(replaceObjects(() => leak))),
  spoils("answers a list where an object should be", exceptSibling, within(replaceObjects((object) => [object]))),
  spoils(
    "answers null where none is allowed",
    everywhere,
    replaceNamed(nonNullNames, () => null),
  ),
  spoils("answers objects of another type", exceptSibling, replaceNamed(["__typename"], anotherType)),
  spoils(
    "answers objects of no known type",
    exceptSibling,
    replaceNamed(["__typename"], () => leak),
  ),
  spoils("answers an object of entities", ofEntities, replaceEntities(toObject)),
  spoils(
    "answers a text for its entities",
    ofEntities,
    replaceEntities(() => leak),
  ),
  spoils(
    "answers lists as entities",
    ofEntities,
    replaceEntities((list) => list.map((entity) => [entity])),
  ),
  spoils(
    "answers one entity too few",
    ofEntities,
    replaceEntities((list) => list.slice(1)),
  ),
  spoils(
    "answers one entity too many",
    ofEntities,
    replaceEntities((list) => [list.at(-1), ...list]),
  ),
  spoils("answers its entities in another order", ofSeveralEntities, replaceEntities(rotate)),
  spoils(
    "answers one entity for all",
    ofSeveralEntities,
    replaceEntities((list) => list.map(() => list.at(-1))),
  ),
  { name: "answers for another key", where: ofEntities, codes: ["SUBGRAPH_BAD_ANSWER"], act: answerForAnotherKey },
  says('{"errors":"boom"}'),
  says('{"data":null,"errors":[null]}'),
  says(`{"errors":{"message":"${leak}"}}`),
  says('{"data":null}'),
  says('{"data":{}}'),
  says(`{"data":"${leak}"}`),
  says("[]"),
  says("null"),
];

function says(text: string): AnswerFault {
  const act: Fault = (response) => answerJson(response, 200, text);
  return { name: `answers ${text.replace(leak, "…")}`, where: everywhere, codes: ["SUBGRAPH_BAD_ANSWER"], act };
}

/** The true answer with its data changed. */
function spoils(name: string, where: AnswerFault["where"], change: (data: unknown) => unknown): AnswerFault {
  const act: Fault = async (response, _body, _request, answerTruly) => {
    const { data } = await answerTruly();
    answerJson(response, 200, JSON.stringify({ data: change(data) }));
  };
  return { name, where, codes: ["SUBGRAPH_BAD_ANSWER", "INVALID_FIELD_VALUE"], act };
}

/** What a subgraph says that mixes up its rows: each entity is that of the next key, the only one that of another book. */
async function answerForAnotherKey(...[response, { variables }, , answerTruly]: Parameters<Fault>): Promise<void> {
  const representations = variables["representations"] as Entities;
  const others = representations.length > 1 ? rotate(representations) : [{ __typename: "Book", isbn: "b1" }];
  answerJson(response, 200, JSON.stringify(await answerTruly({ ...variables, representations: others })));
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
    isObject(data) && Array.isArray(data["_entities"])
      ? { _entities: data["_entities"].map(ofFields) }
      : ofFields(data);
}

/** Outermost lists first; what is below them goes with them. */
function replaceLists(change: (list: Entities) => unknown): (value: unknown) => unknown {
  return (value) =>
    Array.isArray(value) ? change(value) : mapFields(value, (_name, below) => replaceLists(change)(below));
}

/** Outermost objects, in lists too. */
function replaceObjects(change: (object: Json) => unknown): (value: unknown) => unknown {
  return (value) =>
    Array.isArray(value) ? value.map(replaceObjects(change)) : isObject(value) ? change(value) : value;
}

/** Values of these fields, wherever they are. */
function replaceNamed(names: readonly string[], change: (value: unknown) => unknown): (value: unknown) => unknown {
  return function replace(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(replace);
    return mapFields(value, (name, below) => (names.includes(name) ? change(below) : replace(below)));
  };
}

function mapFields(value: unknown, change: (name: string, value: unknown) => unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, change(name, below)]));
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
