import { ChangeType } from "@graphql-inspector/core";
import { priorityClasses, priorityDirectiveUrl } from "@tributary/kit/admission/priority";

const deprecate = 'mark it @deprecated(reason: "Use …"), and remove it when no client uses it.';

/** By graphql-inspector's change type. */
const adviceByType: Readonly<Record<string, string>> = {
  [ChangeType.FieldRemoved]: `keep the field, ${deprecate}`,
  [ChangeType.FieldTypeChanged]: `add a field of the new type beside this one, keep this one, ${deprecate}`,
  [ChangeType.FieldArgumentAdded]: "let the new argument be nullable, or give it a default.",
  [ChangeType.FieldArgumentRemoved]: `keep the argument, ${deprecate}`,
  [ChangeType.FieldArgumentTypeChanged]: `add an argument of the new type, keep this one nullable, ${deprecate}`,
  [ChangeType.FieldArgumentDefaultChanged]: "keep the default, or make sure that no client relies on it.",
  // graphql-inspector reports an input field with a default as dangerous.
  [ChangeType.InputFieldAdded]: "let the new input field be nullable, without a default.",
  [ChangeType.InputFieldRemoved]: `keep the input field, ${deprecate}`,
  [ChangeType.InputFieldTypeChanged]: `add an input field of the new type, keep this one, ${deprecate}`,
  [ChangeType.InputFieldDefaultValueChanged]: "keep the default, or make sure that no client relies on it.",
  [ChangeType.EnumValueRemoved]: `keep the value, ${deprecate}`,
  [ChangeType.EnumValueAdded]: "make sure that clients handle unknown values.",
  [ChangeType.DirectiveUsageInputObjectAdded]:
    "keep the input without @oneOf, and add an input with @oneOf for a new argument or field.",
  [ChangeType.TypeRemoved]: "keep the type, and mark the fields that lead to it @deprecated.",
  [ChangeType.TypeKindChanged]: "add a type of another name, and mark the fields that lead to this one @deprecated.",
  [ChangeType.UnionMemberRemoved]: "keep the member, and stop returning it when no client selects it.",
  [ChangeType.UnionMemberAdded]: "make sure that clients handle unknown types.",
  [ChangeType.ObjectTypeInterfaceRemoved]: "keep the interface: clients select its fields.",
};

const removals: ReadonlySet<string> = new Set([
  ChangeType.FieldRemoved,
  ChangeType.FieldArgumentRemoved,
  ChangeType.InputFieldRemoved,
  ChangeType.EnumValueRemoved,
]);

/** @param deprecation the reason of the `@deprecated` directive in the base. */
export function adviceFor(type: string, deprecation?: string): string {
  if (deprecation !== undefined && removals.has(type))
    return `it is deprecated (${JSON.stringify(deprecation)}). When no client uses it, accept its removal in supergraph/accepted-changes.yaml.`;
  return adviceByType[type] ?? "add the new definition beside the old one, and mark the old one @deprecated.";
}

const agreeOnType = "give it the same type in each subgraph, or agree on one with the owners of the other places.";

const compositionAdviceByCode: Readonly<Record<string, string>> = {
  DIRECTIVE_NOT_SUPPORTED:
    "remove the directive. The service itself has to enforce what it protects: see docs/federation.md.",
  ENUM_VALUE_MISMATCH: "give the enum the same values in each subgraph: it is used as an input and as an output.",
  EXTERNAL_MISSING_ON_BASE: "restore the field, or first remove every @external, @requires and @provides of it.",
  EXTERNAL_TYPE_MISMATCH: agreeOnType,
  FIELD_ARGUMENT_TYPE_MISMATCH: agreeOnType,
  FIELD_TYPE_MISMATCH: agreeOnType,
  INVALID_FIELD_SHARING: "mark the field @shareable in each subgraph that resolves it, or remove it from all but one.",
  INVALID_GRAPHQL:
    "correct the name or the definition. A type of another subgraph has to be defined here too, with its @key.",
  KEY_INVALID_FIELDS:
    'restore the field of the key; to rename it, keep it beside the new one: see "Rename a key" in CONTRIBUTING.md.',
  ONE_OF_FIELD: "let the field be nullable, without a default: a client sends exactly one field.",
  ONE_OF_MISMATCH: "mark the input @oneOf in each subgraph that defines it, or in none.",
  PRIORITY_MISMATCH: "declare the same class in each subgraph, or declare it in one of them only.",
  PRIORITY_NOT_AT_ROOT:
    "declare the priority of the root fields from which clients select this field. Only root fields have one.",
  PRIORITY_NOT_COMPOSED: `add @link(url: "${priorityDirectiveUrl}", import: ["@priority"]) and @composeDirective(name: "@priority") to the schema.`,
  PRIORITY_UNKNOWN: `use one of ${priorityClasses.join(", ")}.`,
  REQUIRED_ARGUMENT_MISSING_IN_SOME_SUBGRAPH:
    "make the argument nullable, or add it in each subgraph that has the field.",
  REQUIRED_INPUT_FIELD_MISSING_IN_SOME_SUBGRAPH: "make the input field nullable, or add it in each subgraph.",
  SATISFIABILITY_ERROR:
    "give the type a @key that the subgraphs named above resolve, or resolve the field in the subgraph of the root field.",
  TYPE_KIND_MISMATCH: "define the type with the same kind in each subgraph, or give one of them another name.",
  UNKNOWN_FEDERATION_LINK_VERSION:
    "link a supported version. docs/federation.md lists the directives of each version and what they do here.",
};

export function compositionAdviceFor(code: string): string {
  return compositionAdviceByCode[code] ?? `see ${code} in https://www.apollographql.com/docs/federation/errors`;
}
