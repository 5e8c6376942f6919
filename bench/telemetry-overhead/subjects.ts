import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { contenders } from "../contenders/contenders.ts";
import { composeSupergraph, type SubgraphUrls } from "../graph/compose.ts";
import { restContenders, type RestContenderContext } from "../rest/rest-contenders.ts";
import { type RestWorkloadName, restWorkloads } from "../rest/rest-workloads.ts";
import { type WorkloadName, workloads } from "../workloads/workloads.ts";

export interface SubjectContext extends RestContenderContext {
  readonly subgraphUrls: SubgraphUrls;
}

interface SubjectStart {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The subject of a measurement: one of our processes under one workload of the gateway's or the REST proxy's benchmark. */
export interface Subject {
  readonly name: string;
  readonly title: string;
  readonly path: string;
  /** The body of a POST; undefined for a GET. */
  readonly body?: string;
  start(context: SubjectContext): SubjectStart;
}

export const subjects: readonly Subject[] = [
  createGatewaySubject("heavy", "gateway, heavy"),
  createGatewaySubject("small", "gateway, small"),
  createRestSubject("hit", "REST proxy, cache hit", "ours"),
  createRestSubject("pass", "REST proxy, pass-through", "ours"),
  createRestSubject("service", "posts service, a post by REST", "service"),
  createRestSubject("service-graphql", "posts service, the post by GraphQL", "service"),
];

function createGatewaySubject(name: WorkloadName, title: string): Subject {
  const contender = getByName(contenders, "ours-fast");
  return {
    name: `gateway-${name}`,
    title,
    path: "/graphql",
    body: JSON.stringify(getByName(workloads, name).requests[0]),
    start({ port, folder, subgraphUrls }) {
      const context = { port, subgraphUrls, supergraphFile: join(folder, "supergraph.graphql") };
      writeFileSync(context.supergraphFile, composeSupergraph(subgraphUrls));
      return { command: contender.command(context), environment: contender.environment(context) };
    },
  };
}

function createRestSubject(name: RestWorkloadName, title: string, contenderName: "ours" | "service"): Subject {
  const { path, query } = getByName(restWorkloads, name);
  const contender = getByName(restContenders, contenderName);
  const body = query === undefined ? {} : { body: JSON.stringify({ query }) };
  return { name, title, path, ...body, start: (context) => contender.start(context) };
}

function getByName<T extends { readonly name: string }>(all: readonly T[], name: T["name"]): T {
  const item = all.find((candidate) => candidate.name === name);
  if (item === undefined) throw new Error(`The benchmark has no ${name}.`);
  return item;
}
