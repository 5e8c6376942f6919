import { composeServices } from "@apollo/composition";
import { parse } from "graphql";
import { subgraphNames, subgraphSdl, type SubgraphName } from "./schemas.ts";

export type SubgraphUrls = Readonly<Record<SubgraphName, string>>;

/** The supergraph of the benchmark's subgraphs at these addresses. */
export function composeSupergraph(urls: SubgraphUrls): string {
  const services = subgraphNames.map((name) => ({ name, url: urls[name], typeDefs: parse(subgraphSdl[name]) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new Error(`The benchmark's graph does not compose: ${errors?.join("\n")}`);
  return supergraphSdl;
}
