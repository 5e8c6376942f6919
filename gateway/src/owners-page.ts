// `GET /owners`, in development: which team owns which entity and field, by the directives of the supergraph (Join, version 0.5).
import { createHtmlPage, type HtmlPage } from "@tributary/kit/pages/front-page";
import { html } from "@tributary/kit/pages/html";
import {
  type ConstDirectiveNode,
  type DocumentNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  valueFromASTUntyped,
} from "graphql";
import { readSubgraphs } from "./subgraph-settings/subgraph-settings.ts";

interface OwnedType {
  readonly name: string;
  /** Of an entity. */
  readonly keys: readonly string[];
  readonly fields: readonly string[];
}

type TypeNode = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;
type Arguments = Readonly<Record<string, unknown>>;

/** The types to which a subgraph contributes fields, by the subgraph's name: not those of which it has only the key. */
export function listOwnedTypes(supergraph: DocumentNode): ReadonlyMap<string, readonly OwnedType[]> {
  const types = supergraph.definitions.filter(
    (node): node is TypeNode =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION,
  );
  const owned = readSubgraphs(supergraph).map(({ service, graph }) => {
    const ofService = types.map((type) => readOwnedType(type, graph)).filter(({ fields }) => fields.length > 0);
    return [service, ofService] as const;
  });
  return new Map(owned);
}

function readOwnedType({ name, directives, fields = [] }: TypeNode, graph: string): OwnedType {
  const allJoins = argumentsOf(directives, "join__type");
  const joins = allJoins.filter((join) => join["graph"] === graph);
  const keys = joins.flatMap(({ key }) => (typeof key === "string" ? key : []));
  const ownFields = fields.filter((field) => {
    const fieldJoins = argumentsOf(field.directives, "join__field").filter((join) => join["graph"] !== undefined);
    // Without a directive the field is of each subgraph that has the type.
    if (fieldJoins.length === 0) return joins.length > 0;
    return fieldJoins.some((join) => join["graph"] === graph && join["external"] !== true);
  });
  const fieldNames = ownFields.map((field) => field.name.value);
  const keyWords = new Set(keys.flatMap((key) => key.split(/\W+/)));
  const isReference = joins.length < allJoins.length && fieldNames.every((field) => keyWords.has(field));
  return { name: name.value, keys: [...new Set(keys)], fields: isReference ? [] : fieldNames };
}

function argumentsOf(directives: readonly ConstDirectiveNode[] = [], name: string): readonly Arguments[] {
  return directives
    .filter((directive) => directive.name.value === name)
    .map(({ arguments: ones = [] }) =>
      Object.fromEntries(ones.map((one) => [one.name.value, valueFromASTUntyped(one.value)])),
    );
}

/** @param ownerOf the team; undefined if the settings name none. */
export function createOwnersPage(
  types: ReadonlyMap<string, readonly OwnedType[]>,
  ownerOf: (service: string) => string | undefined,
): HtmlPage {
  const sections = [...types].map(
    ([service, ownedTypes]) =>
      html`<section>
        <h2>${service} <code>${ownerOf(service) ?? "no owner in gateway.yaml"}</code></h2>
        <dl>${ownedTypes.map(renderType)}</dl>
      </section>`,
  );
  return createHtmlPage(
    "Who owns what",
    html`<h1>Who owns what</h1>
      <p>Each subgraph with its team, and the fields that it resolves. <a href="/">All pages of the gateway</a></p>
      ${sections}`,
  );
}

function renderType({ name, keys, fields }: OwnedType) {
  const key = keys.length === 0 ? undefined : html` <span class="muted">entity, key ${keys.join(" or ")}</span>`;
  return html`<dt>${name}${key}</dt>
    <dd>${fields.join(", ")}</dd>`;
}
