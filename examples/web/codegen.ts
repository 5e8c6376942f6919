import { addTypenameSelectionDocumentTransform } from "@graphql-codegen/client-preset";
import type { CodegenConfig } from "@graphql-codegen/cli";

export default {
  schema: "../../supergraph/api.graphql",
  documents: "src/operations.graphql",
  generates: {
    "src/generated/": {
      preset: "client",
      presetConfig: { persistedDocuments: { hashAlgorithm: "sha256" }, fragmentMasking: false },
      config: { useTypeImports: true, scalars: { DateTime: "string", ID: "string" } },
      // The gateway executes the registered text, and urql's cache needs `__typename` in its response.
      documentTransforms: [addTypenameSelectionDocumentTransform],
    },
  },
} satisfies CodegenConfig;
