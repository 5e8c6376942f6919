// `GET /owners`, in development: which team owns which type and field, by the directives of the supergraph (Join, version 0.5).
import { createHtmlPage, type HtmlPage } from "@tributary/kit/pages/front-page";
import { html } from "@tributary/kit/pages/html";
import {
  type ConstDirectiveNode,
  type DocumentNode,
  isTypeDefinitionNode,
  type TypeDefinitionNode,
  valueFromASTUntyped,
} from "graphql";
import { readSubgraphs } from "./subgraph-settings/subgraph-settings.ts";

/** GraphiQL reads a list of them (gateway/graphiql/owners.ts). */
export interface Owner {
  readonly subgraph: string;
  /** Null if the settings name none. */
  readonly team: string | null;
  readonly types: readonly OwnedType[];
}

interface OwnedType {
  readonly name: string;
  /** Of an entity. */
  readonly keys: readonly string[];
  /** Empty for a type without fields, such as an enum. */
  readonly fields: readonly string[];
}

type Arguments = Readonly<Record<string, unknown>>;

/** Each subgraph with the types to which it contributes: not those of which it has only the key. */
export function listOwners(
  supergraph: DocumentNode,
  teamOf: (subgraph: string) => string | undefined,
): readonly Owner[] {
  const types = supergraph.definitions.filter(isTypeDefinitionNode);
  return readSubgraphs(supergraph).map(({ service, graph }) => ({
    subgraph: service,
    team: teamOf(service) ?? null,
    types: types.flatMap((type) => readOwnedType(type, graph) ?? []),
  }));
}

function readOwnedType(type: TypeDefinitionNode, graph: string): OwnedType | undefined {
  const { name, directives } = type;
  const allJoins = argumentsOf(directives, "join__type");
  const joins = allJoins.filter((join) => join["graph"] === graph);
  if (joins.length === 0) return undefined;
  const keys = joins.flatMap(({ key }) => (typeof key === "string" ? key : []));
  const owned = { name: name.value, keys: [...new Set(keys)] };
  if (!("fields" in type)) return { ...owned, fields: [] };
  const ownFields = (type.fields ?? []).filter((field) => {
    const fieldJoins = argumentsOf(field.directives, "join__field").filter((join) => join["graph"] !== undefined);
    // Without a directive the field is of each subgraph that has the type.
    return fieldJoins.length === 0 || fieldJoins.some((join) => join["graph"] === graph && isResolved(join));
  });
  const fields = ownFields.map((field) => field.name.value);
  const keyWords = new Set(keys.flatMap((key) => key.split(/\W+/)));
  const isReference = joins.length < allJoins.length && fields.every((field) => keyWords.has(field));
  return isReference ? undefined : { ...owned, fields };
}

/** False for a field that is `@external` in its subgraph, or overridden by another one. */
function isResolved(join: Arguments): boolean {
  return join["external"] !== true && join["usedOverridden"] !== true;
}

function argumentsOf(directives: readonly ConstDirectiveNode[] = [], name: string): readonly Arguments[] {
  return directives
    .filter((directive) => directive.name.value === name)
    .map(({ arguments: ones = [] }) =>
      Object.fromEntries(ones.map((one) => [one.name.value, valueFromASTUntyped(one.value)])),
    );
}

export function createOwnersPage(owners: readonly Owner[]): HtmlPage {
  const sections = owners.map(
    ({ subgraph, team, types }) =>
      html`<section>
        <h2>${subgraph} <code>${team ?? "no owner in gateway.yaml"}</code></h2>
        <dl>${types.map(renderType)}</dl>
      </section>`,
  );
  return createHtmlPage(
    "Who owns what",
    html`<h1>Who owns what</h1>
      <p>
        Each subgraph with its team, and the fields that it resolves. GraphiQL has the owner of a field in its
        documentation, and in the editor when the pointer is on the field.
      </p>
      <p><a href="/graphiql">GraphiQL</a> · <a href="/">All pages of the gateway</a></p>
      ${sections}`,
  );
}

function renderType({ name, keys, fields }: OwnedType) {
  const key = keys.length === 0 ? undefined : html` <span class="muted">entity, key ${keys.join(" or ")}</span>`;
  return html`<dt>${name}${key}</dt>
    <dd>${fields.join(", ") || "no fields"}</dd>`;
}
