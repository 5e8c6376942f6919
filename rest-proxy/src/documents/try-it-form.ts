import { type Html, html } from "./html.ts";
import type { OpenApi, Parameter, PathOperation, Schema } from "./open-api.ts";
import { exampleOf, requiresToken } from "./samples.ts";

/** The form that sends a real request to this server. try-it.js shows it and sends the request; without scripts it is hidden. */
export function viewTryIt(document: OpenApi, entry: PathOperation, parameters: readonly Parameter[]): Html {
  const { method, path, operation } = entry;
  const required = parameters.filter((parameter) => parameter.required);
  const optional = parameters.filter((parameter) => !parameter.required);
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const body = Object.values(media?.examples ?? {})[0]?.value;
  return html`<details class="try-it" hidden>
    <summary>Try it: ${operation.summary}</summary>
    <form data-method="${method.toUpperCase()}" data-path="${document.servers[0]?.url ?? ""}${path}">
      ${method === "get" ? undefined : html`<p>The request is real: it changes data.</p>`} ${required.map(viewInput)}
      ${type === undefined ? undefined : viewBody(type, body)}
      <label>
        Bearer token${requiresToken(entry) ? undefined : ", optional"}
        <input type="password" name="token" data-in="token" autocomplete="off" spellcheck="false" />
        <small>
          Stored in this browser tab only (<code>sessionStorage</code>), never in a URL.
          <a href="/docs/tokens">Get a token</a>
        </small>
      </label>
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
    <div class="result" role="status"></div>
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
  // try-it.js sends a new key for each request if the field is empty.
  const isKey = name === "Idempotency-Key";
  const value = place === "path" ? exampleOf(parameter) : required && !isKey ? "*" : "";
  return html`<input
    name="${name}"
    data-in="${place}"
    value="${value}"
    autocomplete="off"
    spellcheck="false"
    ${isKey && required ? html` data-generate="uuid" placeholder="empty: a new UUID for each request"` : undefined}${required && !isKey ? html` required` : undefined}
  />`;
}

function viewChoice(name: string, place: string, { enum: values = [] }: Schema): Html {
  const options = values.map((value) => html`<option>${String(value)}</option>`);
  return html`<select name="${name}" data-in="${place}">
    <option value=""></option>
    ${options}
  </select>`;
}

function viewBody(type: string, example: unknown): Html {
  const text = example === undefined ? "" : JSON.stringify(example, undefined, 2);
  return html`<label>
    <span>Body <small>${type}</small></span>
    <textarea data-in="body" data-type="${type}" rows="${Math.min(text.split("\n").length + 1, 14)}" spellcheck="false">
${text}</textarea>
  </label>`;
}
