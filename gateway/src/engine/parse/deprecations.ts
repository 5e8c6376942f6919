// Stage 2 of 5: parse. Which deprecated elements a request uses. An element counts if the request would fail without it: each one in the document,
// also in a selection that `@skip` excludes, since the whole document is validated; and each one in the values of the variables.
import type { DeprecatedElement, DeprecatedElements } from "@tributary/kit/federation/deprecated-elements";
import { findOperationUses, listTypeMembers } from "@tributary/kit/federation/operation-uses";
import {
  type DocumentNode,
  getNamedType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";
import type { FindDeprecations } from "./validated-operation.ts";

/** @returns undefined if no request for the operation can use a deprecated element. */
export function createDeprecationFinder(
  schema: GraphQLSchema,
  elements: DeprecatedElements,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
): FindDeprecations | undefined {
  if (elements.size === 0) return undefined;
  const { inDocument } = findOperationUses(document, schema);
  const written = [...elements.values()].filter(({ coordinate }) => inDocument.has(coordinate));
  const inputs = variableDefinitions.flatMap(({ variable, type }) => {
    const inputType = typeFromAST(schema, type);
    if (!isInputType(inputType)) return [];
    const isRelevant = [...listTypeMembers(inputType)].some((coordinate) => elements.has(coordinate));
    return isRelevant ? [{ name: variable.name.value, type: inputType }] : [];
  });
  if (inputs.length === 0) return written.length === 0 ? undefined : () => written;
  return (variables) => {
    const used = new Set(written);
    for (const { name, type } of inputs) {
      if (Object.hasOwn(variables, name)) addUsed(type, variables[name], elements, used);
    }
    return used.size > 0 ? [...used] : undefined;
  };
}

/** Recursion is safe: the JSON parser limits the depth of variables (`levelsMax` in kit/src/http/json-body.ts). */
function addUsed(
  listedType: GraphQLInputType,
  value: unknown,
  elements: DeprecatedElements,
  used: Set<DeprecatedElement>,
): void {
  if (Array.isArray(value)) {
    for (const item of value) addUsed(listedType, item, elements, used);
    return;
  }
  const type = getNamedType(listedType);
  const add = (member: string) => {
    const element = elements.get(`${type.name}.${member}`);
    if (element) used.add(element);
  };
  if (isEnumType(type) && typeof value === "string") add(value);
  if (!isInputObjectType(type) || typeof value !== "object" || value === null) return;
  const fields = type.getFields();
  for (const [name, member] of Object.entries(value)) {
    add(name);
    const field = fields[name];
    if (field) addUsed(field.type, member, elements, used);
  }
}
