import { operationUrl, requestPath } from "./addresses.ts";
import type { VersionDocument } from "./deprecation.ts";
import { type Html, html, markdown } from "@tributary/kit/pages/html";
import { layout, type Site, viewMethod } from "./layout.ts";
import { operationsOf } from "./open-api/open-api.ts";
import { describeAuthorization } from "./operation-view.ts";
import { exampleOrigin } from "./samples.ts";

/** The page `/docs/tokens`: how to get a token, and the scopes of each operation of the newest version. */
export function renderTokenPage(site: Site): Html {
  const newest = site.versions.at(-1);
  return layout(site, {
    title: "Tokens",
    path: "/docs/tokens",
    content: html`<h1>Tokens</h1>
      <p>
        Public resources need no token. Other operations need a JSON Web Token (RFC 7519) in the header
        <code>Authorization: Bearer &lt;token&gt;</code>. Its claim <code>sub</code> is the user's id, and its claim
        <code>scope</code> lists what the client may do.
      </p>
      <h2>In development</h2>
      <p>
        <code>npm start</code> runs an issuer of tokens for the users <code>ada</code>, <code>grace</code>,
        <code>linus</code> and <code>ops</code>, who has all scopes. It gives tokens to any client without a password,
        and does not exist in production. In a second terminal:
      </p>
      <pre tabindex="0">
TOKEN=$(npm run -s token -- ada)
curl -H "Authorization: Bearer $TOKEN" ${exampleUrl(newest)}</pre>
      <p>
        The samples read the token from the environment variable <code>TOKEN</code>, so <code>export TOKEN</code> before
        you run one. <code>npm run -s token -- ada --scope "orders:read"</code> requests other scopes, and
        <code>--ttl 60</code> a lifetime in seconds.
      </p>
      <h2>In production</h2>
      <p>
        The operator's OpenID provider issues the tokens. Register your client with it, and request the scopes that your
        operations require. Services accept only tokens that this provider signed for this platform: the operator
        configures its issuer, audience and keys (<code>ISSUER</code>, <code>AUDIENCE</code>, <code>JWKS_URL</code>).
      </p>
      <h2>Try-it forms</h2>
      <p>
        A form sends its request from your browser to this server, in development with a new token of the user that you
        choose as the caller at the top of the page. A token that you enter is stored in <code>sessionStorage</code>:
        all forms in this browser tab use it, it is deleted when the tab is closed, and it is never part of a URL. An
        empty field deletes it.
      </p>
      <h2>If a token is rejected</h2>
      <ul>
        <li>
          401 <a href="/problems/unauthenticated">unauthenticated</a>: the token is missing, expired, or from another
          issuer.
        </li>
        <li>
          403 <a href="/problems/forbidden">forbidden</a>: the token lacks the scope, or the resource belongs to another
          user.
        </li>
      </ul>
      ${newest === undefined ? undefined : viewScopes(newest)}`,
  });
}

function exampleUrl(newest: VersionDocument | undefined): string {
  return `${exampleOrigin}/v${newest?.version ?? 1}/orders`;
}

function viewScopes(reference: VersionDocument): Html {
  const { version, document } = reference;
  const rows = operationsOf(document).map(
    ({ method, path, operation }) =>
      html`<li>
        <p class="path">
          ${viewMethod(method)}
          <a href="${operationUrl(reference, operation)}"><code>${requestPath(document, path)}</code></a>
        </p>
        <p>${describeAuthorization(operation)}</p>
      </li>`,
  );
  return html`<h2>Scopes of version ${version}</h2>
    ${markdown("One of the listed scopes suffices. Scopes that end in `:all` are for data of other users.")}
    <ul class="fields scopes">
      ${rows}
    </ul>`;
}
