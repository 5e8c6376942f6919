// Apollo's directives for which the gateway does nothing: those that protect data must not be ignored, the others change what a field returns.
// Composition and the gateway both refuse them, so that a schema that composes is one that the gateway loads.
import { type ASTNode, type DirectiveNode, type DocumentNode, Kind, visit } from "graphql";
import { federationIdentity, readLinks, type SchemaLink } from "./links.ts";

export interface UnsupportedDirective {
  /** The application, or the link of a supergraph. */
  readonly node: DirectiveNode;
  /** "it links https://specs.apollo.dev/policy/v0.1, and the gateway does not enforce @policy" */
  readonly problem: string;
}

const features = [
  { name: "authenticated", directives: ["@authenticated"], lack: "does not enforce @authenticated", protects: true },
  { name: "requiresScopes", directives: ["@requiresScopes"], lack: "does not enforce @requiresScopes", protects: true },
  { name: "policy", directives: ["@policy"], lack: "does not enforce @policy", protects: true },
  { name: "connect", directives: [], lack: "does not call connectors", protects: false },
] as const;

/** Names are resolved through links, because a schema may rename directives. */
export function findUnsupportedDirectives(document: DocumentNode): readonly UnsupportedDirective[] {
  const links = readLinks(document);
  const linked = links.flatMap(({ node, url, identity }) => {
    const feature = features.find(({ name }) => identity === `https://specs.apollo.dev/${name}`);
    return feature ? [{ node, problem: describe(`links ${url}`, feature.lack) }] : [];
  });
  return [...linked, ...findApplications(document, listProblems(document, links))];
}

/** By the local name, without `@`, of each directive that the schema has of the federation specification, or declares itself. */
function listProblems(document: DocumentNode, links: readonly SchemaLink[]): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  const linkedNames = new Set(links.flatMap(({ prefix, imports }) => [`@${prefix}`, ...imports.values()]));
  const federation = links.find(({ identity }) => identity === federationIdentity);
  for (const { directives, lack, protects } of features) {
    for (const directive of directives) {
      const name = directive.slice(1);
      if (federation) {
        const local = federation.imports.get(directive)?.slice(1) ?? `${federation.prefix}__${name}`;
        problems.set(local, describe(`applies ${directive}`, lack));
      }
      // A directive of a linked specification only has the same name.
      if (protects && !linkedNames.has(directive) && declares(document, name))
        problems.set(name, describe(`declares ${directive} itself and applies it`, lack));
    }
  }
  return problems;
}

function describe(what: string, lack: string): string {
  return `it ${what}, and the gateway ${lack}`;
}

function declares({ definitions }: DocumentNode, name: string): boolean {
  return definitions.some((node) => node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === name);
}

function findApplications(document: ASTNode, problems: ReadonlyMap<string, string>): readonly UnsupportedDirective[] {
  const found: UnsupportedDirective[] = [];
  if (problems.size === 0) return found;
  visit(document, {
    Directive(node) {
      const problem = problems.get(node.name.value);
      if (problem !== undefined) found.push({ node, problem });
    },
  });
  return found;
}
