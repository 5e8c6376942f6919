// The first step of normalize.ts: resolves `@skip` and `@include` (*conditions*), and inlines named fragments.
import {
  type DirectiveNode,
  type DocumentNode,
  type ExecutableDefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type InlineFragmentNode,
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  visit,
} from "graphql";
import { Rejection } from "../../../errors/rejections.ts";

/** A selection set may become empty. @throws Rejection BAD_USER_INPUT if the value of a condition is null. */
export function resolveConditionsAndFragments(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  coerced: Readonly<Record<string, unknown>>,
): OperationDefinitionNode {
  const resolve = createResolver(fragmentsOf(document), coerced);
  return withSelections(operation, resolve(operation.selectionSet));
}

/** Their values select the variant of the plan. */
export function listConditionVariables(document: DocumentNode, operation: OperationDefinitionNode): readonly string[] {
  const names = new Set<string>();
  for (const definition of listReached(document, operation)) {
    visit(definition, {
      Directive(directive) {
        const ifArgument = isCondition(directive) ? ifArgumentOf(directive) : undefined;
        if (ifArgument?.kind === Kind.VARIABLE) names.add(ifArgument.name.value);
        return false;
      },
      Argument: () => false,
    });
  }
  return [...names];
}

/** The operation and the fragments that it spreads, directly or through other fragments, each once. */
export function listReached(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ReadonlySet<ExecutableDefinitionNode> {
  const fragments = fragmentsOf(document);
  const reached = new Set<ExecutableDefinitionNode>([operation]);
  // The loop also visits the fragments that it adds to the set.
  if (fragments.size === 0) return reached;
  for (const definition of reached) {
    visit(definition, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value);
        if (fragment) reached.add(fragment);
      },
      Argument: () => false,
    });
  }
  return reached;
}

type FragmentsByName = ReadonlyMap<string, FragmentDefinitionNode>;

function fragmentsOf(document: DocumentNode): FragmentsByName {
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

const noDirectives: readonly DirectiveNode[] = [];

/** Returns the same list if no directive is a condition: `resolveField` then need not copy the field. */
function withoutConditions(directives = noDirectives): readonly DirectiveNode[] {
  return directives.some(isCondition) ? directives.filter((directive) => !isCondition(directive)) : directives;
}

export function isCondition({ name }: DirectiveNode): boolean {
  return name.value === "skip" || name.value === "include";
}

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

export function withSelections<N extends { readonly selectionSet?: SelectionSetNode | undefined }>(
  node: N,
  selections: readonly SelectionNode[],
): N {
  return { ...node, selectionSet: selectionSetOf(selections) };
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
