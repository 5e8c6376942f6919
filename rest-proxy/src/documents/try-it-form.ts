import { type Html, html } from "@tributary/kit/pages/html";
import { requestPath } from "./addresses.ts";
import { exampleBodyOf, exampleOf } from "./examples.ts";
import { type OpenApi, type Parameter, type PathOperation, requiresToken, type Schema } from "./open-api/open-api.ts";

/** The form that sends a real request to this server. try-it.js shows it and sends the request; without scripts it is hidden. */
export function viewTryIt(document: OpenApi, entry: PathOperation, parameters: readonly Parameter[]): Html {
  const { method, path, operation } = entry;
  const required = parameters.filter((parameter) => parameter.required);
  const optional = parameters.filter((parameter) => !parameter.required);
  const body = exampleBodyOf(operation);
  const hint = `${operation.operationId}-token-hint`;
  return html`<details class="try-it" hidden>
    <summary>Try it: ${operation.summary}</summary>
    <form data-method="${method.toUpperCase()}" data-path="${requestPath(document, path)}">
      ${method === "get" ? undefined : html`<p>The request is real: it changes data.</p>`} ${required.map(viewInput)}
      ${body === undefined ? undefined : viewBody(body.type, body.value)}
      <div class="token">
        <label>
          Bearer token${requiresToken(operation) ? undefined : ", optional"}
          <input
            type="password"
            name="token"
            data-in="token"
            autocomplete="off"
            spellcheck="false"
            aria-describedby="${hint}"
          />
        </label>
        <p>
          <small id="${hint}">Stored in this browser tab only (<code>sessionStorage</code>), never in a URL.</small>
          <small><a href="/docs/tokens">Get a token</a></small>
        </p>
      </div>
      ${
        optional.length === 0
          ? undefined
          : html`<details>
              <summary>Optional parameters: ${optional.length}</summary>
              ${optional.map(viewInput)}
            </details>`
      }
      <button type="submit">Send the request</button>
    </form>
    <p class="status" role="status"></p>
    <div class="result"></div>
  </details>`;
}

function viewInput(parameter: Parameter): Html {
  const { name, in: place, required, schema } = parameter;
  return html`<label>
    <span><code>${name}</code> <small>${place}${required ? "" : ", optional"}</small></span>
    ${schema.enum === undefined ? viewTextInput(parameter) : viewChoice(name, place, schema)}
  </label>`;
}

function viewTextInput(parameter: Parameter): Html {
  const { name, in: place, required } = parameter;
  const value = required ? exampleOf(parameter) : "";
  // try-it.js sends a new key for each request if the field is empty.
  const isGenerated = value === undefined;
  const isReceipt = name === "Consistency-Token";
  return html`<input
    name="${name}"
    data-in="${place}"
    value="${value}"
    autocomplete="off"
    spellcheck="false"
    ${isGenerated ? html` data-generate="uuid" placeholder="empty: a new UUID for each request"` : undefined}${isReceipt ? html` placeholder="empty: the receipts of this tab's writes"` : undefined}${required && !isGenerated ? html` required` : undefined}
  />`;
}

function viewChoice(name: string, place: string, { enum: values = [] }: Schema): Html {
  const options = values.map((value) => html`<option>${String(value)}</option>`);
  return html`<select name="${name}" data-in="${place}">
    <option value=""></option>
    ${options}
  </select>`;
}

/** A longer body is scrolled. */
const bodyRowsMax = 14;

function viewBody(type: string, example: unknown): Html {
  const text = example === undefined ? "" : JSON.stringify(example, undefined, 2);
  const lines = text.split("\n").length;
  const rows = Math.min(lines + 1, bodyRowsMax);
  return html`<label>
    <span>Body <small>${type}</small></span>
    <textarea data-in="body" data-type="${type}" rows="${rows}" spellcheck="false">${text}</textarea>
  </label>`;
}
