/** The pages of one version, as HTML from its OpenAPI document. documents.ts renders them once, at start. */
import { groupPath, guidePath, operationUrl, requestPath, schemaPath, toSegment, versionPath } from "./addresses.ts";
import { describeDeprecation, type VersionDocument } from "./deprecation.ts";
import { type Html, html, markdown } from "@tributary/kit/pages/html";
import { layout, type Site, viewMethod } from "./layout.ts";
import {
  groupsOf,
  type OperationGroup,
  operationsOf,
  type PathOperation,
  requiresToken,
  sectionsOf,
} from "./open-api/open-api.ts";
import { markDeprecated, viewOperation, viewSamples } from "./operation-view.ts";
import { viewSchema } from "./schema-view.ts";
import { viewTryIt } from "./try-it-form.ts";

/** A rendered page with its path. */
export type RenderedPage = readonly [path: string, page: Html];

/** The pages of a version: its index, one for each group of operations, guide and schema. */
export function renderVersion(reference: VersionDocument, site: Site): readonly RenderedPage[] {
  const { document, deprecation } = reference;
  const { title: apiTitle } = document.info;
  const successor = site.versions.find(({ version }) => version === deprecation?.successor);
  const render = (path: string, title: string, content: Html): RenderedPage => [
    path,
    layout(site, { title: `${title} · ${apiTitle} v${reference.version}`, path, reference, content }),
  ];
  const groups = groupsOf(document).map((group) =>
    render(
      groupPath(reference, group.name),
      group.name,
      html`<h1>${group.name}</h1>
        ${markdown(group.description)} ${group.operations.map((entry) => viewOperation(reference, entry, successor))}`,
    ),
  );
  const guides = sectionsOf(document).sections.map((section) =>
    render(
      guidePath(reference, section),
      section.title,
      html`<h1>${section.title}</h1>
        ${markdown(section.text)}`,
    ),
  );
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) =>
    render(
      schemaPath(reference, name),
      name,
      html`<h1>${name}</h1>
        ${viewSchema(schema, reference)}`,
    ),
  );
  return [
    [versionPath(reference), renderIndex(reference, site, versionPath(reference))],
    ...groups,
    ...guides,
    ...schemas,
  ];
}

/** The page `/docs`: the index of the newest version. */
export function renderOverview(site: Site): Html {
  const newest = site.versions.at(-1);
  if (newest !== undefined) return renderIndex(newest, site, "/docs");
  const content = html`<h1>Reference</h1>
    <p>This proxy has no OpenAPI documents.</p>`;
  return layout(site, { title: "Reference", path: "/docs", content });
}

/** The ids are fragments that pages of other hosts link to; docs.js follows the link in the list item with that id. */
function renderIndex(reference: VersionDocument, site: Site, path: string): Html {
  const { version, document, deprecation } = reference;
  const { introduction, sections } = sectionsOf(document);
  const title = `${document.info.title}, version ${version}`;
  const guides = sections.map(
    (section) =>
      html`<li id="section-${toSegment(section.title)}">
        <a href="${guidePath(reference, section)}">${section.title}</a>
      </li>`,
  );
  const schemas = Object.keys(document.components.schemas).map(
    (name) => html`<li id="schema-${name}"><a href="${schemaPath(reference, name)}">${name}</a></li>`,
  );
  const content = html`<h1>${title}</h1>
    ${deprecation === undefined ? undefined : html`<div class="banner">${markdown(describeDeprecation(deprecation))}</div>`}
    ${markdown(introduction)} ${viewFirstRequests(reference)}
    <h2>Operations</h2>
    ${groupsOf(document).map((group) => viewGroup(reference, group))}
    <h2>Guides</h2>
    <ul class="columns">
      ${guides}
      <li><a href="/docs/tokens">Tokens</a></li>
      <li><a href="/problems">All problems</a></li>
    </ul>
    <h2 id="schemas">Schemas</h2>
    <ul class="columns">
      ${schemas}
    </ul>
    <h2>Versions</h2>
    <ul>
      ${site.versions.toReversed().map(viewVersion)}
    </ul>
    <p>For programs, there is <a href="/.well-known/api-catalog">a catalog</a>.</p>`;
  return layout(site, { title, path, reference, content });
}

/** A read that needs no token, with its form, and one that does. */
function viewFirstRequests({ document }: VersionDocument): Html | undefined {
  const operations = groupsOf(document).flatMap((group) => group.operations);
  const reads = operations.filter(
    ({ method, operation }) => method === "get" && !operation.parameters.some(({ required }) => required),
  );
  const first = reads.find(({ operation }) => !requiresToken(operation));
  const authorized = reads.find(({ operation }) => requiresToken(operation));
  if (first === undefined) return undefined;
  return html`<h2>Your first request</h2>
    ${viewRequest(first)}
    ${
      authorized &&
      html`<p>Other operations need <a href="/docs/tokens">a token</a>, here in the variable <code>TOKEN</code>:</p>
        ${viewRequest(authorized)}`
    }`;

  function viewRequest(entry: PathOperation): Html {
    return html`<div class="console">
      ${viewSamples(document, entry)} ${viewTryIt(document, entry, entry.operation.parameters)}
    </div>`;
  }
}

function viewGroup(reference: VersionDocument, { name, description, operations }: OperationGroup): Html {
  const entries = operations.map(
    ({ method, path, operation }) =>
      html`<li id="${operation.operationId}">
        ${viewMethod(method)}
        <div>
          <a href="${operationUrl(reference, operation)}">${operation.summary}</a>${markDeprecated(operation)}
          <code>${requestPath(reference.document, path)}</code>
        </div>
      </li>`,
  );
  return html`<h3><a href="${groupPath(reference, name)}">${name}</a></h3>
    ${markdown(description)}
    <ul class="operations">
      ${entries}
    </ul>`;
}

function viewVersion({ version, document, deprecation }: VersionDocument): Html {
  return html`<li>
    <a href="/docs/v${version}">Version ${version}</a>${markDeprecated({ deprecated: deprecation !== undefined })}:
    ${operationsOf(document).length} operations ·
    <a href="/openapi/v${version}.json">OpenAPI</a>
  </li>`;
}
