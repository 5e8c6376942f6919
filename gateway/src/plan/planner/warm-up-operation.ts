// Writes the operation that each planner worker plans once after it has loaded a supergraph (`warmPlanner` in task-runner.ts).
import {
  buildASTSchema,
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  isAbstractType,
  isObjectType,
  isRequiredArgument,
  parse,
} from "graphql";

/**
 * The size of the operation: levels below the root fields, and leaf and composite fields of each level. Large enough to have fetches to several
 * subgraphs, small enough to be planned in some 10 ms.
 */
const depthMax = 3;
const leavesMax = 3;
const branchesMax = 3;

/** A small query through several types. Undefined if every root field requires an argument. */
export function findWarmUpOperation(apiSdl: string): string | undefined {
  const query = buildASTSchema(parse(apiSdl, { noLocation: true }), { assumeValid: true }).getQueryType();
  return query ? writeSelections(query, depthMax) : undefined;
}

function writeSelections(type: GraphQLObjectType, depth: number): string | undefined {
  const selectable = Object.values(type.getFields()).filter(({ args }) => !args.some(isRequiredArgument));
  const leaves = selectable
    .filter(isLeaf)
    .slice(0, leavesMax)
    .map(({ name }) => name);
  const branches = depth === 0 ? [] : selectable.flatMap((field) => writeBranch(field, depth)).slice(0, branchesMax);
  const selections = [...leaves, ...branches];
  return selections.length === 0 ? undefined : `{ ${selections.join(" ")} }`;
}

function isLeaf(field: GraphQLField<unknown, unknown>): boolean {
  const type = getNamedType(field.type);
  return !isObjectType(type) && !isAbstractType(type);
}

function writeBranch(field: GraphQLField<unknown, unknown>, depth: number): string[] {
  const type = getNamedType(field.type);
  if (isAbstractType(type)) return [`${field.name} { __typename }`];
  const selections = isObjectType(type) ? writeSelections(type, depth - 1) : undefined;
  return selections === undefined ? [] : [`${field.name} ${selections}`];
}
