import { buildASTSchema, Kind, parse } from "graphql";
import type { RouteDeclaration } from "../rest/routes.ts";

export interface SentRequests {
  readonly documents: readonly string[];
  /** Such as `GET /v1/users/1`, without the query. */
  readonly urls: readonly string[];
}

/** The root fields that no document selects, and the routes that no URL of some version has. */
export function findUnsent(
  sdl: string,
  routes: readonly RouteDeclaration[],
  { documents, urls }: SentRequests,
): readonly string[] {
  const schema = buildASTSchema(parse(sdl), { assumeValidSDL: true });
  const rootFields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.keys(type?.getFields() ?? {}),
  );
  const selected = new Set(documents.flatMap(selectedRootFields));
  const hasUrl = ({ method, path }: RouteDeclaration, version: number) => {
    const pattern = new RegExp(`^${method} /v${version}${path.replaceAll(/:\w+/g, "[^/]+")}$`);
    return urls.some((url) => pattern.test(url));
  };
  return [
    ...rootFields.filter((name) => !selected.has(name)),
    ...routes.filter((route) => !route.versions.every((version) => hasUrl(route, version))).map(({ id }) => id),
  ];
}

function selectedRootFields(document: string): readonly string[] {
  return parse(document).definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION
      ? definition.selectionSet.selections.flatMap((one) => (one.kind === Kind.FIELD ? [one.name.value] : []))
      : [],
  );
}
