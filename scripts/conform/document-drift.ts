import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { entriesOf, memberOf } from "../../supergraph/contract/json-members.ts";
import { findRoutePath, type RestPaths } from "../../supergraph/contract/rest-paths.ts";

export interface Drift {
  /** What differs: a schema coordinate, or a JSON pointer. */
  readonly place: string;
  readonly expected: string;
  readonly got: string;
}

const missing = "missing";
const shownCharsMax = 200;

/** Of the REST routes and the components. The innermost places that differ. */
export function findDocumentDrift(contract: Json, running: Json, rest: RestPaths): readonly Drift[] {
  const restOf = (document: Json) => ({
    paths: Object.fromEntries(
      entriesOf(memberOf(document, "paths")).filter(([path]) => findRoutePath(path, rest) !== undefined),
    ),
    components: memberOf(document, "components") ?? {},
  });
  return compare(restOf(contract), restOf(running), "");
}

function compare(expected: unknown, got: unknown, pointer: string): readonly Drift[] {
  if (isDeepStrictEqual(expected, got)) return [];
  if (!isJsonObject(expected) || !isJsonObject(got))
    return [{ place: pointer, expected: describe(expected), got: describe(got) }];
  const keys = new Set([...Object.keys(expected), ...Object.keys(got)]);
  return [...keys].flatMap((key) => {
    const place = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return compare(memberOf(expected, key), memberOf(got, key), place);
  });
}

function describe(value: unknown): string {
  return value === undefined ? missing : JSON.stringify(value).slice(0, shownCharsMax);
}
