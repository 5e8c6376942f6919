// The banner of `npm start`: run.ts prints it when all parts are ready or have failed, and again when the developer presses h.
import type { StartOptions } from "./options.ts";
import { isService, type PartName, portOf, parts, type Ports, serviceNames, urlOf } from "./parts.ts";

export interface BannerOptions extends Pick<StartOptions, "substitutes" | "remote"> {
  readonly ports: Ports;
  /** All parts of this start, also those in `notReady` and those for which a substitute runs. */
  readonly running: readonly PartName[];
  /** Parts that did not become ready in time. */
  readonly notReady: readonly PartName[];
  readonly tookMs: number;
  readonly hasPostgres: boolean;
  /** Where a developer gets a token of the remote; undefined if that is not known, or without a remote. */
  readonly issuerUrl: string | undefined;
  /** Whether pressing h prints the banner again. */
  readonly hasKeys: boolean;
}

const addresses: readonly { readonly name: PartName; readonly label: string; readonly path: string }[] = [
  { name: "gateway", label: "gateway, with links to what it serves", path: "/" },
  { name: "gateway", label: "GraphQL, and GraphiQL in a browser", path: "/graphql" },
  { name: "rest-proxy", label: "REST API, with links to what it serves", path: "/" },
  { name: "rest-proxy", label: "REST reference", path: "/docs" },
  { name: "rest-proxy", label: "REST", path: "/v2/users" },
  ...serviceNames.map((name) => ({ name, label: name, path: "/graphql" })),
  { name: "issuer", label: "token issuer, for development only", path: "/.well-known/openid-configuration" },
];

const defaultIssuerPort = parts.find(({ name }) => name === "issuer")?.defaultPort;

/** A query across all four services. */
const sampleQuery =
  "{ user(id: 1) { name email posts { title comments { body author { name } } } orders { total { display } } } }";

/** The text of the banner: every address, example requests, and how to stop the platform. */
export function renderBanner(options: BannerOptions): string {
  const { ports, running, tookMs } = options;
  const listed = addresses.filter(({ name }) => running.includes(name));
  const width = Math.max(...listed.map(({ label }) => label.length), "PostgreSQL".length);
  const lines = listed.map(({ name, label, path }) => {
    return `  ${label.padEnd(width)}  ${urlOf(portOf(ports, name))}${path}${remarksOn(name, options)}`;
  });
  if (options.hasPostgres) lines.push(`  ${"PostgreSQL".padEnd(width)}  127.0.0.1:${ports.postgres}`);
  const headline =
    options.notReady.length === 0 ? "Tributary is ready" : "Tributary is running, but not every part is ready";
  return [
    "",
    `${headline} (${(tookMs / 1_000).toFixed(1)} s).`,
    "",
    ...lines,
    ...suggestions(options),
    "",
    options.hasKeys ? "Press h to print this again, Ctrl-C to stop." : "Press Ctrl-C to stop.",
    "",
  ].join("\n");
}

/** The remarks after an address: that a substitute responds in place of the service, and that the part is not ready. */
function remarksOn(name: PartName, { notReady, substitutes, remote }: BannerOptions): string {
  const kind = isService(name) ? substitutes.get(name) : undefined;
  const substitute = kind === "remote" ? `   REMOTE: ${remote?.graphqlUrl}` : kind === "mock" ? "   MOCK" : "";
  return `${substitute}${notReady.includes(name) ? "   NOT READY" : ""}`;
}

/** The line about services whose REST routes respond with 503: mocks, and all of the remote without --against-rest. */
function describeUnservedRoutes({ substitutes, remote }: BannerOptions): string[] {
  const unserved = [...substitutes].filter(([, kind]) => kind === "mock" || !remote?.restUrl);
  if (unserved.length === 0) return [];
  const hint = unserved.some(([, kind]) => kind === "remote")
    ? " --against-rest URL forwards those of the remote."
    : "";
  return ["", `REST routes of ${unserved.map(([name]) => name).join(", ")} respond with 503.${hint}`];
}

function suggestions(options: BannerOptions): string[] {
  const { ports, running, substitutes, remote, issuerUrl } = options;
  const rest = urlOf(ports["rest-proxy"]);
  // Undefined: `npm run token` needs no ISSUER_URL, because the issuer has its default port, or the remote's issuer is not known.
  const tokenUrl = remote ? issuerUrl : ports.issuer === defaultIssuerPort ? undefined : urlOf(ports.issuer);
  const tokenCommand = `${tokenUrl === undefined ? "" : `ISSUER_URL=${tokenUrl} `}npm run -s token -- ada`;
  const token = `-H "authorization: Bearer $(${tokenCommand})"`;
  return [
    ...(running.includes("gateway") ? ["", "Try this query:", `  ${sampleQuery}`] : []),
    ...describeUnservedRoutes(options),
    ...(running.includes("rest-proxy") && substitutes.size === 0
      ? [
          "",
          "Try these requests:",
          `  curl ${rest}/v2/users/1`,
          `  curl ${rest}/v2/users/1/posts`,
          `  curl ${token} ${rest}/v2/orders`,
        ]
      : []),
    ...(running.includes("issuer")
      ? ["", "A token for Ada, Grace or Linus, from the local issuer (never used in production):", `  ${tokenCommand}`]
      : []),
    ...(remote && issuerUrl !== undefined
      ? ["", "A token of the remote, if its issuer is one for development:", `  ${tokenCommand}`]
      : []),
  ];
}
