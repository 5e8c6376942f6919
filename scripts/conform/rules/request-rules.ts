// Tokens, and the headers that the gateway and the REST proxy add to every request.
import { createHmac, createPublicKey, type JsonWebKey } from "node:crypto";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { findReadables, firstUser } from "../examples.ts";
import type { Exchange } from "../exchange.ts";
import { declareRules, type RuleDeclaration } from "../rule.ts";
import type { RequestOptions, Subject } from "../subject.ts";

interface TokenParts {
  readonly subject: Subject;
  readonly issuer: TestIssuer;
  readonly header: string;
  readonly payload: string;
}

/** By the id of the rule. Each makes a token that a service must not accept. */
const invalidTokens: Readonly<Record<string, readonly [what: string, make: (parts: TokenParts) => Promise<string>]>> = {
  "token-malformed": ["that is not a JWT", async () => "x"],
  "token-alg-none": [
    'with "alg": "none" and no signature',
    async ({ payload }) => `${encode('{"alg":"none"}')}.${encode(payload)}.`,
  ],
  "token-expired": ["that has expired", ({ subject }) => subject.tokenOf(firstUser, { exp: 1 })],
  "token-without-expiry": [
    "without exp",
    async ({ issuer, header, payload }) => issuer.sign(header, payload.replace(/"exp":\d+,?/, "")),
  ],
  "token-audience": ["for another audience", ({ subject }) => subject.tokenOf(firstUser, { aud: "conform-other" })],
  "token-issuer": ["of another issuer", ({ subject }) => subject.tokenOf(firstUser, { iss: "http://conform.example" })],
  "token-key": [
    "that another key has signed",
    async ({ header, payload }) => {
      const another = await startTestIssuer();
      await another.stop();
      return another.sign(header, payload);
    },
  ],
  "token-hmac": [
    "signed by HS256 with the public key as the secret",
    async ({ issuer, payload }) => {
      const { keys } = (await (await fetch(issuer.jwksUrl)).json()) as { readonly keys: readonly [JsonWebKey] };
      const secret = createPublicKey({ key: keys[0], format: "jwk" }).export({ type: "spki", format: "pem" });
      const signed = `${encode('{"alg":"HS256","kid":"test"}')}.${encode(payload)}`;
      return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
    },
  ],
};

export const tokenRules = declareRules("Tokens", {
  "token-valid": {
    text: "A valid token of the issuer is accepted.",
    needs: "tokens",
    async check(subject, { expectStatus }) {
      for (const response of await callBoth(subject, { as: firstUser })) expectStatus(response, 200);
    },
  },
  "token-absent": {
    text: "A request without a token is anonymous: 200, or 401, 403 or 404 where a caller is needed.",
    async check(subject, { expectStatus }) {
      for (const response of await callBoth(subject, {})) expectStatus(response, 200, 401, 403, 404);
    },
  },
  ...Object.fromEntries(
    Object.entries(invalidTokens).map(([id, [what, make]]): readonly [string, RuleDeclaration] => [
      id,
      {
        text: `A token ${what} is 401 with WWW-Authenticate, also where no token is needed.`,
        needs: "tokens",
        async check(subject, { expect }) {
          const { issuer } = subject;
          if (issuer === undefined) return;
          const [header = "", payload = ""] = (await subject.tokenOf(firstUser)).split(".").map(decode);
          const authorization = `Bearer ${await make({ subject, issuer, header, payload })}`;
          for (const response of await callBoth(subject, { headers: { authorization } })) {
            const isRejection =
              response.status === 401 && /^bearer\b/i.test(response.headers["www-authenticate"] ?? "");
            expect(response, isRejection, "401 with WWW-Authenticate: Bearer");
          }
        },
      },
    ]),
  ),
});

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceHeaders = [
  { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
  { traceparent: `cc-${traceId}-00f067aa0ba902b7-01-of-a-later-version` },
  { traceparent: `00-${traceId.toUpperCase()}-00f067aa0ba902b7-01` },
  { traceparent: `00-${"0".repeat(32)}-${"0".repeat(16)}-00` },
  { traceparent: "x".repeat(2_000) },
  { "x-request-id": "conform-1" },
  { "x-request-id": "x".repeat(2_000) },
];

export const requestRules = [
  ...declareRules("What is optional", {
    "trace-context": {
      text: "Any traceparent and X-Request-Id, also a malformed one, leaves the response as it is.",
      async check(subject, { expectStatus }) {
        for (const headers of traceHeaders)
          for (const response of await readBoth(subject, headers)) expectStatus(response, 200);
      },
    },
  }),
  ...declareRules("Timeouts and retries", {
    deadline: {
      text: "A REST request whose X-Deadline-Ms is over gets 503 with Retry-After.",
      without: "an overloaded service does work for which no client waits any more",
      async check(subject, { expect, absent, skip }) {
        const [, response] = await readBoth(subject, { "x-deadline-ms": "0" });
        if (response === undefined) return skip("no REST route that reads");
        if (response.status === 200) return absent();
        const isExpected = response.status === 503 && response.headers["retry-after"] !== undefined;
        expect(response, isExpected, "503 with Retry-After, or 200");
      },
    },
    "deadline-ignored": {
      text: "An X-Deadline-Ms in the future, or a malformed one, leaves the response as it is.",
      async check(subject, { expectStatus }) {
        for (const value of ["10000", "soon", "-1"])
          for (const response of await readBoth(subject, { "x-deadline-ms": value })) expectStatus(response, 200);
      },
    },
  }),
];

function readBoth(subject: Subject, headers: Readonly<Record<string, string>>): Promise<readonly Exchange[]> {
  return callBoth(subject, { headers, as: subject.issuer === undefined ? undefined : firstUser });
}

/** GraphQL and, if there is one, a REST route that reads. */
async function callBoth(subject: Subject, options: RequestOptions): Promise<readonly Exchange[]> {
  const [readable] = await findReadables(subject, () => {});
  const rest = readable ? [await subject.send("GET", readable.path, options)] : [];
  return [await subject.graphql("{ __typename }", {}, options), ...rest];
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function decode(text: string): string {
  return Buffer.from(text, "base64url").toString();
}
