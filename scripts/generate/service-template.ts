import type { Service } from "../../supergraph/services.ts";

export interface DerivedService extends Service {
  /** First path segments that no earlier service uses, such as `orders` and `products`. */
  readonly resources: readonly string[];
}

/** After `with` in the first line of a region. An external service has an image, or runs elsewhere. */
export const conditions = {
  "seed data": ({ seed }) => seed,
  "code here": ({ external }) => external === undefined,
  "an image": ({ external }) => external?.image !== undefined,
  "a container": ({ external }) => external === undefined || external.image !== undefined,
  "a process elsewhere": ({ external }) => external !== undefined && external.image === undefined,
  "a contract": ({ external }) => external !== undefined,
  "a change feed": ({ external }) => external === undefined || external.feedUrl !== undefined,
  "a foreign change feed": ({ external }) => external?.feedUrl !== undefined,
  metrics: ({ external }) => external === undefined || external.metricsPort !== undefined,
} as const satisfies Readonly<Record<string, (service: DerivedService) => boolean>>;
export type Condition = keyof typeof conditions;

const adminPort = 9_464;

/** A line with a placeholder is repeated for each of its values. */
const placeholders: Readonly<Record<string, (service: DerivedService) => readonly string[]>> = {
  "<name>": ({ name }) => [name],
  "<NAME>": ({ variablePrefix }) => [variablePrefix],
  "<team>": ({ owner }) => [owner],
  "<port>": ({ port }) => [String(port)],
  "<feed-port>": ({ feedPort }) => [String(feedPort)],
  "<url>": (service) => [originOf(service)],
  "<url-port>": (service) => [portOfOrigin(originOf(service))],
  "<graphql-url>": (service) => [`${originOf(service)}${service.external?.graphqlPath ?? "/graphql"}`],
  "<health-path>": ({ external }) => [external?.healthPath ?? "/health/ready"],
  "<feed-url>": ({ name, feedPort, external }) => [
    external ? (external.feedUrl ?? "none") : `http://${name}:${feedPort}`,
  ],
  "<image>": ({ external }) => (external?.image === undefined ? [] : [external.image]),
  "<metrics-host>": (service) => [new URL(originOf(service)).hostname],
  "<metrics-port>": ({ external }) => [String(external?.metricsPort ?? adminPort)],
  "<codes>": ({ codes }) => [codes.join(", ")],
  "<own-scope>": ({ scopes }) => Object.keys(scopes).filter((scope) => !isOperatorScope(scope)),
  "<operator-scope>": ({ scopes }) => Object.keys(scopes).filter(isOperatorScope),
  "<resource>": ({ resources }) => resources,
};

const multipleValuePlaceholders: ReadonlySet<string> = new Set(["<own-scope>", "<operator-scope>", "<resource>"]);

/** All names, joined by the text after the colon: `<names:|>` is `users|posts`. */
const joinedNamesPattern = /<names:([^>]+)>/g;
const placeholderPattern = /<[a-zA-Z]+(?:-[a-z]+)*>/g;

/** @throws Error for an unknown placeholder, and for two placeholders in one line that can both have several values. */
export function expandLine(line: string, services: readonly DerivedService[]): readonly string[] {
  const names = services.map(({ name }) => name);
  const lineWithNames = line.replaceAll(joinedNamesPattern, (_, separator: string) => names.join(separator));
  const used = [...new Set(lineWithNames.match(placeholderPattern))];
  const unknown = used.filter((placeholder) => !Object.hasOwn(placeholders, placeholder));
  if (unknown.length > 0)
    throw new Error(`Unknown placeholder ${unknown.join(", ")}. Known: ${Object.keys(placeholders).join(", ")}.`);
  const withMultipleValues = used.filter((placeholder) => multipleValuePlaceholders.has(placeholder));
  if (withMultipleValues.length > 1)
    throw new Error(`${withMultipleValues.join(" and ")} are in one line. Write a line for each.`);
  if (used.length === 0) return [lineWithNames];
  return services.flatMap((service) => expandForService(lineWithNames, used, service));
}

function expandForService(line: string, used: readonly string[], service: DerivedService): readonly string[] {
  let lines: readonly string[] = [line];
  for (const placeholder of used) {
    const values = placeholders[placeholder]?.(service) ?? [];
    // A function as the replacement: in a text, `$` would have a meaning.
    lines = lines.flatMap((template) => values.map((value) => template.replaceAll(placeholder, () => value)));
  }
  return lines;
}

/** As other containers reach it. */
function originOf({ name, port, external }: DerivedService): string {
  return external?.url ?? `http://${name}:${port}`;
}

function portOfOrigin(origin: string): string {
  const { port, protocol } = new URL(origin);
  return port || (protocol === "https:" ? "443" : "80");
}

/** `orders:read` is for the caller's own data, `orders:read:all` for the data of others. */
function isOperatorScope(scope: string): boolean {
  return scope.split(":").length > 2;
}
