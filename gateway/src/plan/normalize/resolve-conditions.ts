// Resolves `@skip` and `@include`, and replaces named fragments by inline fragments. The first step of normalize.ts.
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type InlineFragmentNode,
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from "graphql";
import { Rejection } from "../../errors/rejections.ts";

/**
 * Returns the operation without `@skip`, `@include` and named fragments. A selection set may become empty.
 * @param coerced the coerced values of the variables in `@skip` and `@include`.
 * @throws Rejection BAD_USER_INPUT if one of these values is null.
 */
export function resolveConditionsAndFragments(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  coerced: Readonly<Record<string, unknown>>,
): OperationDefinitionNode {
  const resolve = createResolver(fragmentsOf(document), coerced);
  return { ...operation, selectionSet: selectionSetOf(resolve(operation.selectionSet)) };
}

/**
 * The names of all variables in `@skip` and `@include`, anywhere in the operation and its fragments. Their values select the variant of the plan. A
 * *condition* is such a directive.
 */
export function listConditionVariables(document: DocumentNode, operation: OperationDefinitionNode): readonly string[] {
  const fragments = fragmentsOf(document);
  const names = new Set<string>();
  const visitedFragments = new Set<string>();

  function search({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      for (const directive of selection.directives ?? []) {
        const ifArgument = isCondition(directive) ? ifArgumentOf(directive) : undefined;
        if (ifArgument?.kind === Kind.VARIABLE) names.add(ifArgument.name.value);
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD) searchFragment(selection.name.value);
      else if (selection.selectionSet) search(selection.selectionSet);
    }
  }

  function searchFragment(name: string): void {
    const fragment = visitedFragments.has(name) ? undefined : fragments.get(name);
    visitedFragments.add(name);
    if (fragment) search(fragment.selectionSet);
  }

  search(operation.selectionSet);
  return [...names];
}

type FragmentsByName = ReadonlyMap<string, FragmentDefinitionNode>;

export function fragmentsOf(document: DocumentNode): FragmentsByName {
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

/** Resolves each named fragment once: the inline fragments that replace its spreads share one list of selections. */
function createResolver(fragments: FragmentsByName, coerced: Readonly<Record<string, unknown>>) {
  const resolved = new Map<string, readonly SelectionNode[]>();

  function resolve({ selections }: SelectionSetNode): SelectionNode[] {
    const into: SelectionNode[] = [];
    for (const selection of selections) {
      if (isIncluded(selection, coerced)) add(selection, into);
    }
    return into;
  }

  function add(selection: SelectionNode, into: SelectionNode[]): void {
    const directives = withoutConditions(selection.directives);
    switch (selection.kind) {
      case Kind.FIELD:
        into.push(resolveField(selection, directives));
        break;
      case Kind.INLINE_FRAGMENT:
        addFragment(selection.typeCondition?.name, directives, resolve(selection.selectionSet), into);
        break;
      case Kind.FRAGMENT_SPREAD: {
        const fragment = fragments.get(selection.name.value);
        if (fragment) addFragment(fragment.typeCondition.name, directives, resolveFragment(fragment), into);
      }
    }
  }

  function resolveField(field: FieldNode, directives: readonly DirectiveNode[]): FieldNode {
    const { selectionSet } = field;
    if (selectionSet) return { ...field, directives, selectionSet: selectionSetOf(resolve(selectionSet)) };
    return directives === field.directives ? field : { ...field, directives };
  }

  function resolveFragment({ name, selectionSet }: FragmentDefinitionNode): readonly SelectionNode[] {
    const earlier = resolved.get(name.value);
    if (earlier) return earlier;
    const selections = resolve(selectionSet);
    resolved.set(name.value, selections);
    return selections;
  }

  return resolve;
}

/** Adds the selections, if any, to `into`: in an inline fragment if there is a type condition or a directive, else directly. */
export function addFragment(
  typeCondition: NameNode | undefined,
  directives: readonly DirectiveNode[],
  selections: readonly SelectionNode[],
  into: SelectionNode[],
): void {
  if (selections.length === 0) return;
  if (typeCondition === undefined && directives.length === 0) into.push(...selections);
  else into.push(inlineFragment(typeCondition, directives, selections));
}

export const noDirectives: readonly DirectiveNode[] = [];

/** Returns the same list if no directive is a condition: `resolveField` then need not copy the field. */
function withoutConditions(directives = noDirectives): readonly DirectiveNode[] {
  return directives.some(isCondition) ? directives.filter((directive) => !isCondition(directive)) : directives;
}

export function isCondition({ name }: DirectiveNode): boolean {
  return name.value === "skip" || name.value === "include";
}

/** A Boolean literal or a variable, because the document is valid. */
function ifArgumentOf(directive: DirectiveNode): ValueNode | undefined {
  return directive.arguments?.find(({ name }) => name.value === "if")?.value;
}

/** GraphQL spec, "CollectFields", steps a and b. */
function isIncluded({ directives = noDirectives }: SelectionNode, coerced: Readonly<Record<string, unknown>>): boolean {
  for (const directive of directives) {
    if (!isCondition(directive)) continue;
    const requiredValue = directive.name.value === "include";
    if (readCondition(directive, coerced) !== requiredValue) return false;
  }
  return true;
}

function readCondition(directive: DirectiveNode, coerced: Readonly<Record<string, unknown>>): boolean {
  const ifArgument = ifArgumentOf(directive);
  if (ifArgument?.kind === Kind.BOOLEAN) return ifArgument.value;
  const value = ifArgument?.kind === Kind.VARIABLE ? coerced[ifArgument.name.value] : undefined;
  if (typeof value === "boolean") return value;
  // A variable of type `Boolean = true` is allowed where Boolean! is expected, but the client may send null.
  throw new Rejection("BAD_USER_INPUT", `The condition of @${directive.name.value} must not be null.`);
}

export function selectionSetOf(selections: readonly SelectionNode[]): SelectionSetNode {
  return { kind: Kind.SELECTION_SET, selections };
}

function inlineFragment(
  typeCondition: NameNode | undefined,
  directives: readonly DirectiveNode[],
  selections: readonly SelectionNode[],
): InlineFragmentNode {
  const selectionSet = selectionSetOf(selections);
  const fragment: InlineFragmentNode = { kind: Kind.INLINE_FRAGMENT, directives, selectionSet };
  if (!typeCondition) return fragment;
  return { ...fragment, typeCondition: { kind: Kind.NAMED_TYPE, name: typeCondition } };
}
