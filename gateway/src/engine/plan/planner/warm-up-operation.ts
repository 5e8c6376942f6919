// Writes the operations that each planner worker plans once after it has loaded a supergraph (`warmPlanner` in task-runner.ts).
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
 * The size of the operations: levels below the root fields, and leaf and composite fields of each level. Large enough to have fetches to several
 * subgraphs. With one level more, a graph of four subgraphs that share fields took 11 s.
 */
const depthMax = 2;
const leavesMax = 3;
const branchesMax = 3;

/**
 * Small queries through several types, one for each root field: the planner compares the plans of all root fields of an operation in combination, so one
 * query could take it many seconds. Empty if every root field requires an argument.
 */
export function listWarmUpOperations(apiSdl: string): readonly string[] {
  const query = buildASTSchema(parse(apiSdl, { noLocation: true }), { assumeValid: true }).getQueryType();
  return query ? listSelections(query, depthMax).map((selection) => `{ ${selection} }`) : [];
}

/** @param levelsBelow how many levels of composite fields may follow. @returns undefined if no field can be selected without arguments. */
function writeSelections(type: GraphQLObjectType, levelsBelow: number): string | undefined {
  const selections = listSelections(type, levelsBelow);
  return selections.length === 0 ? undefined : `{ ${selections.join(" ")} }`;
}

function listSelections(type: GraphQLObjectType, levelsBelow: number): readonly string[] {
  const selectable = Object.values(type.getFields()).filter(({ args }) => !args.some(isRequiredArgument));
  const leaves = selectable.filter(isLeaf).slice(0, leavesMax);
  const branches = levelsBelow === 0 ? [] : selectable.flatMap((field) => writeBranch(field, levelsBelow));
  return [...leaves.map(({ name }) => name), ...branches.slice(0, branchesMax)];
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
