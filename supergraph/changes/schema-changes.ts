import { type Change as Difference, ChangeType, CriticalityLevel, diff } from "@graphql-inspector/core";
import {
  buildSchema,
  type DocumentNode,
  getArgumentValues,
  GraphQLDeprecatedDirective,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  parse,
} from "graphql";
import { adviceFor } from "../composition/advice.ts";
import { findChangePlaces, type GraphState, parseGraphState } from "./change-places.ts";
import type { Change } from "./changes.ts";
import { findCoordinate } from "../composition/places.ts";

/** Breaking changes first. Safe changes are omitted. */
export async function findSchemaChanges(base: GraphState, now: GraphState): Promise<Change[]> {
  const baseApi = parse(base.apiSdl);
  const states = { base: parseGraphState(base), now: parseGraphState(now) };
  const changes = (await compareSchemas(base.apiSdl, now.apiSdl)).flatMap(({ level, difference }): Change[] => {
    if (level === "safe") return [];
    const coordinate = coordinateOf(difference);
    return [
      {
        level,
        code: String(difference.type),
        subject: subjectOf(difference, coordinate),
        message: difference.message,
        advice: adviceFor(String(difference.type), findDeprecation(baseApi, coordinate)),
        places: findChangePlaces(coordinate, states),
      },
    ];
  });
  return changes.toSorted((a, b) => Number(b.level === "breaking") - Number(a.level === "breaking"));
}

interface LeveledDifference {
  readonly level: Change["level"] | "safe";
  readonly difference: Difference;
}

export async function compareSchemas(baseSdl: string, nowSdl: string): Promise<readonly LeveledDifference[]> {
  const nowSchema = buildSchema(nowSdl);
  const differences = await diff(buildSchema(baseSdl), nowSchema);
  return mergeDeprecations(differences).map((difference) => ({ level: levelOf(difference, nowSchema), difference }));
}

const argumentUsageTypes: ReadonlySet<Difference["type"]> = new Set([
  ChangeType.DirectiveUsageArgumentAdded,
  ChangeType.DirectiveUsageArgumentRemoved,
]);

/**
 * One difference for each deprecation. graphql-inspector also reports it as a use of the directive and of its argument; that an argument or an input
 * field has another reason, only as the removal and the addition of the argument.
 */
function mergeDeprecations(differences: readonly Difference[]): readonly Difference[] {
  const isDeprecation = ({ type, path = "" }: Difference) =>
    path.includes(".@deprecated") || String(type).includes("_DEPRECATION_");
  const byElement = Map.groupBy(differences.filter(isDeprecation), ({ path = "" }) =>
    path.replace(/\.@deprecated.*/, ""),
  );
  const merged = [...byElement].flatMap(([element, ones]) => {
    const whole = ones.find(({ type }) => !argumentUsageTypes.has(type));
    if (whole) return whole;
    const message = `Deprecation reason of '${element}' has changed`;
    return ones.slice(0, 1).map((one) => ({ ...one, message, criticality: { level: CriticalityLevel.NonBreaking } }));
  });
  return [...differences.filter((difference) => !isDeprecation(difference)), ...merged];
}

function levelOf(difference: Difference, nowSchema: GraphQLSchema): LeveledDifference["level"] {
  if (difference.criticality.level === CriticalityLevel.Breaking) return "breaking";
  if (difference.criticality.level !== CriticalityLevel.Dangerous) return "safe";
  // An optional one, which changes no request that does not send it.
  if (difference.type === ChangeType.FieldArgumentAdded) return "safe";
  return becameRequired(difference, nowSchema) ? "breaking" : "dangerous";
}

/** A non-null argument or input field that lost its default. graphql-inspector calls every change of a default dangerous. */
function becameRequired({ type, path = "" }: Difference, nowSchema: GraphQLSchema): boolean {
  const [typeName = "", fieldName = "", argumentName] = path.split(".");
  const parentType = nowSchema.getType(typeName);
  if (type === ChangeType.InputFieldDefaultValueChanged && isInputObjectType(parentType)) {
    const field = parentType.getFields()[fieldName];
    return field !== undefined && isRequiredInputField(field);
  }
  if (type === ChangeType.FieldArgumentDefaultChanged && (isObjectType(parentType) || isInterfaceType(parentType))) {
    const argument = parentType.getFields()[fieldName]?.args.find(({ name }) => name === argumentName);
    return argument !== undefined && isRequiredArgument(argument);
  }
  return false;
}

/** For a removed union member graphql-inspector reports only the union. */
function coordinateOf({ type, path = "", meta }: Difference): string {
  const member = type === ChangeType.UnionMemberRemoved ? `.${String(meta.removedUnionMemberTypeName)}` : "";
  return `${path}${member}`;
}

function subjectOf({ type, meta }: Difference, coordinate: string): string {
  if (type !== ChangeType.ObjectTypeInterfaceRemoved) return coordinate;
  return `${coordinate} implements ${String(meta.removedInterfaceName)}`;
}

function findDeprecation(api: DocumentNode, coordinate: string): string | undefined {
  const match = findCoordinate(api, coordinate);
  if (!match?.exact || !("directives" in match.node)) return undefined;
  const directive = match.node.directives?.find(({ name }) => name.value === "deprecated");
  if (!directive) return undefined;
  const { reason } = getArgumentValues(GraphQLDeprecatedDirective, directive);
  return String(reason);
}
