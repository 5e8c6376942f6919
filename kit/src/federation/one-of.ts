// `@oneOf` (GraphQL specification, "OneOf Input Objects"). Apollo's libraries for federation do not know it: they reject a schema that applies
// it without a definition, and often drop it (docs/decisions/0013-one-of-around-composition.md).
import { type DirectiveDefinitionNode, type DocumentNode, Kind, parse } from "graphql";

export const oneOfDefinition = "directive @oneOf on INPUT_OBJECT";

/** The names of inputs with `@oneOf`. */
export function listOneOfInputs({ definitions }: DocumentNode): ReadonlySet<string> {
  const inputs = definitions.filter(
    (node) => node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || node.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION,
  );
  const oneOfs = inputs.filter(({ directives = [] }) => directives.some(({ name }) => name.value === "oneOf"));
  return new Set(oneOfs.map(({ name }) => name.value));
}

/** With the definition, if inputs have `@oneOf` and it is missing. */
export function withOneOfDefinition(document: DocumentNode): DocumentNode {
  if (listOneOfInputs(document).size === 0 || document.definitions.some(definesOneOf)) return document;
  return { ...document, definitions: [...document.definitions, ...parse(oneOfDefinition).definitions] };
}

/** The same for a text. */
export function withOneOfDefinitionText(sdl: string): string {
  // Few schemas have the directive, and parsing takes milliseconds.
  if (!sdl.includes("@oneOf")) return sdl;
  const document = parse(sdl, { noLocation: true });
  return withOneOfDefinition(document) === document ? sdl : `${sdl}\n${oneOfDefinition}\n`;
}

function definesOneOf(node: DocumentNode["definitions"][number]): node is DirectiveDefinitionNode {
  return node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === "oneOf";
}
