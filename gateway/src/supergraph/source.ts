import { createFileSource } from "./file-source.ts";
import type { SourceHeaders } from "./supergraph-schema.ts";
import type { TextSource } from "./text-source.ts";
import { createUrlSource } from "./url-source.ts";

/** As the configuration has it: exactly one of `file` and `urls`. */
export interface ConfiguredSource {
  readonly file: string | undefined;
  readonly urls: readonly string[] | undefined;
  readonly headers: SourceHeaders | undefined;
}

export function createSource({ file, urls, headers }: ConfiguredSource): TextSource {
  if (file !== undefined) return createFileSource(file);
  if (urls !== undefined) return createUrlSource({ urls, ...(headers && { headers }) });
  throw new Error("readConfig accepts no source without a file or a URL");
}
