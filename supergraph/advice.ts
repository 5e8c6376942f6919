import { ChangeType } from "@graphql-inspector/core";

const deprecate = 'mark it @deprecated(reason: "Use …"), and let clients move over in their own time.';

/** What a team does instead of breaking its clients, by the kind of change. */
const adviceByType: Readonly<Record<string, string>> = {
  [ChangeType.FieldRemoved]: `keep the field, ${deprecate}`,
  [ChangeType.FieldTypeChanged]: `add a field of the new type beside this one, keep this one, ${deprecate}`,
  [ChangeType.FieldArgumentAdded]: "let the new argument be nullable, or give it a default.",
  [ChangeType.FieldArgumentRemoved]: `keep the argument, ${deprecate}`,
  [ChangeType.FieldArgumentTypeChanged]: `add an argument of the new type, keep this one nullable, ${deprecate}`,
  [ChangeType.FieldArgumentDefaultChanged]: "leave the default as it is, or make sure that nobody relies on it.",
  [ChangeType.InputFieldAdded]: "let the new input field be nullable, without a default.",
  [ChangeType.InputFieldRemoved]: `keep the input field, ${deprecate}`,
  [ChangeType.InputFieldTypeChanged]: `add an input field of the new type, keep this one, ${deprecate}`,
  [ChangeType.InputFieldDefaultValueChanged]: "leave the default as it is, or make sure that nobody relies on it.",
  [ChangeType.EnumValueRemoved]: `keep the value, ${deprecate}`,
  [ChangeType.EnumValueAdded]: "make sure that clients have an answer for a value that they do not know.",
  [ChangeType.TypeRemoved]: "keep the type, and mark the fields that lead to it @deprecated.",
  [ChangeType.TypeKindChanged]: "add a type of another name, and mark the fields that lead to this one @deprecated.",
  [ChangeType.UnionMemberRemoved]: "keep the member, and stop returning it once no client asks for it.",
  [ChangeType.UnionMemberAdded]: "make sure that clients have an answer for a type that they do not know.",
  [ChangeType.ObjectTypeInterfaceRemoved]: "keep the interface: clients ask for its fields.",
};

/** Ends the sentence that begins with "Instead:". */
export function adviceFor(type: string): string {
  return adviceByType[type] ?? "add what is new beside what is there, and mark what is there @deprecated.";
}
