// The HTML of one operation of the REST reference. reference.ts calls `viewOperation` for each operation of a version.
import { describeDeprecation, type VersionDocument } from "./deprecation.ts";
import { type Html, html, markdown } from "@tributary/kit/pages/html";
import { viewMethod } from "./layout.ts";
import {
  type Content,
  type HeaderObject,
  nameOf,
  type OpenApi,
  type NumberedResponse,
  type Operation,
  operationsOf,
  type Parameter,
  parametersOf,
  type PathOperation,
  type ReferenceObject,
  requiresToken,
  responsesOf,
} from "./open-api.ts";
import { createSamples } from "./samples.ts";
import { joinByOr, viewFields, viewSchema } from "./schema-view.ts";
import { viewTryIt } from "./try-it-form.ts";

/**
 * One operation: its description on the left; code samples, the try-it form and example responses on the right.
 * @param successor the version that replaces this one; undefined unless this version is deprecated.
 */
export function viewOperation(reference: VersionDocument, entry: PathOperation, successor?: VersionDocument): Html {
  const { document } = reference;
  const { method, path, operation } = entry;
  const parameters = parametersOf(document, operation);
  const responses = responsesOf(document, operation);
  const successes = responses.filter(([status]) => Number(status) < 400);
  return html`<article id="${operation.operationId}">
    <div class="description">
      <h3>${operation.summary}${markDeprecated(operation)}</h3>
      <p class="path">${viewMethod(method)} <code>${document.servers[0]?.url ?? ""}${path}</code></p>
      ${operation.deprecated ? viewDeprecation(reference, entry, successor) : undefined}
      ${operation.description === `${operation.summary}.` ? undefined : markdown(operation.description)}
      <p>${describeAuthorization(operation)}</p>
      ${parameters.length === 0 ? undefined : viewParameters(document, parameters)}
      ${
        operation.requestBody === undefined
          ? undefined
          : html`<h4>Body</h4>
              ${viewContent(document, operation.requestBody.content)}`
      }
      <h4>Responses</h4>
      ${successes.map((response) => viewSuccess(document, response))}
      ${viewErrors(responses.filter(([status]) => Number(status) >= 400))}
    </div>
    <div class="console">
      ${viewSamples(document, entry)} ${viewTryIt(document, entry, parameters)} ${successes.map(viewExamples)}
    </div>
  </article>`;
}

/** The word after the title of what is deprecated: an operation, or a version. Undefined if it is not deprecated. */
export function markDeprecated({ deprecated }: { readonly deprecated?: boolean }): Html | undefined {
  return deprecated ? html` <strong>deprecated</strong>` : undefined;
}

/** The banner of a deprecated operation. Links to the operation with the same id in the successor version, if that version has it. */
function viewDeprecation(
  { deprecation }: VersionDocument,
  { operation }: PathOperation,
  successor?: VersionDocument,
): Html {
  const dates = deprecation?.dates ?? "**Deprecated**.";
  const successorOperation = successor && findOperation(successor.document, operation.operationId);
  if (successor === undefined || successorOperation === undefined) {
    return html`<div class="banner">
      ${markdown(deprecation === undefined ? dates : describeDeprecation(deprecation))}
    </div>`;
  }
  const { method, path } = successorOperation;
  return html`<div class="banner">
    ${markdown(dates)}
    <p>
      Use
      <a href="/docs/v${successor.version}#${operation.operationId}">
        ${method.toUpperCase()} ${successor.document.servers[0]?.url ?? ""}${path}</a
      >
      instead.
    </p>
  </div>`;
}

function findOperation(document: OpenApi, operationId: string): PathOperation | undefined {
  return operationsOf(document).find(({ operation }) => operation.operationId === operationId);
}

/** The scopes of an operation, that any token suffices, or that it requires none. */
export function describeAuthorization(operation: Operation): Html {
  if (!requiresToken(operation)) return html`Requires no token.`;
  const { "x-scopes": scopes = [] } = operation;
  if (scopes.length === 0) return html`Requires <a href="/docs/tokens">a token</a>.`;
  const listed = joinByOr(scopes.map((scope) => html`<code>${scope}</code>`));
  return html`Requires <a href="/docs/tokens">a token</a> with the scope ${listed}.`;
}

function viewParameters({ components }: OpenApi, parameters: readonly Parameter[]): Html {
  const fields = parameters.map((parameter) => ({
    name: parameter.name,
    place: parameter.in,
    required: parameter.required,
    description: parameter.description,
    schema: parameter.schema,
  }));
  return html`<h4>Parameters</h4>
    ${viewFields(fields, components.schemas)}`;
}

function viewSuccess(document: OpenApi, [status, { description, headers = {}, content = {} }]: NumberedResponse): Html {
  return html`<section class="response">
    <h5>${status}</h5>
    ${markdown(description)} ${viewHeaders(document, headers)} ${viewContent(document, content)}
  </section>`;
}

function viewHeaders({ components }: OpenApi, headers: Readonly<Record<string, ReferenceObject | HeaderObject>>): Html {
  const lines = Object.entries(headers).map(([name, header]) => {
    const { description = "" } = "$ref" in header ? (components.headers[nameOf(header.$ref)] ?? {}) : header;
    return html`<li><code>${name}</code> ${markdown(description)}</li>`;
  });
  return html`<details>
    <summary>Headers</summary>
    <ul class="fields">
      ${lines}
    </ul>
  </details>`;
}

function viewContent({ components }: OpenApi, content: Content): Html {
  return html`${Object.entries(content).map(
    ([type, { schema }]) =>
      html`<p class="media"><code>${type}</code></p>
        ${viewSchema(schema, components.schemas)}`,
  )}`;
}

function viewErrors(errors: readonly NumberedResponse[]): Html | undefined {
  if (errors.length === 0) return undefined;
  const lines = errors.map(
    ([status, { description, content = {} }]) =>
      html`<li>
        <p>
          <code class="name">${status}</code>
          ${Object.values(content).map(({ schema: { $ref } }) =>
            $ref === undefined ? undefined : html`<a href="#schema-${nameOf($ref)}">${nameOf($ref)}</a>`,
          )}
        </p>
        ${markdown(description)}
      </li>`,
  );
  return html`<details class="errors">
    <summary>Errors: ${errors.map(([status]) => status).join(", ")}</summary>
    <ul class="fields">
      ${lines}
    </ul>
  </details>`;
}

function viewSamples(document: OpenApi, entry: PathOperation): Html {
  const { operationId, summary } = entry.operation;
  const samples = createSamples(document, entry);
  const choices = samples.map(
    ({ language }, index) =>
      html`<label>
        <input
          type="radio"
          name="language-${operationId}"
          value="${language}"
          ${index === 0 ? html` checked` : undefined}
        />${language}
      </label>`,
  );
  const blocks = samples.map(
    ({ language, code }) =>
      html`<div class="code" data-language="${language}">
        <pre tabindex="0" aria-label="${language}: ${summary}" role="region">${code}</pre>
      </div>`,
  );
  return html`<section class="samples">
    <fieldset>
      <legend>Sample: ${summary}</legend>
      ${choices}
    </fieldset>
    ${blocks}
  </section>`;
}

function viewExamples([status, { content = {} }]: NumberedResponse): Html {
  const examples = Object.values(content).flatMap(({ examples = {} }) => Object.values(examples));
  return html`${examples.map(
    ({ summary, value }, index) =>
      html`<details class="example" ${index === 0 ? html` open` : undefined}>
        <summary>Response ${status}: ${summary}</summary>
        <pre tabindex="0">${JSON.stringify(value, undefined, 2)}</pre>
      </details>`,
  )}`;
}
