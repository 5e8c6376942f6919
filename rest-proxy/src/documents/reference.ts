/** The pages of the reference at `/docs`, as HTML from the OpenAPI documents. */
import { toCurl } from "./curl.ts";
import { type Html, html, layout, markdown } from "./html.ts";
import {
  type Content,
  resolveReference,
  nameOf,
  type OpenApi,
  type Operation,
  type Parameter,
  type ResponseObject,
} from "./open-api.ts";
import { viewSchema } from "./schema-view.ts";

interface PathOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The page `/docs`: a list of the versions, and the description of the newest one. */
export function renderOverview(documents: ReadonlyMap<number, OpenApi>): Html {
  const newest = [...documents.values()].at(-1);
  const entries = [...documents].map(
    ([version, document]) =>
      html`<li>
        <a href="/docs/v${version}">Version ${version}</a>${markOf(operationsOf(document))}:
        ${operationsOf(document).length} operations ·
        <a href="/openapi/v${version}.json">OpenAPI</a>
      </li>`,
  );
  return layout({
    title: newest?.info.title ?? "Reference",
    navigation: navigate([...documents.keys()]),
    content: html`<h1>${newest?.info.title ?? "Reference"}</h1>
      <ul>
        ${entries}
      </ul>
      ${newest === undefined ? undefined : markdown(newest.info.description)}
      <p>
        For programs, there is <a href="/.well-known/api-catalog">a catalog</a>.
        <a href="/problems">All problems</a> are documented.
      </p>`,
  });
}

/** The page `/docs/vN`: all operations and schemas of one version. */
export function renderReference(version: number, document: OpenApi, versions: readonly number[]): Html {
  const operations = operationsOf(document);
  const chapters = document.tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      html`<section id="schema-${name}">
        <h3>${name}</h3>
        ${viewSchema(schema)}
      </section>`,
  );
  const contents = chapters.map(
    ({ name, operations }) =>
      html`<h2>${name}</h2>
        <ul>
          ${operations.map(({ method, operation }) => entryOf(method, operation))}
        </ul>`,
  );
  return layout({
    title: `${document.info.title}, version ${version}`,
    navigation: html`${navigate(versions)}
      <label>Find <input id="find" type="search" autocomplete="off" /></label>
      ${contents}
      <h2><a href="#schemas">Schemas</a></h2>`,
    content: html`<h1>${document.info.title}, version ${version}</h1>
      <p>For programs, there is <a href="/openapi/v${version}.json">the OpenAPI document</a>.</p>
      ${markdown(document.info.description)}
      ${chapters.map(({ name, description, operations }) => viewChapter(document, name, description, operations))}
      <h2 id="schemas">Schemas</h2>
      ${schemas}`,
  });
}

function operationsOf(document: OpenApi): readonly PathOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
}

function markOf(operations: readonly Pick<PathOperation, "operation">[]): Html | undefined {
  const isDeprecated = operations.some(({ operation }) => operation.deprecated);
  return isDeprecated ? html` <strong>deprecated</strong>` : undefined;
}

function navigate(versions: readonly number[]): Html {
  const links = versions.map((version) => html`<li><a href="/docs/v${version}">Version ${version}</a></li>`);
  return html`<ul>
    <li><a href="/docs">Overview</a></li>
    ${links}
    <li><a href="/problems">Problems</a></li>
  </ul>`;
}

function entryOf(method: string, { operationId, summary }: Operation): Html {
  return html`<li>
    <a href="#${operationId}"><span class="method ${method}">${method}</span> ${summary}</a>
  </li>`;
}

function viewChapter(document: OpenApi, name: string, description: string, operations: readonly PathOperation[]): Html {
  return html`<h2>${name}</h2>
    ${markdown(description)} ${operations.map((entry) => viewOperation(document, entry))}`;
}

function viewOperation(document: OpenApi, { method, path, operation }: PathOperation): Html {
  const { components } = document;
  const parameters = (operation.parameters ?? []).map((parameter) =>
    resolveReference(parameter, components.parameters),
  );
  const responses = Object.entries(operation.responses).map(([status, responseOrReference]) => {
    const response = resolveReference(responseOrReference, components.responses);
    return viewResponse(status, response, components.headers);
  });
  return html`<article id="${operation.operationId}">
    <h3>${operation.summary}${markOf([{ operation }])}</h3>
    <p class="path">
      <span class="method ${method}">${method}</span> <code>${document.servers[0]?.url ?? ""}${path}</code>
    </p>
    ${markdown(operation.description)}
    <p>${describeAuthorization(operation)}</p>
    ${parameters.length === 0 ? undefined : viewParameters(parameters)}
    ${
      operation.requestBody === undefined
        ? undefined
        : html`<h4>Body</h4>
            ${viewContent(operation.requestBody.content)}`
    }
    <h4>Try it</h4>
    <pre class="curl">${toCurl(document, method, path, operation)}</pre>
    <h4>Responses</h4>
    ${responses}
  </article>`;
}

function describeAuthorization({ security, "x-scopes": scopes = [] }: Operation): Html {
  if (security.some((requirement) => Object.keys(requirement).length === 0)) return html`Requires no token.`;
  const listed = scopes.map((scope, index) => [index === 0 ? "" : " or ", html`<code>${scope}</code>`]);
  return html`Requires a token with the scope ${listed}.`;
}

function viewParameters(parameters: readonly Parameter[]): Html {
  const rows = parameters.map(
    ({ name, in: where, required, description = "", schema }) =>
      html`<tr>
        <td><code>${name}</code></td>
        <td>${where}${required ? undefined : html`, <em>optional</em>`}</td>
        <td>${viewSchema(schema)}${markdown(description)}</td>
      </tr>`,
  );
  return html`<h4>Parameters</h4>
    <table>
      ${rows}
    </table>`;
}

function viewResponse(
  status: string,
  { description, headers = {}, content = {} }: ResponseObject,
  named: OpenApi["components"]["headers"],
): Html {
  const lines = Object.entries(headers).map(
    ([name, { $ref }]) => html`<li><code>${name}</code>: ${named[nameOf($ref)]?.description ?? ""}</li>`,
  );
  const isSuccess = Number(status) < 400;
  const inside = html`${markdown(description)}
    <details>
      <summary>Headers</summary>
      <ul>
        ${lines}
      </ul>
    </details>
    ${viewContent(content)}`;
  return isSuccess
    ? html`<section class="response">
        <h5>${status}</h5>
        ${inside}
      </section>`
    : html`<details class="response">
        <summary>${status}</summary>
        ${inside}
      </details>`;
}

function viewContent(content: Content): Html {
  return html`${Object.entries(content).map(([type, { schema, examples = {} }]) => {
    const shown = Object.values(examples).map(
      ({ summary, value }) =>
        html`<details>
          <summary>Example: ${summary}</summary>
          <pre>${JSON.stringify(value, undefined, 2)}</pre>
        </details>`,
    );
    return html`<p><code>${type}</code></p>
      ${viewSchema(schema)}${shown}`;
  })}`;
}
