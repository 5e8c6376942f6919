import type { Environment } from "@tributary/kit/process/env";
import { type CommandError, createUsageError, parseCommandLine } from "../command-line.ts";
import {
  addressVariable,
  externalOf,
  isService,
  type PartName,
  partNames,
  parts,
  postgresPort,
  type ServiceName,
  serviceNames,
} from "./parts.ts";

export interface StartOptions {
  /** The databases to delete. `all` has no effect if no part that starts has a database. */
  readonly fresh: "all" | readonly ServiceName[];
  /** 1 to 100. Replaces seeded databases of another scale; undefined replaces nothing. */
  readonly scale: number | undefined;
  /** The parts to start from their own code, in the order of the parts list. */
  readonly only: readonly PartName[];
  /** The services for which a substitute responds (substitute/main.ts). None of them is in `only`. */
  readonly substitutes: ReadonlyMap<ServiceName, SubstituteKind>;
  /** The origins of external services that run already. None of them is in `only`. */
  readonly addresses: ReadonlyMap<ServiceName, string>;
  /** Undefined if no service is `remote`. */
  readonly remote: RemoteAddresses | undefined;
}

/** `remote`: forwards to another instance of the platform. `mock`: responds from the schema. */
export type SubstituteKind = "remote" | "mock";

export interface RemoteAddresses {
  readonly graphqlUrl: string;
  /** Of the REST proxy; undefined if the options do not name it. */
  readonly restUrl: string | undefined;
}

const scaleMax = 100;

const usage = `Usage: npm start -- [options]

Starts the whole platform on this machine: PostgreSQL, the local issuer, the services, the gateway, the REST proxy.
A service whose tables are empty and were never seeded is seeded. Existing data remains unless an option deletes it:

  --fresh              delete all databases, then seed the services that start; deletes nothing if none of them has one
  --fresh a,b          delete and seed only the databases of these services
  --scale N            seed N times the default amount, 1 to ${scaleMax}. Replaces every database that was seeded at another
                       scale: edits in it are lost. With --only it replaces only databases of these parts. A database
                       whose rows are not seed data is not replaced: --fresh deletes it.
  --only a,b           start only these parts: ${partNames.join(", ")}
  --against URL        send what the services that are not in --only would do to the platform whose gateway has this
                       URL, such as https://gateway.example. Their schemas are those of main, from git
  --against-rest URL   with --against: the origin of that platform's REST proxy. Without it the local REST proxy
                       responds with 503 for these services
  --mock a,b           respond for these services with values that are made from their schema.graphql: always the same
                       for the same key. Without --only, all other services start
                       With --against or --mock the gateway and the REST proxy always start, and the local issuer
                       unless --against names a platform. Examples: docs/recipes.md
  --help               print this text

Environment variables for ports: ${[...parts.map(({ portVariable }) => portVariable), postgresPort.variable].join(", ")}.
The change feed of a service listens on the service's port plus 100.
A service that is only a contract is started by the command in its service.json; without one it is a mock, unless NAME_URL,
such as REVIEWS_URL, has the address of a running one (NAME_FEED_URL: of its change feed).
Data folder: DATA_DIR (default: .data).
`;

/** @param environment may have the address of an external service, such as REVIEWS_URL. */
export function readOptions(args: readonly string[], environment: Environment = {}): StartOptions {
  const texts = parse(args);
  // `npm start --fresh`: npm takes the option for itself.
  const taken = optionNames.find((name) => environment[`npm_config_${name.replaceAll("-", "_")}`]);
  if (taken !== undefined) throw usageError(`Write "npm start -- --${taken}": without "--" it is an option of npm.`);
  const scale = texts.scale === undefined ? undefined : readScale(texts.scale);
  const { only, substitutes, remote } = readParts(texts);
  const placed = placeExternalServices(only, substitutes, environment);
  return { fresh: readFresh(texts, placed.only), scale, remote, ...placed };
}

/** Of those in `only`: one that runs already has an address, one without a command gets a mock of its contract. */
function placeExternalServices(
  only: readonly PartName[],
  substitutes: ReadonlyMap<ServiceName, SubstituteKind>,
  environment: Environment,
): Pick<StartOptions, "only" | "substitutes" | "addresses"> {
  const addresses = new Map<ServiceName, string>();
  const allSubstitutes = new Map(substitutes);
  for (const name of only) {
    const external = externalOf(name);
    const address = external && environment[addressVariable(name)];
    if (address) addresses.set(name, readUrl(addressVariable(name), address).origin);
    else if (external && external.command === undefined) allSubstitutes.set(name, "mock");
  }
  const runsHere = (name: PartName) => !addresses.has(name) && !allSubstitutes.has(name);
  return { only: only.filter(runsHere), substitutes: allSubstitutes, addresses };
}

function readFresh({ fresh, names }: ReturnType<typeof parse>, only: readonly PartName[]): StartOptions["fresh"] {
  const [first] = names;
  if (first === undefined) return fresh ? "all" : [];
  if (!fresh) throw usageError(`Unexpected argument '${first}'.`);
  const chosen = readNames("--fresh", names.join(","), serviceNames);
  const notStarted = chosen.filter((name) => !only.includes(name));
  if (notStarted.length > 0) throw usageError(`--fresh cannot seed ${notStarted.join(", ")}: not started here.`);
  return chosen;
}

const options = {
  help: { type: "boolean", short: "h", default: false },
  fresh: { type: "boolean", default: false },
  scale: { type: "string" },
  only: { type: "string" },
  against: { type: "string" },
  "against-rest": { type: "string" },
  mock: { type: "string" },
} as const;
const optionNames = Object.keys(options).filter((name) => name !== "help");

function parse(args: readonly string[]) {
  const { values, positionals } = parseCommandLine({ args: [...args], options, allowPositionals: true }, usage);
  return { ...values, names: positionals };
}

const digits = /^\d{1,3}$/;

function readScale(text: string): number {
  const scale = digits.test(text) ? Number(text) : 0;
  if (scale < 1 || scale > scaleMax)
    throw usageError(`--scale takes a whole number from 1 to ${scaleMax}, not "${text}".`);
  return scale;
}

type PartTexts = Omit<ReturnType<typeof parse>, "names">;

function readParts(texts: PartTexts): Pick<StartOptions, "only" | "substitutes" | "remote"> {
  const named = texts.only === undefined ? undefined : readNames("--only", texts.only, partNames);
  const mocked = texts.mock === undefined ? [] : readNames("--mock", texts.mock, serviceNames);
  const remote = readRemote(texts);
  if (texts.mock === undefined && remote === undefined)
    return { only: named ?? partNames, substitutes: new Map(), remote };
  const namedAndMocked = mocked.filter((name) => named?.includes(name));
  if (namedAndMocked.length > 0)
    throw usageError(`--only starts ${namedAndMocked.join(", ")}, and --mock replaces it: remove one of them.`);
  if (remote && named === undefined)
    throw usageError("--against needs --only with the services that run here: --only posts --against URL");
  if (remote && named?.includes("issuer"))
    throw usageError("--against uses the tokens of that platform: remove issuer from --only.");
  const localServices = named?.filter(isService) ?? serviceNames.filter((name) => !mocked.includes(name));
  // With --against they run at the remote, without it they do not run.
  const otherServices = serviceNames.filter((name) => !localServices.includes(name) && !mocked.includes(name));
  if (remote && otherServices.length === 0)
    throw usageError("--against has nothing to do: every service is in --only or --mock.");
  const isStarted = (name: PartName) => {
    if (isService(name)) return localServices.includes(name);
    if (name === "issuer") return remote === undefined;
    return true;
  };
  const substitutes = new Map<ServiceName, SubstituteKind>();
  if (remote) for (const name of otherServices) substitutes.set(name, "remote");
  for (const name of mocked) substitutes.set(name, "mock");
  return { only: partNames.filter(isStarted), substitutes, remote };
}

function readNames<Name extends PartName>(option: string, text: string, known: readonly Name[]): readonly Name[] {
  const requested = text.split(",").map((name) => name.trim());
  const unknownNames = requested.filter((name) => !known.some((other) => other === name));
  const kind = option === "--only" ? "parts" : "services";
  if (unknownNames.length > 0)
    throw usageError(`${option} does not know "${unknownNames.join(", ")}". The ${kind} are ${known.join(", ")}.`);
  return known.filter((name) => requested.includes(name));
}

function readRemote({ against, "against-rest": againstRest }: PartTexts): RemoteAddresses | undefined {
  if (against === undefined && againstRest !== undefined) throw usageError("--against-rest needs --against.");
  if (against === undefined) return undefined;
  const graphqlUrl = readUrl("--against", against);
  if (graphqlUrl.pathname === "/") graphqlUrl.pathname = "/graphql";
  const restUrl = againstRest === undefined ? undefined : readUrl("--against-rest", againstRest);
  if (restUrl && restUrl.pathname !== "/")
    throw usageError(`--against-rest takes scheme, host and port only: ${restUrl.origin}`);
  return { graphqlUrl: graphqlUrl.href, restUrl: restUrl?.origin };
}

function readUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isAddress(url))
    throw usageError(`${option} takes an http(s) URL, such as https://gateway.example, not "${text}".`);
  return url;
}

/** Whether the URL is http(s), without a user, a query and a fragment. */
function isAddress({ protocol, username, search, hash }: URL): boolean {
  const isHttp = protocol === "http:" || protocol === "https:";
  return isHttp && username === "" && search === "" && hash === "";
}

function usageError(message: string): CommandError {
  return createUsageError(message, usage);
}
