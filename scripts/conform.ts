// npm run conform: checks a running service against docs/service-contract.md and its own contract. Exit code 1 if it breaks a rule.
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { removeLocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { InputError } from "@tributary/kit/errors/input-error";
import { CommandError, createUsageError, parseCommandLine, readOnlyArgument, runCommand } from "./command-line.ts";
import { exchange } from "./conform/exchange.ts";
import { readTestedService, type TestedService } from "./conform/read-service.ts";
import { formatResult, formatSummary } from "./conform/result-text.ts";
import { runRules } from "./conform/run-rules.ts";
import { conformRules } from "./conform/rules.ts";
import { startService } from "./conform/start-service.ts";
import { createSubject, type RunningService } from "./conform/subject.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const developmentFeedKey = "for-development-only";
/** As a shell reports SIGINT. */
const interruptedExitCode = 130;
const usage = `Usage: npm run conform -- <folder> [--keep]
       npm run conform -- <folder> --url http://host:port [--feed http://host:port]

Checks a service against docs/service-contract.md and the contract in the folder, such as services/reviews.

  --keep   the service runs until Ctrl-C, so that the printed commands work
  --url    checks a service that runs already: without writes, tokens and a stop
  --feed   the origin of its change feed; one of its keys is in FEED_KEYS (${developmentFeedKey})

Exit code: 0 no rule is broken; 1 a rule is broken; 2 the command line is wrong, or the service cannot be checked.`;

await runCommand(async () => {
  const options = {
    url: { type: "string" },
    feed: { type: "string" },
    keep: { type: "boolean" },
    help: { type: "boolean" },
  } as const;
  const { positionals, values } = parseCommandLine({ options, allowPositionals: true }, usage);
  const path = readOnlyArgument(positionals, "folder", usage);
  if (values.feed !== undefined && values.url === undefined) throw createUsageError("--feed needs --url.", usage);
  const folder = resolve(path);
  try {
    const tested = readTestedService(root, folder);
    if (values.url !== undefined) await checkRules(tested, await findRunning(tested, values.url, values.feed));
    else
      await withStarted(tested, folder, async (service, interrupted) => {
        if (!values.keep) return checkRules(tested, service);
        await checkRules(tested, { ...service, drain: undefined });
        process.stdout.write(`The service runs at ${service.url} until Ctrl-C.\n`);
        await interrupted;
      });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new CommandError(error.message, { exitCode: 2, cause: error });
  }
});

async function checkRules({ contract }: TestedService, service: RunningService): Promise<void> {
  const subject = createSubject(contract, service);
  const print = (text: string) => {
    if (process.exitCode !== interruptedExitCode) process.stdout.write(`${text}\n`);
  };
  const results = await runRules(conformRules, subject, (result) => print(formatResult(result)));
  print(formatSummary(contract.name, results));
  if (results.some(({ outcome }) => outcome === "failed")) process.exitCode = 1;
}

async function findRunning(
  { contract }: TestedService,
  address: string,
  feedAddress: string | undefined,
): Promise<RunningService> {
  if (![address, feedAddress ?? address].every((text) => URL.canParse(text)))
    throw createUsageError("--url and --feed take an origin.", usage);
  const url = new URL(address).origin;
  const request = { method: "GET", url: `${url}${contract.healthPath}`, headers: {}, body: undefined };
  const { status, text } = await exchange(request);
  if (status === 0) throw new CommandError(`No response from ${request.url}: ${text}`);
  const key = (process.env["FEED_KEYS"] || developmentFeedKey).split(",")[0] ?? developmentFeedKey;
  const feed = feedAddress === undefined ? undefined : { url: new URL(feedAddress).origin, key };
  return { url, feed, issuer: undefined, drain: undefined };
}

async function withStarted(
  tested: TestedService,
  folder: string,
  check: (service: RunningService, interrupted: Promise<unknown>) => Promise<void>,
): Promise<void> {
  // A signal, such as of Ctrl-C, ends the checks, then the service and PostgreSQL.
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal));
  const interrupted = Promise.race(signals).then(() => (process.exitCode = interruptedExitCode));
  const directory = mkdtempSync(join(tmpdir(), "tributary-conform-"));
  chmodSync(directory, 0o755); // As root, PostgreSQL runs as another user.
  const postgres = await startLocalPostgres({ directory: join(directory, "postgres"), port: 0, log: () => {} });
  try {
    const service = await startService({ ...tested, root, folder, postgresUrl: postgres.superuserUrl });
    try {
      await Promise.race([check(service, interrupted), interrupted]);
    } finally {
      await service.stop();
    }
  } finally {
    await postgres.stop();
    removeLocalPostgres(join(directory, "postgres"));
    rmSync(directory, { recursive: true, force: true });
  }
  if (process.exitCode === interruptedExitCode) process.exit();
}
