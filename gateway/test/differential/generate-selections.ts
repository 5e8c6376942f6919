import {
  doTypesOverlap,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isUnionType,
} from "graphql";
import type { Dice } from "./dice.ts";
import { type ArgumentValues, createArgumentWriter } from "./generate-arguments.ts";
import { writeIntrospection } from "./generate-introspection.ts";
import { createResponseNames, type LocatedClaim } from "./response-names.ts";

/** Harmless names, or names of other fields, keys among them, and names on the object prototype. */
export type Aliases = "plain" | "colliding";

export interface GeneratorOptions {
  readonly aliases: Aliases;
  readonly argumentValues: ArgumentValues;
  /** For every other operation: fields of interfaces and unions are mostly selected in fragments on object types, several for each. */
  readonly mayBranch?: boolean;
}

/** Fields within fields, and fragments within fragments since the last field. */
interface Level {
  readonly depth: number;
  readonly nesting: number;
}

interface Fragment {
  readonly name: string;
  readonly condition: GraphQLCompositeType;
  readonly place: string;
  readonly claims: readonly LocatedClaim[];
}

const depthMax = 5;
const nestingMax = 3;
const selectionsMax = 4;
const branchesMin = 3;
/** Fragments that are spread again and again within one another must not grow beyond what a gateway takes. */
const repeatedFieldsMax = 30;
const oddAliases = [
  "constructor",
  "toString",
  "then",
  "__proto__",
  "hasOwnProperty",
  "__typename",
  "a_id",
  "_entities",
];

type Field = GraphQLField<unknown, unknown>;

export function createSelectionWriter(schema: GraphQLSchema, dice: Dice, o: GeneratorOptions) {
  /** By their text: what is written twice is one fragment spread twice. */
  const fragments = new Map<string, Fragment>();
  const argumentWriter = createArgumentWriter(dice, o.argumentValues);
  const { writeDirectives } = argumentWriter;
  const responseNames = createResponseNames();
  const composites = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLCompositeType => isCompositeType(type) && !type.name.startsWith("__"),
  );
  const aliases = o.aliases === "plain" ? ["x", "y"] : [...fieldNames(composites), ...oddAliases];
  const branches = o.mayBranch === true && dice.chance(50);
  const chooseAlias = (name: string) => (dice.chance(30) ? dice.pick(aliases) : name);

  /** `place` is the way of response names to here; selections that are merged there must not contradict one another. */
  function writeSelectionSet(type: GraphQLCompositeType, place: string, level: Level): string {
    const isBranching = branches && isAbstractType(type);
    const count = isBranching ? branchesMin + dice.roll(branchesMin) : 1 + dice.roll(selectionsMax);
    const selections = Array.from({ length: count }, () => writeSelection(type, place, level));
    return `{ ${selections.join(" ")} }`;
  }

  function writeSelection(type: GraphQLCompositeType, place: string, level: Level): string {
    const fragmentChance = isUnionType(type) ? 80 : isAbstractType(type) ? (branches ? 70 : 45) : branches ? 0 : 20;
    if (level.nesting < nestingMax && dice.chance(fragmentChance)) return writeFragment(type, place, level);
    if (type === schema.getQueryType() && dice.chance(6)) return writeSchemaField(type, place);
    const fields = isUnionType(type) ? [] : Object.values(type.getFields());
    const open = level.depth < depthMax ? fields : fields.filter((field) => isLeafType(getNamedType(field.type)));
    if (open.length === 0 || dice.chance(10)) return writeTypename(type, place);
    const composite = open.filter((one) => !isLeafType(getNamedType(one.type)));
    const leadsOn = branches && composite.length > 0 && composite.length * 2 > open.length;
    const field = dice.pick(leadsOn ? composite : open);
    const once = writeField(type, field, place, level);
    // The same field with other arguments, under another name if need be.
    return field.args.length > 0 && dice.chance(25) ? `${once} ${writeField(type, field, place, level)}` : once;
  }

  function writeFragment(type: GraphQLCompositeType, place: string, { depth, nesting }: Level): string {
    if (dice.chance(30)) {
      const again = findRepeatable(type, place);
      if (again) return `...${again.name}${writeDirectives()}`;
    }
    const overlapping = composites.filter((other) => doTypesOverlap(schema, type, other));
    const condition = dice.pick(branches ? overlapping.filter(isObjectType) : [type, ...overlapping]);
    const { text, claims } = responseNames.record(() =>
      writeSelectionSet(condition, place, { depth, nesting: nesting + 1 }),
    );
    const directives = writeDirectives();
    if (dice.chance(40)) {
      const name = nameFragment(`on ${condition.name} ${text}`, { condition, place, claims });
      return `...${name}${directives}`;
    }
    return condition === type && dice.chance(30)
      ? `...${directives} ${text}`
      : `... on ${condition.name}${directives} ${text}`;
  }

  /** Only what is written to its end is there: so no fragment comes to stand within itself. */
  function findRepeatable(type: GraphQLCompositeType, to: string): Fragment | undefined {
    const fitting = [...fragments.values()].filter(
      ({ condition, claims }) => claims.length <= repeatedFieldsMax && doTypesOverlap(schema, type, condition),
    );
    const chosen = fitting.length > 0 ? dice.pick(fitting) : undefined;
    return chosen && responseNames.repeat(chosen.claims, chosen.place, to) ? chosen : undefined;
  }

  function nameFragment(text: string, about: Omit<Fragment, "name">): string {
    const fragment = fragments.get(text) ?? { ...about, name: `F${fragments.size}` };
    fragments.set(text, fragment);
    return fragment.name;
  }

  function writeTypename(type: GraphQLCompositeType, place: string): string {
    const name = responseNames.claim(place, chooseAlias("__typename"), { parent: type, text: "__typename" });
    return `${name === "__typename" ? name : `${name}: __typename`}${writeDirectives()}`;
  }

  /** Its selections are part of what it claims: they are merged with the same ones only. */
  function writeSchemaField(parent: GraphQLCompositeType, place: string): string {
    const { field, call, body } = writeIntrospection(schema, composites, dice);
    const name = responseNames.claim(place, chooseAlias(field), { parent, text: `${call} ${body}` });
    return `${name === field ? call : `${name}: ${call}`}${writeDirectives()} ${body}`;
  }

  function writeField(parent: GraphQLCompositeType, field: Field, place: string, { depth }: Level): string {
    const call = `${field.name}${argumentWriter.writeArguments(field)}`;
    const name = responseNames.claim(place, chooseAlias(field.name), { parent, text: call, type: field.type });
    const type = getNamedType(field.type);
    const directives = writeDirectives();
    const level = { depth: depth + 1, nesting: 0 };
    const body = isCompositeType(type) ? ` ${writeSelectionSet(type, `${place}/${name}`, level)}` : "";
    return `${name === field.name ? call : `${name}: ${call}`}${directives}${body}`;
  }

  return {
    argumentWriter,
    writeSelectionSet,
    /** As they stand in the document. */
    listFragments: () => [...fragments].map(([text, { name }]) => `fragment ${name} ${text}`),
  };
}

function fieldNames(types: readonly GraphQLCompositeType[]): readonly string[] {
  return [...new Set(types.flatMap((type) => (isUnionType(type) ? [] : Object.keys(type.getFields()))))];
}
