import { toCurl } from "./curl.ts";
import { type Html, html, layout, markdown } from "./html.ts";
import {
  type Content,
  follow,
  nameOf,
  type OpenApi,
  type Operation,
  type Parameter,
  type Response,
} from "./open-api.ts";
import { viewSchema } from "./schema-view.ts";

interface Place {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Where people begin: what there is, and what all versions have in common. */
export function renderOverview(documents: ReadonlyMap<number, OpenApi>): Html {
  const newest = [...documents.values()].at(-1);
  const entries = [...documents].map(
    ([version, document]) =>
      html`<li>
        <a href="/docs/v${version}">Version ${version}</a>${markOf(placesOf(document))}: ${placesOf(document).length}
        operations ·
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
        Programs find all of this in <a href="/.well-known/api-catalog">the catalog</a>.
        <a href="/problems">All problems</a> have pages of their own.
      </p>`,
  });
}

/** One version, whole. */
export function renderReference(version: number, document: OpenApi, versions: readonly number[]): Html {
  const places = placesOf(document);
  const chapters = document.tags.map((tag) => ({
    ...tag,
    places: places.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      html`<section id="schema-${name}">
        <h3>${name}</h3>
        ${viewSchema(schema)}
      </section>`,
  );
  const contents = chapters.map(
    ({ name, places }) =>
      html`<h2>${name}</h2>
        <ul>
          ${places.map(({ method, operation }) => entryOf(method, operation))}
        </ul>`,
  );
  return layout({
    title: `${document.info.title}, version ${version}`,
    navigation: html`${navigate(versions)}
      <label>Find <input id="find" type="search" autocomplete="off" /></label>
      ${contents}
      <h2><a href="#schemas">Schemas</a></h2>`,
    content: html`<h1>${document.info.title}, version ${version}</h1>
      <p><a href="/openapi/v${version}.json">The OpenAPI document</a> says the same to programs.</p>
      ${markdown(document.info.description)}
      ${chapters.map(({ name, description, places }) => viewChapter(document, name, description, places))}
      <h2 id="schemas">Schemas</h2>
      ${schemas}`,
  });
}

function placesOf(document: OpenApi): readonly Place[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
}

function markOf(places: readonly Pick<Place, "operation">[]): Html | undefined {
  const isDeprecated = places.some(({ operation }) => operation.deprecated);
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

function viewChapter(document: OpenApi, name: string, description: string, places: readonly Place[]): Html {
  return html`<h2>${name}</h2>
    ${markdown(description)} ${places.map((place) => viewOperation(document, place))}`;
}

function viewOperation(document: OpenApi, { method, path, operation }: Place): Html {
  const { components } = document;
  const parameters = (operation.parameters ?? []).map((one) => follow(one, components.parameters));
  const responses = Object.entries(operation.responses).map(([status, one]) => {
    const response = follow(one, components.responses);
    return viewResponse(status, response, components.headers);
  });
  return html`<article id="${operation.operationId}">
    <h3>${operation.summary}${markOf([{ operation }])}</h3>
    <p class="place">
      <span class="method ${method}">${method}</span> <code>${document.servers[0]?.url ?? ""}${path}</code>
    </p>
    ${markdown(operation.description)}
    <p>${whoMayCall(operation)}</p>
    ${parameters.length === 0 ? undefined : viewParameters(parameters)}
    ${
      operation.requestBody === undefined
        ? undefined
        : html`<h4>Body</h4>
            ${viewContent(operation.requestBody.content)}`
    }
    <h4>Try it</h4>
    <pre class="curl">${toCurl(document, method, path, operation)}</pre>
    <h4>Answers</h4>
    ${responses}
  </article>`;
}

function whoMayCall({ security, "x-scopes": scopes = [] }: Operation): Html {
  if (security.some((way) => Object.keys(way).length === 0)) return html`No token is needed.`;
  const listed = scopes.map((scope, index) => [index === 0 ? "" : " or ", html`<code>${scope}</code>`]);
  return html`It needs a token with the scope ${listed}.`;
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
  { description, headers = {}, content = {} }: Response,
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
    ? html`<section class="answer">
        <h5>${status}</h5>
        ${inside}
      </section>`
    : html`<details class="answer">
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
