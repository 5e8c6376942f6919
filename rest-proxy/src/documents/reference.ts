/** The pages of the reference at `/docs`, as HTML from the OpenAPI documents. documents.ts renders them once, at start. */
import { describeDeprecation, type VersionDocument } from "./deprecation.ts";
import { type Html, html, markdown } from "@tributary/kit/pages/html";
import { layout, viewNavigation } from "./layout.ts";
import { type OpenApi, operationsOf, sectionsOf } from "./open-api.ts";
import { markDeprecated, viewOperation } from "./operation-view.ts";
import { viewSchema } from "./schema-view.ts";

/** The page `/docs`: a list of the versions, and the description of the newest one. @param versions ascending. */
export function renderOverview(versions: readonly VersionDocument[]): Html {
  const newest = versions.at(-1);
  const title = newest?.document.info.title ?? "Reference";
  const entries = versions.toReversed().map(
    ({ version, document, deprecation }) =>
      html`<li>
        <a href="/docs/v${version}">Version ${version}</a>${markDeprecated({ deprecated: deprecation !== undefined })}:
        ${operationsOf(document).length} operations ·
        <a href="/openapi/v${version}.json">OpenAPI</a>
      </li>`,
  );
  return layout({
    title,
    version: newest?.version,
    navigation: viewNavigation(versions, "/docs", newest),
    content: html`<h1>${title}</h1>
      <ul>
        ${entries}
      </ul>
      ${newest === undefined ? undefined : viewDescription(newest.document)}
      <p>
        <a href="/docs/tokens">Tokens</a>: how to get one, and which scopes each operation requires.
        <a href="/problems">Problems</a>: every error, and what to do. For programs, there is
        <a href="/.well-known/api-catalog">a catalog</a>.
      </p>`,
  });
}

/** The page `/docs/vN`: all operations and schemas of one version. */
export function renderReference(reference: VersionDocument, versions: readonly VersionDocument[]): Html {
  const { version, document, deprecation } = reference;
  const operations = operationsOf(document);
  const successor = versions.find((candidate) => candidate.version === deprecation?.successor);
  const chapters = document.tags.map(
    ({ name, description }) =>
      html`<h2>${name}</h2>
        ${markdown(description)}
        ${operations
          .filter(({ operation }) => operation.tags.includes(name))
          .map((entry) => viewOperation(reference, entry, successor))}`,
  );
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      html`<section id="schema-${name}">
        <h3>${name}</h3>
        ${viewSchema(schema, document.components.schemas)}
      </section>`,
  );
  const title = `${document.info.title}, version ${version}`;
  return layout({
    title,
    version,
    navigation: viewNavigation(versions, `/docs/v${version}`, reference),
    content: html`<h1>${title}</h1>
      ${
        deprecation === undefined
          ? undefined
          : html`<div class="banner">${markdown(describeDeprecation(deprecation))}</div>`
      }
      <p>For programs, there is <a href="/openapi/v${version}.json">the OpenAPI document</a>.</p>
      ${viewDescription(document)} ${chapters}
      <h2 id="schemas">Schemas</h2>
      ${schemas}`,
  });
}

function viewDescription(document: OpenApi): Html {
  return html`${sectionsOf(document).map(({ text, id }) =>
    id === undefined ? markdown(text) : html`<section id="${id}">${markdown(text)}</section>`,
  )}`;
}
