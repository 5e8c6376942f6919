import { isDeepStrictEqual } from "node:util";
import type { GraphqlRequest } from "../graph/oracle.ts";
import type { Workload } from "../workloads/workloads.ts";
import type { GatewayProcess } from "./gateway-process.ts";

/** So many requests of a workload are compared; evenly over all of them. */
const comparedMax = 40;

/** Unknown documents stay unknown: those of the priming stand for them. @throws Error when an answer is not what the oracle says, or has errors. */
export async function checkAnswers(
  gateway: GatewayProcess,
  { title, requests, primeRequests: compared = requests }: Workload,
  oracle: (request: GraphqlRequest) => unknown,
): Promise<void> {
  const step = Math.ceil(compared.length / comparedMax);
  for (const request of compared.filter((_, index) => index % step === 0)) {
    const { data, errors } = await gateway.ask(request);
    if (errors === undefined && isDeepStrictEqual(data, oracle(request))) continue;
    const said = JSON.stringify(errors ?? data).slice(0, 1_000);
    throw new Error(`A wrong answer (${title}) to ${JSON.stringify(request)}:\n${said}`);
  }
}
