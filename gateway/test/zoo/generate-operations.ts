import fc from "fast-check";
import {
  doTypesOverlap,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  isLeafType,
  isUnionType,
} from "graphql";
import { createDice, type Dice } from "./dice.ts";
import { type ArgumentValues, createArgumentWriter } from "./generate-arguments.ts";
import { createResponseNames } from "./response-names.ts";
import type { Operation } from "./start-animal.ts";

/** Harmless names, or names of other fields, keys among them, and names on the object prototype. */
export type Aliases = "plain" | "colliding";

export interface GeneratorOptions {
  readonly aliases: Aliases;
  readonly argumentValues: ArgumentValues;
}

const depthMax = 5;
const selectionsMax = 4;
const prototypeNames = ["constructor", "toString", "then", "__proto__", "hasOwnProperty"];

/** Valid operations for this schema: aliases, fragments named and inline, `@skip`, `@include`, variables, `__typename`. */
export function operationsOf(schema: GraphQLSchema, o: GeneratorOptions): fc.Arbitrary<Operation> {
  const numbers = fc.array(fc.nat({ max: 9_999 }), { minLength: 20, maxLength: 160, size: "max" });
  return numbers.map((numbers) => writeOperation(schema, createDice(numbers), o));
}

function writeOperation(schema: GraphQLSchema, dice: Dice, o: GeneratorOptions): Operation {
  const mutation = schema.getMutationType();
  const [word, root] = mutation && dice.chance(40) ? ["mutation", mutation] : ["query", schema.getQueryType()];
  if (!root) throw new Error("A schema has a query type");
  const writer = createSelectionWriter(schema, dice, o);
  const body = writer.writeSelectionSet(root, "", 1);
  const { definitions, variables } = writer.argumentWriter;
  const head = definitions.length > 0 ? `${word} Generated(${definitions.join(", ")})` : word;
  const fragments = [...writer.fragments].map(([text, name]) => `fragment ${name} ${text}`);
  return { query: [`${head} ${body}`, ...fragments].join("\n"), variables };
}

function createSelectionWriter(schema: GraphQLSchema, dice: Dice, o: GeneratorOptions) {
  /** Name by text: what is written twice is one fragment spread twice. */
  const fragments = new Map<string, string>();
  const argumentWriter = createArgumentWriter(dice, o.argumentValues);
  const responseNames = createResponseNames();
  const composites = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLCompositeType => isCompositeType(type) && !type.name.startsWith("__"),
  );
  const aliases = o.aliases === "plain" ? ["x", "y"] : [...fieldNames(composites), ...prototypeNames];

  /** `place` is the way of response names to here; selections that are merged there must not contradict one another. */
  function writeSelectionSet(type: GraphQLCompositeType, place: string, depth: number): string {
    const count = 1 + dice.roll(selectionsMax);
    const selections = Array.from({ length: count }, () => writeSelection(type, place, depth));
    return `{ ${selections.join(" ")} }`;
  }

  function writeSelection(type: GraphQLCompositeType, place: string, depth: number): string {
    if (depth < depthMax && dice.chance(isUnionType(type) ? 80 : 25)) return writeFragment(type, place, depth);
    const fields = isUnionType(type) ? [] : Object.values(type.getFields());
    const open = depth < depthMax ? fields : fields.filter((field) => isLeafType(getNamedType(field.type)));
    if (open.length === 0 || dice.chance(10)) return writeTypename(type, place);
    return writeField(type, dice.pick(open), place, depth);
  }

  function writeFragment(type: GraphQLCompositeType, place: string, depth: number): string {
    const condition = dice.pick([type, ...composites.filter((other) => doTypesOverlap(schema, type, other))]);
    const body = writeSelectionSet(condition, place, depth + 1);
    const directives = argumentWriter.writeDirectives();
    if (dice.chance(40)) return `...${nameFragment(`on ${condition.name} ${body}`)}${directives}`;
    return condition === type && dice.chance(30)
      ? `...${directives} ${body}`
      : `... on ${condition.name}${directives} ${body}`;
  }

  function nameFragment(text: string): string {
    const name = fragments.get(text) ?? `F${fragments.size}`;
    fragments.set(text, name);
    return name;
  }

  function writeTypename(type: GraphQLCompositeType, place: string): string {
    const name = responseNames.claim(place, chooseAlias("__typename"), { parent: type, text: "__typename" });
    return `${name === "__typename" ? name : `${name}: __typename`}${argumentWriter.writeDirectives()}`;
  }

  function writeField(parent: GraphQLCompositeType, field: Field, place: string, depth: number): string {
    const call = `${field.name}${argumentWriter.writeArguments(field)}`;
    const name = responseNames.claim(place, chooseAlias(field.name), { parent, text: call, type: field.type });
    const type = getNamedType(field.type);
    const directives = argumentWriter.writeDirectives();
    const body = isCompositeType(type) ? ` ${writeSelectionSet(type, `${place}/${name}`, depth + 1)}` : "";
    return `${name === field.name ? call : `${name}: ${call}`}${directives}${body}`;
  }

  const chooseAlias = (name: string) => (dice.chance(30) ? dice.pick(aliases) : name);

  return { fragments, argumentWriter, writeSelectionSet };
}

type Field = GraphQLField<unknown, unknown>;

function fieldNames(types: readonly GraphQLCompositeType[]): readonly string[] {
  return [...new Set(types.flatMap((type) => (isUnionType(type) ? [] : Object.keys(type.getFields()))))];
}
