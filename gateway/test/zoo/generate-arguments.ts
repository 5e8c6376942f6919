import {
  astFromValue,
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
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

/** Writes arguments and directives, and collects the variables they need. */
export function createArgumentWriter(dice: Dice, values: ArgumentValues) {
  const definitions: string[] = [];
  const variables: Record<string, unknown> = {};

  /** A variable of this type that may be given, given by its default only, or (where it may be) not given at all. */
  function addVariable(type: GraphQLInputType, argument: string): string {
    const name = `v${definitions.length}`;
    const withDefault = dice.chance(40);
    const defaultText = withDefault ? ` = ${toLiteral(makeValue(type, argument), type)}` : "";
    definitions.push(`$${name}: ${String(type)}${defaultText}`);
    const mayBeLeftOut = withDefault || !isNonNullType(type);
    if (!mayBeLeftOut || dice.chance(60)) variables[name] = makeValue(type, argument);
    return `$${name}`;
  }

  function makeValue(type: GraphQLInputType, argument: string): unknown {
    if (isNonNullType(type)) return makePresent(type.ofType, argument);
    return dice.chance(10) ? null : makePresent(type, argument);
  }

  function makePresent(type: GraphQLInputType, argument: string): unknown {
    if (isListType(type)) return Array.from({ length: dice.roll(3) }, () => makeValue(type.ofType, argument));
    if (isInputObjectType(type)) return makeObject(Object.values(type.getFields()));
    const pool = values[argument] ?? (isEnumType(type) ? type.getValues().map(({ name }) => name) : undefined);
    return dice.pick(pool ?? scalarValues[getNamedType(type).name] ?? ["1"]);
  }

  function makeObject(fields: readonly Pick<GraphQLArgument, "name" | "type" | "defaultValue">[]): object {
    const given = fields.filter((field) => isRequiredArgument(field as GraphQLArgument) || dice.chance(60));
    return Object.fromEntries(given.map(({ name, type }) => [name, makeValue(type, name)]));
  }

  function writeArgument({ name, type }: GraphQLArgument): string {
    return `${name}: ${dice.chance(40) ? addVariable(type, name) : toLiteral(makeValue(type, name), type)}`;
  }

  function writeCondition(): string {
    return dice.pick([
      () => "true",
      () => "false",
      () => {
        const defaultText = dice.pick(["", " = true", " = false"]);
        const name = `v${definitions.length}`;
        definitions.push(`$${name}: Boolean!${defaultText}`);
        if (defaultText === "" || dice.chance(40)) variables[name] = dice.chance(50);
        return `$${name}`;
      },
    ])();
  }

  return {
    definitions,
    variables,
    /** "" or "(id: $v0)". */
    writeArguments(field: GraphQLField<unknown, unknown>): string {
      const given = field.args.filter((argument) => isRequiredArgument(argument) || dice.chance(60));
      return given.length > 0 ? `(${given.map(writeArgument).join(", ")})` : "";
    },
    /** "" or " @skip(if: $v0)". */
    writeDirectives: (): string =>
      dice.chance(15) ? ` @${dice.pick(["include", "skip"])}(if: ${writeCondition()})` : "",
  };
}

function toLiteral(value: unknown, type: GraphQLInputType): string {
  const node = astFromValue(value, type);
  if (!node) throw new Error(`No ${String(type)}: ${JSON.stringify(value)}`);
  return print(node);
}
