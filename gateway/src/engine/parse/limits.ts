// Stage 2 of 5: parse. Limits on the size of operations, checked once per new document, before validation and planning, which cost more.
import {
  type DirectiveNode,
  type DocumentNode,
  type ArgumentNode,
  type FieldNode,
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
import type { ClientCode } from "../../errors/codes.ts";

/** Of one operation, with its fragments expanded wherever they are spread. */
export interface OperationLimits {
  /** Operations and fragments of a document: validation collects the variables of each operation through all its fragments. */
  readonly definitionsMax: number;
  readonly variablesMax: number;
  /** Fragments are not a level. */
  readonly depthMax: number;
  readonly aliasesMax: number;
  readonly rootFieldsMax: number;
  /** Also of variables and of fragment definitions. */
  readonly directivesMax: number;
  /** Also fields of one object, and arguments of one field or directive. */
  readonly listEntriesMax: number;
  /** By `first` and `last`, those of lists in lists multiplied. Only known with the variables (list-estimate.ts). */
  readonly pageEntriesMax: number;
  /** Also levels of lists in the type of one variable. */
  readonly valueDepthMax: number;
  /** Fields, spreads and inline fragments. */
  readonly selectionsMax: number;
  /** Of names, aliases and values. Plans contain the text with its fragments expanded. */
  readonly charactersMax: number;
}

export interface ExceededLimit {
  readonly code: Extract<ClientCode, `${string}_LIMIT_EXCEEDED`>;
  readonly message: string;
}

type Sizes = Readonly<Record<keyof typeof noSizes, number>>;

const noSizes = {
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

/** `unit` is the end of the message to the client: "An operation has at most 5 aliases." */
type LimitRule = readonly [size: keyof Sizes, limit: keyof OperationLimits, code: ExceededLimit["code"], unit: string];

const valueDepthRule: LimitRule = [
  "valueDepth",
  "valueDepthMax",
  "DEPTH_LIMIT_EXCEEDED",
  "levels of lists and objects in one value or type",
];

/** Validation also reads the values of a fragment that no operation uses. The other limits are about operations. */
const fragmentRules: readonly LimitRule[] = [valueDepthRule];

/** In the order in which they are checked: a client gets the first limit that its operation exceeds. */
const operationRules: readonly LimitRule[] = [
  ["variables", "variablesMax", "VARIABLE_LIMIT_EXCEEDED", "variables"],
  ["selections", "selectionsMax", "SELECTION_LIMIT_EXCEEDED", "selections, fragments expanded"],
  ["depth", "depthMax", "DEPTH_LIMIT_EXCEEDED", "levels of fields"],
  ["aliases", "aliasesMax", "ALIAS_LIMIT_EXCEEDED", "aliases"],
  ["rootFields", "rootFieldsMax", "ROOT_FIELD_LIMIT_EXCEEDED", "root fields"],
  ["directives", "directivesMax", "DIRECTIVE_LIMIT_EXCEEDED", "directives"],
  ["listEntries", "listEntriesMax", "LIST_LIMIT_EXCEEDED", "entries in one list, object or list of arguments"],
  valueDepthRule,
  ["characters", "charactersMax", "LENGTH_LIMIT_EXCEEDED", "characters of names and values, fragments expanded"],
];

/** Every operation is checked, also one that the request does not choose, because validation reads all of them. */
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
    const exceeded = findExceededRule(sizes, isOperation ? operationRules : fragmentRules, limits);
    if (exceeded) return exceeded;
  }
  return undefined;
}

function findExceededRule(
  sizes: Sizes,
  rules: readonly LimitRule[],
  limits: OperationLimits,
): ExceededLimit | undefined {
  for (const [size, limit, code, unit] of rules) {
    const sizeMax = limits[limit];
    if (sizes[size] > sizeMax) return { code, message: `An operation has at most ${sizeMax} ${unit}.` };
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

  function measureFragment(name: string): Sizes {
    const known = measured.get(name);
    if (known) return known;
    const fragment = fragments.get(name);
    // While the fragment is measured, it counts as empty: this ends a cycle of fragments. Validation rejects cycles and unknown fragments later.
    measured.set(name, noSizes);
    const sizes = fragment ? addDirectives(measureSet(fragment.selectionSet), fragment.directives) : noSizes;
    measured.set(name, sizes);
    return sizes;
  }

  function measureSet({ selections }: SelectionSetNode): Sizes {
    return selections.reduce((sizes, selection) => combineSiblings(sizes, measureSelection(selection)), noSizes);
  }

  function measureSelection(selection: SelectionNode): Sizes {
    const own = addDirectives({ ...noSizes, selections: 1 }, selection.directives);
    switch (selection.kind) {
      case Kind.FRAGMENT_SPREAD:
        return combineSiblings(own, measureFragment(selection.name.value));
      case Kind.INLINE_FRAGMENT:
        return combineSiblings(own, measureInlineFragment(selection));
      case Kind.FIELD:
        return combineSiblings(own, measureField(selection));
    }
  }

  function measureField(field: FieldNode): Sizes {
    const own = { ...measureNamed(field), aliases: field.alias ? 1 : 0 };
    const below = field.selectionSet ? measureSet(field.selectionSet) : noSizes;
    // Each field counts as one root field at its level: the fields below it are not root fields.
    return { ...combineSiblings(own, below), depth: below.depth + 1, rootFields: 1 };
  }

  function measureInlineFragment({ selectionSet, typeCondition }: InlineFragmentNode): Sizes {
    const own = { ...noSizes, characters: typeCondition?.name.value.length ?? 0 };
    return combineSiblings(own, measureSet(selectionSet));
  }

  return (definition) => {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) return measureFragment(definition.name.value);
    const { selectionSet, directives, variableDefinitions = [] } = definition;
    const sizes = addDirectives(measureSet(selectionSet), directives);
    return variableDefinitions.length === 0 ? sizes : combineSiblings(sizes, measureVariables(variableDefinitions));
  };
}

function measureVariables(definitions: readonly VariableDefinitionNode[]): Sizes {
  return definitions.reduce<Sizes>(
    (sizes, { variable, type, defaultValue, directives }) => {
      const ofDefault = defaultValue ? measureValue(defaultValue) : noSizes;
      const own = {
        ...ofDefault,
        characters: variable.name.value.length + ofDefault.characters,
        valueDepth: Math.max(ofDefault.valueDepth, countListLevels(type)),
      };
      return addDirectives(combineSiblings(sizes, own), directives);
    },
    { ...noSizes, variables: definitions.length },
  );
}

/** Counts are added, depths and list lengths are the maximum. */
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

function addDirectives(sizes: Sizes, directives: readonly DirectiveNode[] = []): Sizes {
  return directives.reduce(
    (sum, directive) => combineSiblings(sum, { ...measureNamed(directive), directives: 1 }),
    sizes,
  );
}

interface Named {
  readonly alias?: NameNode | undefined;
  readonly name: NameNode;
  readonly arguments?: readonly ArgumentNode[] | undefined;
}

function measureNamed({ alias, name, arguments: argumentNodes = [] }: Named): Sizes {
  const sizes = measureEntries(argumentNodes);
  return { ...sizes, characters: sizes.characters + (alias?.value.length ?? 0) + name.value.length };
}

function measureEntries(entries: readonly { readonly name: NameNode; readonly value: ValueNode }[]): Sizes {
  if (entries.length === 0) return noSizes;
  return entries.reduce<Sizes>(
    (sizes, { name, value }) => {
      const ofEntry = measureValue(value);
      return combineSiblings(sizes, { ...ofEntry, characters: name.value.length + ofEntry.characters });
    },
    { ...noSizes, listEntries: entries.length },
  );
}

const keywordCharacters = 5;

function measureValue(value: ValueNode): Sizes {
  switch (value.kind) {
    case Kind.VARIABLE:
      return { ...noSizes, characters: value.name.value.length };
    case Kind.LIST: {
      const { length } = value.values;
      // Each entry counts as one more character, for its separator.
      const own = { ...noSizes, listEntries: length, characters: length };
      const sizes = value.values.reduce<Sizes>((sum, entry) => combineSiblings(sum, measureValue(entry)), own);
      return { ...sizes, valueDepth: sizes.valueDepth + 1 };
    }
    case Kind.OBJECT: {
      const sizes = measureEntries(value.fields);
      return { ...sizes, valueDepth: sizes.valueDepth + 1 };
    }
    case Kind.NULL:
    case Kind.BOOLEAN:
      return { ...noSizes, characters: keywordCharacters };
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
