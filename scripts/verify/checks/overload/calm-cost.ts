// The part `calm-cost` of overload: what caller identity, rate limits and admission cost while no process is overloaded and no caller is limited. It
// compares the CPU time of a request with that of a baseline: the same process without token verification and admission. The gateway's baseline has
// no rate limits either. The REST proxy's has them, since a cache hit is so cheap that their two header lines alone exceed the limit.
// `npm run bench -- --against FOLDER` compares two checkouts.
import { startTestIssuer } from "@tributary/kit/testing/issuer";
import type { Contender, Workload } from "../../../../bench/benchmark.ts";
import { gateways } from "../../../../bench/contenders/gateways.ts";
import { restServers } from "../../../../bench/contenders/rest-servers.ts";
import { measureCell } from "../../../../bench/measure/measure-cell.ts";
import { median, medianInterval } from "../../../../bench/measure/quantile.ts";
import { startTestbed, type Testbed } from "../../../../bench/testbed/testbed.ts";
import { gatewayWorkloads } from "../../../../bench/workloads/gateway-workloads.ts";
import { restWorkloads } from "../../../../bench/workloads/rest-workloads.ts";
import type { OverloadPart, PartRun } from "./part.ts";

type Variables = Readonly<Record<string, string>>;

/** A contender of bench, under one of its workloads. */
interface Subject {
  readonly title: string;
  readonly contender: Contender;
  readonly workload: Workload;
  /** Whether each request has a token, which only the baseline does not verify. */
  readonly hasToken: boolean;
  /** The highest median of the ratios (`measureRatio`). */
  readonly medianRatioMax: number;
  /** They switch features off. The baseline also verifies no tokens, because it does not get `identity` (`createContender`). */
  readonly baselineVariables: Variables;
  /** With them the control makes the measured requests more expensive. */
  readonly controlVariables: Variables;
}

/** So high that requests are counted and none is rejected. `none`: requests from the loopback address are counted too, in every profile. */
const highLimits = { RATE_LIMIT_READS_PER_MINUTE: "100000000", RATE_LIMIT_EXEMPT: "none" };

const restHit = {
  contender: getByName(restServers, "ours"),
  workload: getByName(restWorkloads, "hit"),
  baselineVariables: { ...highLimits, ADMISSION: "false" },
  // Smaller than any cache entry, so no response is stored.
  controlVariables: { CACHE_ENTRY_BYTES_MAX: "1024" },
};

const subjects: readonly Subject[] = [
  {
    title: "a small GraphQL request",
    contender: getByName(gateways, "ours-fast"),
    workload: getByName(gatewayWorkloads, "small"),
    hasToken: true,
    medianRatioMax: 1.03,
    // A limit of 0 means that there is none.
    baselineVariables: { ADMISSION: "false", RATE_LIMIT_READS_PER_MINUTE: "0", RATE_LIMIT_WRITES_PER_MINUTE: "0" },
    controlVariables: { FAST_PATH: "false" },
  },
  { title: "a REST cache hit", hasToken: false, medianRatioMax: 1.03, ...restHit },
  // A hit takes so little CPU time that the lookup of its token is 3 % of it.
  { title: "a REST cache hit with a token", hasToken: true, medianRatioMax: 1.05, ...restHit },
];

const upperBoundMax = 1.06;
/** For both processes. After a warm-up of only 3 s V8 still compiles, which costs the process with more code more CPU time. */
const warmUpMs = 12_000;
const windowMs = 4_000;
const connections = 16;
const tokenTtlSeconds = 86_400;

export const calmCostPart: OverloadPart = {
  name: "calm-cost",
  purpose:
    "caller identity and admission, in the gateway also rate limits, make a request at most 3 % dearer, a REST cache hit with a token 5 %",
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then.
  control: "the gateway without its fast path, the REST proxy without stored responses",
  async run(run) {
    const issuer = await startTestIssuer();
    run.onCleanup(() => issuer.stop());
    const exp = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
    const authorization = `Bearer ${await issuer.token("1", [], { exp })}`;
    const testbed = await startTestbed({ hasDatabase: false });
    run.onCleanup(() => testbed.stop());
    run.print("with all features, beside ADMISSION=false without token verification");
    run.print("the gateway's baseline has no rate limits either");
    const identity = { JWKS_URL: issuer.jwksUrl, ISSUER: issuer.issuer, AUDIENCE: issuer.audience };
    for (const subject of subjects) {
      const contender = createContender(subject, run.isControl, identity);
      const workload = createWorkload(subject, authorization);
      const ratios: number[] = [];
      for (let round = 1; round <= run.options.rounds; round++)
        ratios.push(await measureRatio(contender, workload, testbed, round));
      claimRatios(subject, ratios, run);
    }
  },
};

function createContender(
  { contender, baselineVariables, controlVariables }: Subject,
  isControl: boolean,
  identity: Variables,
): Contender {
  const regularVariables = { ...highLimits, ...identity };
  const measuredVariables = isControl ? { ...regularVariables, ...controlVariables } : regularVariables;
  return {
    ...withVariables(contender, measuredVariables),
    name: "measured",
    baseline: withVariables(contender, baselineVariables),
  };
}

function withVariables(contender: Contender, variables: Variables): Contender {
  return {
    ...contender,
    start(context) {
      const command = contender.start(context);
      return { ...command, environment: { ...command.environment, ...variables } };
    },
  };
}

function createWorkload({ workload, hasToken }: Subject, authorization: string): Workload {
  if (!hasToken) return { ...workload, connections };
  const requests = workload.requests.map((request) => ({ ...request, authorization }));
  return { ...workload, requests, connections };
}

/**
 * Measures the contender and its baseline at the same time on one core. Which of them is started first alternates between rounds.
 * @returns the contender's CPU time per request divided by the baseline's.
 */
async function measureRatio(
  contender: Contender,
  workload: Workload,
  testbed: Testbed,
  round: number,
): Promise<number> {
  const { cpuSeconds, requests, baseline } = await measureCell(contender, workload, {
    testbed,
    round,
    warmUpMs,
    windowMs,
    preload: undefined,
  });
  if (!baseline) throw new Error("The baseline was not measured");
  const cpuPerRequest = cpuSeconds / requests;
  const baselineCpuPerRequest = baseline.cpuSeconds / baseline.requests;
  return cpuPerRequest / baselineCpuPerRequest;
}

function claimRatios({ title, medianRatioMax }: Subject, ratios: readonly number[], { claim, print }: PartRun): void {
  const medianRatio = median(ratios);
  const [, upperBound] = medianInterval(ratios);
  const measured = `median ${toPercent(medianRatio)}, bound ${toPercent(upperBound)}, ${ratios.length} rounds`;
  print(`${title}: ${ratios.map(toPercent).join(" ")}`);
  claim(`${title} is at most ${toPercent(medianRatioMax)} dearer`, medianRatio <= medianRatioMax, {
    measured,
    control: "fails",
  });
  claim(`${title}: the upper 95 % bound of the median is at most 6 %`, upperBound <= upperBoundMax, {
    measured,
    control: "fails",
  });
}

/** 1.03 becomes "3.0 %". */
function toPercent(ratio: number): string {
  return `${((ratio - 1) * 100).toFixed(1)} %`;
}

function getByName<T extends { readonly name: string }>(list: readonly T[], name: string): T {
  const found = list.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`The benchmark has no ${name}.`);
  return found;
}
