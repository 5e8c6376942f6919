// The folder of a service whose code is elsewhere: copied from its team, or a first contract to edit.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../command-line.ts";
import { type NewServiceNames, spell } from "./names.ts";

const contractFile = /^(?:service\.json|schema\.graphql|openapi\.(?:ya?ml|json)|openapi\.overlay\.yaml|README\.md)$/;

/** @throws CommandError if the folder has no service.json, or that of another service. */
export function copyContract(folder: string, service: string): ReadonlyMap<string, string> {
  const file = join(folder, "service.json");
  if (!existsSync(file)) throw new CommandError(`${file} is missing: --contract takes the folder of a contract.`);
  const descriptor = JSON.parse(readFileSync(file, "utf8")) as { readonly name?: unknown };
  if (descriptor.name !== service)
    throw new CommandError(`${file} is of the service ${String(descriptor.name)}, not ${service}.`);
  const names = readdirSync(folder).filter((name) => contractFile.test(name));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

/** An entity with one query and one route, which composes. */
export function renderContract({ service, entity, plural, team, port }: NewServiceNames): ReadonlyMap<string, string> {
  const { camel, prose, pascal } = spell(entity);
  const path = spell(plural).kebab;
  const descriptor = {
    name: service,
    description: `Owns ${spell(plural).prose}.`,
    team,
    port,
    external: { url: `http://${service}:${port}` },
  };
  return new Map([
    ["service.json", `${JSON.stringify(descriptor, null, 2)}\n`],
    [
      "schema.graphql",
      `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])

type Query {
  "One ${prose}."
  ${camel}(id: ID!): ${pascal}
}

type ${pascal} @key(fields: "id") {
  id: ID!
  title: String!
}
`,
    ],
    [
      "openapi.yaml",
      `# Replace this file by the document that the service's tool generates.
openapi: 3.1.0
info: { title: ${service}, version: 1.0.0 }
paths:
  /rest/v2/${path}/{id}:
    get:
      operationId: get${pascal}V2
      summary: One ${prose}
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
      responses:
        "200":
          description: The ${prose}.
          content:
            application/json:
              schema: { $ref: "#/components/schemas/${pascal}" }
components:
  schemas:
    ${pascal}:
      type: object
      required: [id, title]
      properties:
        id: { type: string, examples: ["1"] }
        title: { type: string, examples: [A first title] }
`,
    ],
    [
      "openapi.overlay.yaml",
      `# What only the platform needs to know of the routes. The platform's owners review it.
overlay: 1.0.0
info: { title: ${service} on the platform, version: 1.0.0 }
actions:
  - target: $.paths['/rest/v2/${path}/{id}'].get
    update:
      # public: shared caches may store what the service's Cache-Control allows; every caller gets the same.
      x-tributary: { cache: public }
`,
    ],
  ]);
}
