// Stage 2 of 5: parse. How many entries the lists of an operation can have, by the sizes of pages that it requests: lists in lists multiply, and one
// subgraph may have to create all of them for one fetch. So an entry with many fields, such as one field under many aliases, counts several times.
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  type InlineFragmentNode,
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
  /** How many times an entry counts, without the lists below. */
  readonly weight: number;
  readonly below: readonly Page[];
}

interface Selected {
  readonly pages: readonly Page[];
  /** Without those below `pages`. */
  readonly fieldsCount: number;
}

const nothing: Selected = { pages: [], fieldsCount: 0 };
const fieldsPerEntry = 10;

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

  function collect({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined | null): Selected {
    const pages: Page[] = [];
    let fieldsCount = 0;
    for (const selection of selections) {
      const selected =
        selection.kind === Kind.FIELD ? collectField(selection, parent) : collectFragment(selection, parent);
      pages.push(...selected.pages);
      fieldsCount += selected.fieldsCount;
    }
    return { pages, fieldsCount };
  }

  function collectFragment(
    selection: FragmentSpreadNode | InlineFragmentNode,
    parent: GraphQLNamedType | undefined | null,
  ): Selected {
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    const condition = fragment?.typeCondition?.name.value;
    if (!fragment) return nothing;
    return collect(fragment.selectionSet, condition === undefined ? parent : schema.getType(condition));
  }

  function collectField(node: FieldNode, parent: GraphQLNamedType | undefined | null): Selected {
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    const below = field && node.selectionSet ? collect(node.selectionSet, getNamedType(field.type)) : nothing;
    const page = field && readPage(field, node, below);
    return page ? { pages: [page], fieldsCount: 1 } : { pages: below.pages, fieldsCount: 1 + below.fieldsCount };
  }

  function readPage(field: GraphQLField<unknown, unknown>, node: FieldNode, selected: Selected): Page | undefined {
    const declared = field.args.filter(({ name }) => sizeArguments.has(name));
    if (declared.length === 0 || !node.selectionSet) return undefined;
    const defaultSize = Math.max(1, ...declared.map(({ defaultValue }) => Number(defaultValue ?? 1) || 1));
    const given = node.arguments?.filter(({ name }) => sizeArguments.has(name.value)) ?? [];
    const sizes = given.map(({ value }): Size => {
      const variable = value.kind === Kind.VARIABLE ? value.name.value : undefined;
      const size = value.kind === Kind.INT ? Number(value.value) : defaults.get(variable ?? "");
      return { size: size ?? defaultSize, variable };
    });
    return {
      sizes: sizes.length > 0 ? sizes : [{ size: defaultSize, variable: undefined }],
      weight: Math.max(1, Math.ceil(selected.fieldsCount / fieldsPerEntry)),
      below: selected.pages,
    };
  }

  const { pages } = collect(selectionSet, schema.getRootType(operation));
  return pages.length === 0 ? undefined : (variables) => count(pages, variables);
}

function count(pages: readonly Page[], variables: Parameters<EstimateEntries>[0]): number {
  let sum = 0;
  for (const { sizes, weight, below } of pages) {
    // A subgraph rejects a negative size.
    let entries = 0;
    for (const { size, variable } of sizes) {
      const given = variable === undefined ? undefined : variables[variable];
      entries = Math.max(entries, typeof given === "number" ? given : size);
    }
    sum += entries * (weight + count(below, variables));
  }
  return sum;
}
