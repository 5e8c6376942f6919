import type { SupergraphCase } from "./supergraph-case.ts";
import { createDice, type Dice } from "./dice.ts";

const entities = ["Box", "Crate"] as const;
const ids = ["1", "2", "3"];

/** A field of an entity, in one subgraph: a number, or a reference to an entity. */
interface Field {
  readonly name: string;
  readonly entity: string;
  readonly subgraph: number;
  readonly refersTo?: string;
  /** It takes an argument that it is multiplied by. */
  readonly takesTimes: boolean;
  readonly requirements: readonly Requirement[];
}

interface Requirement {
  readonly field: Field;
  readonly times: number | undefined;
  /** The reference that leads to the field; undefined: it is a field of the same entity. */
  readonly through: Field | undefined;
}

/**
 * A supergraph of two entities in a few subgraphs, whose fields require fields of other subgraphs, these again others, through references
 * and with arguments. A value is a sum over all that it requires, so that a fetch in the wrong order shows.
 */
export function generateChains(seed: number): SupergraphCase {
  const dice = createDice(randomNumbers(seed, 200));
  const subgraphCount = 2 + dice.roll(3);
  const fields: Field[] = [];
  const fieldCount = 7 + dice.roll(8);
  while (fields.length < fieldCount) fields.push(writeField(dice, fields, subgraphCount));
  const hasRoot = Array.from({ length: subgraphCount }, (_, subgraph) => subgraph === 0 || dice.chance(50));
  return {
    name: `chains of seed ${seed}`,
    subgraphs: hasRoot.map((isRoot, subgraph) => writeSubgraph(fields, subgraph, isRoot)),
    monolith: writeMonolith(fields, hasRoot),
    cases: [],
    argumentValues: { times: [1, 2, 3] },
  };
}

function writeField(dice: Dice, before: readonly Field[], subgraphCount: number): Field {
  const entity = dice.pick(entities);
  const subgraph = dice.roll(subgraphCount);
  const refersTo = dice.chance(20) ? { refersTo: dice.pick(entities) } : {};
  const foreign = before.filter((field) => field.subgraph !== subgraph);
  const own = foreign.filter((field) => field.entity === entity);
  const wanted = own.length > 0 && dice.chance(75) ? [dice.pick(own), dice.pick(own)] : [];
  const requirements = [...new Set(wanted)].flatMap((field) => writeRequirement(dice, field, foreign));
  const takesTimes = !("refersTo" in refersTo) && dice.chance(33);
  return { name: `f${before.length}`, entity, subgraph, ...refersTo, takesTimes, requirements };
}

function writeRequirement(dice: Dice, field: Field, foreign: readonly Field[]): readonly Requirement[] {
  if (field.refersTo === undefined) return [{ field, times: chooseTimes(dice, field), through: undefined }];
  const numbers = foreign.filter(({ entity, refersTo }) => entity === field.refersTo && refersTo === undefined);
  if (numbers.length === 0) return [];
  const number = dice.pick(numbers);
  return [{ field: number, times: chooseTimes(dice, number), through: field }];
}

function chooseTimes(dice: Dice, { takesTimes }: Field): number | undefined {
  return takesTimes && dice.chance(75) ? 1 + dice.roll(3) : undefined;
}

function writeSubgraph(fields: readonly Field[], subgraph: number, isRoot: boolean) {
  const own = fields.filter((field) => field.subgraph === subgraph);
  const read = own.flatMap(({ requirements }) =>
    requirements.flatMap(({ field, through }) => [field, through ?? field]),
  );
  const external = [...new Set(read)].filter((field) => field.subgraph !== subgraph);
  const types = entities.map((entity) => {
    const declared = own.filter((field) => field.entity === entity).map((field) => declare(field) + requires(field));
    const foreign = external.filter((field) => field.entity === entity).map((field) => `${declare(field)} @external`);
    return `type ${entity} @key(fields: "id") { id: ID! ${[...declared, ...foreign].join(" ")} }`;
  });
  const roots = entities.map((entity) => `${rootName(entity, subgraph)}: [${entity}]`);
  const query = isRoot ? `type Query { ${roots.join(" ")} }` : "";
  const resolvers = resolversOf(
    own,
    (field) =>
      (parent, { times }) =>
        evaluate(field, parent.id, times, readFrom(parent)),
  );
  return {
    name: `s${subgraph}`,
    typeDefs: `${types.join("\n")}\n${query}`,
    // Without a __resolveReference an entity is what the gateway sends.
    resolvers: { ...resolvers, ...(isRoot && { Query: rootResolvers(subgraph) }) },
  };
}

const rootName = (entity: string, subgraph: number) => `all${entity}Of${subgraph}`;

function declare({ name, takesTimes, refersTo }: Field): string {
  return `${name}${takesTimes ? "(times: Int! = 1)" : ""}: ${refersTo ?? "Int"}`;
}

function requires({ requirements }: Field): string {
  const texts = requirements.map(({ field, times, through }) => {
    const call = times === undefined ? field.name : `${field.name}(times: ${times})`;
    return through ? `${through.name} { ${call} }` : call;
  });
  return texts.length === 0 ? "" : ` @requires(fields: "${texts.join(" ")}")`;
}

interface Row {
  readonly id: string;
}
type Resolve = (parent: Row, given: { readonly times?: number }) => unknown;

function resolversOf(
  fields: readonly Field[],
  resolve: (field: Field) => Resolve,
): Record<string, Record<string, Resolve>> {
  const grouped = Map.groupBy(fields, ({ entity }) => entity);
  return Object.fromEntries(
    [...grouped].map(([entity, own]) => [entity, Object.fromEntries(own.map((field) => [field.name, resolve(field)]))]),
  );
}

const rootResolvers = (subgraph: number) =>
  Object.fromEntries(
    entities.map((entity) => [rootName(entity, subgraph), () => ids.map((id) => ({ __typename: entity, id }))]),
  );

function writeMonolith(fields: readonly Field[], hasRoot: readonly boolean[]) {
  const roots = hasRoot.flatMap((isRoot, subgraph) => (isRoot ? [rootResolvers(subgraph)] : []));
  const resolvers = resolversOf(
    fields,
    (field) =>
      ({ id }, { times }) =>
        evaluate(field, id, times, readWhole(id)),
  );
  return { ...resolvers, Query: Object.assign({}, ...roots) };
}

type Read = (requirement: Requirement) => number;

function evaluate({ name, refersTo, requirements }: Field, id: string, times = 1, read: Read): unknown {
  const number = numberOf(name + id) + requirements.reduce((sum, requirement) => sum + 7 * read(requirement), 0);
  return refersTo === undefined ? number * times : { __typename: refersTo, id: ids[number % ids.length] };
}

/** What the gateway sent. */
function readFrom(parent: object): Read {
  return ({ field, through }) => {
    const holder = through ? memberOf(parent, through.name) : parent;
    const value = memberOf(holder, field.name);
    if (typeof value !== "number") throw new Error(`${field.name} was not sent`);
    return value;
  };
}

function memberOf(holder: unknown, name: string): unknown {
  return typeof holder === "object" && holder !== null ? Reflect.get(holder, name) : undefined;
}

function readWhole(id: string): Read {
  return ({ field, times, through }) => {
    const holder = through ? (evaluate(through, id, 1, readWhole(id)) as Row).id : id;
    return evaluate(field, holder, times, readWhole(holder)) as number;
  };
}

function numberOf(text: string): number {
  return Buffer.from(text).reduce((sum, byte) => (sum * 31 + byte) % 1009, 7);
}

/** A linear congruential generator (Numerical Recipes): the same numbers everywhere. */
function randomNumbers(seed: number, count: number): readonly number[] {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return Array.from({ length: count }, () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 8);
}
