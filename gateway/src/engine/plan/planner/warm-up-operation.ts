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

/** @param levelsBelow how many levels of composite fields may follow. @returns undefined if no field can be selected without arguments. */
function writeSelections(type: GraphQLObjectType, levelsBelow: number): string | undefined {
  const selectable = Object.values(type.getFields()).filter(({ args }) => !args.some(isRequiredArgument));
  const leaves = selectable.filter(isLeaf).slice(0, leavesMax);
  const branches = levelsBelow === 0 ? [] : selectable.flatMap((field) => writeBranch(field, levelsBelow));
  const selections = [...leaves.map(({ name }) => name), ...branches.slice(0, branchesMax)];
  return selections.length === 0 ? undefined : `{ ${selections.join(" ")} }`;
}

function isLeaf(field: GraphQLField<unknown, unknown>): boolean {
  const type = getNamedType(field.type);
  return !isObjectType(type) && !isAbstractType(type);
}

/** @returns the composite field with its selections; empty if nothing can be selected in the field. */
function writeBranch(field: GraphQLField<unknown, unknown>, levelsBelow: number): string[] {
  const type = getNamedType(field.type);
  if (isAbstractType(type)) return [`${field.name} { __typename }`];
  const selections = isObjectType(type) ? writeSelections(type, levelsBelow - 1) : undefined;
  return selections === undefined ? [] : [`${field.name} ${selections}`];
}
