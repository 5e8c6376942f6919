import { type PartName, portOf, parts, type Ports, serviceNames, urlOf } from "./parts.ts";

export interface BannerOptions {
  readonly ports: Ports;
  readonly running: readonly PartName[];
  /** Parts that did not become ready in time. */
  readonly notReady: readonly PartName[];
  readonly tookMs: number;
  readonly hasPostgres: boolean;
  /** Whether pressing h prints the banner again. */
  readonly hasKeys: boolean;
}

const addresses: readonly { readonly name: PartName; readonly label: string; readonly path: string }[] = [
  { name: "gateway", label: "GraphQL, and GraphiQL in a browser", path: "/graphql" },
  { name: "rest-proxy", label: "REST", path: "/v2/users" },
  ...serviceNames.map((name) => ({ name, label: name, path: "/graphql" })),
  { name: "issuer", label: "token issuer, for development only", path: "/.well-known/openid-configuration" },
];

const defaultIssuerPort = parts.find(({ name }) => name === "issuer")?.defaultPort;

/** A query across all four services. */
const sampleQuery =
  "{ user(id: 1) { name email posts { title comments { body author { name } } } orders { total { display } } } }";

/** The last text of a start: every address, example requests, and how to stop it. */
export function renderBanner(options: BannerOptions): string {
  const { ports, running, tookMs } = options;
  const listed = addresses.filter(({ name }) => running.includes(name));
  const width = Math.max(...listed.map(({ label }) => label.length), "PostgreSQL".length);
  const lines = listed.map(({ name, label, path }) => {
    const remark = options.notReady.includes(name) ? "   NOT READY" : "";
    return `  ${label.padEnd(width)}  ${urlOf(portOf(ports, name))}${path}${remark}`;
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

function suggestions({ ports, running }: BannerOptions): string[] {
  const rest = urlOf(ports["rest-proxy"]);
  const tokenCommand = `${ports.issuer === defaultIssuerPort ? "" : `ISSUER_URL=${urlOf(ports.issuer)} `}npm run -s token -- ada`;
  const token = `-H "authorization: Bearer $(${tokenCommand})"`;
  return [
    ...(running.includes("gateway") ? ["", "Try this query:", `  ${sampleQuery}`] : []),
    ...(running.includes("rest-proxy")
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
  ];
}
