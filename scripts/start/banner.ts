import type { StartOptions } from "./options.ts";
import { isService, type PartName, portOf, parts, type Ports, serviceNames, urlOf } from "./parts.ts";

export interface BannerOptions extends Pick<StartOptions, "substitutes" | "remote"> {
  readonly ports: Ports;
  /** Also those in `notReady` and substitutes. */
  readonly running: readonly PartName[];
  readonly notReady: readonly PartName[];
  readonly tookMs: number;
  /** Where a developer gets a token of the remote. */
  readonly issuerUrl: string | undefined;
  readonly hasKeys: boolean;
}

/** Those that a browser can open. */
const addresses: readonly { readonly name: PartName; readonly label: string; readonly path: string }[] = [
  { name: "gateway", label: "gateway, with links to what it serves", path: "/" },
  { name: "gateway", label: "GraphQL, and GraphiQL in a browser", path: "/graphql" },
  { name: "rest-proxy", label: "REST API, with links to what it serves", path: "/" },
  { name: "rest-proxy", label: "REST reference", path: "/docs" },
  { name: "rest-proxy", label: "REST", path: "/v2/users" },
  { name: "issuer", label: "token issuer, for development only", path: "/.well-known/openid-configuration" },
];

const defaultIssuerPort = parts.find(({ name }) => name === "issuer")?.defaultPort;

/** Of fields that need no token. */
const sampleQuery = "{ user(id: 1) { name posts(first: 2) { title comments(first: 2) { body author { name } } } } }";

export function renderBanner(options: BannerOptions): string {
  const { ports, running, tookMs } = options;
  const runningAddresses = addresses.filter(({ name }) => running.includes(name));
  const lines = runningAddresses.map(({ name, label, path }) => ({
    label,
    text: `${urlOf(portOf(ports, name))}${path}${remarksOn(name, options)}`,
  }));
  for (const name of serviceNames.filter((service) => running.includes(service))) {
    // A browser cannot use a service, and clients use it only where no gateway runs.
    const url = running.includes("gateway") ? "" : `${urlOf(portOf(ports, name))}/graphql`;
    const text = `${url}${remarksOn(name, options)}`.trimStart();
    if (text !== "") lines.push({ label: name, text });
  }
  const labelWidth = Math.max(...lines.map(({ label }) => label.length));
  const partLines = lines.map(({ label, text }) => `  ${label.padEnd(labelWidth)}  ${text}`);
  const isReady = options.notReady.length === 0;
  const headline = isReady ? "Tributary is ready" : "Tributary is running, but not every part is ready";
  return [
    "",
    `${headline} (${(tookMs / 1_000).toFixed(1)} s).`,
    "",
    ...partLines,
    ...suggestRequests(options),
    "",
    options.hasKeys ? "Press h to print this again, Ctrl-C to stop." : "Press Ctrl-C to stop.",
    "",
  ].join("\n");
}

function remarksOn(name: PartName, { notReady, substitutes, remote }: BannerOptions): string {
  const substituteKind = isService(name) ? substitutes.get(name) : undefined;
  let remarks = "";
  if (substituteKind === "remote") remarks += `   REMOTE: ${remote?.graphqlUrl}`;
  if (substituteKind === "mock") remarks += "   MOCK";
  if (notReady.includes(name)) remarks += "   NOT READY";
  return remarks;
}

/** Services of the remote without --against-rest have no REST routes. */
function describeUnservedRoutes({ substitutes, remote }: BannerOptions): readonly string[] {
  const unserved = [...substitutes].filter(([, kind]) => kind === "remote" && !remote?.restUrl);
  if (unserved.length === 0) return [];
  const names = unserved.map(([name]) => name).join(", ");
  return ["", `REST routes of ${names} respond with 503. --against-rest URL forwards those of the remote.`];
}

/** Each suggestion begins with an empty line. */
function suggestRequests(options: BannerOptions): readonly string[] {
  const { running, substitutes, remote, issuerUrl } = options;
  const tokenCommand = tokenCommandOf(options);
  const lines: string[] = [];
  const hasAllServices = serviceNames.every((name) => running.includes(name) || substitutes.has(name));
  if (running.includes("gateway") && hasAllServices) lines.push("", "Try this query:", `  ${sampleQuery}`);
  lines.push(...describeUnservedRoutes(options));
  const isRestComplete = running.includes("rest-proxy") && hasAllServices && substitutes.size === 0;
  if (isRestComplete) {
    const restUrl = urlOf(options.ports["rest-proxy"]);
    const tokenOption = `-H "authorization: Bearer $(${tokenCommand})"`;
    lines.push("", "Try these requests:");
    lines.push(`  curl ${restUrl}/v2/users/1`);
    lines.push(`  curl ${restUrl}/v2/users/1/posts`);
    lines.push(`  curl ${tokenOption} ${restUrl}/v2/orders`);
  }
  if (running.includes("issuer")) {
    lines.push("", "A token for Ada, Grace or Linus, from the local issuer (never used in production):");
    lines.push(`  ${tokenCommand}`);
  }
  if (remote && issuerUrl !== undefined) {
    lines.push("", "A token of the remote, if its issuer is one for development:", `  ${tokenCommand}`);
  }
  return lines;
}

/** Names the issuer, unless it has its default port or is not known. */
function tokenCommandOf({ ports, remote, issuerUrl }: BannerOptions): string {
  const command = "npm run -s token -- ada";
  const localUrl = ports.issuer === defaultIssuerPort ? undefined : urlOf(ports.issuer);
  const namedUrl = remote ? issuerUrl : localUrl;
  return namedUrl === undefined ? command : `ISSUER_URL=${namedUrl} ${command}`;
}
