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
      // urql adds `__typename` before it sends a document: with it here, the hash is that of the text that it sends.
      documentTransforms: [addTypenameSelectionDocumentTransform],
    },
  },
} satisfies CodegenConfig;
