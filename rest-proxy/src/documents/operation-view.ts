// The HTML of one operation of the REST reference. reference.ts calls `viewOperation` for each operation of a version.
import { describeDeprecation, type VersionDocument } from "./deprecation.ts";
import { type Html, html, markdown } from "@tributary/kit/pages/html";
import { operationUrl, requestPath, schemaPath } from "./addresses.ts";
import { viewMethod } from "./layout.ts";
import {
  type Content,
  detailsOf,
  type HeaderObject,
  isError,
  nameOf,
  type OpenApi,
  type NumberedResponse,
  type Operation,
  operationsOf,
  type Parameter,
  type PathOperation,
  requiresToken,
} from "./open-api/open-api.ts";
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
  const parameters = operation.parameters;
  const responses = Object.entries(operation.responses);
  const details = detailsOf(operation);
  const successes = responses.filter((response) => !isError(response));
  return html`<article id="${operation.operationId}">
    <div class="description">
      <h3>${operation.summary}${markDeprecated(operation)}</h3>
      <p class="path">${viewMethod(method)} <code>${requestPath(document, path)}</code></p>
      ${operation.deprecated ? viewDeprecation(reference, entry, successor) : undefined}
      ${details === undefined ? undefined : markdown(details)}
      <p>${describeAuthorization(operation)}</p>
      ${parameters.length === 0 ? undefined : viewParameters(reference, parameters)}
      ${
        operation.requestBody === undefined
          ? undefined
          : html`<h4>Body</h4>
              ${viewContent(reference, operation.requestBody.content)}`
      }
      <h4>Responses</h4>
      ${successes.map((response) => viewSuccess(reference, response))}
      ${viewErrors(reference, responses.filter(isError))}
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
      <a href="${operationUrl(successor, successorOperation.operation)}">
        ${method.toUpperCase()} ${requestPath(successor.document, path)}</a
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

/** Optional headers are alike in most operations, so they are folded. */
function viewParameters(reference: VersionDocument, parameters: readonly Parameter[]): Html {
  const isFolded = (parameter: Parameter) => parameter.in === "header" && !parameter.required;
  const shown = parameters.filter((parameter) => !isFolded(parameter));
  const folded = parameters.filter(isFolded);
  const viewList = (list: readonly Parameter[]) =>
    viewFields(
      list.map((parameter) => ({ ...parameter, place: parameter.in })),
      reference,
    );
  return html`<h4>Parameters</h4>
    ${shown.length === 0 ? undefined : viewList(shown)}
    ${
      folded.length === 0
        ? undefined
        : html`<details>
            <summary>Optional headers: ${folded.map(({ name }) => name).join(", ")}</summary>
            ${viewList(folded)}
          </details>`
    }`;
}

/** The fields are folded, since the example beside them shows most of what readers look for. */
function viewSuccess(
  reference: VersionDocument,
  [status, { description, headers, content = {} }]: NumberedResponse,
): Html {
  const bodies = Object.entries(content).map(
    ([type, { schema }]) =>
      html`<details>
        <summary>Fields of <code>${type}</code></summary>
        ${viewSchema(schema, reference)}
      </details>`,
  );
  return html`<section class="response">
    <h5>${status}</h5>
    ${markdown(description)} ${bodies} ${viewHeaders(headers)}
  </section>`;
}

function viewHeaders(headers: Readonly<Record<string, HeaderObject>>): Html {
  const lines = Object.entries(headers).map(
    ([name, { description = "" }]) => html`<li><code>${name}</code> ${markdown(description)}</li>`,
  );
  return html`<details>
    <summary>Headers</summary>
    <ul class="fields">
      ${lines}
    </ul>
  </details>`;
}

function viewContent(reference: VersionDocument, content: Content): Html {
  return html`${Object.entries(content).map(
    ([type, { schema }]) =>
      html`<p class="media"><code>${type}</code></p>
        ${viewSchema(schema, reference)}`,
  )}`;
}

function viewErrors(reference: VersionDocument, errors: readonly NumberedResponse[]): Html | undefined {
  if (errors.length === 0) return undefined;
  const lines = errors.map(
    ([status, { description, content = {} }]) =>
      html`<li>
        <p>
          <code class="name">${status}</code>
          ${Object.values(content).map(({ schema: { $ref } }) =>
            $ref === undefined ? undefined : html`<a href="${schemaPath(reference, nameOf($ref))}">${nameOf($ref)}</a>`,
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

export function viewSamples(document: OpenApi, entry: PathOperation): Html {
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
