import type { Result } from "./fetcher.ts";

/** One of the list at `/owners` (gateway/src/owners-page.ts). */
export interface Owner {
  readonly subgraph: string;
  readonly team: string | null;
  readonly types: readonly { readonly name: string; readonly fields: readonly string[] }[];
}

interface Described {
  readonly name: string;
  readonly description?: string | null;
  readonly fields?: readonly Described[] | null;
  readonly inputFields?: readonly Described[] | null;
}

/** Empty if the gateway does not send them: the page works without. */
export async function loadOwners(
  fetchOwners: (url: string, init: RequestInit) => Promise<Response>,
): Promise<readonly Owner[]> {
  try {
    const response = await fetchOwners("/owners", { headers: { accept: "application/json" } });
    return response.ok ? ((await response.json()) as readonly Owner[]) : [];
  } catch {
    return [];
  }
}

/**
 * Adds the owners to the descriptions in the result of an introspection query: the editor shows a description when the pointer is on a name, and
 * the documentation shows it too.
 */
export function describeOwners(result: Result, owners: readonly Owner[]): Result {
  const data = result["data"] as { readonly __schema?: { readonly types: readonly Described[] } } | null | undefined;
  if (!data?.__schema || owners.length === 0) return result;
  const ownersOf = collectOwners(owners);
  const describe = (element: Described, coordinate: string): Described => {
    const names = ownersOf.get(coordinate);
    if (names === undefined) return element;
    const line = `${names.length === 1 ? "Owner" : "Owners"}: ${names.join(", ")}`;
    return { ...element, description: [element.description, line].filter(Boolean).join("\n\n") };
  };
  const describeAll = (elements: readonly Described[] | null | undefined, type: string) =>
    elements?.map((element) => describe(element, `${type}.${element.name}`)) ?? null;
  const types = data.__schema.types.map((type) => ({
    ...describe(type, type.name),
    fields: describeAll(type.fields, type.name),
    inputFields: describeAll(type.inputFields, type.name),
  }));
  return { ...result, data: { ...data, __schema: { ...data.__schema, types } } };
}

/** By schema coordinate, such as `User` and `User.name`. */
function collectOwners(owners: readonly Owner[]): ReadonlyMap<string, readonly string[]> {
  const entries = owners.flatMap(({ subgraph, team, types }) => {
    const name = team === null ? subgraph : `${team} (${subgraph})`;
    const coordinates = types.flatMap((type) => [type.name, ...type.fields.map((field) => `${type.name}.${field}`)]);
    return coordinates.map((coordinate) => ({ coordinate, name }));
  });
  const byCoordinate = Map.groupBy(entries, ({ coordinate }) => coordinate);
  return new Map([...byCoordinate].map(([coordinate, all]) => [coordinate, all.map(({ name }) => name)]));
}
