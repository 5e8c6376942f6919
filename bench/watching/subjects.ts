import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { contenders } from "../contenders/contenders.ts";
import { composeSupergraph, type SubgraphUrls } from "../graph/compose.ts";
import { restContenders, type RestGround } from "../rest/contenders.ts";
import { type RestWorkloadName, restWorkloads } from "../rest/workloads.ts";
import { type WorkloadName, workloads } from "../workloads/workloads.ts";

/** What a subject's process is started with. */
export interface Place extends RestGround {
  readonly subgraphUrls: SubgraphUrls;
}

interface SubjectStart {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A process of ours under one kind of request. */
export interface Subject {
  readonly name: string;
  readonly title: string;
  readonly path: string;
  /** Sent by POST; without one it is a GET. */
  readonly body?: string;
  start(place: Place): SubjectStart;
}

export const subjects: readonly Subject[] = [
  ofGateway("heavy", "the gateway, heavy"),
  ofGateway("small", "the gateway, small"),
  ofRest("hit", "the REST proxy, a hit", "ours"),
  ofRest("pass", "the REST proxy, passed on", "ours"),
  ofRest("service", "a service, a post by REST", "service"),
  ofRest("service-graphql", "a service, the post by GraphQL", "service"),
];

/** As the main benchmark starts and asks it. */
function ofGateway(name: WorkloadName, title: string): Subject {
  const contender = find(contenders, "ours-fast");
  return {
    name: `gateway-${name}`,
    title,
    path: "/graphql",
    body: JSON.stringify(find(workloads, name).requests[0]),
    start({ port, folder, subgraphUrls }) {
      const ground = { port, subgraphUrls, supergraphFile: join(folder, "supergraph.graphql") };
      writeFileSync(ground.supergraphFile, composeSupergraph(subgraphUrls));
      return { command: contender.command(ground), environment: contender.environment(ground) };
    },
  };
}

/** As the REST proxy's benchmark starts and asks it. */
function ofRest(name: RestWorkloadName, title: string, of: "ours" | "service"): Subject {
  const { path, query } = find(restWorkloads, name);
  const body = query === undefined ? {} : { body: JSON.stringify({ query }) };
  return { name, title, path, ...body, start: (place) => find(restContenders, of).start(place) };
}

function find<T extends { readonly name: string }>(all: readonly T[], name: T["name"]): T {
  const found = all.find((one) => one.name === name);
  if (found === undefined) throw new Error(`The benchmark has no ${name}.`);
  return found;
}
