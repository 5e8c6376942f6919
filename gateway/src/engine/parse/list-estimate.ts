// Stage 2 of 5: parse. How many entries the lists of an operation can have, by the sizes of pages that it requests: lists in lists multiply, and one
// subgraph may have to create all of them for one fetch.
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

/** @returns at least 0. */
export type EstimateEntries = (variables: Readonly<Record<string, unknown>>) => number;

interface Size {
  readonly size: number;
  /** Replaces `size`. */
  readonly variable: string | undefined;
}

/** A field with an argument that limits its list. Of several sizes, the largest counts. */
interface Page {
  readonly sizes: readonly Size[];
  readonly below: readonly Page[];
}

const sizeArguments: ReadonlySet<string> = new Set(["first", "last"]);

/** Without `@skip` and `@include`. @param operation within the limits of selections. @returns undefined without such lists. */
export function createListEstimate(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
  { operation, selectionSet, variableDefinitions = [] }: OperationDefinitionNode,
): EstimateEntries | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const defaults = new Map<string, number>();
  for (const { variable, defaultValue } of variableDefinitions)
    if (defaultValue?.kind === Kind.INT) defaults.set(variable.name.value, Number(defaultValue.value));

  function collect({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined | null): readonly Page[] {
    return selections.flatMap((selection): readonly Page[] => {
      if (selection.kind === Kind.FIELD) return collectField(selection, parent);
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      const condition = fragment?.typeCondition?.name.value;
      return fragment
        ? collect(fragment.selectionSet, condition === undefined ? parent : schema.getType(condition))
        : [];
    });
  }

  function collectField(node: FieldNode, parent: GraphQLNamedType | undefined | null): readonly Page[] {
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    if (!field) return [];
    const below = node.selectionSet ? collect(node.selectionSet, getNamedType(field.type)) : [];
    const page = readPage(field, node, below);
    return page ? [page] : below;
  }

  function readPage(field: GraphQLField<unknown, unknown>, node: FieldNode, below: readonly Page[]): Page | undefined {
    const declared = field.args.filter(({ name }) => sizeArguments.has(name));
    if (declared.length === 0 || !node.selectionSet) return undefined;
    const defaultSize = Math.max(1, ...declared.map(({ defaultValue }) => Number(defaultValue ?? 1) || 1));
    const given = node.arguments?.filter(({ name }) => sizeArguments.has(name.value)) ?? [];
    const sizes = given.map(({ value }): Size => {
      const variable = value.kind === Kind.VARIABLE ? value.name.value : undefined;
      const size = value.kind === Kind.INT ? Number(value.value) : defaults.get(variable ?? "");
      return { size: size ?? defaultSize, variable };
    });
    return { sizes: sizes.length > 0 ? sizes : [{ size: defaultSize, variable: undefined }], below };
  }

  const pages = collect(selectionSet, schema.getRootType(operation));
  return pages.length === 0 ? undefined : (variables) => count(pages, variables);
}

function count(pages: readonly Page[], variables: Parameters<EstimateEntries>[0]): number {
  let sum = 0;
  for (const { sizes, below } of pages) {
    // A subgraph rejects a negative size.
    let entries = 0;
    for (const { size, variable } of sizes) {
      const given = variable === undefined ? undefined : variables[variable];
      entries = Math.max(entries, typeof given === "number" ? given : size);
    }
    sum += entries * (1 + count(below, variables));
  }
  return sum;
}
