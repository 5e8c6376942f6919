import { composeServices } from "@apollo/composition";
import { parse } from "graphql";
import { subgraphNames, subgraphSdl, type BenchmarkSubgraphName } from "./schemas.ts";

export type SubgraphUrls = Readonly<Record<BenchmarkSubgraphName, string>>;

/** Returns the supergraph SDL of the benchmark's four subgraphs. @throws Error if composition fails. */
export function composeSupergraph(urls: SubgraphUrls): string {
  const services = subgraphNames.map((name) => ({ name, url: urls[name], typeDefs: parse(subgraphSdl[name]) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new Error(`The benchmark's subgraphs do not compose: ${errors?.join("\n")}`);
  return supergraphSdl;
}
