import type { Change as Difference } from "@graphql-inspector/core";
import { ChangeType, CriticalityLevel, diff } from "@graphql-inspector/core";
import type { DocumentNode, GraphQLSchema } from "graphql";
import {
  buildSchema,
  getArgumentValues,
  GraphQLDeprecatedDirective,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  parse,
} from "graphql";
import { adviceFor } from "../composition/advice.ts";
import type { GraphState } from "./change-places.ts";
import { findChangePlaces, readSide } from "./change-places.ts";
import type { Change } from "./changes.ts";
import { findCoordinate } from "../composition/places.ts";

/** What changed for clients between two states, breaking first. What is safe is left out. */
export async function findSchemaChanges(base: GraphState, now: GraphState): Promise<Change[]> {
  const nowSchema = buildSchema(now.apiSdl);
  const baseApi = parse(base.apiSdl);
  const differences = await diff(buildSchema(base.apiSdl), nowSchema);
  const sides = { base: readSide(base), now: readSide(now) };
  const changes = differences.flatMap((difference): Change[] => {
    const level = levelOf(difference, nowSchema);
    if (!level) return [];
    const coordinate = coordinateOf(difference);
    return [
      {
        level,
        code: String(difference.type),
        subject: subjectOf(difference, coordinate),
        message: difference.message,
        advice: adviceFor(String(difference.type), findDeprecation(baseApi, coordinate)),
        places: findChangePlaces(coordinate, sides),
      },
    ];
  });
  return changes.toSorted((a, b) => Number(b.level === "breaking") - Number(a.level === "breaking"));
}

function levelOf(difference: Difference, nowSchema: GraphQLSchema): Change["level"] | undefined {
  if (difference.criticality.level === CriticalityLevel.Breaking) return "breaking";
  if (difference.criticality.level !== CriticalityLevel.Dangerous) return undefined;
  return becameRequired(difference, nowSchema) ? "breaking" : "dangerous";
}

/** A non-null input that loses its default has to be given from now on. The diff calls every change of a default dangerous. */
function becameRequired({ type, path = "" }: Difference, nowSchema: GraphQLSchema): boolean {
  const [typeName = "", fieldName = "", argumentName] = path.split(".");
  const owner = nowSchema.getType(typeName);
  if (type === ChangeType.InputFieldDefaultValueChanged && isInputObjectType(owner)) {
    const field = owner.getFields()[fieldName];
    return field !== undefined && isRequiredInputField(field);
  }
  if (type !== ChangeType.FieldArgumentDefaultChanged || !(isObjectType(owner) || isInterfaceType(owner))) return false;
  const argument = owner.getFields()[fieldName]?.args.find(({ name }) => name === argumentName);
  return argument !== undefined && isRequiredArgument(argument);
}

/** The diff's path, made to name the member where it names only the union. */
function coordinateOf({ type, path = "", meta }: Difference): string {
  const member = type === ChangeType.UnionMemberRemoved ? `.${String(meta.removedUnionMemberTypeName)}` : "";
  return `${path}${member}`;
}

/** The coordinate, and the interface where only the type has a coordinate. */
function subjectOf({ type, meta }: Difference, coordinate: string): string {
  return type === ChangeType.ObjectTypeInterfaceRemoved
    ? `${coordinate} implements ${String(meta.removedInterfaceName)}`
    : coordinate;
}

/** The reason for which something is deprecated; undefined where it is not. */
function findDeprecation(api: DocumentNode, coordinate: string): string | undefined {
  const found = findCoordinate(api, coordinate);
  if (!found?.exact || !("directives" in found.node)) return undefined;
  const directive = found.node.directives?.find(({ name }) => name.value === "deprecated");
  return directive && String(getArgumentValues(GraphQLDeprecatedDirective, directive)["reason"]);
}
