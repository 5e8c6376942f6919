// The npm packages: what each contains. Their manifests are made from this and from package.json of the workspace.

export interface PackageDescription {
  /** Also the name of the workspace. */
  readonly folder: "gateway" | "rest-proxy";
  readonly description: string;
  /** The command, and the module that it runs. */
  readonly bin: { readonly command: string; readonly module: string };
  /** By the name of their module in the package. */
  readonly entries: Readonly<Record<string, string>>;
  /** The entry that programs import. Its source has all types that it exports. */
  readonly embedded?: string;
  /** Files and folders beside the modules: place in the package, then place in the repository. */
  readonly files: Readonly<Record<string, string>>;
}

export const packages: readonly PackageDescription[] = [
  {
    folder: "gateway",
    description: "A federated GraphQL gateway.",
    bin: { command: "tributary-gateway", module: "command" },
    // The images run `main`. The command also composes.
    entries: { command: "scripts/gateway.ts", main: "gateway/src/main.ts", embed: "gateway/src/embed.ts" },
    embedded: "embed",
    files: {
      "README.md": "gateway/README.md",
      "gateway.schema.json": "gateway/gateway.schema.json",
      "public/graphiql": "gateway/public/graphiql",
    },
  },
  {
    folder: "rest-proxy",
    description: "A caching reverse proxy for versioned REST resources.",
    bin: { command: "tributary-rest-proxy", module: "main" },
    entries: { main: "rest-proxy/src/main.ts" },
    files: { "README.md": "rest-proxy/README.md", "dist/browser": "rest-proxy/src/documents/browser" },
  },
];
