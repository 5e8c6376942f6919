// The last release of `@apollo/composition` in JavaScript, 2.14, does not know v2.15 of the federation specification, which has no new directive:
// a subgraph that links it composes as v2.14.
import { federationIdentity, readLinks, type SchemaLink } from "@tributary/kit/federation/links";
import { type DocumentNode, Kind, type StringValueNode, visit } from "graphql";
import { compositionAdviceFor } from "./advice.ts";
import { type CompositionError, type CompositionHint, printPlace } from "./composition-errors.ts";
import { type ParsedSubgraph, placeOfNode } from "./places.ts";

const composedMinor = 14;
const supportedMinor = 15;

export interface LoweredVersions {
  readonly subgraphs: readonly ParsedSubgraph[];
  readonly errors: readonly CompositionError[];
  readonly hints: readonly CompositionHint[];
}

/** Older, unknown and malformed versions remain: Apollo's composition reports them. */
export function lowerFederationVersions(parsed: readonly ParsedSubgraph[]): LoweredVersions {
  const errors: CompositionError[] = [];
  const hints: CompositionHint[] = [];
  const subgraphs = parsed.map((subgraph) => {
    const link = readLinks(subgraph.document).find(({ identity }) => identity === federationIdentity);
    const [major, minor] = link?.version ?? [0, 0];
    const place = link && placeOfNode(link.node, [subgraph.source]);
    if (link && (major > 2 || (major === 2 && minor > supportedMinor))) {
      const code = "UNKNOWN_FEDERATION_LINK_VERSION";
      const message = `It links v${major}.${minor} of the federation specification. The newest supported version is v2.${supportedMinor}.`;
      errors.push({ message, code, ...place, advice: compositionAdviceFor(code) });
    } else if (link && major === 2 && minor > composedMinor) {
      const message = `${printPlace(place ?? {})} links v2.${minor} of the federation specification. It composes as v2.${composedMinor}, which has the same directives.`;
      hints.push({ code: "FEDERATION_VERSION_LOWERED", level: "WARN", message });
      return { ...subgraph, document: withVersion(subgraph.document, link, composedMinor) };
    }
    return subgraph;
  });
  return { subgraphs, errors, hints };
}

function withVersion(document: DocumentNode, { node: link, url }: SchemaLink, minor: number): DocumentNode {
  const lower = (value: StringValueNode) =>
    value.value === url ? { ...value, value: `${federationIdentity}/v2.${minor}` } : undefined;
  // For `visit`, undefined means that the node remains unchanged, and false that its children are not visited.
  return visit(document, {
    Directive: (node) => (node === link ? visit(node, { [Kind.STRING]: lower }) : false),
  });
}
