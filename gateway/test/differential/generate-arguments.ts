import {
  astFromValue,
  getNamedType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  isScalarType,
  isSpecifiedScalarType,
  print,
} from "graphql";
import type { Dice } from "./dice.ts";

export type ArgumentValues = Readonly<Record<string, readonly unknown[]>>;

const scalarValues: ArgumentValues = {
  ID: ["1", "2", "0", "", "none"],
  String: ["1", "a", "", "none"],
  Int: [1, 2, 0, -1],
  Float: [1.5, 0],
  Boolean: [true, false],
};

/** Names that the engine or the planner gives to variables of its own, and names on the object prototype. */
const oddNames = [
  "representations",
  "representations0",
  "a_v",
  "a_a_v",
  "contextualArgument_1_0",
  "constructor",
  "toString",
  "then",
];

/** Writes arguments and directives, and collects the variables they need. */
export function createArgumentWriter(dice: Dice, values: ArgumentValues) {
  const definitions: string[] = [];
  const variables: Record<string, unknown> = {};
  /** Names by what they stand for: a variable may be used many times. */
  const known = new Map<string, string>();

  function nameVariable(): string {
    const name = dice.chance(20) ? dice.pick(oddNames) : `v${definitions.length}`;
    return definitions.some((definition) => definition.startsWith(`$${name}:`)) ? `v${definitions.length}` : name;
  }

  /** A variable that may be given, given by its default only, or (where it may be) not given at all. */
  function addVariable(type: GraphQLInputType, argument: string): string {
    const same = known.get(`${argument}: ${String(type)}`);
    if (same !== undefined && dice.chance(40)) return same;
    const name = nameVariable();
    const withDefault = dice.chance(40);
    const defaultText = withDefault ? ` = ${toLiteral(makeValue(type, argument), type)}` : "";
    definitions.push(`$${name}: ${String(type)}${defaultText}`);
    const mayBeLeftOut = withDefault || !isNonNullType(type);
    if (!mayBeLeftOut || dice.chance(60)) variables[name] = makeValue(type, argument);
    known.set(`${argument}: ${String(type)}`, `$${name}`);
    return `$${name}`;
  }

  function makeValue(type: GraphQLInputType, argument: string): unknown {
    if (isNonNullType(type)) return makePresent(type.ofType, argument);
    return dice.chance(10) ? null : makePresent(type, argument);
  }

  function makePresent(type: GraphQLInputType, argument: string): unknown {
    if (isListType(type)) return Array.from({ length: dice.roll(3) }, () => makeValue(type.ofType, argument));
    if (isInputObjectType(type)) {
      return Object.fromEntries(choose(type.getFields()).map(({ name, type }) => [name, makeValue(type, name)]));
    }
    const pool = values[argument] ?? (isEnumType(type) ? type.getValues().map(({ name }) => name) : undefined);
    return dice.pick(pool ?? scalarValues[getNamedType(type).name] ?? ["1"]);
  }

  function choose(fields: Readonly<Record<string, GraphQLInputField>>): readonly GraphQLInputField[] {
    return Object.values(fields).filter((field) => isRequiredInputField(field) || dice.chance(60));
  }

  /** A value with variables at any depth. */
  function writeValue(type: GraphQLInputType, argument: string): string {
    if (dice.chance(40)) return addVariable(type, argument);
    const nullable = isNonNullType(type) ? type.ofType : type;
    if (nullable === type && dice.chance(10)) return "null";
    if (isListType(nullable)) {
      // One value stands for a list of one; a variable does not.
      if (dice.chance(10)) return toLiteral(makePresent(getNamedType(nullable), argument), getNamedType(nullable));
      return `[${Array.from({ length: dice.roll(3) }, () => writeValue(nullable.ofType, argument)).join(", ")}]`;
    }
    if (isInputObjectType(nullable)) {
      const members = choose(nullable.getFields()).map(({ name, type }) => `${name}: ${writeValue(type, name)}`);
      return `{${members.join(", ")}}`;
    }
    const value = makePresent(nullable, argument);
    if (!isCustomScalar(nullable)) return toLiteral(value, nullable);
    // Variables may stand anywhere within what may be anything.
    return toUntypedLiteral(value, (leaf) =>
      dice.chance(15) ? addVariable(nullable, argument) : JSON.stringify(leaf),
    );
  }

  function writeCondition(): string {
    return dice.pick([() => "true", () => "false", writeConditionVariable])();
  }

  /** With a default a variable need not be of a type without null (GraphQL spec, "All Variable Usages Are Allowed"). */
  function writeConditionVariable(): string {
    const declared = dice.pick([
      "Boolean!",
      "Boolean! = true",
      "Boolean! = false",
      "Boolean = true",
      "Boolean = false",
    ]);
    const same = known.get(declared);
    if (same !== undefined && dice.chance(40)) return same;
    const name = nameVariable();
    definitions.push(`$${name}: ${declared}`);
    if (declared === "Boolean!" || dice.chance(40)) variables[name] = dice.chance(50);
    known.set(declared, `$${name}`);
    return `$${name}`;
  }

  return {
    definitions,
    variables,
    /** "" or "(id: $v0)". */
    writeArguments(field: GraphQLField<unknown, unknown>): string {
      const given = field.args.filter((argument) => isRequiredArgument(argument) || dice.chance(60));
      return given.length > 0
        ? `(${given.map(({ name, type }) => `${name}: ${writeValue(type, name)}`).join(", ")})`
        : "";
    },
    /** "", " @skip(if: $v0)", or both in either order. */
    writeDirectives(): string {
      if (!dice.chance(18)) return "";
      const names = dice.pick([["include"], ["skip"], ["include", "skip"], ["skip", "include"]]);
      return names.map((name) => ` @${name}(if: ${writeCondition()})`).join("");
    },
  };
}

function isCustomScalar(type: GraphQLInputType): boolean {
  return isScalarType(type) && !isSpecifiedScalarType(type);
}

/** A value without variables. */
function toLiteral(value: unknown, type: GraphQLInputType): string {
  if (value === null) return "null";
  if (isNonNullType(type)) return toLiteral(value, type.ofType);
  if (isListType(type))
    return `[${(value as readonly unknown[]).map((one) => toLiteral(one, type.ofType)).join(", ")}]`;
  if (isInputObjectType(type)) {
    const fields = type.getFields();
    const members = Object.entries(value as object).map(
      ([name, part]) => `${name}: ${toLiteral(part, fields[name]!.type)}`,
    );
    return `{${members.join(", ")}}`;
  }
  return isCustomScalar(type) ? toUntypedLiteral(value, JSON.stringify) : printLeaf(value, type);
}

/** @param writeLeaf writes what is neither a list nor an object. */
function toUntypedLiteral(value: unknown, writeLeaf: (leaf: unknown) => string): string {
  if (Array.isArray(value)) return `[${value.map((one) => toUntypedLiteral(one, writeLeaf)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return writeLeaf(value);
  const members = Object.entries(value).map(([name, part]) => `${name}: ${toUntypedLiteral(part, writeLeaf)}`);
  return `{${members.join(", ")}}`;
}

function printLeaf(value: unknown, type: GraphQLInputType): string {
  const node = astFromValue(value, type);
  if (!node) throw new Error(`No ${String(type)}: ${JSON.stringify(value)}`);
  return print(node);
}
