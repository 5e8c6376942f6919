// Carries `@oneOf` around Apollo's composition, which drops it (docs/decisions/0013-one-of-around-composition.md).
import { oneOfDefinition } from "@tributary/kit/federation/one-of";
import {
  type InputObjectTypeDefinitionNode,
  type InputObjectTypeExtensionNode,
  type InputValueDefinitionNode,
  Kind,
  parse,
} from "graphql";
import { compositionAdviceFor } from "./advice.ts";
import type { CompositionError } from "./composition-errors.ts";
import { type ParsedSubgraph, type Place, placeOfNode } from "./places.ts";

type InputNode = InputObjectTypeDefinitionNode | InputObjectTypeExtensionNode;

/** An input in one subgraph: its definition and extensions. */
interface InputParts {
  readonly subgraph: ParsedSubgraph;
  readonly parts: readonly InputNode[];
  readonly isOneOf: boolean;
}

/** Inputs that have `@oneOf` in some subgraphs only, and fields of such inputs that a client would have to send. */
export function findOneOfProblems(parsed: readonly ParsedSubgraph[]): CompositionError[] {
  const inputs = parsed.flatMap(readInputs);
  const byName = Map.groupBy(inputs, ({ parts }) => parts[0]?.name.value ?? "");
  return [...byName].flatMap(([name, definitions]) => [
    ...findMismatch(name, definitions),
    ...definitions.flatMap(findRequiredFields),
  ]);
}

function readInputs(subgraph: ParsedSubgraph): InputParts[] {
  const nodes = subgraph.document.definitions.filter(isInput);
  return [...Map.groupBy(nodes, ({ name }) => name.value).values()].map((parts) => {
    return { subgraph, parts, isOneOf: parts.some(hasOneOf) };
  });
}

function findMismatch(name: string, inputs: readonly InputParts[]): CompositionError[] {
  const first = inputs.find(({ isOneOf }) => isOneOf);
  const others = inputs.filter(({ isOneOf }) => !isOneOf);
  if (!first || others.length === 0) return [];
  const without = others.map(({ subgraph }) => subgraph.source.name).join(", ");
  const message = `"${name}" is @oneOf in ${first.subgraph.source.name}, and not in ${without}.`;
  const elsewhere = others.flatMap((other) => placeOf(other, other.parts[0]) ?? []);
  return [toError(first, first.parts.find(hasOneOf), "ONE_OF_MISMATCH", message, elsewhere)];
}

function findRequiredFields(input: InputParts): CompositionError[] {
  if (!input.isOneOf) return [];
  return input.parts.flatMap(({ name, fields = [] }) => {
    const invalid = fields.filter(
      ({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE || defaultValue !== undefined,
    );
    return invalid.map((field) => {
      const what = field.type.kind === Kind.NON_NULL_TYPE ? "is not nullable" : "has a default";
      const message = `"${name.value}.${field.name.value}" ${what}, and its input is @oneOf.`;
      return toError(input, field, "ONE_OF_FIELD", message);
    });
  });
}

/** Adds the directive to the inputs that lost it. Apollo's layout of the text remains. */
export function restoreOneOf(supergraphSdl: string, names: ReadonlySet<string>): string {
  const inputs = parse(supergraphSdl).definitions.filter(isInput);
  const lost = inputs.filter((input) => names.has(input.name.value) && !hasOneOf(input));
  if (lost.length === 0) return supergraphSdl;
  const restored = lost.reduceRight((sdl, { directives = [], name }) => {
    const end = directives.at(-1)?.loc?.end ?? name.loc?.end ?? 0;
    return `${sdl.slice(0, end)}\n  @oneOf${sdl.slice(end)}`;
  }, supergraphSdl);
  return restored.includes(oneOfDefinition) ? restored : `${restored.trimEnd()}\n\n${oneOfDefinition}\n`;
}

function isInput(node: { readonly kind: Kind }): node is InputNode {
  return node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || node.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION;
}

function hasOneOf({ directives = [] }: InputNode): boolean {
  return directives.some(({ name }) => name.value === "oneOf");
}

function toError(
  input: InputParts,
  node: InputNode | InputValueDefinitionNode | undefined,
  code: string,
  message: string,
  elsewhere: readonly Place[] = [],
): CompositionError {
  const error = { message, code, ...placeOf(input, node), advice: compositionAdviceFor(code) };
  return elsewhere.length > 0 ? { ...error, elsewhere } : error;
}

function placeOf({ subgraph }: InputParts, node: InputNode | InputValueDefinitionNode | undefined): Place | undefined {
  return node && placeOfNode(node, [subgraph.source]);
}
