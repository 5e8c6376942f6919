// Compiles what an entity fetch with contextual arguments (`@fromContext`) needs: how their values are read from the response, and the request's text.
// A variable has one value in a document. So the document has, for each combination of values, an `_entities` field with its own variables.
import type { FetchDataKeyRenamer, FetchNode } from "@apollo/query-planner";
import { isJsonObject } from "@tributary/kit/json/json";
import { type OperationDefinitionNode, visit } from "graphql";
import type { CompiledRequest, ContextArgument, ContextSource, FieldAccess, DataJoins } from "./compiled-plan.ts";
import type { BatchedFetch } from "./fetch-document.ts";
import type { WholeRequest } from "./request-split.ts";
import type { SubsetCompiler } from "./request-subsets.ts";
import { nameFetch } from "./request-text.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

const parentStep = "..";
const fragmentPrefix = "... on ";

export function compileContextArguments(
  { contextRewrites = [], variableUsages = [] }: FetchNode,
  types: SupergraphTypes,
): readonly ContextArgument[] {
  const rewritesByVariable = Map.groupBy(contextRewrites, ({ renameKeyTo }) => renameKeyTo);
  const toSource = ({ path }: FetchDataKeyRenamer): ContextSource => {
    const level = path.lastIndexOf(parentStep) + 1;
    return { level, read: createReader(path.slice(level), types) };
  };
  // A fetch that was separated from another one (../rewrite/separate-branches.ts) has the rewrites of both.
  return Array.from(rewritesByVariable)
    .filter(([variable]) => variableUsages.includes(variable))
    .map(([variable, rewrites]) => ({ variable, sources: rewrites.map(toSource) }));
}

/** @param path response names, and `... on Type`. */
function createReader([step = "", ...rest]: readonly string[], types: SupergraphTypes): ContextSource["read"] {
  const readBelow = rest.length > 0 ? createReader(rest, types) : undefined;
  if (step.startsWith(fragmentPrefix)) {
    const typeCondition = step.slice(fragmentPrefix.length);
    return (object, layout, dataJoins) =>
      types.applies(typeCondition, layout.typename) ? readBelow?.(object, layout, dataJoins) : undefined;
  }
  return (object, layout, dataJoins) => {
    const access = layout.access(step);
    const value = access?.read(object, dataJoins);
    return access && readBelow ? readInObjects(value, access, readBelow, dataJoins) : value;
  };
}

function readInObjects(
  value: unknown,
  access: FieldAccess,
  read: ContextSource["read"],
  dataJoins: DataJoins,
): unknown {
  if (Array.isArray(value)) return value.map((entry) => readInObjects(entry, access, read, dataJoins) ?? null);
  if (!isJsonObject(value)) return value;
  const layout = access.position?.layoutOf(value, dataJoins);
  return layout && read(value, layout, dataJoins);
}

/** Undefined without contextual arguments. A fetch with some is alone in its batch. */
export function createContextRequests(
  request: WholeRequest,
  [first]: readonly BatchedFetch[],
  o: SubsetCompiler,
): CompiledRequest["forContexts"] {
  const plan = first?.fetch.representationPlan;
  if (!plan || first.fetch.contextArguments.length === 0) return undefined;
  const { fetch, document, variableNames } = first;
  const { contextArguments } = fetch;
  const compiled: CompiledRequest[] = [];

  const compileFor = (count: number): CompiledRequest => {
    const copies = Array.from({ length: count }, (_, i): BatchedFetch => {
      const ownNames = new Map(contextArguments.map(({ variable }) => [variable, ownName(variable, i)]));
      const ownArguments = contextArguments.map((argument) => ({
        ...argument,
        variable: valueName(argument.variable, i),
      }));
      const representationPlan = { ...plan, ...nameFetch(i, count), group: i };
      return {
        fetch: { ...fetch, representationPlan, contextArguments: ownArguments },
        document: { ...document, operation: renameVariables(document.operation, ownNames) },
        variableNames: variableNames.filter((name) => !ownNames.has(name)),
      };
    });
    const { currentText, variables } = o.compileTexts(request.service, copies);
    const contextVariables = copies.flatMap((_, i) =>
      contextArguments.map(({ variable }) => ({ name: ownName(variable, i), clientName: valueName(variable, i) })),
    );
    return {
      ...request,
      currentText,
      variables: [...variables, ...contextVariables],
      fetches: copies.map((copy) => copy.fetch),
      split: undefined,
      forContexts: undefined,
    };
  };

  return (count) => {
    const known = compiled[count];
    if (known) return known;
    const compiledNow = compileFor(count);
    compiled[count] = compiledNow;
    o.onSubset(compiledNow);
    return compiledNow;
  };
}

/** The planner's names have two numbers, and no variable of the client begins like them (`plannerVariable` in ../normalize/normalize.ts). */
function ownName(variable: string, index: number): string {
  return `${variable}_${index}`;
}

function valueName(variable: string, index: number): string {
  return `#${ownName(variable, index)}`;
}

function renameVariables(
  operation: OperationDefinitionNode,
  names: ReadonlyMap<string, string>,
): OperationDefinitionNode {
  return visit(operation, {
    Variable({ kind, name }) {
      const value = names.get(name.value);
      return value === undefined ? undefined : { kind, name: { ...name, value } };
    },
  });
}
