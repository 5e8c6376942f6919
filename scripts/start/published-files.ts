// supergraph.graphql and routes.json in the data folder, read by the gateway and the REST proxy. The dev loop replaces them.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildASTSchema, findBreakingChanges, type GraphQLSchema, parse } from "graphql";
import { makePrintable } from "@tributary/kit/federation/default-values";
import { publishedFiles } from "./parts.ts";
import { CommandError } from "../command-line.ts";
import { replaceFile } from "../replace-file.ts";

export function publishCommitted(root: string, dataDir: string): void {
  const published = publishedFiles(dataDir);
  mkdirSync(dirname(published.supergraph), { recursive: true });
  publishFile(join(root, "supergraph", "supergraph.graphql"), published.supergraph);
  publishFile(join(root, "supergraph", "routes.json"), published.routes);
}

function publishFile(from: string, to: string): void {
  if (!existsSync(from)) throw new CommandError(`${from} is missing. Generate it: npm run generate`);
  replaceFile(to, readFileSync(from));
}

export function publishIfChanged(file: string, content: string): boolean {
  if (existsSync(file) && readFileSync(file, "utf8") === content) return false;
  replaceFile(file, content);
  return true;
}

/** A breaking change, such as a removed field: the gateway must load the new supergraph before the service restarts, otherwise after it. */
export function hasBreakingChanges(before: string, after: string): boolean {
  return findBreakingChanges(parseSchema(before), parseSchema(after)).length > 0;
}

function parseSchema(sdl: string): GraphQLSchema {
  const schema = buildASTSchema(parse(sdl), { assumeValidSDL: true });
  makePrintable(schema); // findBreakingChanges prints default values.
  return schema;
}
