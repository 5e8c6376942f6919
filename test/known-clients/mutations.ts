// Changes of a schema, generated: each is one edit of its definitions, as a developer makes it.
import {
  type ASTNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  isTypeDefinitionNode,
  Kind,
  parse,
  parseType,
  parseValue,
  print,
  type TypeNode,
  visit,
} from "graphql";

export interface Mutation {
  readonly name: string;
  readonly sdl: string;
}

type Edit = (node: ASTNode) => readonly (readonly [string, ASTNode | null])[];

/** By kind; an edit of a field also changes it in the types that implement the interface. */
const breaking: Edit[] = [
  (node) => (node.kind === Kind.FIELD_DEFINITION ? editsOfField(node) : []),
  (node) => (node.kind === Kind.INPUT_VALUE_DEFINITION ? editsOfInput(node) : []),
  (node) => (node.kind === Kind.ENUM_VALUE_DEFINITION ? [["remove the value", null]] : []),
  (node) =>
    node.kind === Kind.UNION_TYPE_DEFINITION
      ? (node.types ?? []).map((one) => [
          `remove the member ${one.name.value}`,
          { ...node, types: node.types?.filter((type) => type !== one) ?? [] },
        ])
      : [],
  (node) =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION
      ? (node.interfaces ?? []).map((one) => [
          `remove the interface ${one.name.value}`,
          { ...node, interfaces: node.interfaces?.filter((type) => type !== one) ?? [] },
        ])
      : [],
  (node) => (isTypeDefinitionNode(node) ? [["remove the type", null]] : []),
  (node) =>
    node.kind === Kind.ENUM_TYPE_DEFINITION
      ? [["make it a scalar", { kind: Kind.SCALAR_TYPE_DEFINITION, name: node.name }]]
      : [],
  (node) =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION
      ? [["make it an interface", { ...node, kind: Kind.INTERFACE_TYPE_DEFINITION }]]
      : [],
  (node) =>
    node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION
      ? [
          ["add a required field", { ...node, fields: [...(node.fields ?? []), input("added: Int!")] }],
          ["add @oneOf", { ...node, directives: [{ kind: Kind.DIRECTIVE, name: named("oneOf") }] }],
        ]
      : [],
  (node) => (node.kind === Kind.DIRECTIVE_DEFINITION ? [["remove the directive", null]] : []),
];

const harmless: Edit[] = [
  (node) =>
    "description" in node && isTypeDefinitionNode(node) ? [["describe", { ...node, description: text("New.") }]] : [],
  (node) => (node.kind === Kind.FIELD_DEFINITION ? harmlessFieldEdits(node) : []),
  (node) => (node.kind === Kind.INPUT_VALUE_DEFINITION ? harmlessInputEdits(node) : []),
  (node) =>
    node.kind === Kind.ENUM_TYPE_DEFINITION
      ? [
          [
            "add a value",
            { ...node, values: [...(node.values ?? []), { kind: Kind.ENUM_VALUE_DEFINITION, name: named("ADDED") }] },
          ],
        ]
      : [],
  (node) => (node.kind === Kind.ENUM_VALUE_DEFINITION ? [["deprecate", { ...node, directives: [deprecated] }]] : []),
  (node) =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION
      ? [["add a field", { ...node, fields: [...(node.fields ?? []), field("added(a: Int): String!")] }]]
      : [],
  (node) =>
    node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION
      ? [["add an optional field", { ...node, fields: [...(node.fields ?? []), input("added: Int")] }]]
      : [],
  (node) =>
    node.kind === Kind.UNION_TYPE_DEFINITION
      ? [["add a member", { ...node, types: [...(node.types ?? []), { kind: Kind.NAMED_TYPE, name: named("Line") }] }]]
      : [],
];

export const breakingMutations = (sdl: string) => mutate(sdl, breaking);
export const harmlessMutations = (sdl: string) => mutate(sdl, harmless);

function editsOfField(node: FieldDefinitionNode): ReturnType<Edit> {
  const retyped = (type: string) => ({ ...node, type: parseType(type) });
  const type = print(node.type);
  const args = node.arguments ?? [];
  const withArguments = (ones: readonly InputValueDefinitionNode[]) => ({ ...node, arguments: ones });
  return [
    ["remove the field", null],
    ...(node.type.kind === Kind.NON_NULL_TYPE ? [["make it nullable", retyped(print(node.type.type))] as const] : []),
    ["make it a list", retyped(`[${type}]`)],
    ["make it another scalar", retyped(nameOf(node.type) === "String" ? "ID" : "String")],
    ["make its items nullable", retyped(type.replace("!]", "]"))],
    ["return another type", retyped(type.replace(nameOf(node.type), "Note"))],
    ["add a required argument", withArguments([...args, input("added: Int!")])],
    ...args.map(
      (one) => [`remove the argument ${one.name.value}`, withArguments(args.filter((arg) => arg !== one))] as const,
    ),
  ];
}

function editsOfInput(node: InputValueDefinitionNode): ReturnType<Edit> {
  const type = print(node.type);
  const { defaultValue: _, ...withoutDefault } = node;
  return [
    ["remove the input", null],
    ["require it", { ...withoutDefault, type: parseType(`${type.replace(/!$/, "")}!`) }],
    ["require it, with its default", { ...node, type: parseType(`${type.replace(/!$/, "")}!`) }],
    ["change its type", { ...withoutDefault, type: parseType(type.replace(nameOf(node.type), "Float")) }],
    ["make it a list of lists", { ...withoutDefault, type: parseType(`[[${type}]]`) }],
  ];
}

function harmlessFieldEdits(node: FieldDefinitionNode): ReturnType<Edit> {
  const type = print(node.type);
  return [
    ["deprecate", { ...node, directives: [deprecated] }],
    ["make it non-null", { ...node, type: parseType(`${type.replace(/!$/, "")}!`) }],
    ["add an optional argument", { ...node, arguments: [...(node.arguments ?? []), input("added: Int")] }],
    [
      "add a required argument with a default",
      { ...node, arguments: [...(node.arguments ?? []), input("added: Int! = 1")] },
    ],
    ["describe", { ...node, description: text("New.") }],
  ];
}

function harmlessInputEdits(node: InputValueDefinitionNode): ReturnType<Edit> {
  const optional = { ...node, type: node.type.kind === Kind.NON_NULL_TYPE ? node.type.type : node.type };
  const isInt = nameOf(node.type) === "Int" && node.defaultValue;
  return [
    ["make it optional", optional],
    ...(isInt ? [["change its default", { ...node, defaultValue: parseValue("7") as never }] as const] : []),
    ...(optional.type === node.type ? [["deprecate", { ...node, directives: [deprecated] }] as const] : []),
  ];
}

function mutate(sdl: string, edits: readonly Edit[]): readonly Mutation[] {
  const document = parse(sdl, { noLocation: true });
  const original = print(document);
  const mutations = document.definitions.flatMap(membersOf).flatMap(([coordinate, target]) =>
    edits
      .flatMap((edit) => edit(target))
      .map(([what, replacement]) => {
        const edited = repair(replace(document, target, replacement), coordinate, replacement);
        return { name: `${what}: ${coordinate}`, sdl: print(edited) };
      }),
  );
  return mutations.filter((mutation) => mutation.sdl !== original);
}

function membersOf(definition: DefinitionNode): readonly (readonly [string, ASTNode])[] {
  if (!("name" in definition) || !definition.name) return [];
  const name = definition.name.value;
  const members = [
    ...("fields" in definition ? (definition.fields ?? []) : []),
    ...("values" in definition ? ((definition.values ?? []) as readonly ASTNode[]) : []),
    ...("arguments" in definition ? ((definition.arguments ?? []) as readonly ASTNode[]) : []),
  ] as readonly (FieldDefinitionNode | InputValueDefinitionNode)[];
  return [
    [name, definition],
    ...members.flatMap((member) => [
      [`${name}.${member.name.value}`, member] as const,
      ...("arguments" in member ? (member.arguments ?? []) : []).map(
        (one) => [`${name}.${member.name.value}.${one.name.value}`, one] as const,
      ),
    ]),
  ];
}

function replace(document: DocumentNode, target: ASTNode, replacement: ASTNode | null): DocumentNode {
  return visit(document, { enter: (node) => (node === target ? replacement : undefined) });
}

/** What a developer edits with it: the same member of the types that implement an interface, and all that refers to a removed type. */
function repair(document: DocumentNode, coordinate: string, replacement: ASTNode | null): DocumentNode {
  const [typeName = "", fieldName, argumentName] = coordinate.split(".");
  if (fieldName === undefined && replacement === null) return withoutReferences(document, typeName);
  if (fieldName === undefined) return document;
  const implementers = new Set(
    document.definitions.flatMap((node) =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION
        ? (node.interfaces ?? []).some(({ name }) => name.value === typeName)
          ? [node.name.value]
          : []
        : [],
    ),
  );
  return visit(document, {
    enter(node) {
      if (!isTypeDefinitionNode(node) || !implementers.has(node.name.value) || !("fields" in node)) return undefined;
      const fields = (node.fields ?? []) as readonly FieldDefinitionNode[];
      const repaired: ASTNode[] = fields.flatMap((one): ASTNode[] => {
        if (one.name.value !== fieldName) return [one];
        if (argumentName === undefined) return replacement ? [replacement] : [];
        const args = (one.arguments ?? []).flatMap((arg): ASTNode[] => {
          if (arg.name.value !== argumentName) return [arg];
          return replacement ? [replacement] : [];
        });
        return [{ ...one, arguments: args } as ASTNode];
      });
      return { ...node, fields: repaired } as ASTNode;
    },
  });
}

function withoutReferences(document: DocumentNode, typeName: string): DocumentNode {
  const refersTo = (node: { readonly type: TypeNode }) => nameOf(node.type) === typeName;
  return visit(document, {
    FieldDefinition: (node) => (refersTo(node) ? null : undefined),
    InputValueDefinition: (node) => (refersTo(node) ? null : undefined),
    NamedType: (node, _key, parent) => (Array.isArray(parent) && node.name.value === typeName ? null : undefined),
  });
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}

function named(value: string) {
  return { kind: Kind.NAME, value } as const;
}

function text(value: string) {
  return { kind: Kind.STRING, value } as const;
}

function field(sdl: string): FieldDefinitionNode {
  const [definition] = parse(`type T { ${sdl} }`, { noLocation: true }).definitions;
  return (definition as unknown as { readonly fields: readonly FieldDefinitionNode[] })
    .fields[0] as FieldDefinitionNode;
}

function input(sdl: string): InputValueDefinitionNode {
  const [definition] = parse(`input T { ${sdl} }`, { noLocation: true }).definitions;
  return (definition as unknown as { readonly fields: readonly InputValueDefinitionNode[] })
    .fields[0] as InputValueDefinitionNode;
}

const deprecated = { kind: Kind.DIRECTIVE, name: named("deprecated") } as const;
