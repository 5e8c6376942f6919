// The part `calm-cost` of overload: while no process is overloaded and no caller is limited, compares the CPU time of a request with that of the same
// process without token verification and admission, the gateway's also without rate limits. The REST proxy has rate limits on both
// sides, since a cache hit is so cheap that their two header lines alone exceed the limit. `npm run bench -- --against FOLDER` compares two
// checkouts.
import { startTestIssuer } from "@tributary/kit/testing/issuer";
import type { Contender, Workload } from "../../../../bench/benchmark.ts";
import { gateways } from "../../../../bench/contenders/gateways.ts";
import { restServers } from "../../../../bench/contenders/rest-servers.ts";
import { measureCell } from "../../../../bench/measure/measure-cell.ts";
import { median, medianInterval } from "../../../../bench/measure/quantile.ts";
import { startTestbed } from "../../../../bench/testbed/testbed.ts";
import { gatewayWorkloads } from "../../../../bench/workloads/gateway-workloads.ts";
import { restWorkloads } from "../../../../bench/workloads/rest-workloads.ts";
import type { OverloadPart, PartRun } from "./part.ts";

/** One of bench's contenders and workloads. */
interface Subject {
  readonly title: string;
  readonly contender: Contender;
  readonly workload: Workload;
  /** Whether each request has a token, which only the baseline does not verify. */
  readonly hasToken: boolean;
  /** The highest median of the ratios. */
  readonly medianMax: number;
  /** The baseline's variables. The baseline also verifies no tokens, because it does not get `identity` (`createContender`). */
  readonly off: Variables;
  /** Variables with which the control makes its requests more expensive. */
  readonly slowing: Variables;
}

type Variables = Readonly<Record<string, string>>;

/** So high that requests are counted and none is rejected. `none`: requests from the loopback address are counted too, in every profile. */
const limits = { RATE_LIMIT_READS_PER_MINUTE: "100000000", RATE_LIMIT_EXEMPT: "none" };

const restHit = {
  contender: getByName(restServers, "ours"),
  workload: getByName(restWorkloads, "hit"),
  off: { ...limits, ADMISSION: "false" },
  // Smaller than any cache entry, so no response is stored.
  slowing: { CACHE_ENTRY_BYTES_MAX: "1024" },
};

const subjects: readonly Subject[] = [
  {
    title: "a small GraphQL request",
    contender: getByName(gateways, "ours-fast"),
    workload: getByName(gatewayWorkloads, "small"),
    hasToken: true,
    medianMax: 1.03,
    off: { ADMISSION: "false", RATE_LIMIT_READS_PER_MINUTE: "0", RATE_LIMIT_WRITES_PER_MINUTE: "0" },
    slowing: { FAST_PATH: "false" },
  },
  { title: "a REST cache hit", hasToken: false, medianMax: 1.03, ...restHit },
  // A hit takes so little CPU time that the lookup of its token is 3 % of it.
  { title: "a REST cache hit with a token", hasToken: true, medianMax: 1.05, ...restHit },
];

const boundMax = 1.06;
/** Of both processes, at the same time. After a warm-up of only 3 s V8 still compiles, which costs the process with more code more CPU time. */
const times = { warmUpMs: 12_000, windowMs: 4_000 };
const connections = 16;

export const calmCostPart: OverloadPart = {
  name: "calm-cost",
  purpose:
    "caller identity and admission, in the gateway also rate limits, make a request at most 3 % dearer, a REST cache hit with a token 5 %",
  control: "the gateway without its fast path, the REST proxy without stored responses",
  async run(run) {
    const issuer = await startTestIssuer();
    run.onCleanup(() => issuer.stop());
    const authorization = `Bearer ${await issuer.token("1", [], { exp: Math.floor(Date.now() / 1_000) + 86_400 })}`;
    const testbed = await startTestbed({ hasDatabase: false });
    run.onCleanup(() => testbed.stop());
    run.print("with all features, beside ADMISSION=false without token verification");
    run.print("the gateway's baseline has no rate limits either");
    const identity = { JWKS_URL: issuer.jwksUrl, ISSUER: issuer.issuer, AUDIENCE: issuer.audience };
    for (const subject of subjects) {
      const contender = createContender(subject, run.isControl, identity);
      const token = subject.hasToken ? { authorization } : {};
      const requests = subject.workload.requests.map((request) => ({ ...request, ...token }));
      const ratios: number[] = [];
      for (let round = 1; round <= run.options.rounds; round++) {
        const workload = { ...subject.workload, requests, connections };
        const cell = await measureCell(contender, workload, { ...times, testbed, round, preload: undefined });
        if (!cell.baseline) throw new Error("The baseline was not measured");
        ratios.push(cell.cpuSeconds / cell.requests / (cell.baseline.cpuSeconds / cell.baseline.requests));
      }
      claimRatios(subject, ratios, run);
    }
  },
};

/** Both processes run at the same time on one core. Which one is started first alternates between rounds. */
function createContender({ contender, off, slowing }: Subject, isControl: boolean, identity: Variables): Contender {
  return {
    ...withVariables(contender, { ...limits, ...identity, ...(isControl ? slowing : {}) }),
    name: "measured",
    baseline: withVariables(contender, off),
  };
}

function withVariables(contender: Contender, variables: Variables): Contender {
  return {
    ...contender,
    start(context) {
      const started = contender.start(context);
      return { ...started, environment: { ...started.environment, ...variables } };
    },
  };
}

function claimRatios({ title, medianMax }: Subject, ratios: readonly number[], { claim, print }: PartRun): void {
  const [, bound] = medianInterval(ratios);
  const measured = `median ${toPercent(median(ratios))}, bound ${toPercent(bound)}, ${ratios.length} rounds`;
  print(`${title}: ${ratios.map(toPercent).join(" ")}`);
  claim(`${title} is at most ${toPercent(medianMax)} dearer`, median(ratios) <= medianMax, {
    measured,
    control: "fails",
  });
  claim(`${title}: the upper 95 % bound of the median is at most 6 %`, bound <= boundMax, {
    measured,
    control: "fails",
  });
}

function toPercent(ratio: number): string {
  return `${((ratio - 1) * 100).toFixed(1)} %`;
}

function getByName<T extends { readonly name: string }>(all: readonly T[], name: string): T {
  const item = all.find((candidate) => candidate.name === name);
  if (item === undefined) throw new Error(`The benchmark has no ${name}.`);
  return item;
}
