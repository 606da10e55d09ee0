import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { ChromeStore } from "./chrome-store.ts";
import type { Extensions } from "./extensions.ts";

export function extensionHandlers(
  extensions: Extensions,
  store: ChromeStore,
): Handlers<OperationsOf<"extensions">, Access> {
  return {
    uploadExtension: ({ body, context }) => extensions.upload(context.projectId, body),
    listExtensions: ({ query, context }) => extensions.list(context.projectId, query),
    getExtension: ({ params, context }) => extensions.get(context.projectId, params.id_or_name),
    downloadExtension: ({ params, context }) => extensions.download(context.projectId, params.id_or_name),
    downloadExtensionFromChromeStore: ({ query, signal }) => store.download(query, signal),
    deleteExtension: ({ params, context }) => extensions.delete(context.projectId, params.id_or_name),
  };
}
