// Stage 2 of 5: parse. Limits on the size of operations. document-check.ts checks each new document once, before validation and planning, which cost
// more. config.ts has the defaults.
import {
  type DirectiveNode,
  type DocumentNode,
  type ArgumentNode,
  type FragmentDefinitionNode,
  type InlineFragmentNode,
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type TypeNode,
  type ValueNode,
  type VariableDefinitionNode,
} from "graphql";
import type { ClientCode } from "../errors/codes.ts";

/** Limits on one operation, with its fragments expanded wherever they are spread; `definitionsMax` is a limit on the document. */
export interface OperationLimits {
  /** Operations and fragments. Limited because validation collects the variables of each operation through all its fragments. */
  readonly definitionsMax: number;
  /** Variables that one operation defines. */
  readonly variablesMax: number;
  /** Levels of nested fields; fragments are not a level. */
  readonly depthMax: number;
  readonly aliasesMax: number;
  readonly rootFieldsMax: number;
  /** Directives of the operation and its selections, of variables and of fragment definitions. */
  readonly directivesMax: number;
  /** Entries of one list, fields of one object or arguments of one field or directive, written in the document. */
  readonly listEntriesMax: number;
  /** Levels of lists and objects in one value, and of lists in the type of one variable, written in the document. */
  readonly valueDepthMax: number;
  /** Fields, spreads and inline fragments. */
  readonly selectionsMax: number;
  /**
   * Characters of names, aliases and values. Plans and fetches contain the text of the operation with its fragments expanded, so its length is
   * limited even if the document is short.
   */
  readonly charactersMax: number;
}

export interface ExceededLimit {
  readonly code: Extract<ClientCode, `${string}_LIMIT_EXCEEDED`>;
  readonly message: string;
}

type Size =
  | "variables"
  | "depth"
  | "aliases"
  | "rootFields"
  | "directives"
  | "listEntries"
  | "valueDepth"
  | "selections"
  | "characters";
type Sizes = Readonly<Record<Size, number>>;

const noSizes: Sizes = {
  variables: 0,
  depth: 0,
  aliases: 0,
  rootFields: 0,
  directives: 0,
  listEntries: 0,
  valueDepth: 0,
  selections: 0,
  characters: 0,
};

const valueDepthRule = [
  "valueDepth",
  "valueDepthMax",
  "DEPTH_LIMIT_EXCEEDED",
  "levels of lists and objects in one value or type",
] as const;

const rules = [
  ["variables", "variablesMax", "VARIABLE_LIMIT_EXCEEDED", "variables"],
  ["selections", "selectionsMax", "SELECTION_LIMIT_EXCEEDED", "selections, fragments expanded"],
  ["depth", "depthMax", "DEPTH_LIMIT_EXCEEDED", "levels of fields"],
  ["aliases", "aliasesMax", "ALIAS_LIMIT_EXCEEDED", "aliases"],
  ["rootFields", "rootFieldsMax", "ROOT_FIELD_LIMIT_EXCEEDED", "root fields"],
  ["directives", "directivesMax", "DIRECTIVE_LIMIT_EXCEEDED", "directives"],
  ["listEntries", "listEntriesMax", "LIST_LIMIT_EXCEEDED", "entries in one list, object or list of arguments"],
  valueDepthRule,
  ["characters", "charactersMax", "LENGTH_LIMIT_EXCEEDED", "characters of names and values, fragments expanded"],
] as const;

/**
 * The first limit that the document exceeds; undefined if it is within all limits. Every operation is checked, also one that the request does not
 * choose, because validation reads all of them.
 */
export function findExceededLimit(document: DocumentNode, limits: OperationLimits): ExceededLimit | undefined {
  const { definitionsMax } = limits;
  if (document.definitions.length > definitionsMax)
    return {
      code: "DEFINITION_LIMIT_EXCEEDED",
      message: `A document has at most ${definitionsMax} operations and fragments.`,
    };
  const measure = createMeasure(document);
  for (const definition of document.definitions) {
    const isOperation = definition.kind === Kind.OPERATION_DEFINITION;
    if (!isOperation && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const sizes = measure(definition);
    // Validation also reads the values of a fragment that no operation uses. The other limits are about operations.
    for (const [size, limit, code, what] of isOperation ? rules : [valueDepthRule])
      if (sizes[size] > limits[limit]) return { code, message: `An operation has at most ${limits[limit]} ${what}.` };
  }
  return undefined;
}

/** Each fragment is measured once, so the cost depends on the document's length, not on its length with expanded fragments. */
function createMeasure(
  document: DocumentNode,
): (definition: OperationDefinitionNode | FragmentDefinitionNode) => Sizes {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const measured = new Map<string, Sizes>();

  function ofFragment(name: string): Sizes {
    const known = measured.get(name);
    if (known) return known;
    const fragment = fragments.get(name);
    // While the fragment is measured, it counts as empty: this ends a cycle of fragments. Validation rejects cycles and unknown fragments later.
    measured.set(name, noSizes);
    const sizes = fragment ? withDirectives(ofSet(fragment.selectionSet), fragment.directives) : noSizes;
    measured.set(name, sizes);
    return sizes;
  }

  function ofSet({ selections }: SelectionSetNode): Sizes {
    return selections.reduce((sizes, selection) => combineSiblings(sizes, ofSelection(selection)), noSizes);
  }

  function ofSelection(selection: SelectionNode): Sizes {
    const counted = withDirectives({ ...noSizes, selections: 1 }, selection.directives);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return combineSiblings(counted, ofFragment(selection.name.value));
    if (selection.kind === Kind.INLINE_FRAGMENT) return combineSiblings(counted, ofInline(selection));
    const below = selection.selectionSet ? ofSet(selection.selectionSet) : noSizes;
    const own = { ...combineSiblings(counted, ofNamed(selection)), aliases: selection.alias ? 1 : 0 };
    // Each field counts as one root field at its level: the fields below it are not root fields.
    return { ...combineSiblings(own, below), depth: below.depth + 1, rootFields: 1 };
  }

  function ofInline({ selectionSet, typeCondition }: InlineFragmentNode): Sizes {
    return combineSiblings({ ...noSizes, characters: typeCondition?.name.value.length ?? 0 }, ofSet(selectionSet));
  }

  return (definition) => {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) return ofFragment(definition.name.value);
    const { selectionSet, directives, variableDefinitions = [] } = definition;
    const sizes = withDirectives(ofSet(selectionSet), directives);
    return variableDefinitions.length === 0 ? sizes : combineSiblings(sizes, ofVariables(variableDefinitions));
  };
}

function ofVariables(definitions: readonly VariableDefinitionNode[]): Sizes {
  return definitions.reduce<Sizes>(
    (sizes, { variable, type, defaultValue, directives }) => {
      const ofDefault = defaultValue ? ofValue(defaultValue) : noSizes;
      const own = {
        ...ofDefault,
        characters: variable.name.value.length + ofDefault.characters,
        valueDepth: Math.max(ofDefault.valueDepth, countListLevels(type)),
      };
      return withDirectives(combineSiblings(sizes, own), directives);
    },
    { ...noSizes, variables: definitions.length },
  );
}

/** The sizes of two sibling selections together: counts are added, depths and list lengths are the maximum. */
function combineSiblings(a: Sizes, b: Sizes): Sizes {
  return {
    variables: a.variables + b.variables,
    depth: Math.max(a.depth, b.depth),
    aliases: a.aliases + b.aliases,
    rootFields: a.rootFields + b.rootFields,
    directives: a.directives + b.directives,
    listEntries: Math.max(a.listEntries, b.listEntries),
    valueDepth: Math.max(a.valueDepth, b.valueDepth),
    selections: a.selections + b.selections,
    characters: a.characters + b.characters,
  };
}

function withDirectives(sizes: Sizes, directives: readonly DirectiveNode[] = []): Sizes {
  return directives.reduce((sum, directive) => combineSiblings(sum, { ...ofNamed(directive), directives: 1 }), sizes);
}

interface Named {
  readonly alias?: NameNode | undefined;
  readonly name: NameNode;
  readonly arguments?: readonly ArgumentNode[] | undefined;
}

/** Sizes of the names and arguments of a field or directive. */
function ofNamed({ alias, name, arguments: given = [] }: Named): Sizes {
  const sizes = ofEntries(given);
  return { ...sizes, characters: sizes.characters + (alias?.value.length ?? 0) + name.value.length };
}

/** Sizes of a list of arguments, or of the fields of an object. Their number is limited like the entries of a list (`listEntries`). */
function ofEntries(entries: readonly { readonly name: NameNode; readonly value: ValueNode }[]): Sizes {
  if (entries.length === 0) return noSizes;
  return entries.reduce<Sizes>(
    (sizes, { name, value }) => {
      const own = ofValue(value);
      return combineSiblings(sizes, { ...own, characters: name.value.length + own.characters });
    },
    { ...noSizes, listEntries: entries.length },
  );
}

function ofValue(value: ValueNode): Sizes {
  switch (value.kind) {
    case Kind.VARIABLE:
      return { ...noSizes, characters: value.name.value.length };
    case Kind.LIST: {
      const { length } = value.values;
      const own = { ...noSizes, listEntries: length, characters: length };
      const sizes = value.values.reduce<Sizes>((sum, entry) => combineSiblings(sum, ofValue(entry)), own);
      return { ...sizes, valueDepth: sizes.valueDepth + 1 };
    }
    case Kind.OBJECT: {
      const sizes = ofEntries(value.fields);
      return { ...sizes, valueDepth: sizes.valueDepth + 1 };
    }
    case Kind.NULL:
    case Kind.BOOLEAN:
      return { ...noSizes, characters: 5 };
    case Kind.INT:
    case Kind.FLOAT:
    case Kind.STRING:
    case Kind.ENUM:
      return { ...noSizes, characters: value.value.length };
  }
}

function countListLevels(type: TypeNode): number {
  let levels = 0;
  let inner = type;
  while (inner.kind !== Kind.NAMED_TYPE) {
    if (inner.kind === Kind.LIST_TYPE) levels++;
    inner = inner.type;
  }
  return levels;
}
