import { buildSubgraphSchema } from "@apollo/subgraph";
import type { CacheMetadata } from "@tributary/kit/graphql/cache-metadata";
import { type DocumentNode, execute, Kind, parse, type SelectionNode } from "graphql";
import { subgraphResolvers } from "../graph/resolvers.ts";
import { type BenchmarkSubgraphName, subgraphSdl } from "../graph/schemas.ts";
import { toHttp } from "./stub-upstream.ts";

/** Limit of stored bytes, several times what a whole run needs. Beyond it responses are computed for each request, and counted. */
const storedBytesMax = 4_000_000_000;
const cacheSeconds = 60;

type Variables = Readonly<Record<string, unknown>>;

/**
 * The responses of one subgraph: graphql-js computes one response per request body, which is stored and sent again.
 * @param onCompute called before a response is computed.
 * @returns a function from a request body, in Latin-1, to the complete HTTP response; a promise if it must be computed.
 */
export function createCannedResponses(name: BenchmarkSubgraphName, onCompute: () => void) {
  const schema = buildSubgraphSchema([
    { typeDefs: parse(subgraphSdl[name]), resolvers: subgraphResolvers[name] as never },
  ]);
  const stored = new Map<string, Buffer>();
  let storedBytes = 0;

  const compute = async (body: string): Promise<Buffer> => {
    onCompute();
    const text = Buffer.from(body, "latin1").toString();
    const { query, variables, operationName, extensions } = JSON.parse(text);
    const document = parse(query);
    const result = await execute({ schema, document, variableValues: variables, operationName });
    // Only Tributary's gateway requests metadata. `people` stands for private data, although its rows are the same for every caller.
    const hasMetadata = name !== "people" && extensions?.cacheMetadata;
    const completeResult = hasMetadata
      ? { ...result, extensions: { cache: toCacheMetadata(document, variables) } }
      : result;
    const response = toHttp(JSON.stringify(completeResult), ["Content-Type: application/json"]);
    storedBytes += response.length + body.length;
    if (storedBytes < storedBytesMax) stored.set(body, response);
    return response;
  };
  const entities = createStoredEntities();
  return (body: string): Buffer | Promise<Buffer> => {
    // A probe: a gateway sends it to a subgraph that does not respond, such as while the machine is busy.
    if (body === "") return toHttp("", []);
    const known = stored.get(body) ?? entities.compose(body);
    if (known) return known;
    return compute(body).then((response) => {
      entities.store(body, response);
      return response;
    });
  };
}

/** Entities as JSON, of which responses are composed: a gateway that joins the entity fetches of several clients sends new combinations in each request. */
function createStoredEntities() {
  const stored = new Map<string, string>();

  function listKeys(body: string): readonly string[] | undefined {
    const { query, variables, ...others } = JSON.parse(body);
    const { representations, ...otherVariables }: Variables = variables ?? {};
    const isPlain = Object.keys({ ...others, ...otherVariables }).length === 0;
    if (!isPlain || !Array.isArray(representations)) return undefined;
    return representations.map((representation) => `${query}\n${JSON.stringify(representation)}`);
  }

  return {
    /** Undefined unless each entity is stored. */
    compose(body: string): Buffer | undefined {
      const entities = listKeys(body)?.map((key) => stored.get(key));
      if (!entities || entities.includes(undefined)) return undefined;
      return toHttp(`{"data":{"_entities":[${entities.join(",")}]}}`, ["Content-Type: application/json"]);
    },
    store(body: string, response: Buffer): void {
      const text = response.toString();
      const { data } = JSON.parse(text.slice(text.indexOf("\r\n\r\n")));
      for (const [i, key] of (listKeys(body) ?? []).entries()) stored.set(key, JSON.stringify(data._entities[i]));
    },
  };
}

/**
 * The metadata that a Tributary service adds to a response that is the same for every caller. The groups are its entities; without entities, the
 * names of its root fields.
 */
function toCacheMetadata({ definitions }: DocumentNode, variables: Variables = {}): CacheMetadata {
  const rootFields = definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet.selections : [],
  );
  const entityFields = rootFields.flatMap((field) => findEntityField(field, variables) ?? []);
  if (entityFields.length === 0) {
    return { seconds: cacheSeconds, staleIfErrorSeconds: 0, groups: [...new Set(rootFields.map(nameOf))] };
  }
  const groupsByField = entityFields.map(({ responseName, representations }) => {
    // `{ __typename: "Book", isbn: "978-7" }` has the group `Book:978-7`.
    const groups = representations.map((representation) => [Object.values(representation).join(":")]);
    return [responseName, groups] as const;
  });
  return { seconds: cacheSeconds, staleIfErrorSeconds: 0, entities: Object.fromEntries(groupsByField) };
}

interface EntityField {
  readonly responseName: string;
  readonly representations: readonly object[];
}

/** Undefined for another field than `_entities`. */
function findEntityField(field: SelectionNode, variables: Variables): EntityField | undefined {
  if (field.kind !== Kind.FIELD || field.name.value !== "_entities") return undefined;
  const argument = field.arguments?.[0]?.value;
  if (argument?.kind !== Kind.VARIABLE) throw new Error("The representations are not a variable.");
  const responseName = (field.alias ?? field.name).value;
  return { responseName, representations: variables[argument.name.value] as readonly object[] };
}

function nameOf(selection: SelectionNode): string {
  // The gateway sends no fragment at the root.
  return selection.kind === Kind.FIELD ? selection.name.value : "all";
}
